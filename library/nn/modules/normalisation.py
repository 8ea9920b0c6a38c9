"""Normalisation as layers: of batches, instances, groups, the last axes, and neighbouring channels.

Batch and instance norms hold running statistics.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import gradspec as gs

from .. import functional as F
from .. import init
from ..parameter import Parameter, parameter
from .module import Module
from .operator import Operator


class _Norm(Module):
    """A normalisation with running statistics of each channel.

    Parameters
    ----------
    num_features : int
        The number of channels, which are along axis 1.
    eps : float
        Added to the variance.
    momentum : float or None
        The weight of each batch in the running statistics; None for the mean over all batches.
    affine : bool
        Whether to apply a trained factor and summand for each channel.
    track_running_stats : bool
        Whether to track running statistics, which are used in evaluation.
    device : str, optional
    dtype : dtype, optional
    bias : bool
        Whether there is a summand.
    """

    weight: Parameter | None
    bias: Parameter | None
    running_mean: gs.Tensor | None
    running_var: gs.Tensor | None
    num_batches_tracked: gs.Tensor | None

    _version = 2
    _ndims: tuple[int, ...] = ()

    def _build(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool, device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:  # fmt: skip
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, parameter(num_features, device, dtype) if wanted else None)
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, gs.zeros(num_features, dtype=dtype).to(device=device) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", gs.asarray(0, dtype=np.int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset statistics, factors and summands."""
        self.reset_running_stats()
        begin(self)

    def _check_input_dim(self, x: gs.Tensor) -> None:
        if self._ndims and x.ndim not in self._ndims:
            raise ValueError(f"expected {' or '.join(f'{n}D' for n in self._ndims)} input (got {x.ndim}D input)")

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], *args: Any
    ) -> None:
        version, key = local_metadata.get("version"), f"{prefix}num_batches_tracked"
        if (version is None or version < 2) and self.num_batches_tracked is not None and key not in state_dict:
            state_dict = {**state_dict, key: self.num_batches_tracked}  # older states do not contain it
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")  # fmt: skip


FURTHER = (_Norm.__doc__ or "").partition("\n")[2]


class BatchNorm(_Norm):
    __doc__ = _Norm.__doc__

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        self._check_input_dim(x)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1 / float(self.num_batches_tracked)
        of_batch = self.training or self.running_mean is None and self.running_var is None
        mean, var = (self.running_mean, self.running_var) if not self.training or self.track_running_stats else (None, None)
        return F.batch_norm(x, mean, var, self.weight, self.bias, of_batch, momentum, self.eps)


class BatchNorm1d(BatchNorm):
    __doc__ = (
        "Each channel minus its mean over the batch, divided by its deviation; for (batch, channels), or one more axis.\n"
        + FURTHER
    )

    _ndims = (2, 3)


class BatchNorm2d(BatchNorm):
    __doc__ = "Each channel of images minus its mean over the batch, divided by its deviation.\n" + FURTHER

    _ndims = (4,)


class BatchNorm3d(BatchNorm):
    __doc__ = "Each channel of volumes minus its mean over the batch, divided by its deviation.\n" + FURTHER

    _ndims = (5,)


class SyncBatchNorm(BatchNorm):
    __doc__ = (
        "Batch norm of one process, for any number of axes; for several ranks see `gs.distributed.SyncBatchNorm`.\n"
        + re.sub(r"(?m)^( *)device :", r"\1process_group : None\n\1    Groups are refused here.\n\1device :", FURTHER)
    )

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: None = None, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        if process_group is not None:
            raise TypeError("SyncBatchNorm: this one is of one process; write gs.distributed.SyncBatchNorm for many")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, x: gs.Tensor) -> None:
        if x.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {x.ndim}D input)")


