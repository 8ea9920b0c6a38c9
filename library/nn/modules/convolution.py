"""Convolutions and transposed convolutions as layers.

Handles the padding modes, and the requested output size of a transposed convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradspec as gs

from .. import functional as F
from ..parameter import Parameter, parameter
from .linear import spread
from .module import Module
from .pooling import Size, repeated

MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Module):
    """Base of all convolutions.

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of channels, divisible by `groups`.
    kernel_size, stride, padding, dilation : int or sequence of int
        One number for all axes, or one for each; `padding` may be 'same' or 'valid'.
    groups : int
        Number of groups of connected channels.
    bias : bool
        Whether to add a trained number to each channel.
    padding_mode : {'zeros', 'reflect', 'replicate', 'circular'}
        Values of the padding.
    device : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        `(out_channels, in_channels / groups, *kernel_size)`.
    bias : Parameter or None
    """

    weight: Parameter
    bias: Parameter | None

    _axes = 1
    _call: Callable[..., Any]
    _transposed = False

    def _build(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size, padding: Size | str, dilation: Size,
        output_padding: Size, groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, count in (("in_channels", in_channels), ("out_channels", out_channels)):
            if count % groups:
                raise ValueError(f"{name} must be divisible by groups")
        if padding_mode not in MODES:
            raise ValueError(f"padding_mode must be one of {MODES}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride = repeated(kernel_size, self._axes), repeated(stride, self._axes)
        self.dilation, self.output_padding = repeated(dilation, self._axes), repeated(output_padding, self._axes)
        self.padding: tuple[int, ...] | str = padding if isinstance(padding, str) else repeated(padding, self._axes)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
            if padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = parameter((first, second // groups, *self.kernel_size), device, dtype)
        self.register_parameter("bias", parameter(out_channels, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialise the parameters."""
        spread(self.weight, self.bias)

    def extra_repr(self) -> str:
        zero, one = (0,) * self._axes, (1,) * self._axes
        shown = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", zero), ("dilation", one), ("output_padding", zero), ("groups", 1)):
            if getattr(self, name) != usual:
                shown += f", {name}={getattr(self, name)}"
        if self.bias is None:
            shown += ", bias=False"
        return shown if self.padding_mode == "zeros" else f"{shown}, padding_mode={self.padding_mode}"


class _Conv(_Convolution):
    __doc__ = _Convolution.__doc__

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype
        )

    def _widths(self) -> list[int]:
        """The padding before and after each axis, beginning with the last axis."""
        if self.padding == "valid":
            return [0] * (2 * self._axes)
        if self.padding == "same":
            totals = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size)]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            pairs = [(width, width) for width in self.padding]  # type: ignore[misc]
        return [width for pair in reversed(pairs) for width in pair]

    def _conv(self, x: gs.Tensor, weight: gs.Tensor, bias: gs.Tensor | None) -> gs.Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            x, padding = F.pad(x, self._widths(), self.padding_mode), 0
        return self._call(x, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return self._conv(x, self.weight, self.bias)


class Conv1d(_Conv):
    __doc__ = (
        "Convolution along one axis; calls with (batch, channels, length).\n" + (_Convolution.__doc__ or "").partition("\n")[2]
    )
    _call = staticmethod(F.conv1d)


class Conv2d(_Conv):
    __doc__ = (
        "Convolution of images; calls with (batch, channels, height, width).\n" + (_Convolution.__doc__ or "").partition("\n")[2]
    )
    _axes, _call = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    __doc__ = "Convolution of volumes.\n" + (_Convolution.__doc__ or "").partition("\n")[2]
    _axes, _call = 3, staticmethod(F.conv3d)


class _ConvTranspose(_Convolution):
    """The adjoint of a convolution.

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of channels, divisible by `groups`.
    kernel_size, stride, padding, output_padding : int or sequence of int
        One number for all axes, or one for each; `output_padding` lengthens the result at the end.
    groups : int
        Number of groups of connected channels.
    bias : bool
        Whether to add a trained number to each channel.
    dilation : int or sequence of int
        Distance of neighbouring elements under the kernel.
    padding_mode : {'zeros'}
        Others are refused.
    device : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        `(in_channels, out_channels / groups, *kernel_size)`.
    bias : Parameter or None
    """

    _transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1, bias: bool = True, dilation: Size = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._build(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode,
                    device, dtype)  # fmt: skip

    def forward(self, x: gs.Tensor, output_size: Sequence[int] | None = None) -> gs.Tensor:
        further = self.output_padding if output_size is None else self._further(x, list(output_size))
        return self._call(x, self.weight, self.bias, self.stride, self.padding, further, self.groups, self.dilation)

    def _further(self, x: gs.Tensor, wanted: list[int]) -> tuple[int, ...]:
        """The output padding that gives the result the requested size."""
        if len(wanted) not in (self._axes, x.ndim):
            raise ValueError(
                f"{type(self).__name__}: output_size must have {self._axes} or {x.ndim} elements (got {len(wanted)})"
            )
        wanted = wanted[-self._axes :]
        least = [
            (length - 1) * step - 2 * pad + spread * (size - 1) + 1
            for length, step, pad, spread, size in zip(
                x.shape[-self._axes :], self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]  # type: ignore[operator]
        if any(not low <= size < low + step for low, size, step in zip(least, wanted, self.stride)):
            most = [low + step - 1 for low, step in zip(least, self.stride)]
            raise ValueError(f"requested an output size of {wanted}, but valid sizes range from {least} to {most} "
                             f"(for an input of {tuple(x.shape[-self._axes :])})")  # fmt: skip
        return tuple(size - low for size, low in zip(wanted, least))


class ConvTranspose1d(_ConvTranspose):
    __doc__ = "The adjoint of a convolution along one axis.\n" + (_ConvTranspose.__doc__ or "").partition("\n")[2]
    _call = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    __doc__ = "The adjoint of a convolution of images.\n" + (_ConvTranspose.__doc__ or "").partition("\n")[2]
    _axes, _call = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    __doc__ = "The adjoint of a convolution of volumes.\n" + (_ConvTranspose.__doc__ or "").partition("\n")[2]
    _axes, _call = 3, staticmethod(F.conv_transpose3d)
