"""NumPy's universal functions on tensors: calls with `out=`, `where=` or `dtype=`; reduce, accumulate, reduceat, outer, at.

Implements these methods with operators, and the few functions that are two operators.  `numpy_protocol` handles plain calls.
"""

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from .numpy_calls import call_function, without_operator
from .numpy_parameters import (
    REDUCTIONS,
    converted,
    holds_history,
    named,
    scipy_operator,
    universal_operators,
    values_of,
    write_into,
)


def call_universal(function, method, inputs, keywords):
    """A call or a method of a universal function."""
    if method != "__call__":
        if function.signature is not None or function not in universal_operators():
            return without_operator(getattr(function, method), inputs, keywords, f"{named(function)}.{method}")
        return METHODS[method](function, *inputs, **keywords)
    operator = universal_operators().get(function) or COMPOSED.get(function) or scipy_operator(function)
    if operator is None:
        return without_operator(function, inputs, keywords)
    name, out, mask = named(function), keywords.get("out"), keywords.get("where", True)
    if keywords.get("dtype") is not None:
        inputs = [converted(x, keywords["dtype"], keywords.get("casting", "same_kind"), name) for x in inputs]
    along = {key: keywords[key] for key in ("axis",) if key in keywords and function.signature is not None}
    for key in keywords.keys() - {"out", "where", "dtype", "casting", "order", "subok", *along}:
        raise TypeError(f"{name}: {key}= is not known for tensors, and gradspec has no counterpart")
    if mask is True:
        result = operator(*inputs, **along)
        if out is None:
            return result
        if isinstance(result, tuple):
            return tuple(y if o is None else write_into(o, y, name) for o, y in zip(out, result))
        return write_into(out, result, name)
    if out is None or len(out) != 1 or function.signature is not None:
        raise TypeError(f"{name}: where= without out= leaves elements undefined; gradspec.where(mask, y, other) defines them")
    return write_into(out, computed_where(operator, inputs, mask, out[0]), name)


def computed_where(operator, inputs, mask, out):
    """`out` with the elements of the mask computed; the other elements are not computed, as their gradients might be NaN."""
    shape, mask = np.shape(out), np.broadcast_to(values_of(mask), np.shape(out))
    chosen = [ops.getitem(ops.broadcast_to(x, shape), mask) for x in inputs]
    return ops.index_put(asarray(out), mask, operator(*chosen))


COMPOSED = {
    np.fabs: lambda x: ops.absolute(x),
    np.rint: lambda x: ops.round(x),
    np.float_power: lambda a, b: float_power(a, b),
    np.ldexp: lambda x, n: ops.multiply(x, ops.pow(2.0, n)),
    # Functions of newer NumPy versions than the oldest supported one.
    getattr(np, "matvec", None): lambda a, b: ops.matvec(a, b),
    getattr(np, "vecmat", None): lambda a, b: ops.vecmat(a, b),
}


def float_power(a, b):
    return ops.pow(doubled(a), doubled(b))


def doubled(x):
    x = asarray(x)
    return ops.astype(x, np.result_type(x.dtype, np.float64))


def reduce_(function, x, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    known = next((f for f, with_ in REDUCTIONS.items() if with_ is function), None)
    if known is not None:
        return call_function(known, (x,), dict(axis=axis, dtype=dtype, out=out and out[0], keepdims=keepdims, initial=initial)
                             | ({} if where is True else {"where": where}))  # fmt: skip
    if where is not True or dtype is not None:
        raise TypeError(f"np.{function.__name__}.reduce: where= and dtype= are not known for tensors")
    operator = universal_operators()[function]
    if axis is None or isinstance(axis, tuple):
        if axis is not None and len(axis) != 1:
            raise TypeError(f"np.{function.__name__}.reduce: one axis at a time, for tensors")
        axis = axis[0] if axis else 0
    parts = list(ops.unstack(asarray(x), axis))
    start = [] if initial is np._NoValue or initial is None else [initial]
    if not parts and not start:
        raise ValueError(f"np.{function.__name__}.reduce: an empty axis has no result")
    result = folded(operator, start + parts)[-1]
    result = ops.expand_dims(result, axis) if keepdims else result
    return result if out is None else write_into(out, result, f"np.{function.__name__}.reduce")


def folded(operator, parts):
    results = list(parts[:1])
    for part in parts[1:]:
        results.append(operator(results[-1], part))
    return results


def accumulate(function, x, axis=0, dtype=None, out=None):
    x = asarray(x) if dtype is None else converted(x, dtype, "same_kind", f"np.{function.__name__}.accumulate")
    if function in (np.add, np.multiply):
        result = (ops.cumsum if function is np.add else ops.cumprod)(x, axis)
    elif x.shape[axis] == 0:
        result = x
    else:
        result = ops.stack(folded(universal_operators()[function], list(ops.unstack(x, axis))), axis)
    return result if out is None else write_into(out, result, f"np.{function.__name__}.accumulate")


def reduceat(function, x, indices, axis=0, dtype=None, out=None):
    x = asarray(x) if dtype is None else converted(x, dtype, "same_kind", f"np.{function.__name__}.reduceat")
    indices = [int(i) for i in np.asarray(indices)]
    stops, before = [*indices[1:], x.shape[axis]], (slice(None),) * (axis % x.ndim)
    pieces = [ops.getitem(x, (*before, slice(start, stop if stop > start else start + 1))) for start, stop in zip(indices, stops)]
    result = ops.stack([reduce_(function, piece, axis) for piece in pieces], axis)
    return result if out is None else write_into(out, result, f"np.{function.__name__}.reduceat")


def outer(function, a, b, **keywords):
    a = asarray(a)
    return call_universal(function, "__call__", (ops.reshape(a, (*a.shape, *(1,) * np.ndim(b))), b), keywords)


def at(function, x, index, *value):
    """In place, with repeated indices applied in turn: all n-th occurrences of indices are written together."""
    if not isinstance(x, TensorBase):
        if any(isinstance(v, TensorBase) and holds_history(v) for v in value):
            write_into(x, value[0], f"np.{function.__name__}.at")
        function.at(x, index, *(values_of(v) for v in value))
        return
    places = np.arange(x.size).reshape(x.shape)[index]
    order = np.argsort(places, axis=None, kind="stable")
    ranked = places.ravel()[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]][: ranked.size])
    turns = np.empty(ranked.size, np.intp)
    turns[order] = np.arange(ranked.size) - np.repeat(starts, np.diff(np.r_[starts, ranked.size]))
    operator = universal_operators()[function]
    operands = [ops.reshape(ops.broadcast_to(v, places.shape), (-1,)) for v in value]
    for turn in range(turns.max(initial=-1) + 1):
        chosen = turns == turn
        where = np.unravel_index(places.ravel()[chosen], x.shape)
        x[where] = operator(ops.getitem(x, where), *(ops.getitem(v, chosen) for v in operands))


METHODS = {"reduce": reduce_, "accumulate": accumulate, "reduceat": reduceat, "outer": outer, "at": at}
