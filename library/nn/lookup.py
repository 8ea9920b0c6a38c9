"""embedding with PyTorch's arguments: an untrained row, shortened rows, gradients by frequency, and gradients kept as rows.

Shortens rows of the weight in place, and computes the gradient; the operator of the spec takes the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _nn
from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled, no_grad
from ..core.leaf_gradient import may_wait, put_off_rows
from ..engine.engine import runs_everything
from ..engine.function import Function
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..transforms.batching.level_tensor import LevelTensor

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["embedding"]
__dir__ = __all__.copy


class _Weighed(Function):
    """The identity; its gradient is multiplied by factors, and is 0 where a factor is 0."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, rows: Tensor, factors: np.ndarray) -> Tensor:
        ctx.factors = factors
        return ops.copy(rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return ops.where(ctx.factors == 0, 0, grad * ctx.factors), None

    @staticmethod
    def jvp(ctx: Any, rows_t: Tensor, _: None) -> Tensor:
        return ops.where(ctx.factors == 0, 0, rows_t * ctx.factors)


class _Taken(Function):
    """Rows of a leaf.  Its gradient is kept as rows until an array is needed."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, places: np.ndarray) -> Tensor:
        ctx.weight, ctx.places = weight, places
        return ops.take(weight, places, 0)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None]:
        weight, places = ctx.weight, ctx.places
        if runs_everything() and not is_grad_enabled():
            rows = grad.detach().numpy().reshape(-1, *weight.shape[1:])
            if put_off_rows(weight, places.ravel(), rows.copy()):
                return None, None
        whole = ops.zeros(weight.shape, dtype=grad.dtype)
        return ops.index_add(whole, 0, places.ravel(), ops.reshape(grad, (-1, *weight.shape[1:]))), None

    @staticmethod
    def jvp(ctx: Any, weight_t: Tensor, _: None) -> Tensor:
        return ops.take(weight_t, ctx.places, 0)


def taken(indices: Tensor | npt.ArrayLike, weight: Tensor | npt.ArrayLike, sparse: bool) -> Tensor:
    """Rows of a weight; with `sparse`, its gradient is kept as these rows if the weight is a leaf outside all transforms."""
    if not sparse or isinstance(weight, LevelTensor) or not may_wait(weight):
        return _nn.embedding(indices, weight)
    assert isinstance(weight, Tensor)
    places, count = np.asarray(asarray(indices).detach().numpy()), weight.shape[0]
    if places.dtype.kind not in "iu" or places.size and not -count <= places.min() <= places.max() < count:
        return _nn.embedding(indices, weight)  # which raises the error
    return _Taken.apply(weight, places.astype(np.intp) % max(count, 1))


@answering
def embedding(
    indices: Tensor | npt.ArrayLike,
    weight: Tensor | npt.ArrayLike,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight`.

    Parameters
    ----------
    indices : array_like of int
        The row for each place of the result.
    weight : array_like
        One row for each index.
    padding_idx : int, optional
        A row without gradient; counted from the end if negative.
    max_norm : float, optional
        Limit of the norm: used rows with a larger norm are shortened in `weight`, in place, without being recorded.
    norm_type : float
        Order of the norm for `max_norm`.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by the number of its occurrences in `indices`.
    sparse : bool
        Whether `backward()` keeps the gradient of `weight`, if that is a leaf, as the rows that were used.  `SparseAdam`, and
        `SGD` without momentum and `Adagrad`, both without weight decay, update these rows alone.  Reading `weight.grad` returns
        an array, as do `grad()`, `inputs=`, recorded passes, hooks of the weight, transforms and compiled calls.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> weight = gs.tensor([[1.0], [2.0]], requires_grad=True)
    >>> gs.nn.embedding([1, 1, 0], weight, padding_idx=0).sum().backward()
    >>> weight.grad
    tensor([[0.],
            [2.]])
    """
    if padding_idx is None and max_norm is None and not scale_grad_by_freq:
        return taken(indices, weight, sparse)
    weight = asarray(weight)
    places, count = np.asarray(asarray(indices).detach().numpy()), weight.shape[0]
    if padding_idx is not None and not -count <= padding_idx < count:
        raise ValueError(f"embedding: padding_idx {padding_idx} is not one of the {count} rows")
    if max_norm is not None:
        _shorten(weight, np.unique(places), max_norm, norm_type)
    rows, places = taken(indices, weight, sparse), places % max(count, 1)
    factors = np.ones(places.shape, weight.dtype)
    if scale_grad_by_freq:
        factors /= np.bincount(places.ravel(), minlength=count)[places]
    if padding_idx is not None:
        factors[places == padding_idx % count] = 0
    return _Weighed.apply(rows, factors[..., None])


def _shorten(weight: Tensor, places: np.ndarray, longest: float, order: float) -> None:
    with no_grad():
        rows = weight[places]
        norms = ops.vector_norm(rows, order, -1, True)
        weight[places] = ops.where(norms > longest, rows * (longest / (norms + 1e-7)), rows)
