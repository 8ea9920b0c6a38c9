"""gumbel_softmax with a draw that is rounded to one class, whose gradient is that of the soft one.

Owns the rounding; the soft draw is the operator of the spec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _nn
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


@answering
def gumbel_softmax(
    x: Tensor | npt.ArrayLike, tau: float = 1.0, hard: bool = False, axis: int = -1, *, eps: float = 1e-10, generator: Any = None
) -> Tensor:
    """A differentiable draw of one of the classes whose logits are `x`: softmax of (x + Gumbel noise) / tau.

    Parameters
    ----------
    x : array_like
        Logits.
    tau : float
        Temperature; the lower it is, the nearer to 1 the largest number.
    hard : bool
        Whether the result is 1 for the class drawn and 0 for the others; its derivative is that of the soft one.
    axis : int
        Axis along which the classes lie.
    eps : float
        Nothing, as in PyTorch.
    generator : numpy.random.Generator or int, optional
        Where the random numbers come from, or a seed.

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
    # What is added is exactly 0, and carries the derivative.
    return ops.moveaxis(ops.astype(drawn, soft.dtype), -1, axis) + (soft - flat)


def __dir__() -> list[str]:
    return ["gumbel_softmax"]
