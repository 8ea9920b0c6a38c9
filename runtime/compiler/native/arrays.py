"""Arrays: the operands of a C function; the NumPy text of an operator runs on them once.

An array is a buffer and the positions of its elements there: NumPy's functions that move elements are applied to the positions.
Ufuncs become statements.  `reductions` and `functions` register the C of NumPy's other functions here.  A condition on numbers
takes the branch for all numbers: `any()` is true, and `all()` is false.  Independent of operators.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .loops import Access, Buffer, Code, Unwritten, access
from .spelling import OWN, TYPES, expression, literal, suffix

BOOL, LONG = np.dtype(bool), np.dtype(np.int64)
NUMBERS = (bool, int, float, np.generic)

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # NumPy's functions and methods that are registered
UFUNCS: dict[str, Callable[..., Any]] = {}  # ufuncs without a row of `spelling`
METHODS: dict[str, Callable[..., Any]] = {}  # reduce, accumulate, ...


class Like(type):
    """The class of a class that NumPy's arrays are instances of."""

    def __instancecheck__(cls, item: Any) -> bool:
        return type(item) is cls or isinstance(item, np.ndarray)


class Array(NDArrayOperatorsMixin, metaclass=Like):
    """An array of the function.  A text finds this class under the name `np.ndarray`.

    Attributes
    ----------
    index : ndarray of int
        The position of each element in the buffer.
    general : bool or None
        The branch that a condition takes; None for an array without one.
    triangle : str or None
        "tril" or "triu", which made the array.
    """

    general: bool | None = None
    triangle: str | None = None

    def __init__(self, code: Code, buffer: Buffer, index: np.ndarray) -> None:
        self.code, self.buffer, self.index = code, buffer, index

    shape = property(lambda self: self.index.shape)
    ndim = property(lambda self: self.index.ndim)
    size = property(lambda self: self.index.size)
    dtype = property(lambda self: self.buffer.dtype)
    itemsize = property(lambda self: self.buffer.dtype.itemsize)
    real, imag = property(lambda self: self), property(lambda self: np.zeros_like(self))
    T = property(lambda self: self.moved(np.transpose))
    flags = SimpleNamespace(c_contiguous=True, f_contiguous=False, forc=True, contiguous=True, aligned=True, writeable=True)

    @property
    def strides(self) -> tuple[int, ...]:
        found = access(self.buffer, self.index) if self.size else None
        if found is None:
            raise Unwritten("an array of scattered elements has no strides")
        rest = iter(found.strides)
        return tuple(next(rest) * self.itemsize if size > 1 else 0 for size in self.shape)

    def moved(self, function: Any, *args: Any, **keywords: Any) -> Array:
        """The array with NumPy's function applied to the positions."""
        return Array(self.code, self.buffer, np.asarray(function(self.index, *args, **keywords)))

    def access(self, shape: tuple[int, ...]) -> Access:
        """The elements that a loop over a shape visits; elements without common strides are copied first."""
        found = access(self.buffer, np.broadcast_to(self.index, shape))
        return found if found is not None else gathered(self).access(shape)

    def astype(self, dtype: Any, *args: Any, **keywords: Any) -> Array:
        return self if np.dtype(dtype) == self.dtype else compute(self.code, "{0}", np.dtype(dtype), [self])

    def copy(self, *args: Any) -> Array:
        return compute(self.code, "{0}", self.dtype, [self])

    def reshape(self, *shape: Any, **keywords: Any) -> Array:
        return self.moved(np.reshape, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Array:
        return self.moved(np.transpose, axes[0] if len(axes) == 1 else axes or None)

    def __getitem__(self, key: Any) -> Array:
        found = FUNCTIONS["getitem"](self, key)
        if found is not None:
            return found
        key = tuple(map(known, key)) if isinstance(key, tuple) else known(key)
        return Array(self.code, self.buffer, np.asarray(self.index[key]))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not FUNCTIONS["setitem"](self, key, value):
            store(self[key], value)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.general is None:
            raise Unwritten("it takes a branch by numbers that are computed")
        return self.general

    def unwritten(self, *args: Any, **keywords: Any) -> Any:
        raise Unwritten("Python reads numbers that are computed")

    __float__ = __int__ = __index__ = __complex__ = __array__ = item = tolist = sort = unwritten

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"the array method {name} has no C here")
        return lambda *args, **keywords: FUNCTIONS[name](self, *args, **keywords)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        if method == "__call__":
            return called(self.code, ufunc, inputs, out and out[0], **keywords)
        if method not in METHODS or out is not None:
            raise Unwritten(f"np.{ufunc.__name__}.{method} has no C here")
        if type(inputs[0]) is not Array and method != "outer":
            raise Unwritten("numbers that are computed change positions")
        return METHODS[method](ufunc.__name__, *inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, args: tuple, keywords: dict) -> Any:
        if function.__name__ in FUNCTIONS:
            return FUNCTIONS[function.__name__](*args, **keywords)
        module = function.__module__
        raise Unwritten(f"{'LAPACK, ' if 'linalg' in module else ''}{module}.{function.__name__} has no C here")


