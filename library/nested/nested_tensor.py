"""NestedTensor: a batch of arrays with different lengths in PyTorch's jagged layout: all items in one array, with offsets.

Defines the class, its items, and the alignment of other operands.  All computations are operators of the spec on the array of all
items, so every mode and transform works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from . import answers, products, segments

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip
COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}


class NestedTensor:
    """A batch of arrays whose first axes have different lengths.

    `gs.nested.nested_tensor` and the other constructors of `gs.nested` create it. Its axes are the batch, the ragged axis, and
    the axes that all items share. Elementwise operators are methods and Python's operators, and NumPy's universal functions
    accept it.

    Parameters
    ----------
    values : Tensor
        (total, ...), the items one after the other.
    offsets : ndarray of intp
        (items + 1,), the start of each item, and the end of the last one.
    """

    __slots__ = ("_offsets", "_values")

    def __init__(self, values: Tensor, offsets: np.ndarray) -> None:
        self._values, self._offsets = values, offsets

    # Its parts.

    is_nested = True
    layout = "jagged"
    dtype = property(lambda self: self._values.dtype)
    ndim = property(lambda self: self._values.ndim + 1)
    requires_grad = property(lambda self: self._values.requires_grad)
    shape = property(lambda self: (len(self), None, *self._values.shape[1:]), doc="Lengths of the axes, None of the ragged one.")

    def values(self) -> Tensor:
        """(total, ...), the items one after the other, in the graph."""
        return self._values

    def offsets(self) -> Tensor:
        """(items + 1,), the start of each item, and the end of the last one."""
        return asarray(self._offsets)

    def lengths(self) -> Tensor:
        """(items,), the length of each item."""
        return asarray(np.diff(self._offsets))

    def size(self, dim: int | None = None) -> Any:
        """`shape`, or the length of one axis; the ragged axis has no length."""
        if dim is None:
            return self.shape
        if dim % self.ndim == 1:
            raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size; write nt.lengths()")
        return self.shape[dim]

    @property
    def grad(self) -> NestedTensor | None:
        """The gradient of the values, nested in the same way."""
        grad = self._values.grad
        return None if grad is None else NestedTensor(grad, self._offsets)

    def requires_grad_(self, requires_grad: bool = True) -> NestedTensor:
        """Let the values receive gradients."""
        self._values.requires_grad_(requires_grad)
        return self

    def detach(self) -> NestedTensor:
        """The same items without a history."""
        return NestedTensor(self._values.detach(), self._offsets)

    def map_values(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> NestedTensor:
        """Apply a function to the rows of all items; it must process each row independently.

        Parameters
        ----------
        function : callable
            Takes (total, ...) as its first argument, and returns the same number of rows.
        *args, **keywords
            Further arguments of the function.

        Examples
        --------
        >>> nt = gs.nested.nested_tensor([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
        >>> nt.map_values(gs.nn.layer_norm, (2,)).shape
        (2, None, 2)
        """
        values = asarray(function(self._values, *args, **keywords))
        if values.shape[:1] != self._values.shape[:1]:
            raise ValueError(f"map_values: of {self._values.shape[0]} rows the function made an array of shape {values.shape}")
        return NestedTensor(values, self._offsets)

    # Its items.

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The items, as views of the values."""
        if dim % self.ndim:
            raise RuntimeError(f"unbind: a nested tensor is taken apart along axis 0 alone, got {dim}")
        return tuple(self._values[start:stop] for start, stop in zip(self._offsets[:-1], self._offsets[1:]))

    def chunk(self, chunks: int, axis: int = 0) -> list[NestedTensor]:
        """The items in at most `chunks` groups of equal size, except for the last; along shared axes use `gs.chunk`."""
        if axis % self.ndim:
            return ops.chunk(self, chunks, axis)
        size = max(1, -(-len(self) // chunks))
        return [self[start : start + size] for start in range(0, len(self), size)]

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"index {index} is out of range for {len(self)} items")
            start = int(index) % len(self)
            return self._values[self._offsets[start] : self._offsets[start + 1]]
        if isinstance(index, tuple):
            raise TypeError("a nested tensor is indexed by items alone, nt[i], nt[2:5] or nt[[0, 3]]; write nt[i][j]")
        items = np.arange(len(self))[np.asarray(asarray(index).detach().numpy()) if not isinstance(index, slice) else index]
        lengths = np.diff(self._offsets)[items]
        return NestedTensor(ops.take(self._values, ranges(self._offsets[items], lengths), 0), offsets_of(lengths))

    def tolist(self) -> list[Any]:
        """The items as nested lists of numbers."""
        return [item.tolist() for item in self]

    def to_padded_tensor(self, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
        """The items as a dense array, with `padding` behind the shorter ones.

        Parameters
        ----------
        padding : float
        output_size : sequence of int, optional
            The whole shape; by default the ragged axis has the length of the longest item.

        Returns
        -------
        Tensor

        Raises
        ------
        RuntimeError
            `output_size` is too small.
        """
        lengths = np.diff(self._offsets)
        shape = (len(self), int(lengths.max(initial=0)), *self._values.shape[1:])
        size = shape if output_size is None else tuple(output_size)
        if len(size) != len(shape) or any(wanted < needed for wanted, needed in zip(size, shape)):
            raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported: "
                               f"{size} where {shape} is needed")  # fmt: skip
        places = ranges(np.arange(len(self)) * shape[1], lengths)
        flat = ops.full((shape[0] * shape[1], *shape[2:]), padding, dtype=self.dtype)
        padded = ops.reshape(ops.index_copy(flat, 0, places, self._values), shape)
        if size == shape:
            return padded
        return ops.index_put(ops.full(size, padding, dtype=self.dtype), tuple(map(slice, shape)), padded)

    # Elementwise operators.

    def lifted(self, name: str, operator: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> NestedTensor:
        """Apply an elementwise operator to the values of the operands, aligned to `self`."""
        return NestedTensor(operator(*(self.aligned(name, arg) for arg in args), **keywords), self._offsets)

    def aligned(self, name: str, other: Any) -> Any:
        """The part of an operand that corresponds to each row of the values."""
        if isinstance(other, NestedTensor):
            if not np.array_equal(other._offsets, self._offsets) or other.ndim != self.ndim:
                raise RuntimeError(
                    f"cannot call binary pointwise function {name} with inputs of shapes {self.shape} and {other.shape}, of "
                    f"lengths {self.lengths().tolist()} and {other.lengths().tolist()}"
                )
            return other._values
        if not isinstance(other, (Tensor, np.ndarray, list, tuple)):
            return other
        other = asarray(other)
        if other.ndim < self.ndim - 1:
            return other
        if other.ndim == self.ndim and other.shape[0] in (1, len(self)) and other.shape[1] == 1:
            return ops.take(ops.squeeze(other, 1), self.item_of_rows() if other.shape[0] > 1 else [0], 0)
        if other.ndim == self.ndim - 1 and other.shape[0] == 1:
            return other
        raise RuntimeError(
            f"{name}: an array of shape {other.shape} does not broadcast to the nested tensor of shape {self.shape}: it has to "
            "be of length 1 along the ragged axis; write gs.nested.narrow for a padded array"
        )

    def item_of_rows(self) -> np.ndarray:
        """The item of each row of the values."""
        return np.repeat(np.arange(len(self)), np.diff(self._offsets))

    def __gradspec_function__(self, function: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> Any:
        """Called by gradspec's functions if an operand is nested: `answers` dispatches them."""
        return answers.answer(function, args, keywords)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and answers.takes(name) and hasattr(Tensor, name):
            return lambda *args, **keywords: answers.answer(getattr(ops, name), (self, *args), keywords)
        raise AttributeError(
            f"a nested tensor has no attribute {name!r}; elementwise operators, sum, mean, prod, max, min, softmax, log_softmax "
            "and @ are there; write nt.map_values(f) if f computes each row alone, or use the list nt.unbind()"
        )

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **keywords: Any) -> NestedTensor:
        if method != "__call__" or keywords.get("out") is not None or function.signature is not None:
            raise TypeError(f"np.{function.__name__}: a nested tensor takes ufuncs only as plain calls without out=; "
                            "write nt.values() otherwise")  # fmt: skip
        nested = next(value for value in inputs if isinstance(value, NestedTensor))
        return nested.lifted(function.__name__, function, inputs, keywords)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("a nested tensor does not become an array by itself; write nt.to_padded_tensor(0.0), or nt.values()")

    def __bool__(self) -> bool:
        raise RuntimeError("Boolean value of a nested tensor is ambiguous")

    def __neg__(self) -> NestedTensor:
        return self.map_values(ops.negative)

    def __abs__(self) -> NestedTensor:
        return self.map_values(ops.absolute)

    def __invert__(self) -> NestedTensor:
        return self.map_values(ops.bitwise_not)

    def astype(self, dtype: npt.DTypeLike) -> NestedTensor:
        """The same items in another dtype."""
        return self.map_values(ops.astype, dtype)

    def clone(self) -> NestedTensor:
        """The same items with a copy of the values."""
        return self.map_values(ops.copy)

    # Reductions along axes, and products: `segments` and `products` compute them.

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Sums over everything, along the ragged axis (dense), or along axes that all items share (nested)."""
        return segments.reduced(self, "sum", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Means, as `sum`; NaN for an item without rows."""
        return segments.reduced(self, "mean", axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Products, as `sum`."""
        return segments.reduced(self, "prod", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Maxima, as `sum`; equal ones share the gradient."""
        return segments.reduced(self, "max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Minima, as `sum`; equal ones share the gradient."""
        return segments.reduced(self, "min", axis, keepdims)

    amax, amin = max, min

    def softmax(self, axis: int) -> NestedTensor:
        """Softmax along the ragged axis, within each item, or along an axis that all items share."""
        return segments.softmax(self, axis)

    def log_softmax(self, axis: int) -> NestedTensor:
        """Logarithm of `softmax`."""
        return segments.log_softmax(self, axis)

    @property
    def mT(self) -> products.Transposed:
        """Each item transposed; only for use as an operand of a product."""
        return products.Transposed(self)

    def __matmul__(self, other: Any) -> Any:
        return products.matmul(self, other)

    def __repr__(self) -> str:
        grad = f", grad_fn={self._values.grad_fn}" if self._values.grad_fn else ", requires_grad=True" * self.requires_grad
        return f"NestedTensor(shape={self.shape}, lengths={self.lengths().tolist()}, dtype={self.dtype}{grad})"


def _operator(name: str, reflected: bool = False) -> Callable[[NestedTensor, Any], Any]:
    def method(self: NestedTensor, other: Any) -> Any:
        return self.lifted(name, getattr(ops, name), (other, self) if reflected else (self, other), {})

    return method


for _special, _name in (OPERATORS | COMPARISONS).items():
    setattr(NestedTensor, f"__{_special}__", _operator(_name))
    if _special in OPERATORS:
        setattr(NestedTensor, f"__r{_special}__", _operator(_name, reflected=True))
NestedTensor.__hash__ = object.__hash__  # type: ignore[method-assign]


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Consecutive integers from each start on, `lengths` of them, as one array."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """The start of each item, for items of the given lengths, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
