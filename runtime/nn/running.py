"""batch_norm with running statistics, which it writes to as PyTorch's does.

Owns what becomes of the buffers; the function itself is the operator of the spec.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from .. import _nn
from ..generated.tensor import Tensor
from ..grad_mode import no_grad
from ..hints import of_call
from ..operand import asarray

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

P = ParamSpec("P")
R = TypeVar("R")


def _answering(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which says what to write where a call does not fit, as those of the spec do."""

    @functools.wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the function was not entered
                raise TypeError(of_call(error, function)) from None
            raise

    return answered


@_answering
def batch_norm(
    x: Tensor | npt.ArrayLike,
    running_mean: Tensor | npt.ArrayLike | None = None,
    running_var: Tensor | npt.ArrayLike | None = None,
    weight: Tensor | npt.ArrayLike | None = None,
    bias: Tensor | npt.ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Each channel less its mean, divided by the root of its variance plus eps.

    Parameters
    ----------
    x : array_like
        The array, channels along axis 1.
    running_mean, running_var : Tensor or ndarray or None
        Mean and variance of each channel, taken where not `training`. Where `training`, those of the batch are taken, and these
        move towards them in place, without being recorded; the variance of the batch counts as that of a sample, over n - 1.
    weight, bias : array_like or None
        Factor and summand of each channel.
    training : bool
    momentum : float
        How far the running ones move: 0 not at all, 1 all the way.
    eps : float
        Added to the variance.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> mean, var = gs.zeros(1), gs.ones(1)
    >>> gs.nn.batch_norm([[1.0], [5.0]], mean, var, training=True, momentum=0.5, eps=0.0)
    tensor([[-1.],
            [ 1.]])
    >>> mean, var
    (tensor([1.5]), tensor([4.5]))
    """
    if training:
        batch = asarray(x).detach().numpy()
        axes = tuple(axis for axis in range(batch.ndim) if axis != 1)
        for name, buffer in (("running_mean", running_mean), ("running_var", running_var)):
            if buffer is not None and not isinstance(buffer, (Tensor, np.ndarray)):
                got = type(buffer).__name__
                raise TypeError(f"batch_norm: {name} is written to and must be a Tensor or an ndarray, got {got}")
        if running_var is not None and batch.size == batch.shape[1]:
            raise ValueError("batch_norm: expected more than 1 value per channel when training with a running variance")
    y = _nn.batch_norm(x, running_mean, running_var, weight, bias, training, eps=eps)
    if training:
        with no_grad():
            if running_mean is not None:
                _move(running_mean, batch.mean(axes), momentum)
            if running_var is not None:
                _move(running_var, batch.var(axes, ddof=1), momentum)
    return y


def _move(buffer: Tensor | npt.ArrayLike, towards: np.ndarray, momentum: float) -> None:
    """The buffer, a part `momentum` of the way towards what a batch says."""
    assert isinstance(buffer, (Tensor, np.ndarray))
    buffer *= 1 - momentum
    buffer += momentum * towards


def __dir__() -> list[str]:
    return ["batch_norm"]
