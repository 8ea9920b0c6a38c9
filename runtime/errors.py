"""Errors of the library and the words they share.

Owns the exception classes and the sentences that several modules raise.  Knows no tensors and no graphs.
"""


class GradcheckError(RuntimeError):
    """A gradient does not match its numerical reference."""


def explain(error, op, /, **arguments):
    """An error of the type of `error`, or the nearest above it, that also names the operator and shows its arguments.

    Parameters
    ----------
    error : Exception
        What NumPy or a kernel raised.
    op : str
        The operator's public name.
    **arguments
        The operator's arguments, arrays shown by shape and dtype.
    """
    shown = ", ".join(f"{name}={describe(value)}" for name, value in arguments.items())
    message = f"{op}: {error} (called with {shown})"
    for kind in type(error).__mro__:
        try:
            explained = kind(message if kind is type(error) else f"{message} [{type(error).__name__}]")
            break
        except TypeError:  # an exception whose constructor wants more than a message: its base may do
            continue
    explained.__cause__ = error.__cause__
    return explained.with_traceback(error.__traceback__)


def describe(value):
    """An argument in a few words: arrays by dtype and shape, sequences of arrays item by item."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and any(hasattr(item, "shape") for item in value):
        return "[" + ", ".join(map(describe, value)) + "]"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
