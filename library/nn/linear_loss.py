"""The cross entropy of the logits of a linear layer.

Checks the shapes of a loss with many positions, and computes large batches in groups of examples, to bound the memory of the
logits. The product and the loss are operators.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import gradspec

from .. import _nn
from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["linear_cross_entropy"]
__dir__ = __all__.copy


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
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of the logits `linear(x, linear_weight, linear_bias)`.

    Parameters
    ----------
    x : array_like
        (examples, features), or one example.
    linear_weight : array_like
        (classes, ..., features): for each position along the axes between them, the choice of a class.
    target : array_like
        Classes, (examples, ...), or their probabilities, (examples, classes, ...).
    linear_bias : array_like, optional
        (classes, ...).
    weight, reduction
        As for `cross_entropy`.
    ignore_index : int, optional
        A class that is not counted, if `target` has class indices; -100 by default.
    label_smoothing : float
        As for `cross_entropy`.
    options : LinearCrossEntropyOptions, optional
        The number of examples whose logits are computed at a time; a group's logits are computed again for its gradients.  None
        computes all logits at once.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.linear_cross_entropy([[1.0, 0.0]], [[0.0, 0.0], [0.0, 5.0]], [1])
    tensor(0.69314718)
    """
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
    soft = target.shape == (*x.shape[:-1], *shape)
    if ignore_index is not None and soft:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    flat, summands = ops.reshape(rows, (-1, rows.shape[-1])), None if bias is None else ops.reshape(bias, (-1,))

    def loss(x: Any, target: Any, flat: Any, summands: Any, reduction: str) -> Any:
        logits = ops.reshape(_nn.linear(x, flat, summands), (*x.shape[:-1], *shape))
        return _nn.cross_entropy(logits, target, weight, reduction, ignore_index=ignored, label_smoothing=label_smoothing)

    if options is None or x.ndim == 1:
        return loss(x, target, flat, summands, reduction)
    checkpoint = gradspec.utils.checkpoint.checkpoint
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    size = options.examples_at_once(*x.shape, shape[0])
    if options.acc_dtype is not None:
        x, flat, summands = (value if value is None else ops.astype(value, options.acc_dtype) for value in (x, flat, summands))
    each = "none" if reduction == "none" else "sum"
    parts = [checkpoint(loss, x[at : at + size], target[at : at + size], flat, summands, each, use_reentrant=False)
             for at in range(0, x.shape[0], size)]  # fmt: skip
    if reduction == "none":
        return ops.astype(ops.concat(parts), rows.dtype)
    total = ops.sum(ops.stack(parts))
    if reduction == "mean":
        total = total / (x.shape[0] * math.prod(shape[1:]) if soft else _counted(target, weight, ignored, total.dtype))
    return ops.astype(total, rows.dtype)


def _counted(target: Any, weight: Any, ignored: int, dtype: Any) -> Any:
    """The sum of the class weights of all counted examples: the divisor of the mean loss."""
    known = target != ignored
    rates = 1.0 if weight is None else ops.astype(ops.take(asarray(weight), ops.where(known, target, 0)), dtype)
    return ops.sum(ops.where(known, rates, ops.astype(ops.zeros_like(target), dtype)))
