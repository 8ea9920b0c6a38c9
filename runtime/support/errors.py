"""Errors: exception classes, and the wording that several modules share."""

import numbers
import types

# Non-array arguments of operators: a missing attribute of such a value is the caller's mistake.
NO_ARRAYS = (numbers.Number, list, tuple, slice, types.NoneType, types.EllipsisType)


class GradcheckError(RuntimeError, AssertionError):
    """A gradient does not match its numerical reference: an AssertionError in JAX and HIPS autograd."""


class CallTypeError(TypeError, RuntimeError):
    """A wrong type, from a differentiated function or its caller: a RuntimeError in PyTorch."""


class CallValueError(ValueError, RuntimeError):
    """A wrong number or name where PyTorch raises a RuntimeError."""


class NotBatched(Exception):
    """A function cannot run for many tangents at once: the caller runs it once for each tangent."""


def explain(error, op, /, **arguments):
    """An error of the type of `error`, or its nearest base class, that also names the operator and shows its arguments.

    If an inner operator of a composite has already explained an error, the composite explains it again, and names the
    inner operator if it is public.

    Parameters
    ----------
    error : Exception
        The exception of NumPy or a kernel.
    op : str
        The operator's public name.
    **arguments
        The operator's arguments, arrays shown by shape and dtype.
    The operator's arguments; arrays are shown by shape and dtype.
    """
    if type(error).__module__.partition(".")[0] not in ("builtins", "numpy"):
        return error  # the exception of a user's hook
    cause = error
    shown = ", ".join(f"{name}={describe(value)}" for name, value in arguments.items())
    reason, inner = getattr(error, "explained", (str(error), ""))
    reason = reason.removeprefix(f"{op}: ")
    if isinstance(error, IndexError) and "axis" not in reason and (axis := missing_axis(arguments)):
        reason, inner = axis, ""
    if isinstance(error, AttributeError) and isinstance(error.obj, NO_ARRAYS):
        error, reason = TypeError(reason), f"an array is needed where something else was given: {reason}"
    message = f"{op}: {reason}{f', in {inner}' if inner else ''} (called with {shown}){meant(op, reason)}"
    for kind in type(error).__mro__:
        try:
            explained = kind(message if kind is type(error) else f"{message} [{type(error).__name__}]")
            break
        except TypeError:  # the constructor needs more than a message: try the base class
            continue
    explained.__cause__ = cause.__cause__
    explained.explained = reason, inner or (op if not op.startswith("_") else "")
    return explained.with_traceback(cause.__traceback__)


def missing_axis(arguments):
    """The words for an argument `axis` that the first argument does not have; None if it has it."""
    axis, shape = arguments.get("axis"), getattr(next(iter(arguments.values())), "shape", None)
    if isinstance(axis, int) and shape is not None and not -len(shape) <= axis < len(shape):
        return f"axis {axis} is out of range for an array of dimension {len(shape)}"
    return None


# Calls with a different meaning in PyTorch or JAX: operator, words of the reason, suggestion.
MEANT = (
    ("permute_dims", "axes don't match array", "give the order of all axes; PyTorch's x.transpose(i, j) is x.swapaxes(i, j)"),
    ("view", "'shape' must be an int or a sequence of ints, got", "for elements of another dtype write x.numpy().view(dtype)"),
    ("gelu", "'approximate' must be a string, got", "JAX's True, its default, is approximate='tanh', and False is 'none'"),
)


def meant(op, reason):
    """The suggestion, as the end of a message; empty without a suggestion."""
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
