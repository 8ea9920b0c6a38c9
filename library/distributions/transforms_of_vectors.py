"""Transforms whose values have axes: of vectors and matrices, of parts of an axis, and of shapes.

Defines the transforms of PyTorch's names that mix numbers, or that apply others to parts of a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..support.dispatch import ops
from . import constraints
from .numbers import alias, sum_last
from .transform import Transform


class IndependentTransform(Transform):
    """A transform whose last batch axes belong to one value: the determinant is summed over them.

    Parameters
    ----------
    base_transform : Transform
    reinterpreted_batch_ndims : int
        How many axes, counted from the last.
    cache_size : int
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size) if cache_size else base_transform
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    sign = alias("base_transform.sign")

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_last(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self.base_transform.inverse_shape(shape)

    def _state(self) -> Any:
        return self.base_transform, self.reinterpreted_batch_ndims

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last axes, of shape `in_shape`, as axes of shape `out_shape`.

    Parameters
    ----------
    in_shape, out_shape : tuple of int
    cache_size : int
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError(f"in_shape, out_shape have different numbers of elements: {self.in_shape} and {self.out_shape}")

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return ops.reshape(x, self.forward_shape(x.shape))

    def _inverse(self, y: Any) -> Any:
        return ops.reshape(y, self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return ops.zeros(x.shape[: x.ndim - len(self.in_shape)], dtype=x.dtype)

    def _moved(self, shape: Sequence[int], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
        cut = len(shape) - len(old)
        if cut < 0 or tuple(shape[cut:]) != old:
            raise ValueError(f"Shape mismatch: expected {old} at the end, got {tuple(shape)}")
        return tuple(shape[:cut]) + new

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._moved(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._moved(shape, self.out_shape, self.in_shape)

    def _state(self) -> Any:
        return self.in_shape, self.out_shape


class SoftmaxTransform(Transform):
    """A vector to the simplex by softmax; the inverse is the logarithm.  Not bijective: it has no Jacobian determinant.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return ops.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return ops.log(y)


class StickBreakingTransform(Transform):
    """A vector of n numbers to the simplex of n + 1: each number breaks a part from the rest of a stick of length 1.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _logits(self, x: Any) -> Any:
        return x - ops.log(ops.arange(x.shape[-1], 0, -1, dtype=x.dtype))

    def _call(self, x: Any) -> Any:
        x = self._logits(x)
        rests = ops.cumsum(-ops.logaddexp(0.0, x), -1)  # logarithms of the rest of the stick
        last = ops.exp(rests[..., -1:])
        before = ops.concat([ops.zeros_like(rests[..., :1]), rests[..., :-1]], -1)
        return ops.concat([ops.exp(before - ops.logaddexp(0.0, -x)), last], -1)

    def _inverse(self, y: Any) -> Any:
        rests = ops.flip(ops.cumsum(ops.flip(y, -1), -1), -1)[..., 1:]
        x = ops.log(y[..., :-1]) - ops.log(rests)
        return x + ops.log(ops.arange(x.shape[-1], 0, -1, dtype=x.dtype))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return ops.sum(ops.log(y[..., :-1]) - ops.logaddexp(0.0, self._logits(x)), -1)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """A square matrix to a lower triangle with a positive diagonal, which is the exponential of x's.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return ops.tril(x, -1) + ops.diag_embed(ops.exp(ops.diagonal(x, 0, -2, -1)))

    def _inverse(self, y: Any) -> Any:
        return ops.tril(y, -1) + ops.diag_embed(ops.log(ops.diagonal(y, 0, -2, -1)))


class PositiveDefiniteTransform(Transform):
    """A square matrix to L L^T, with L its `LowerCholeskyTransform`.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        low = LowerCholeskyTransform()(x)
        return low @ ops.mT(low)

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(ops.cholesky(y))


class CorrCholeskyTransform(Transform):
    """A vector of d (d - 1) / 2 numbers to the Cholesky factor of a d x d correlation matrix.

    The numbers are the part below the diagonal, row by row; the tanh of each is a partial correlation.  See Lewandowski,
    Kurowicka and Joe, Generating random correlation matrices based on vines and extended onion method, 2009.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky

    def _size(self, count: int) -> int:
        size = (1 + math.isqrt(1 + 8 * count)) // 2
        if size * (size - 1) // 2 != count:
            raise ValueError(f"the size of the input must be d * (d - 1) / 2 for a whole number d, got {count}")
        return size

    def _call(self, x: Any) -> Any:
        size = self._size(x.shape[-1])
        rows, start = [], 0
        for k in range(size):
            part = x[..., start : start + k]
            start += k
            logs = -_log_cosh(part)  # log(sqrt(1 - tanh(x)^2)): logarithms of the rest of a row of length 1
            rests = ops.exp(ops.concat([ops.zeros((*x.shape[:-1], 1), dtype=x.dtype), ops.cumsum(logs, -1)], -1))
            heads = ops.concat([ops.tanh(part), ops.ones((*x.shape[:-1], 1), dtype=x.dtype)], -1)
            rows.append(ops.concat([heads * rests, ops.zeros((*x.shape[:-1], size - k - 1), dtype=x.dtype)], -1))
        return ops.stack(rows, -2)

    def _inverse(self, y: Any) -> Any:
        parts = []
        for k in range(1, y.shape[-1]):
            row = y[..., k, : k + 1]
            squares = ops.flip(ops.cumsum(ops.flip(row * row, -1), -1), -1)  # of the rest of the row
            parts.append(ops.asinh(row[..., :-1] / ops.sqrt(squares[..., 1:])))
        return ops.concat(parts, -1) if parts else ops.zeros((*y.shape[:-2], 0), dtype=y.dtype)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total = ops.zeros(x.shape[:-1], dtype=x.dtype)
        start = 0
        for k in range(1, self._size(x.shape[-1])):
            # The number at place j scales itself by 1 - tanh^2, and each of the k - 1 - j behind it by the square root of that.
            powers = ops.arange(k + 1, 1, -1, dtype=x.dtype)
            total = total - ops.sum(powers * _log_cosh(x[..., start : start + k]), -1)
            start += k
        return total

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        size = self._size(shape[-1])
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        if shape[-1] != shape[-2]:
            raise ValueError(f"Input is not square: {tuple(shape)}")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _log_cosh(x: Any) -> Any:
    return ops.logaddexp(x, -x) - math.log(2)


class _Parts(Transform):
    """Transforms of parts of a tensor."""

    transforms: list[Transform]
    dim: int
    _constraint: Any

    def _each(self, *tensors: Any, method: str) -> list[Any]:
        parts = zip(*(self._split(tensor) for tensor in tensors))
        return [_METHODS[method](transform, *part) for transform, part in zip(self.transforms, parts)]

    def _split(self, tensor: Any) -> Any:
        raise NotImplementedError

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self._constraint([transform.domain for transform in self.transforms])

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return self._constraint([transform.codomain for transform in self.transforms])


_METHODS: dict[str, Any] = {
    "call": lambda transform, x: transform(x),
    "inverse": lambda transform, y: transform.inv(y),
    "jacobian": lambda transform, x, y: transform.log_abs_det_jacobian(x, y),
}


class CatTransform(_Parts):
    """Transforms of consecutive parts of an axis.

    Parameters
    ----------
    tseq : sequence of Transform
    dim : int
        The axis.
    lengths : sequence of int, optional
        The length of each part, by default 1.
    cache_size : int
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = [part.with_cache(cache_size) for part in tseq], dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"CatTransform: {len(self.transforms)} transforms, but {len(self.lengths)} lengths")
        self.bijective = all(part.bijective for part in self.transforms)

    def _constraint(self, parts: Any) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _split(self, tensor: Any) -> Any:
        if tensor.shape[self.dim] != sum(self.lengths):
            raise ValueError(
                f"CatTransform: axis {self.dim} has {tensor.shape[self.dim]} elements, but lengths are {self.lengths}"
            )
        return ops.split(tensor, [sum(self.lengths[:k]) for k in range(1, len(self.lengths))], self.dim)

    def _call(self, x: Any) -> Any:
        return ops.concat(self._each(x, method="call"), self.dim)

    def _inverse(self, y: Any) -> Any:
        return ops.concat(self._each(y, method="inverse"), self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self._each(x, y, method="jacobian")
        rank = self.domain.event_dim
        found = [sum_last(one, rank - part.domain.event_dim) for one, part in zip(found, self.transforms)]
        dim = self.dim - x.ndim if self.dim >= 0 else self.dim
        if dim + rank < 0:
            return ops.concat(found, dim + rank)
        total = found[0]
        for one in found[1:]:
            total = total + one
        return total


class StackTransform(_Parts):
    """A transform for each index of an axis.

    Parameters
    ----------
    tseq : sequence of Transform
    dim : int
        The axis.
    cache_size : int
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = [part.with_cache(cache_size) for part in tseq], dim
        self.bijective = all(part.bijective for part in self.transforms)

    def _constraint(self, parts: Any) -> Any:
        return constraints.stack(parts, self.dim)

    def _split(self, tensor: Any) -> Any:
        if tensor.shape[self.dim] != len(self.transforms):
            raise ValueError(f"StackTransform: axis {self.dim} has {tensor.shape[self.dim]} elements, but there are "
                             f"{len(self.transforms)} transforms")  # fmt: skip
        return ops.unstack(tensor, axis=self.dim)

    def _call(self, x: Any) -> Any:
        return ops.stack(self._each(x, method="call"), self.dim)

    def _inverse(self, y: Any) -> Any:
        return ops.stack(self._each(y, method="inverse"), self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return ops.stack(self._each(x, y, method="jacobian"), self.dim)
