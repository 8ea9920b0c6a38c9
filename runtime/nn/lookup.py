"""embedding with PyTorch's arguments for training: a row that is not trained, rows that are shortened, gradients by frequency.

Owns what these change: rows of the weight in place, and the gradient; the rows themselves are taken by the operator of the spec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _nn
from ..core.grad_mode import no_grad
from ..core.operand import asarray
from ..engine.function import Function
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


class _Weighed(Function):
    """What it is given; its gradient is multiplied by factors, and is 0 where these are."""

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


@answering
def embedding(
    indices: Tensor | npt.ArrayLike,
    weight: Tensor | npt.ArrayLike,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of `weight`.

    Parameters
    ----------
    indices : array_like of int
        Which row, for each place of the result.
    weight : array_like
        A row for each index.
    padding_idx : int, optional
        A row that gets no gradient, counted from the end where it is negative.
    max_norm : float, optional
        Rows that are taken and longer than this are shortened in `weight`, in place, without being recorded.
    norm_type : float
        Order of the norm that `max_norm` is about.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by how often `indices` has it.

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
        return _nn.embedding(indices, weight)
    weight = asarray(weight)
    places, count = np.asarray(asarray(indices).detach().numpy()), weight.shape[0]
    if padding_idx is not None and not -count <= padding_idx < count:
        raise ValueError(f"embedding: padding_idx {padding_idx} is not one of the {count} rows")
    if max_norm is not None:
        _shorten(weight, np.unique(places), max_norm, norm_type)
    rows, places = _nn.embedding(indices, weight), places % max(count, 1)
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


def __dir__() -> list[str]:
    return ["embedding"]
