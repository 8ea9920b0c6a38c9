"""batch_norm and instance_norm that update running statistics in place, as in PyTorch.

Updates the buffers; the functions themselves are operators of the spec.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from .. import _nn
from ..core.conversion import asarray
from ..core.grad_mode import is_inference_mode_enabled, no_grad
from ..core.non_operator_events import array_of
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering
from ..transforms.batching.batched import innermost, is_other, is_row
from ..transforms.batching.level_tensor import whole_of

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["batch_norm", "instance_norm"]
__dir__ = __all__.copy


@answering
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
    """Each channel minus its mean, divided by the root of its variance plus eps.

    Parameters
    ----------
    x : array_like
        The array, channels along axis 1.
    running_mean, running_var : Tensor or ndarray or None
        Mean and variance of each channel, used unless `training`.  In training, the statistics of the batch are used instead, and
        the running ones move towards them in place, without being recorded; the variance is then the sample variance, over n - 1.
    weight, bias : array_like or None
        Factor and summand of each channel.
    training : bool
    momentum : float
        The weight of the batch in the running statistics: 0 keeps them, 1 replaces them.
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
    x = asarray(x)
    _check_running("batch_norm", running_mean, running_var, x.shape, training)
    y = _nn.batch_norm(x, running_mean, running_var, weight, bias, training, eps=eps)
    if training and not (running_mean is None and running_var is None):
        _move("batch_norm", running_mean, running_var, x, (0, *range(2, x.ndim)), momentum)
    return y


@answering
def instance_norm(
    x: Tensor | npt.ArrayLike,
    running_mean: Tensor | npt.ArrayLike | None = None,
    running_var: Tensor | npt.ArrayLike | None = None,
    weight: Tensor | npt.ArrayLike | None = None,
    bias: Tensor | npt.ArrayLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Each channel of an example minus its mean, divided by the root of its variance plus eps.

    Parameters
    ----------
    x, running_mean, running_var, weight, bias
        As for `batch_norm`.
    use_input_stats : bool
        Whether the statistics of each example are used, and the running ones move towards their averages; else the running ones are.
    momentum, eps : float
        As for `batch_norm`.

    Returns
    -------
    Tensor
        Has the shape of `x`.

    Examples
    --------
    >>> mean = gs.zeros(1)
    >>> gs.nn.instance_norm([[[1.0, 5.0]]], mean, momentum=0.5, eps=0.0)
    tensor([[[-1.,  1.]]])
    >>> mean
    tensor([1.5])
    """
    x = asarray(x)
    _check_running("instance_norm", running_mean, running_var, x.shape, use_input_stats)
    y = _nn.instance_norm(x, running_mean, running_var, weight, bias, use_input_stats, eps=eps)
    if use_input_stats and not (running_mean is None and running_var is None):
        _move("instance_norm", running_mean, running_var, x, tuple(range(2, x.ndim)), momentum)
    return y


def _check_running(op: str, mean: object, var: object, shape: tuple[int, ...], written: bool) -> None:
    """Refuse missing or read-only buffers, before either is written to."""
    if len(shape) < 2:
        raise ValueError(f"{op}: x must have a batch axis and a channel axis, got shape {tuple(shape)}")
    if not written:
        if mean is None or var is None:
            raise ValueError(f"{op}: running_mean and running_var are needed if the statistics are not computed from x")
        return
    for name, buffer in (("running_mean", mean), ("running_var", var)):
        if buffer is None:
            continue
        if not isinstance(buffer, (Tensor, np.ndarray)):
            raise TypeError(f"{op}: {name} is written to and must be a Tensor or an ndarray, got {type(buffer).__name__}")
        if buffer.shape != shape[1:2]:
            raise ValueError(f"{op}: {name} must have a number for each of {shape[1]} channels, got shape {tuple(buffer.shape)}")
        if buffer.dtype.kind != "f":
            raise TypeError(f"{op}: {name} must be floating-point, got {buffer.dtype}")
        whole = whole_of(buffer)
        array = array_of(whole) if isinstance(whole, Tensor) else whole
        if not array.flags.writeable:
            raise ValueError(f"{op}: {name} is written to and must not be read-only")
        if isinstance(buffer, Tensor) and buffer.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError(f"{op}: {name} is an inference tensor, which cannot be written to outside inference_mode")


def _move(op: str, mean: object, var: object, batch: Tensor, axes: tuple[int, ...], momentum: float) -> None:
    """Move the buffers by the fraction `momentum` towards the statistics along `axes`; an empty batch has no effect."""
    count = math.prod(batch.shape[axis] for axis in axes)
    if var is not None and count == 1:
        raise ValueError(f"{op}: expected more than 1 value per channel when training with a running variance")
    if batch.size == 0:
        return
    with no_grad():
        moved = []
        statistics = (("running_mean", mean, ops.mean), ("running_var", var, functools.partial(ops.var, correction=1)))
        for name, buffer, statistic in statistics:
            if buffer is not None:
                held, found = asarray(buffer), statistic(batch, axes)
                towards = found if found.ndim == 1 else ops.mean(found, 0)
                moved.append((held, (1 - momentum) * held + momentum * towards))
                _check_mapped(op, name, *moved[-1])
        for held, value in moved:
            held[...] = value


def _check_mapped(op: str, name: str, held: Tensor, value: Tensor) -> None:
    """Refuse a buffer that all rows of a vmap share, before any is written to."""
    level = innermost((value,))
    if level is not None and not is_other(level) and not is_row(held, level):
        raise RuntimeError(f"{op}: inside of vmap each row has statistics of its own, and {name} is the same for all of them. "
                           "Map over the running statistics as well, or keep none (track_running_stats=False)")  # fmt: skip
