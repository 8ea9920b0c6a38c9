"""NumPy's parameters that operators lack: `dtype`, `out`, `where`, `initial`, `ddof`, `order` and others.

Maps each of them to a change of the call: different operands, a different operator, or a step on the result.  A parameter without
a meaning for tensors answers NotImplemented.
"""

import functools
import sys

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..generated.numpy_table import SPECIAL, UNIVERSAL
from ..support.counterparts import advice
from ..support.dispatch import ops


def dotted(name):
    """The object that a dotted name means in this NumPy version; None if it is missing."""
    found = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def named(function):
    """np.linalg.svd or scipy.special.erf, for messages."""
    if isinstance(function, np.ufunc):  # a ufunc does not name its module
        return f"np.{function.__name__}" if dotted(function.__name__) is function else f"scipy.special.{function.__name__}"
    module = getattr(function, "__module__", None) or "numpy"
    name = f"{module}.{function.__name__}".removeprefix("numpy.")
    return f"np.{name.removeprefix('numpy.')}" if module.startswith("numpy") else name


@functools.cache
def universal_operators():
    """Universal function -> operator."""
    return {dotted(name): getattr(ops, op) for name, op in UNIVERSAL.items() if dotted(name) is not None}


def scipy_operator(function):
    """The operator of a universal function of SciPy: the one with the same name in gradspec.special, if there is one."""
    scipy_special = sys.modules.get("scipy.special")
    known = function.__name__ in SPECIAL and getattr(scipy_special, function.__name__, None) is function
    return getattr(ops, SPECIAL[function.__name__]) if known else None


def cast(call, dtype):
    casting = call.lacking.get("casting", "same_kind")
    call.change(lambda x: converted(x, dtype, casting, named(call.function)))
    if np.dtype(dtype).kind in "iub":  # sums and products wrap round: casting wide results gives the narrow ones
        call.after.append(lambda y: y if y.dtype == dtype else ops.astype(y, dtype))


def converted(x, dtype, casting, where):
    x = asarray(x)
    if x.dtype != dtype and not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"{where}: cannot cast from {x.dtype} to {np.dtype(dtype)} according to the rule {casting!r}")
    return x if x.dtype == dtype else ops.astype(x, dtype)


def mask_operand(call, mask):
    """`where=` of a reduction: masked elements are replaced by the identity of the reduction."""
    if call.function in MOMENTS:
        call.operator = MOMENTS[call.function]
        call.arguments["mask"] = mask
        return None
    if call.function not in REDUCTIONS:
        return NotImplemented
    identity = call.lacking.get("initial", REDUCTIONS[call.function].identity)
    if identity is None:
        raise ValueError(f"{named(call.function)}: has no identity, so to use a where mask one has to specify 'initial'")
    call.change(lambda x: ops.where(mask, x, identity))
    return None


def of_upper_triangle(call, value):
    """Take the adjoint of the operator's result for the adjoint operand, as the operator reads the lower triangle."""
    if value:
        call.change(ops.mH)
        call.after.append(ops.mH)


def with_initial(call, initial):
    if call.function not in REDUCTIONS:
        return NotImplemented
    combine = universal_operators()[REDUCTIONS[call.function]]
    call.after.append(lambda y: combine(y, initial))
    return None


def written(call, out):
    call.after.append(lambda y: write_into(out, y, named(call.function)))


def reordered(call, order):
    """Tensors promise no memory order; "F" only matters for the order of the elements in `reshape` and `ravel`."""
    if order not in ("C", "K", "A", "F") or call.function in (np.sort, np.argsort):
        return NotImplemented
    if order == "F" and call.function in (np.reshape, np.ravel):
        call.change(ops.permute_dims)
        if "shape" in call.arguments:
            shape = call.arguments["shape"]
            call.arguments["shape"] = tuple(shape)[::-1] if isinstance(shape, (tuple, list)) else shape
            call.after.append(ops.permute_dims)
    return None


def copied(call, copy):
    if copy and call.function is np.reshape:
        call.after.append(ops.copy)
    return NotImplemented if call.function is np.nan_to_num else None


def in_mode(call, mode):
    """`mode=` of qr, whose Q has no unique derivative if it has more columns than the matrix, and of take."""
    if call.function is np.linalg.qr and mode == "r":
        call.after.append(lambda y: y[1])
    elif call.function is np.linalg.qr:
        rows, columns = np.shape(call.arguments[call.first])[-2:]
        return None if mode == "complete" and rows <= columns else NotImplemented
    elif call.function is np.take and mode in ("wrap", "clip"):
        axis = call.arguments.get("axis")
        x, indices = call.arguments[call.first], np.asarray(call.arguments["indices"])
        count = np.size(x) if axis is None else np.shape(x)[axis]
        call.arguments["indices"] = indices % count if mode == "wrap" else np.clip(indices, 0, count - 1)
    else:
        return NotImplemented
    return None


