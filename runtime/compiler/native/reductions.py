"""Reductions, running sums and products of matrices, in a fixed order.

A sum has NumPy's order: in pairs along the axis of the smallest stride, and row after row otherwise.  A product of matrices adds
its terms one after the other.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .arrays import BOOL, FUNCTIONS, LONG, METHODS, UFUNCS, Array, called, chosen, compute, fresh, lift, scattered, store
from .loops import Access, Code, Unwritten, nested
from .spelling import TYPES, expression, number, suffix

STARTS = {"add": 0, "multiply": 1, "logical_or": False, "logical_and": True}
NAMES = (*STARTS, "maximum", "minimum", "fmax", "fmin")


def long_axes(axes: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in axes if shape[axis] > 1)


def reduced(
    name: str, x: Array, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:  # fmt: skip
    """`np.<name>.reduce`."""
    if name not in NAMES or where is not True:
        raise Unwritten(f"np.{name}.reduce has no C here")
    code = x.code
    if name.startswith("logical"):
        x = x if x.dtype == BOOL else called(code, np.not_equal, (x, 0))
    elif dtype is not None:
        x = x.astype(dtype)
    elif x.dtype.kind in "bi" and name in ("add", "multiply"):
        x = x.astype(LONG)
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else tuple(sorted(one % x.ndim for one in (axis if isinstance(axis, tuple) else (axis,)) if x.ndim))
    )
    kept = tuple(one for one in range(x.ndim) if one not in axes)
    shape, count = tuple(x.shape[one] for one in kept), prod(x.shape[one] for one in axes)
    y = fresh(code, shape, x.dtype)
    start = STARTS.get(name) if initial is None else initial
    if y.size and count:
        fold(code, name, x, axes, kept, y, initial, start)
    elif y.size:
        if start is None:
            raise Unwritten(f"np.{name} of no elements")
        store(y, start)
    return y.moved(np.reshape, tuple(1 if one in axes else size for one, size in enumerate(x.shape)) if keepdims else shape)


def fold(code: Code, name: str, x: Array, axes: tuple, kept: tuple, y: Array, initial: Any, start: Any) -> None:
    """The loops of a reduction."""
    source, target = x.access(x.shape), y.access(y.shape)
    strides = dict(zip(long_axes(range(x.ndim), x.shape), source.strides))
    axes, kept = long_axes(axes, x.shape), long_axes(kept, x.shape)
    word, kind = source.buffer.name, TYPES[x.dtype]
    nearest = min(strides, key=lambda one: (abs(strides[one]), -one), default=None)
    pairs: list[int] = []  # axes that are one row of memory, which is added in pairs
    if name == "add" and x.dtype.kind == "f" and nearest in axes and initial is None:
        pairs = [nearest]
        for one in reversed(axes):
            if one not in pairs and strides[one] == strides[pairs[0]] * x.shape[pairs[0]]:
                pairs.insert(0, one)
        code.functions.add(("sum", x.dtype))
    rest = tuple(one for one in axes if one not in pairs)
    first, here = (
        Access(source.buffer, at, tuple(strides[one] for one in some)) for at, some in ((source.first, kept), (0, rest))
    )
    if name == "add" and x.dtype.kind == "f" and initial is None:
        start = -0.0
    text = expression(name, x.dtype) if not name.startswith("logical") else "sum || {1}" if name == "logical_or" else "sum && {1}"

    def body(places: dict[Access, str]) -> list[str]:
        base = places[first][len(word) + 1 : -1]

        def each(inside: dict[Access, str]) -> list[str]:
            at = " + ".join(part for part in (base, inside[here][len(word) + 1 : -1]) if part != "0") or "0"
            if pairs:
                row = f"gs_sum{suffix(x.dtype)}({word} + {at}, {prod(x.shape[a] for a in pairs)}, {strides[nearest]})"
                return [f"sum = sum + {row};"] if rest else [f"{places[target]} = {row};"]
            return [f"const {kind} one = {word}[{at}];", f"sum = {text.format('sum', 'one')};"]

        if pairs and not rest:
            return each({here: f"{word}[0]"})
        begin = places[first] if start is None else number(start, x.dtype)
        around = nested(tuple(x.shape[one] for one in rest), [here], each, 8)
        return [f"{kind} sum = {begin};", *around, f"{places[target]} = sum;"]

    lines = nested(tuple(x.shape[one] for one in kept), [first, target], body)
    block = lines if kept else ["{", *(f"    {line}" for line in lines), "}"]
    order = (*kept, *rest, *pairs, *(one for one in range(x.ndim) if x.shape[one] == 1))
    index = np.transpose(x.index, order).reshape(max(y.size, 1), -1, prod(x.shape[one] for one in pairs))
    template = text.replace("sum", "{0}")

    def scalars(s: Any) -> None:
        for at, rows in zip(y.index.ravel().tolist(), index.tolist()):
            items = [s.sum([s.load(x.buffer, one) for one in row]) if pairs else s.load(x.buffer, row[0]) for row in rows]
            total = items[0] if start is None or pairs and not rest else s.literal(number(start, x.dtype), x.dtype)
            for one in [] if pairs and not rest else items[start is None :]:
                total = s.emit(template, x.dtype, [total, one])
            s.store(y.buffer, at, total)

    code.block(block, [source.buffer], [y.buffer], scalars)


def accumulated(name: str, x: Array, axis: int = 0, dtype: Any = None) -> Array:
    """`np.<name>.accumulate`: one after the other."""
    x = x if dtype is None else x.astype(dtype)
    if name not in ("add", "multiply") or x.dtype.kind != "f":
        raise Unwritten(f"np.{name}.accumulate of {x.dtype} has no C here")
    y = fresh(x.code, x.shape, x.dtype)
    source, to = x.moved(np.moveaxis, axis, 0), y.moved(np.moveaxis, axis, 0)
    if y.size:
        store(to[:1], source[:1])
    if y.size and len(to) > 1:
        here = to[1:].shape
        a, b, c = to[:-1].access(here), source[1:].access(here), to[1:].access(here)
        text = expression(name, x.dtype)
        lines = nested(
            tuple(size for size in here if size > 1), [a, b, c], lambda at: [f"{at[c]} = {text.format(at[a], at[b])};"]
        )
        x.code.block(lines, [a.buffer, b.buffer], [c.buffer])
    return y


def added_at(name: str, x: Array, key: Any, value: Any) -> None:
    """`np.add.at`: in order, so that repeated elements are added again."""
    if name != "add" or x.dtype.kind != "f":
        raise Unwritten(f"np.{name}.at has no C here")
    place = x[key]
    scattered(place, compute(x.code, "{0}", place.dtype, [value], fresh(x.code, place.shape, place.dtype)), "+=")


def outer(name: str, a: Any, b: Any) -> Array:
    a = a if type(a) is Array else lift(b.code, a)
    return called(a.code, getattr(np, name), (a.reshape(a.shape + (1,) * np.ndim(b)), b))


def product(code: Code, a: Any, b: Any, **others: Any) -> Array:
    """np.matmul."""
    if others.keys() - {"casting", "order", "subok"}:
        raise Unwritten(f"np.matmul with {', '.join(others)} has no C here")
    a, b = lift(code, a), lift(code, b)
    row, column = a.ndim == 1, b.ndim == 1
    a, b = a[None] if row else a, b[:, None] if column else b
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind != "f":
        raise Unwritten(f"np.matmul of {dtype} has no C here")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = *batch, a.shape[-2], a.shape[-1], b.shape[-1]
    y = fresh(code, (*batch, shape[-3], shape[-1]), dtype)
    code.products = max(code.products, prod(shape))
    if not prod(shape):
        store(y, 0)
    else:
        add_products(code, a.astype(dtype), b.astype(dtype), y, shape)
    return y[(..., *([0] if row else [slice(None)]), *([0] if column else [slice(None)]))]


def add_products(code: Code, a: Array, b: Array, y: Array, shape: tuple[int, ...]) -> None:
    """The loops of a product of matrices; the innermost one goes along memory."""
    given = a[..., :, :, None], b[..., None, :, :], y[..., :, None, :]
    p, q, sums = (one.access(shape) for one in given)
    steps = [dict(zip(long_axes(range(len(shape)), shape), one.strides)) for one in (p, q)]
    factors = [np.broadcast_to(np.swapaxes(one.index, -1, -2), (*shape[:-2], shape[-1], shape[-2])) for one in given[:2]]
    eight = False
    rows, terms, columns = range(len(shape) - 3, len(shape))
    if steps[0].get(terms) == steps[1].get(terms) == 1 and steps[1].get(columns) != 1:
        code.functions.add(("dot", y.dtype))
        eight = True
        first, second, target = (one[..., 0, :].access(shape[:-2] + shape[-1:]) for one in given)

        def body(at: dict[Access, str]) -> list[str]:
            return [f"{at[target]} = gs_dot{suffix(y.dtype)}(&{at[first]}, &{at[second]}, {shape[terms]});"]

        lines = nested(tuple(size for size in shape[:-2] + shape[-1:] if size > 1), [first, second, target], body)
    else:
        store(y, 0)
        if shape[-1] == 1 and steps[0].get(rows) == 1:  # terms, and then rows
            shape = *shape[:-3], shape[terms], shape[rows], 1
            p, q, sums = (one.moved(np.swapaxes, -3, -2).access(shape) for one in given)
        lines = nested(tuple(size for size in shape if size > 1), [p, q, sums], lambda at: [f"{at[sums]} += {at[p]} * {at[q]};"])

    def scalars(s: Any) -> None:
        for at, *both in zip(y.index.ravel().tolist(), *(one.reshape(y.size, -1).tolist() for one in factors)):
            pairs = [(s.load(a.buffer, one), s.load(b.buffer, other)) for one, other in zip(*both)]
            terms = [s.emit("{0} * {1}", y.dtype, [one, other]) for one, other in pairs]
            nothing, whole = s.literal(number(0, y.dtype), y.dtype), len(terms) // 8 * 8 if eight else 0
            total = s.eight([[nothing, *terms[k:whole:8]] for k in range(8)]) if whole else nothing
            for one in terms[whole:]:
                total = s.emit("{0} + {1}", y.dtype, [total, one])
            s.store(y.buffer, at, total)

    code.block(lines, [p.buffer, q.buffer, sums.buffer], [y.buffer], scalars)


def inner(code: Code, a: Any, b: Any, axis: int = -1) -> Array:
    """np.vecdot."""
    a, b = (lift(code, one).moved(np.moveaxis, axis, -1) for one in (a, b))
    return reduced("add", np.multiply(a, b), -1)


def halves(code: Code, x: Array) -> tuple[Array, Array]:
    """np.frexp."""
    y, power = fresh(code, x.shape, x.dtype), fresh(code, x.shape, np.int32)
    if y.size:
        a, b, c = (one.access(x.shape) for one in (x, y, power))

        def body(at: dict[Access, str]) -> list[str]:
            return ["int exponent = 0;", f"{at[b]} = frexp{suffix(x.dtype)}({at[a]}, &exponent);", f"{at[c]} = exponent;"]

        code.block(["{", *nested(long_shape(x), [a, b, c], body), "}"], [a.buffer], [b.buffer, c.buffer])
    return y, power


def long_shape(x: Array) -> tuple[int, ...]:
    return tuple(size for size in x.shape if size > 1)


# NumPy's functions.


def along(name: str) -> Any:
    """A function that reduces by a ufunc; its condition takes the branch for all numbers."""

    def function(
        x: Array,
        axis: Any = None,
        dtype: Any = None,
        *,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
        **others: Any,
    ) -> Array:
        if any(one is not None for one in others.values()):
            raise Unwritten(f"np.{name}.reduce with {', '.join(others)} has no C here")
        initial, where = (None if initial is np._NoValue else initial), (True if where is np._NoValue else where)
        y = reduced(name, x, axis, dtype, keepdims is True, initial, where)
        y.general = {"logical_or": True, "logical_and": False}.get(name)
        return y

    return function


def mean(x: Array, axis: Any = None, dtype: Any = None, **others: Any) -> Array:
    total = FUNCTIONS["sum"](x if x.dtype.kind == "f" else x.astype(float), axis, dtype=dtype, **others)
    return total / float(x.size // max(total.size, 1)) if total.size else total


def running(name: str) -> Any:
    return lambda x, axis=None, dtype=None: accumulated(name, x.moved(np.ravel) if axis is None else x, axis or 0, dtype)


def place_of(name: str) -> Any:
    """np.argmax or np.argmin: the first NaN, or the first extreme."""

    def function(x: Array, axis: Any = None, *, keepdims: Any = False) -> Array:
        places = np.arange(x.size).reshape(x.shape)
        if axis is not None and x.ndim:
            steps = np.arange(x.shape[axis]).reshape([-1 if one == axis % x.ndim else 1 for one in range(x.ndim)])
            places = np.broadcast_to(steps, x.shape)
        hit = np.logical_or(np.equal(x, reduced(name, x, axis, keepdims=True)), np.not_equal(x, x))
        return reduced("minimum", chosen(hit, lift(x.code, places), x.size), axis, keepdims=keepdims is True)

    return function


def contraction(a: Any, b: Any, axes: Any = 2) -> Array:
    """np.tensordot."""
    code = next(one.code for one in (a, b) if type(one) is Array)
    a, b = lift(code, a), lift(code, b)
    pair = (range(a.ndim - axes, a.ndim), range(axes)) if isinstance(axes, int) else [np.ravel(one).tolist() for one in axes]
    first, second = [one % a.ndim for one in pair[0]], [one % b.ndim for one in pair[1]]
    left, right = [one for one in range(a.ndim) if one not in first], [one for one in range(b.ndim) if one not in second]
    shape = [a.shape[one] for one in left] + [b.shape[one] for one in right]
    rows, columns = prod(a.shape[one] for one in left), prod(b.shape[one] for one in right)
    count = prod(a.shape[one] for one in first)
    y = product(code, a.transpose(left + first).reshape(rows, count), b.transpose(second + right).reshape(count, columns))
    return y.reshape(shape)


def dot(a: Any, b: Any) -> Array:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return np.matmul(a, b) if np.ndim(b) < 3 else contraction(a, b, ([-1], [-2]))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Array:
    """np.cross and np.linalg.cross, of vectors of three numbers."""
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    (a0, a1, a2), (b0, b1, b2) = (np.moveaxis(one, at, 0) for one, at in zip((a, b), axes))
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axes[2])


METHODS.update({"reduce": reduced, "accumulate": accumulated, "at": added_at, "outer": outer})
UFUNCS.update({"matmul": product, "vecdot": inner, "frexp": halves})
FUNCTIONS.update({
    "sum": along("add"), "prod": along("multiply"), "max": along("maximum"), "amax": along("maximum"), "min": along("minimum"),
    "amin": along("minimum"), "any": along("logical_or"), "all": along("logical_and"), "mean": mean, "cumsum": running("add"),
    "cumprod": running("multiply"), "argmax": place_of("maximum"), "argmin": place_of("minimum"), "dot": dot,
    "cross": cross,
    "tensordot": contraction, "outer": lambda a, b: np.multiply.outer(np.ravel(a), np.ravel(b)),
    "count_nonzero": lambda x, axis=None, *, keepdims=False: along("add")(np.not_equal(x, 0), axis, keepdims=keepdims),
})  # fmt: skip