def known(item: Any) -> Any:
    """The numbers that choose elements, which an array of the function has if its buffer is a constant."""
    if type(item) is not Array:
        return item
    if item.buffer.place != "constant":
        raise Unwritten("elements are chosen by numbers that are computed")
    return item.buffer.data.ravel()[item.index]


def code_of(given: Any) -> Code:
    """The function that one of several arrays belongs to."""
    return next(one.code for one in given if type(one) is Array)


def fresh(code: Code, shape: tuple[int, ...], dtype: Any) -> Array:
    """A new array in C order."""
    size = prod(shape)
    return Array(code, code.buffer(np.dtype(dtype), size), np.arange(size).reshape(shape))


def lift(code: Code, item: Any, dtype: Any = None) -> Array:
    """An array or number as an array of the function."""
    if type(item) is Array:
        return item if dtype is None else item.astype(dtype)
    if isinstance(item, (list, tuple)) and any(type(part) is Array for part in item):
        return FUNCTIONS["stack"]([lift(code, part, dtype) for part in item], 0)
    data = np.asarray(item, dtype)
    return Array(code, code.constant(np.array(data, order="C")), np.arange(data.size).reshape(data.shape))


# Statements.


def operand(item: Any, dtype: np.dtype, shape: tuple[int, ...]) -> tuple[Access | str, str]:
    """An operand of a loop, its elements or its literal, and its conversion to the loop's dtype."""
    if type(item) is not Array:
        with np.errstate(all="ignore"):
            return literal(item, dtype), "{}"
    buffer = item.buffer
    if buffer.place == "constant" and buffer.size == 1:
        return literal(buffer.data.ravel()[0], dtype), "{}"
    if buffer.dtype.kind == "f" and dtype.kind == "i":
        raise Unwritten("floats become integers, which C leaves open for large ones")
    return item.access(shape), "{}" if buffer.dtype == dtype else f"(({TYPES[dtype]}) {{}})"


def compute(
    code: Code, text: str, dtype: np.dtype, operands: list[Any], into: Array | None = None, inputs: Any = None
) -> Array:  # fmt: skip
    """An elementwise statement; `inputs` are the dtypes that its operands are converted to."""
    shape = np.broadcast_shapes(*map(np.shape, operands)) if into is None else into.shape
    if dtype not in TYPES:
        raise Unwritten(f"an array of {dtype} has no type in C here")
    target = fresh(code, shape, dtype) if into is None else into
    if not target.size:
        return target
    place = access(target.buffer, target.index)
    if place is None:
        return scattered(target, compute(code, text, dtype, operands, fresh(code, shape, dtype), inputs))
    found = [operand(one, kind, shape) for one, kind in zip(operands, inputs or [dtype] * len(operands))]
    words = [cast.format(f"{{{i}}}") for i, (_, cast) in enumerate(found)]
    code.statement(shape, text.format(*words), dtype, [one for one, _ in found], inputs or [dtype] * len(operands), place)
    return target


def store(target: Array, value: Any) -> None:
    """Write numbers to elements of an array."""
    if type(target) is not Array:
        raise Unwritten("numbers that are computed change positions")
    if target.buffer.place == "constant":
        raise Unwritten("it writes to a constant")
    if type(value) is Array and value.buffer is target.buffer:
        value = value.copy()
    if np.ndim(value):
        value = lift(target.code, value)
        value = value.reshape(value.shape[max(value.ndim - target.ndim, 0) :])
    compute(target.code, "{0}", target.dtype, [value], target)


def positions_of(code: Code, index: np.ndarray) -> Buffer:
    """A table of positions."""
    return code.constant(np.array(index, np.int32, order="C").ravel())


def gathered(x: Array) -> Array:
    """A copy of elements without common strides, by a table of their positions."""
    y = fresh(x.code, x.shape, x.dtype)
    if not x.size:
        return y
    places = positions_of(x.code, x.index)
    line = f"for (long i0 = 0; i0 < {x.size}; i0++) {y.buffer.name}[i0] = {x.buffer.name}[{places.name}[i0]];"

    def scalars(s: Any) -> None:
        for k, at in enumerate(x.index.ravel().tolist()):
            s.store(y.buffer, k, s.load(x.buffer, at))

    x.code.block([line], [x.buffer, places], [y.buffer], scalars)
    return y


