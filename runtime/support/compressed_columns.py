"""Compressed columns: the elements of a sparse matrix, and where they are; a pytree."""

from typing import Any

import numpy as np

from .pytree import KINDS, Attribute


class Directions:
    """The sums of unit vectors that a sparse matrix is computed from, as the rows of tensors; equal to no other."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tensors


class CompressedColumns:
    """The elements of a sparse matrix, column after column; a pytree whose only part is `data`.

    Attributes
    ----------
    data : Tensor
        The elements.
    indices : tuple of int
        The row of each element.
    indptr : tuple of int
        For each column the place of its first element, and last the number of elements.
    shape : tuple of int
    directions : Directions
    """

    def __init__(
        self, data: Any, indices: tuple[int, ...], indptr: tuple[int, ...], shape: tuple[int, ...], directions: Directions
    ) -> None:  # fmt: skip
        self.data, self.indices, self.indptr, self.shape, self.directions = data, indices, indptr, shape, directions

    def to_scipy(self) -> Any:
        """The matrix as a `scipy.sparse.csc_array`."""
        from scipy.sparse import csc_array

        return csc_array((np.array(self.data), self.indices, self.indptr), self.shape)


KINDS[CompressedColumns] = (
    lambda one: ([Attribute("data")], [one.data], (one.indices, one.indptr, one.shape, one.directions)),
    lambda rest, keys, items: CompressedColumns(*items, *rest),
)  # fmt: skip