class _InstanceNorm(_Norm):
    __doc__ = _Norm.__doc__

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        self._check_input_dim(x)
        single = x.ndim == self._ndims[0]
        if x.shape[not single] != self.num_features:
            where = f"input's size at dim={int(not single)}"
            if self.affine:
                raise ValueError(f"expected {where} to match num_features ({self.num_features}), but got: {x.shape[not single]}.")
            warnings.warn(f"{where} is {x.shape[not single]}, num_features {self.num_features}, which is not used because "
                          "affine=False", stacklevel=3)  # fmt: skip
        y = F.instance_norm(x[None] if single else x, self.running_mean, self.running_var, self.weight, self.bias,
                            self.training or not self.track_running_stats, self.momentum or 0.0, self.eps)  # fmt: skip
        return y[0] if single else y


class InstanceNorm1d(_InstanceNorm):
    __doc__ = "Each channel of each sequence minus its mean, divided by its deviation.\n" + FURTHER

    _ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = "Each channel of each image minus its mean, divided by its deviation.\n" + FURTHER

    _ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = "Each channel of each volume minus its mean, divided by its deviation.\n" + FURTHER

    _ndims = (4, 5)


class GroupNorm(Module):
    """Each group of channels minus its mean, divided by its deviation.

    Parameters
    ----------
    num_groups, num_channels : int
    eps : float
        Added to the variance.
    affine : bool
        Whether to apply a trained factor and summand for each channel.
    device : str, optional
    dtype : dtype, optional
    bias : bool
        Whether there is a summand.
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, parameter(num_channels, device, dtype) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset factors and summands."""
        begin(self)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class _LastAxes(Module):
    """A normalisation over trailing axes of given lengths."""

    weight: Parameter | None
    _call: Callable[..., Any]
    _names: tuple[str, ...] = ("weight",)

    def _build(
        self, normalized_shape: int | Sequence[int], eps: float | None, names: tuple[str, ...], device: Any, dtype: Any
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, bool(names)
        for name in self._names:
            self.register_parameter(name, parameter(self.normalized_shape, device, dtype) if name in names else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset factors and summands."""
        begin(self)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return self._call(x, self.normalized_shape, *(getattr(self, name) for name in self._names), eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LayerNorm(_LastAxes):
    """The last axes minus their mean, divided by their deviation.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The lengths of the last axes.
    eps : float
        Added to the variance.
    elementwise_affine : bool
        Whether to apply a trained factor for each element.
    bias : bool
        Whether to add a trained summand for each element, too.
    device : str, optional
    dtype : dtype, optional
    """

    bias: Parameter | None
    _call = staticmethod(F.layer_norm)
    _names = ("weight", "bias")

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        names = (("weight", "bias") if bias else ("weight",)) if elementwise_affine else ()
        self._build(normalized_shape, eps, names, device, dtype)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_LastAxes):
    """The last axes divided by the root of the mean of their squares.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The lengths of the last axes.
    eps : float or None
        Added to the mean; None for the machine epsilon of the dtype.
    elementwise_affine : bool
        Whether to apply a trained factor for each element.
    device : str, optional
    dtype : dtype, optional
    """

    _call = staticmethod(F.rms_norm)

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(normalized_shape, eps, ("weight",) if elementwise_affine else (), device, dtype)


class LocalResponseNorm(Operator, call=F.local_response_norm, shown="*size alpha beta k"):
    """Numbers divided by a power of the mean square of `size` neighbouring channels."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0


class CrossMapLRN2d(Operator, call=F.local_response_norm, shown="*size alpha beta k"):
    """Numbers of images divided by a power of the mean square of `size` neighbouring channels; channel 0 is a neighbour of all.

    LocalResponseNorm replaces this layer.  The derivatives belong to its values, unlike PyTorch's gradients.
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        if x.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {x.ndim}D instead.")
        channel = np.arange(x.shape[1])
        near = abs(channel[:, None] - channel) < (self.size + 1) // 2
        near[:, 0] |= channel >= (self.size + 1) // 2
        squares = gs.einsum("nchw,dc->ndhw", x * x, near.astype(x.dtype))
        return x * (self.k + self.alpha / self.size * squares) ** -self.beta


def begin(module: Module) -> None:
    """Set factors to 1 and summands to 0."""
    for name, value in module._parameters.items():
        if value is not None:
            (init.ones_ if name == "weight" else init.zeros_)(value)