def around(call, name, value):
    """`prepend=` and `append=`: values before and after the operand."""
    x, axis = asarray(call.arguments[call.first]), call.arguments.get("axis", -1)
    value = asarray(value)
    if value.ndim == 0:
        shape = list(x.shape)
        shape[axis] = 1
        value = ops.broadcast_to(value, tuple(shape))
    call.arguments[call.first] = ops.concat([value, x] if name == "prepend" else [x, value], axis)


def without_vectors(call, value):
    call.operator = ops.svdvals
    call.arguments.pop("full_matrices", None)


def ignored(call, value):
    """Parameters that do not change the values: placement in memory, kind of sorting, order of a product."""


def of_type(kind, name, serve):
    """A parameter that takes one type: another value was meant for another parameter, as PyTorch orders them."""

    def checked(call, value):
        if not isinstance(value, kind):
            others = ", ".join(f"{other}=" for other in sorted(call.keywords - {"axis", call.first})) or "the name"
            raise TypeError(f"{call.public_name}: argument '{name}' must be {SHOWN[kind]}, got {value!r}: positions are NumPy's; write {others}")
        return serve(call, value)

    return checked


SHOWN = {str: "a string", (bool, np.bool_): "True or False"}


def harmless(*values):
    return lambda call, value: None if value in values else NotImplemented


SERVED = {
    "casting": ignored,  # read with dtype
    "dtype": cast,
    "where": mask_operand,
    "initial": with_initial,
    "ddof": lambda call, value: call.arguments.update(correction=value) if "correction" in call.targets else NotImplemented,
    "order": reordered,
    "copy": of_type((bool, np.bool_), "copy", copied),
    "mode": in_mode,
    "prepend": lambda call, value: around(call, "prepend", value),
    "append": lambda call, value: around(call, "append", value),
    "UPLO": lambda call, value: call.change(ops.mH) if value in ("U", "u") else None,  # the other triangle of the adjoint
    "upper": of_upper_triangle,
    "deg": lambda call, value: call.after.append(ops.rad2deg) if value else None,
    "compute_uv": without_vectors,
    "sorter": lambda call, value: call.change(lambda x: ops.take(x, value)),
    "kind": of_type(str, "kind", ignored),  # our sort is stable, which satisfies every kind
    "optimize": ignored,
    "hermitian": ignored,
    "subok": ignored,
    "device": harmless("cpu"),
    "out": written,
}


def write_into(out, result, where, mask=True):
    """Write the result into `out`: recorded if `out` is a tensor; if it is an array, nothing may be lost."""
    out = out[0] if isinstance(out, tuple) else out
    result = asarray(result)
    if isinstance(out, TensorBase):
        if out.shape != result.shape:
            raise ValueError(f"{where}: out has shape {out.shape}, the result {result.shape}")
        if not np.can_cast(result.dtype, out.dtype, "same_kind"):
            raise TypeError(f"{where}: cannot cast the result from {result.dtype} to {out.dtype}, that of out")
        return out.copy_(result)
    if holds_history(result):
        raise TypeError(f"{where}: what is computed from tensors has a gradient, which the ndarray that it would be written to "
                        "(out=, or the left of += and the like) cannot hold; write `a = a + x` in the place of `a += x`, or "
                        f"begin with a tensor: gradspec.asarray(a){advice(missing=False)}")
    np.copyto(out, result.numpy(), casting="same_kind")
    return out


def holds_history(tensor):
    """Whether the values alone would lose a gradient or a tangent."""
    try:
        tensor.numpy()
    except RuntimeError:
        return True
    return False


def values_of(mask):
    return mask.detach().numpy() if isinstance(mask, TensorBase) else np.asarray(mask)


# Reductions: the ufuncs of NumPy's functions, and moments with `where=`.

REDUCTIONS = {
    np.sum: np.add, np.prod: np.multiply, np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum,
    np.all: np.logical_and, np.any: np.logical_or,
}  # fmt: skip


def masked_mean(x, mask, axis=None, keepdims=False):
    count = np.sum(np.broadcast_to(values_of(mask), np.shape(x)), axis=axis, keepdims=keepdims)
    return ops.divide(ops.sum(ops.where(mask, x, 0), axis, keepdims), count)


def masked_var(x, mask, axis=None, keepdims=False, correction=0):
    x = asarray(x)
    count = np.sum(np.broadcast_to(values_of(mask), x.shape), axis=axis, keepdims=keepdims)
    away = ops.absolute(ops.where(mask, ops.subtract(x, masked_mean(x, mask, axis, True)), 0))
    return ops.divide(ops.sum(ops.square(away), axis, keepdims), np.maximum(count - correction, 0))


def masked_std(x, mask, **rest):
    return ops.sqrt(masked_var(x, mask, **rest))


MOMENTS = {np.mean: masked_mean, np.var: masked_var, np.std: masked_std}
