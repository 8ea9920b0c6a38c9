"""NumPy's calls on tensors, beyond what operator and function have in common.

Owns what becomes of the parameters that an operator lacks (`dtype`, `out`, `where`, `initial`, `ddof`, ...): those with a
meaning are served, the others refused by name.  Also what becomes of functions that have no operator: their values where
nothing is lost, a refusal that names them otherwise.  Imported by the first call of NumPy's on a tensor.
"""

import functools

import numpy as np

from .dispatch import ops
from .generated.numpy_table import FUNCTIONS, UNIVERSAL
from .operand import asarray
from .tensor import TensorBase

WAY_OUT = ("an operator of your own is a gradspec.autograd.Function: forward computes on arrays, backward is its "
           "vector-Jacobian product")


class Call:
    """A function of NumPy's whose signature has something that its operator has not, while its arguments are sorted out."""

    def __init__(self, function, row):
        operator, self.public_name, self.required, self.leading, keywords, parameters, self.by_place, self.defaults, given = row
        self.function, self.operator, self.keywords = function, getattr(ops, operator), frozenset(keywords.split())
        pairs = [parameter.partition("=") for parameter in parameters.split()]
        self.targets = {name: target if equals else name for name, equals, target in pairs}
        self.given = given

    def __call__(self, arguments, keywords):
        places = [name for name in self.targets][: self.by_place]
        given = dict(zip(places, arguments)) | keywords
        self.arguments, self.after, lacking = dict(self.given), [], {}
        for name, value in given.items():
            target = self.targets.get(name) or (name if name in self.keywords else None)
            if value is np._NoValue:
                continue
            if target:
                self.arguments[target] = value
            elif value is not None and not (name in self.defaults and same(value, self.defaults[name])):
                lacking[name] = value
        for name, serve in SERVED.items():  # in this order: what is cast is then masked, what is computed is written last
            if name in lacking:
                self.lacking = lacking
                if serve(self, lacking.get(name)) is NotImplemented:
                    self.refuse(name, lacking[name])
        for name in lacking.keys() - SERVED.keys():
            self.refuse(name, lacking[name])
        result = self.operator(**self.arguments)
        for change in self.after:
            result = change(result)
        return result

    def refuse(self, name, value):
        raise TypeError(f"{named(self.function)}: {name}={value!r} has no counterpart in gradspec.{self.public_name}; leave it "
                        f"out, or compute with the operators of gradspec what it would do; {WAY_OUT}")

    @property
    def first(self):
        """The name of the operand, or of the list of them."""
        return next(iter(self.arguments))

    def change(self, alter):
        """Put something else in the place of each operand."""
        value = self.arguments[self.first]
        listed = isinstance(value, (list, tuple))
        self.arguments[self.first] = [alter(item) for item in value] if listed else alter(value)


def same(value, other):
    return type(value) is type(other) and value == other


def dotted(name):
    """The function that a dotted name is in this NumPy; None in one that has it not."""
    found = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def named(function):
    """np.linalg.svd, for messages."""
    module = getattr(function, "__module__", None) or "numpy"
    name = f"{module}.{function.__name__}".removeprefix("numpy.")
    return f"np.{name.removeprefix('numpy.')}" if module.startswith("numpy") or isinstance(function, np.ufunc) else name


ROWS = {dotted(name): row for name, row in FUNCTIONS.items() if dotted(name) is not None}


@functools.cache
def universal_operators():
    """Universal function -> operator."""
    return {dotted(name): getattr(ops, op) for name, op in UNIVERSAL.items() if dotted(name) is not None}


def short_calls():
    """Function -> operator, how many arguments it needs, how many are the same by place, and which keywords."""
    return {f: (getattr(ops, row[0]), row[2], row[3], frozenset(row[4].split())) for f, row in ROWS.items() if f not in WRITTEN}


# The parameters that operators lack.


def cast(call, dtype):
    casting = call.lacking.get("casting", "same_kind")
    call.change(lambda x: converted(x, dtype, casting, named(call.function)))


def converted(x, dtype, casting, where):
    x = asarray(x)
    if x.dtype != dtype and not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"{where}: cannot cast from {x.dtype} to {np.dtype(dtype)} according to the rule {casting!r}")
    return x if x.dtype == dtype else ops.astype(x, dtype)


def mask_operand(call, mask):
    """`where=` of a reduction: what is masked is the identity of what is computed."""
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


def with_initial(call, initial):
    if call.function not in REDUCTIONS:
        return NotImplemented
    combine = universal_operators()[REDUCTIONS[call.function]]
    call.after.append(lambda y: combine(y, initial))
    return None


def written(call, out):
    call.after.append(lambda y: write_into(out, y, named(call.function)))


def reordered(call, order):
    """Memory has no order that a tensor promises; of "F" only the order of the elements in `reshape` and `ravel` is seen."""
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


def wrapped(call, mode):
    if call.function is np.linalg.qr and mode == "r":
        call.after.append(lambda y: y[1])
    elif call.function is np.take and mode in ("wrap", "clip"):
        axis = call.arguments.get("axis")
        x, indices = (call.arguments[name] for name in list(call.arguments)[:2])
        count = np.size(x) if axis is None else np.shape(x)[axis]
        indices = np.asarray(indices)
        call.arguments["indices"] = indices % count if mode == "wrap" else np.clip(indices, 0, count - 1)
    else:
        return NotImplemented
    return None


