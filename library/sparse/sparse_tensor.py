"""SparseTensor: a matrix with some stored elements; these are a Tensor, and have gradients.

Defines the class, its arithmetic and its conversions to dense arrays.  Elements stored twice at one place are summed.  A product
is an operator of the spec, all else consists of operators on the stored values, so every mode and transform works.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

NUMBERS = (bool, int, float, complex, np.number, np.bool_)


class SparseTensor:
    """A matrix with some stored elements; all others are zero.

    `gs.sparse.coo`, `gs.sparse.csr` and `gs.sparse.from_scipy` construct it.  The places are fixed; gradients go to the stored
    values and to dense operands, never to a place that is not stored.

    Parameters
    ----------
    values : Tensor
        (e,), the stored elements.
    rows, columns : ndarray of intp
        (e,), their places, each inside the shape.
    shape : tuple of int
        Two lengths.
    layout : {'coo', 'csr'}
        PyTorch's and SciPy's name of the format; the elements of 'csr' are in row order.
    coalesced : bool
        Whether the elements are in the order of their places, and no place is stored twice.
    """

    __array_ufunc__ = None  # an ndarray on the left of an operator leaves the operation to this class
    __slots__ = ("_columns", "_coalesced", "_rows", "_values", "layout", "shape")

    def __init__(
        self, values: Tensor, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], layout: str = "coo",
        coalesced: bool = False,
    ) -> None:  # fmt: skip
        self._values, self._rows, self._columns = values, rows, columns
        self.shape, self.layout, self._coalesced = shape, layout, coalesced

    # The stored elements.

    ndim = 2
    is_sparse = property(lambda self: self.layout == "coo")
    dtype = property(lambda self: self._values.dtype)
    size = property(lambda self: math.prod(self.shape))
    nnz = property(lambda self: len(self._rows))
    requires_grad = property(lambda self: self._values.requires_grad)

    def values(self) -> Tensor:
        """(e,), the stored elements, in the graph."""
        return self._values

    def indices(self) -> Tensor:
        """(2, e), the rows and the columns of the stored elements."""
        return asarray(np.stack([self._rows, self._columns]))

    def crow_indices(self) -> Tensor:
        """(m + 1,), the start of each row of a 'csr', and the end of the last row."""
        self._is_csr("crow_indices")
        return asarray(np.searchsorted(self._rows, np.arange(self.shape[0] + 1)))

    def col_indices(self) -> Tensor:
        """(e,), the columns of the elements of a 'csr'."""
        self._is_csr("col_indices")
        return asarray(self._columns)

    def _is_csr(self, name: str) -> None:
        if self.layout != "csr":
            raise RuntimeError(f"{name} expected sparse row compressed tensor layout, got {self.layout}; write A.to_sparse_csr()")

    def is_coalesced(self) -> bool:
        """Whether the elements are in the order of their places, and no place is stored twice."""
        return self._coalesced

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient of the stored values, at their places."""
        grad = self._values.grad
        return None if grad is None else self.with_values(grad)

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Let the stored values receive gradients."""
        self._values.requires_grad_(requires_grad)
        return self

    def detach(self) -> SparseTensor:
        """The same elements without a history."""
        return self.with_values(self._values.detach())

    def with_values(self, values: Tensor | npt.ArrayLike) -> SparseTensor:
        """A matrix with other values at the same places.

        Parameters
        ----------
        values : array_like
            (e,)

        Examples
        --------
        >>> A = gs.sparse.coo([1.0, 4.0], ([0, 1], [1, 0]), (2, 2))
        >>> A.with_values(gs.sqrt(A.values())).to_dense()
        tensor([[0., 1.],
                [2., 0.]])
        """
        values = asarray(values)
        if values.shape != self._values.shape:
            raise ValueError(f"with_values: {self.nnz} elements are stored, got values of shape {values.shape}")
        return SparseTensor(values, self._rows, self._columns, self.shape, self.layout, self._coalesced)

    # Other forms.

    def coalesce(self) -> SparseTensor:
        """The same matrix with its elements in the order of their places, and no place stored twice."""
        if self._coalesced:
            return self
        places, inverse = np.unique(self._flat(), return_inverse=True)
        values = ops.index_add(ops.zeros(len(places), dtype=self.dtype), 0, inverse, self._values)
        rows, columns = np.divmod(places, max(self.shape[1], 1))
        return SparseTensor(values, rows, columns, self.shape, self.layout, True)

    def _flat(self) -> np.ndarray:
        return self._rows * self.shape[1] + self._columns

    def to_sparse_csr(self) -> SparseTensor:
        """The same matrix, coalesced, by rows."""
        A = self.coalesce()
        return SparseTensor(A._values, A._rows, A._columns, A.shape, "csr", True)

    def to_sparse_coo(self) -> SparseTensor:
        """The same matrix in the 'coo' layout."""
        return SparseTensor(self._values, self._rows, self._columns, self.shape, "coo", self._coalesced)

    def to_dense(self) -> Tensor:
        """The matrix as a dense tensor, in the graph."""
        flat = ops.zeros(self.size, dtype=self.dtype)
        return ops.reshape(ops.index_add(flat, 0, self._flat(), self._values), self.shape)

    def to_scipy(self) -> Any:
        """A `scipy.sparse` array with the same elements: `csr_array` or `coo_array`.

        Raises
        ------
        RuntimeError
            The values have a history or a tangent, which would be lost; write ``A.detach().to_scipy()``.
        """
        import scipy.sparse as sp

        A = sp.coo_array((self._values.numpy(), (self._rows, self._columns)), shape=self.shape)
        return A.tocsr() if self.layout == "csr" else A

    def astype(self, dtype: npt.DTypeLike) -> SparseTensor:
        """The same places with values in another dtype."""
        return self.with_values(ops.astype(self._values, dtype))

    def clone(self) -> SparseTensor:
        """The same places with a copy of the values."""
        return self.with_values(ops.copy(self._values))

    copy = clone

    def transpose(self, *axes: int) -> SparseTensor:
        """Rows and columns exchanged, as by ``transpose(0, 1)`` in PyTorch and ``transpose()`` in SciPy."""
        if axes and sorted(axis_of("transpose", axis) for axis in axes) != [0, 1]:
            raise ValueError(f"transpose: a sparse matrix has the axes 0 and 1, got {axes}")
        return SparseTensor(self._values, self._columns, self._rows, self.shape[::-1])

    t = transpose
    T = mT = property(lambda self: self.transpose())
    H = mH = property(lambda self: self.conj().transpose())

    def conj(self) -> SparseTensor:
        """The conjugate."""
        return self.with_values(ops.conj(self._values))

    # Arithmetic.

    def __neg__(self) -> SparseTensor:
        return self.with_values(-self._values)

    def __pos__(self) -> SparseTensor:
        return self

    def __abs__(self) -> SparseTensor:
        A = self.coalesce()
        return A.with_values(ops.absolute(A._values))

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        other = known(other)
        return NotImplemented if other is NotImplemented else add(self, -other)

    def __rsub__(self, other: Any) -> Any:
        return add(-self, other)

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        other = known(other)
        if other is NotImplemented:
            return NotImplemented
        if isinstance(other, SparseTensor):
            raise TypeError("a quotient of two sparse matrices is NaN wherever neither is stored; write a.to_dense() / b")
        return self._with_factors(other, ops.divide)

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError("a quotient by a sparse matrix is infinite wherever nothing is stored; write x / A.to_dense()")

    def __pow__(self, other: Any) -> Any:
        raise TypeError("write A.with_values(A.coalesce().values() ** p) for the stored elements, or A.to_dense() ** p")

    def __matmul__(self, other: Any) -> Any:
        other = known(other)
        return NotImplemented if other is NotImplemented else matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        other = known(other)
        return NotImplemented if other is NotImplemented else matmul(other, self)

    def multiply(self, other: Any) -> SparseTensor:
        """The elementwise product, at the stored places.

        Parameters
        ----------
        other : array_like, SparseTensor or scipy.sparse array
            A number, or a matrix, a row or a column that broadcasts to this shape.
        """
        other = known(other)
        if other is NotImplemented:
            return NotImplemented
        if not isinstance(other, SparseTensor):
            return self._with_factors(other, ops.multiply)
        if other.shape != self.shape:
            raise ValueError(f"multiply: inconsistent shapes {self.shape} and {other.shape}")
        a, b = self.coalesce(), other.coalesce()
        _, left, right = np.intersect1d(a._flat(), b._flat(), assume_unique=True, return_indices=True)
        values = ops.take(a._values, left) * ops.take(b._values, right)
        return SparseTensor(values, a._rows[left], a._columns[left], self.shape, self.layout, True)

    def _with_factors(self, other: Any, operator: Any) -> SparseTensor:
        """Apply an operator to the stored values and the elements of a dense operand at their places."""
        if isinstance(other, NUMBERS):
            return self.with_values(operator(self._values, other))
        shape = (1,) * (2 - other.ndim) + other.shape
        if len(shape) != 2 or any(size not in (1, own) for size, own in zip(shape, self.shape)):
            raise ValueError(f"an operand of shape {other.shape} does not broadcast to the sparse matrix of shape {self.shape}")
        places = (self._rows if shape[0] > 1 else 0) * shape[1] + (self._columns if shape[1] > 1 else 0)
        at_places = ops.take(ops.reshape(other, (-1,)), np.broadcast_to(places, self._rows.shape))
        return self.with_values(operator(self._values, at_places))

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Sums over everything, or along an axis, as a dense array.

        Parameters
        ----------
        axis : int, optional
        keepdims : bool
        """
        if axis is None:
            total = ops.sum(self._values)
            return ops.reshape(total, (1, 1)) if keepdims else total
        axis = axis_of("sum", axis)
        start = ops.zeros(self.shape[1 - axis], dtype=self.dtype)
        total = ops.index_add(start, 0, self._columns if axis == 0 else self._rows, self._values)
        return ops.expand_dims(total, axis) if keepdims else total

    def diagonal(self) -> Tensor:
        """The elements on the main diagonal, with zeros where nothing is stored."""
        found = np.flatnonzero(self._rows == self._columns)
        start = ops.zeros(min(self.shape), dtype=self.dtype)
        return ops.index_add(start, 0, self._rows[found], ops.take(self._values, found))

    def trace(self) -> Tensor:
        """The sum of the diagonal."""
        return ops.sum(self.diagonal())

    # Unsupported operations.

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("a sparse matrix does not become a dense array by itself; write A.to_dense(), or A.to_scipy()")

    def __getitem__(self, index: Any) -> Any:
        raise TypeError("a sparse matrix has no items here; write A.to_dense()[index], or pick among A.indices() and A.values()")

    def __iter__(self) -> Any:
        self[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a sparse matrix is ambiguous; write A.nnz > 0 if that is meant")

    def __repr__(self) -> str:
        grad = f", grad_fn={self._values.grad_fn}" if self._values.grad_fn else ", requires_grad=True" * self.requires_grad
        return f"SparseTensor(shape={self.shape}, nnz={self.nnz}, dtype={self.dtype}, layout={self.layout}{grad})"


def axis_of(name: str, axis: int) -> int:
    """One of the two axes, counted from the front."""
    if not -2 <= axis < 2:
        raise IndexError(f"{name}: axis {axis} is not one of the 2 axes of a sparse matrix")
    return axis % 2


def known(other: Any) -> Any:
    """An operand of a sparse matrix: a number, a SparseTensor or a Tensor; NotImplemented if it is not convertible to one."""
    if isinstance(other, (SparseTensor, Tensor, *NUMBERS)):
        return other
    if isinstance(other, (np.ndarray, list, tuple)):
        return asarray(other)
    if type(other).__module__.startswith("scipy.sparse"):
        return of_scipy(other)
    return NotImplemented


def of_scipy(array: Any) -> SparseTensor:
    """A copy of the stored elements of a `scipy.sparse` array or matrix, which may be modified before a backward pass."""
    if array.ndim != 2:
        raise ValueError(f"gs.sparse has matrices alone, got a sparse array of shape {array.shape}")
    if array.format in ("csr", "csc"):
        count = array.indptr[-1]  # the arrays may be longer than the stored elements
        along = np.repeat(np.arange(len(array.indptr) - 1), np.diff(array.indptr))
        places, data = (along, array.indices[:count].astype(np.intp)), array.data[:count]
        rows, columns = places if array.format == "csr" else places[::-1]
    else:
        found = array.tocoo()
        rows, columns, data = found.row.astype(np.intp), found.col.astype(np.intp), found.data
    return SparseTensor(ops.copy(asarray(data)), rows, columns, array.shape, "csr" if array.format == "csr" else "coo")


def add(a: SparseTensor, other: Any) -> Any:
    """The sum of a sparse matrix and another sparse matrix, or a dense array; a sum with a dense array is dense."""
    other = known(other)
    if other is NotImplemented:
        return NotImplemented
    if isinstance(other, NUMBERS):
        if other == 0:
            return a
        raise TypeError("adding a nonzero scalar to a sparse matrix is not supported: all elements would be stored; "
                        "write A.to_dense() + number")  # fmt: skip
    if not isinstance(other, SparseTensor):
        return a.to_dense() + other
    if other.shape != a.shape:
        raise ValueError(f"add: inconsistent shapes {a.shape} and {other.shape}")
    values = ops.concat([a._values, other._values])
    places = (np.concatenate(pair) for pair in ((a._rows, other._rows), (a._columns, other._columns)))
    return SparseTensor(values, *places, a.shape).coalesce()


def matmul(a: Any, b: Any) -> Any:
    """The product of two matrices, at least one of them sparse, or of a sparse matrix and a vector."""
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        return _sparse_product(a, b)
    sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
    if isinstance(dense, NUMBERS) or dense.ndim == 0:
        raise ValueError("matmul: a scalar cannot be an operand of @; write * instead")
    if sparse is b:  # x @ A, as the transpose of A.T @ x.T
        sparse, dense = sparse.T, ops.mT(dense) if dense.ndim > 1 else dense
    if dense.shape[-2 if dense.ndim > 1 else -1] != sparse.shape[1]:
        raise ValueError(f"matmul: dimension mismatch of the shapes {a.shape} and {b.shape}")
    columns = dense if dense.ndim > 1 else ops.expand_dims(dense, -1)
    y = ops.coo_matmul(sparse._values, sparse._rows, sparse._columns, columns, sparse.shape[0])
    if dense.ndim == 1:
        return ops.squeeze(y, -1)
    return y if a is sparse else ops.mT(y)


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """a @ b: each element of `a` is multiplied with the elements of `b` in the row of its column."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch of the shapes {a.shape} and {b.shape}")
    order = np.argsort(b._rows, kind="stable")
    begins = np.searchsorted(b._rows[order], np.arange(b.shape[0] + 1))
    counts = np.diff(begins)[a._columns]
    left = np.repeat(np.arange(a.nnz), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = order[begins[a._columns[left]] + within]
    values = ops.take(a._values, left) * ops.take(b._values, right)
    return SparseTensor(values, a._rows[left], b._columns[right], (a.shape[0], b.shape[1])).coalesce()
