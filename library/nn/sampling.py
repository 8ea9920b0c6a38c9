"""gumbel_softmax with hard samples: rounded to one class, with the gradient of the soft sample.

Rounds the sample; the soft sample is the operator of the spec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _nn
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["gumbel_softmax"]
__dir__ = __all__.copy


@answering
def gumbel_softmax(
    x: Tensor | npt.ArrayLike, tau: float = 1.0, hard: bool = False, axis: int = -1, *, eps: float = 1e-10, generator: Any = None
) -> Tensor:
    """A differentiable sample of one class from the logits `x`: softmax of (x + Gumbel noise) / tau.

    Parameters
    ----------
    x : array_like
        Logits.
    tau : float
        Temperature; the lower it is, the closer the largest number is to 1.
    hard : bool
        Whether the result is 1 for the sampled class and 0 for the others, with the derivative of the soft sample.
    axis : int
        Axis of the classes.
    eps : float
        Without effect, as in PyTorch.
    generator : numpy.random.Generator or int, optional
        Source of the random numbers, or a seed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.gumbel_softmax([0.0, 100.0, 0.0], hard=True)
    tensor([0., 1., 0.])
    """
    soft = _nn.gumbel_softmax(x, tau, axis=axis, generator=generator)
    if not hard:
        return soft
    flat = soft.detach()
    drawn = ops.arange(flat.shape[axis]) == ops.expand_dims(ops.argmax(flat, axis), -1)
    # The summand is exactly 0, but has the derivative.
    return ops.moveaxis(ops.astype(drawn, soft.dtype), -1, axis) + (soft - flat)