def around(call, name, value):
    """`prepend=` and `append=`: what stands before and after the operand."""
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
    """What makes no difference to the values: where they stand, how they are sorted, the way that a product goes."""


def harmless(*values):
    return lambda call, value: None if value in values else NotImplemented


SERVED = {
    "casting": ignored,  # read beside dtype
    "dtype": cast,
    "where": mask_operand,
    "initial": with_initial,
    "ddof": lambda call, value: call.arguments.update(correction=value) if "correction" in call.targets else NotImplemented,
    "order": reordered,
    "copy": copied,
    "mode": wrapped,
    "prepend": lambda call, value: around(call, "prepend", value),
    "append": lambda call, value: around(call, "append", value),
    "UPLO": lambda call, value: call.change(ops.mH) if value in ("U", "u") else None,  # the other triangle of the adjoint
    "upper": lambda call, value: call.after.append(ops.mH),
    "deg": lambda call, value: call.after.append(ops.rad2deg) if value else None,
    "compute_uv": without_vectors,
    "sorter": lambda call, value: call.change(lambda x: ops.take(x, value)),
    "kind": ignored,  # ours is stable, which is all that any of them promises
    "optimize": ignored,
    "hermitian": ignored,
    "subok": ignored,
    "device": harmless("cpu"),
    "out": written,
}


def write_into(out, result, where, mask=True):
    """The result in `out`, which is recorded where `out` is a tensor, and has to lose nothing where it is an array."""
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
                        "begin with a tensor: gradspec.asarray(a)")
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


# Reductions: what NumPy's functions reduce with, and what `where=` makes of moments.

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


def call_function(function, arguments, keywords):
    """A call of NumPy's that has more to it than its operator's arguments."""
    if function in WRITTEN:
        return WRITTEN[function](*arguments, **keywords)
    if function in (np.array, np.asarray, np.asanyarray):  # by like=
        return asarray(*arguments, **{name: value for name, value in keywords.items() if name in ("dtype", "copy")})
    row = ROWS.get(function)
    if row is None:
        return without_operator(function, arguments, keywords)
    call = Call(function, row)
    needed = list(call.targets)[: call.required]
    if len(arguments) < call.required and not set(needed[len(arguments) :]) <= keywords.keys():
        return without_operator(function, arguments, keywords)
    if not call.targets or call.leading > len(call.targets):  # any number of operands
        lacking = {name: value for name, value in keywords.items() if name not in call.keywords and value is not None}
        out = lacking.pop("out", None)
        for name in lacking.keys() - {"optimize"}:
            call.refuse(name, lacking[name])
        result = call.operator(*arguments, **{name: value for name, value in keywords.items() if name in call.keywords})
        return result if out is None else write_into(out, result, named(function))
    return call(arguments, keywords)


def copyto(dst, src, casting="same_kind", where=True):
    src = asarray(src)
    if where is not True:
        src = ops.where(where, src, dst)
    write_into(dst, ops.broadcast_to(src, np.shape(dst)), "np.copyto")


WRITTEN = {np.copyto: copyto}


# What has no operator.


def without_operator(function, arguments, keywords, name=""):
    """The function of the values, where nothing is lost: of tensors without a history, or where numbers are all integers."""
    lost = []
    arguments, keywords = arrays_in(arguments, lost), arrays_in(keywords, lost)
    name = name or named(function)
    try:
        result = function(*arguments, **keywords)
    except ValueError as error:
        if "read-only" in str(error) or "not writeable" in str(error):
            raise TypeError(f"{name}: gradspec has no operator for it, and it writes into its argument, which would pass by the "
                            "history of the tensor; write x[index] = value") from None
        raise
    if lost and has_fractions(result):
        raise TypeError(f"{name}: gradspec has no operator for it, and its values alone would lose the history of the tensors "
                        f"that it is called with; {nearest(function.__name__)}{WAY_OUT}")
    return result


def nearest(name):
    from difflib import get_close_matches

    known = {row[0]: row[1] for row in FUNCTIONS.values()} | {op: op for op in UNIVERSAL.values()}
    found = get_close_matches(name, known, 1, 0.75)
    return f"the nearest operator is gradspec.{known[found[0]]}; " if found else ""


def arrays_in(value, lost):
    """Arrays that nothing can be written to in the place of tensors; `lost` gets those whose history the values lose."""
    if isinstance(value, TensorBase):
        if holds_history(value):
            lost.append(value)
        array = value.detach().numpy().view()
        array.flags.writeable = False
        return array
    if type(value) in (list, tuple):
        return type(value)(arrays_in(item, lost) for item in value)
    if type(value) is dict:
        return {key: arrays_in(item, lost) for key, item in value.items()}
    return value


def has_fractions(result):
    """Whether there is a number in it that is no integer: one that could have a gradient."""
    if isinstance(result, (tuple, list)):
        return any(has_fractions(item) for item in result)
    if isinstance(result, (float, complex)):
        return True
    return isinstance(getattr(result, "dtype", None), np.dtype) and result.dtype.kind in "fcOV"