def scattered(target: Array, x: Array, sign: str = "=") -> Array:
    """Store or add elements at positions of a table, in order."""
    if not x.size:
        return target
    places = positions_of(x.code, target.index)
    line = f"for (long i0 = 0; i0 < {x.size}; i0++) {target.buffer.name}[{places.name}[i0]] {sign} {x.buffer.name}[i0];"

    def scalars(s: Any) -> None:
        for k, at in enumerate(target.index.ravel().tolist()):
            one = s.load(x.buffer, k)
            s.store(target.buffer, at, one if sign == "=" else s.emit("{0} + {1}", x.dtype, [s.load(target.buffer, at), one]))

    x.code.block([line], [x.buffer, places, target.buffer], [target.buffer], scalars)
    return target


# Ufuncs.


def kind_of(item: Any) -> Any:
    """The dtype of an operand, or the class of a Python number, which promotes weakly."""
    if isinstance(item, (bool, int, float, complex)) and not isinstance(item, np.generic):
        return BOOL if isinstance(item, bool) else type(item)
    return item.dtype if isinstance(item, (Array, np.generic)) else np.asarray(item).dtype


def called(
    code: Code, ufunc: np.ufunc, inputs: tuple, out: Any = None, *, where: Any = True, dtype: Any = None, **others: Any
) -> Any:  # fmt: skip
    """A call of a ufunc."""
    name = ufunc.__name__
    if name in UFUNCS:
        found = UFUNCS[name](code, *inputs, **others)
        return found if out is None else store(out, found) or out
    if others.keys() - {"casting", "order", "subok"}:
        raise Unwritten(f"np.{name} with {', '.join(others)} has no C here")
    inputs = tuple(lift(code, one) if isinstance(one, (list, tuple, np.ndarray)) else one for one in inputs)
    kinds = tuple(map(kind_of, inputs))
    asked = {} if dtype is None else {"signature": (*(None,) * ufunc.nin, np.dtype(dtype))}
    *wanted, result = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), **asked)[: ufunc.nin + 1]
    if ufunc.nout != 1 or ufunc.signature or any(one not in TYPES for one in (*wanted, result)) or len(set(wanted)) != 1:
        raise Unwritten(f"np.{name} of {', '.join(getattr(one, '__name__', str(one)) for one in kinds)} has no C here")
    text, exponent = expression(name, wanted[0]), inputs[-1]
    if name == "power" and isinstance(exponent, (int, float)) and exponent in (-1, 0, 1, 2):
        square = str(expression("multiply", wanted[0])).replace("{1}", "{0}")
        text = {-1: "1 / {0}", 0: "1", 1: "{0}", 2: square}[exponent]
    if text is None:
        raise Unwritten(f"np.{name} of {wanted[0]} has no C here")
    if wanted[0].kind == "i":
        if any(type(one) is int and not fits(one, wanted[0]) for one in inputs):  # NumPy compares them with all integers
            inputs = [
                one if type(one) is not int or fits(one, wanted[0]) else float("-inf" if one < 0 else "inf") for one in inputs
            ]
            return called(code, ufunc, tuple(inputs), out, where=where, dtype=dtype)
        inputs = tuple(
            one.astype(wanted[0]) if type(one) is Array else one for one in inputs
        )  # gcc warns of a comparison of a cast
    if name in OWN and wanted[0].kind == "f":
        code.functions.add((name, wanted[0]))
    found = compute(code, text, result, list(inputs), None, wanted)
    if out is None:
        return found
    store(out, found if where is True else chosen(where, found, out))
    return out


def fits(number: int, dtype: np.dtype) -> bool:
    """Whether a dtype of integers has a number."""
    return np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


def ldexp(code: Code, x: Any, power: Any, **others: Any) -> Array:
    x = lift(code, x)
    text = f"ldexp{suffix(x.dtype)}({{0}}, {{1}} > 9999 ? 9999 : {{1}} < -9999 ? -9999 : (int) {{1}})"
    return compute(code, text, x.dtype, [x, power], None, [x.dtype, LONG])


def chosen(mask: Any, a: Any, b: Any) -> Array:
    """np.where."""
    code = code_of((mask, a, b))
    dtype = np.result_type(*(one if isinstance(one, (bool, int, float)) else kind_of(one) for one in (a, b)))
    operands = [one if isinstance(one, NUMBERS) else lift(code, one) for one in (mask, a, b)]
    return compute(code, "{0} ? {1} : {2}", dtype, operands, None, [BOOL, dtype, dtype])


UFUNCS["ldexp"], FUNCTIONS["where"] = ldexp, chosen
