"""Bags of embeddings, and the triplet loss with a user's distance.

Assigns rows to bags; sums and distances are operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import _nn
from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering
from .lookup import embedding

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["embedding_bag", "triplet_margin_with_distance_loss"]
__dir__ = __all__.copy


@answering
def embedding_bag(
    indices: Tensor | npt.ArrayLike,
    weight: Tensor | npt.ArrayLike,
    offsets: Tensor | npt.ArrayLike | None = None,
    mode: str = "mean",
    per_sample_weights: Tensor | npt.ArrayLike | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    sparse: bool = False,
    *,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Sums, means or maxima of the rows of `weight` in each bag.

    Parameters
    ----------
    indices : array_like of int
        One bag in each row; or one vector, with the start of each bag in `offsets`.
    weight : array_like
        (number of embeddings, components).
    offsets : array_like of int, optional
    mode : {'mean', 'sum', 'max'}
    per_sample_weights : array_like, optional
        Factor of each row, if `mode` is 'sum'; of the shape of `indices`.
    include_last_offset : bool
        Whether the last of `offsets` is the end of the last bag.
    padding_idx : int, optional
        An index that does not count.
    sparse, max_norm, norm_type
        As for `embedding`.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by the number of its occurrences in `indices`; not supported if `mode` is 'max'.

    Returns
    -------
    Tensor
        (number of bags, components); zeros for an empty bag.

    Examples
    --------
    >>> gs.nn.embedding_bag([[0, 1], [1, 1]], [[1.0, 2.0], [3.0, 6.0]])
    tensor([[2., 4.],
            [3., 6.]])
    """
    if mode not in ("mean", "sum", "max"):
        raise ValueError(f"embedding_bag: mode must be 'mean', 'sum' or 'max', got {mode!r}")
    if per_sample_weights is not None and mode != "sum":
        raise ValueError("embedding_bag: per_sample_weights are for mode='sum'")
    if scale_grad_by_freq and mode == "max":
        raise ValueError("embedding_bag: does not support scaling the gradient by the frequency if mode is 'max'")
    weight, places = asarray(weight), asarray(indices).detach().numpy()
    if places.dtype.kind not in "iu" or places.ndim not in (1, 2):
        raise TypeError("embedding_bag: indices must be integers in rows, or a vector of them")
    if (places.ndim == 1) != (offsets is not None):
        raise ValueError("embedding_bag: offsets are for a vector of indices, which wants them")
    if offsets is None:
        count, bag = len(places), np.repeat(np.arange(len(places)), places.shape[1])
    else:
        begins = asarray(offsets).detach().numpy()
        if begins.ndim != 1 or begins.dtype.kind not in "iu" or begins[:1].any() or (np.diff(begins) < 0).any():
            raise ValueError("embedding_bag: offsets must be integers from 0 that do not fall")
        count = len(begins) - include_last_offset
        bag = np.searchsorted(begins[:count], np.arange(places.size), "right") - 1
    places = places.ravel()
    if padding_idx is not None:
        padding_idx %= weight.shape[0]
    kept = np.flatnonzero(places != padding_idx) if padding_idx is not None else np.arange(places.size)
    places, bag = places[kept], bag[kept]
    if max_norm is not None:
        embedding(indices, weight.detach(), None, max_norm, norm_type)  # called only to shorten the rows
    rows = embedding(places, weight, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
    if mode == "max":
        most = ops.index_reduce(ops.full((count, weight.shape[1]), -np.inf, dtype=rows.dtype), 0, bag, rows, "amax")
        return ops.where(np.isin(np.arange(count), bag)[:, None], most, 0.0)
    if per_sample_weights is not None:
        factors = ops.reshape(asarray(per_sample_weights), (-1,))
        rows = rows * ops.expand_dims(ops.take(factors, kept), -1)
    total = ops.index_add(ops.zeros((count, weight.shape[1]), dtype=rows.dtype), 0, bag, rows)
    sizes = np.maximum(np.bincount(bag, minlength=count), 1)[:, None]
    return total / sizes.astype(total.dtype) if mode == "mean" else total


@answering
def triplet_margin_with_distance_loss(
    anchor: Tensor | npt.ArrayLike,
    positive: Tensor | npt.ArrayLike,
    negative: Tensor | npt.ArrayLike,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """The distance to the positive minus the distance to the negative, plus `margin`, clamped at 0.

    Parameters
    ----------
    anchor, positive, negative : array_like
        Vectors along the last axis.
    distance_function : callable, optional
        The distance of two arrays of vectors; `pairwise_distance` by default.
    margin : float
        Required difference of the distances.
    swap : bool
        Whether to use the distance from the positive to the negative if it is smaller than the distance from the anchor.
    reduction : {'mean', 'sum', 'none'}

    Returns
    -------
    Tensor
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"triplet_margin_with_distance_loss: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    distance = _nn.pairwise_distance if distance_function is None else distance_function
    anchor, positive, negative = asarray(anchor), asarray(positive), asarray(negative)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    loss = ops.clip(near - far + margin, 0)
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss) if reduction == "sum" else loss
