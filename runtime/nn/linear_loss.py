"""The cross entropy of what a linear layer gives.

Owns the shapes of a loss of many positions; the product and the loss are operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _nn
from ..core.operand import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


@answering
def linear_cross_entropy(
    x: Tensor | npt.ArrayLike,
    linear_weight: Tensor | npt.ArrayLike,
    target: Tensor | npt.ArrayLike,
    *,
    linear_bias: Tensor | npt.ArrayLike | None = None,
    weight: Tensor | npt.ArrayLike | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Tensor:
    """`cross_entropy` of the logits `linear(x, linear_weight, linear_bias)`.

    Parameters
    ----------
    x : array_like
        (examples, features), or one example.
    linear_weight : array_like
        (classes, ..., features): of each position between them, a choice of a class.
    target : array_like
        Classes, (examples, ...), or their probabilities, (examples, classes, ...).
    linear_bias : array_like, optional
        (classes, ...).
    weight, reduction, label_smoothing
        As of `cross_entropy`.
    ignore_index : int, optional
        A class that is not counted, where `target` has classes; -100 by default.
    options : None
        Nothing: the logits are computed whole.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.linear_cross_entropy([[1.0, 0.0]], [[0.0, 0.0], [0.0, 5.0]], [1])
    tensor(0.69314718)
    """
    if options is not None:
        raise TypeError("linear_cross_entropy: there are no options, for the logits are computed whole; leave them out")
    x, rows, target = asarray(x), asarray(linear_weight), asarray(target)
    if x.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {x.ndim}")
    if rows.ndim < 2 or x.shape[-1] != rows.shape[-1]:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got shapes "
                           f"{x.shape} and {rows.shape}")  # fmt: skip
    shape = rows.shape[:-1]
    bias = None if linear_bias is None else asarray(linear_bias)
    if bias is not None and bias.shape != shape:
        raise RuntimeError(f"expected linear_bias shape {shape}, got {bias.shape}")
    if len(shape) > 1 and x.ndim == 1:
        raise RuntimeError(f"K-dimensional loss of linear_weight shape {rows.shape} requires batched input, got {x.shape}")
    logits: Any = _nn.linear(x, ops.reshape(rows, (-1, rows.shape[-1])), None if bias is None else ops.reshape(bias, (-1,)))
    logits = ops.reshape(logits, (*x.shape[:-1], *shape))
    if ignore_index is not None and target.shape == logits.shape:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    return _nn.cross_entropy(
        logits, target, weight, reduction, ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )  # fmt: skip


def __dir__() -> list[str]:
    return ["linear_cross_entropy"]
