"""Errors of the library and the words they share.

Owns the exception classes and the sentences that several modules raise.  Knows no tensors and no graphs.
"""

import numbers
import types

# What operators take beside arrays: an attribute that one of these lacks is a mistake of the caller's.
NO_ARRAYS = (numbers.Number, list, tuple, slice, types.NoneType, types.EllipsisType)


class GradcheckError(RuntimeError, AssertionError):
    """A gradient does not match its numerical reference: an AssertionError in JAX and HIPS autograd."""


class CallTypeError(TypeError, RuntimeError):
    """What a function that is differentiated, or its caller, gave is of a wrong type: a RuntimeError in PyTorch."""


class CallValueError(ValueError, RuntimeError):
    """A wrong number or name where PyTorch raises a RuntimeError."""


class NotBatched(Exception):
    """What a function does cannot be done for many tangents at once: it is to be run for one after the other."""


def explain(error, op, /, **arguments):
    """An error of the type of `error`, or the nearest above it, that also names the operator and shows its arguments.

    An error that a composite's inner operator has explained is explained again as the composite's own, which names the inner one
    if users know it.

    Parameters
    ----------
    error : Exception
        What NumPy or a kernel raised.
    op : str
        The operator's public name.
    **arguments
        The operator's arguments, arrays shown by shape and dtype.
    """
    if type(error).__module__.partition(".")[0] not in ("builtins", "numpy"):
        return error  # what a user's hook raised
    cause = error
    shown = ", ".join(f"{name}={describe(value)}" for name, value in arguments.items())
    reason, inner = getattr(error, "explained", (str(error), ""))
    reason = reason.removeprefix(f"{op}: ")
    if isinstance(error, AttributeError) and isinstance(error.obj, NO_ARRAYS):
        error, reason = TypeError(reason), f"an array is needed where something else was given: {reason}"
    message = f"{op}: {reason}{f', in {inner}' if inner else ''} (called with {shown}){meant(op, reason)}"
    for kind in type(error).__mro__:
        try:
            explained = kind(message if kind is type(error) else f"{message} [{type(error).__name__}]")
            break
        except TypeError:  # an exception whose constructor wants more than a message: its base may do
            continue
    explained.__cause__ = cause.__cause__
    explained.explained = reason, inner or (op if not op.startswith("_") else "")
    return explained.with_traceback(cause.__traceback__)


# What a call that fails like this means in PyTorch: operator, words of the reason, what to write.
MEANT = (
    ("permute_dims", "axes don't match array", "give the order of all axes; PyTorch's x.transpose(i, j) is x.swapaxes(i, j)"),
)


def meant(op, reason):
    """What to write, as the end of a message; empty where nothing is known."""
    return next((f"; {answer}" for name, words, answer in MEANT if name == op and words in reason), "")


def describe(value, nested=False):
    """An argument in a few words: arrays by dtype and shape, sequences of arrays item by item."""
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple)) and not nested and any(hasattr(item, "shape") for item in value):
        return "[" + ", ".join(describe(item, nested=True) for item in value[:8]) + (", ...]" if len(value) > 8 else "]")
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
