"""Layers that reshape, pad and resize, and distances: each calls the function with its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradspec as gs

from .. import functional as F
from .module import Module
from .operator import Operator
from .pooling import Size, repeated


class Identity(Module):
    """Returns its argument unchanged.

    Parameters
    ----------
    *args, **kwargs
        Ignored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Operator, call=gs.flatten, shown="start_dim end_dim"):
    """Several axes merged into one; all but the first by default."""

    start_dim: int = 1
    end_dim: int = -1


class Unflatten(Module):
    """One axis split into several.

    Parameters
    ----------
    dim : int
    unflattened_size : sequence of int
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"unflattened dim must be an int, got {type(dim).__name__}; axes have no names here")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return gs.unflatten(x, self.dim, tuple(self.unflattened_size))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(Operator, call=F.pixel_shuffle, shown="upscale_factor"):
    """Channels rearranged as pixels of a larger image."""

    upscale_factor: int


class PixelUnshuffle(Operator, call=F.pixel_unshuffle, shown="downscale_factor"):
    """Pixels rearranged as channels of a smaller image."""

    downscale_factor: int


class ChannelShuffle(Operator, call=F.channel_shuffle, shown="groups"):
    """Channels of several groups interleaved."""

    groups: int


class Fold(Operator, call=F.fold, shown="output_size kernel_size dilation padding stride"):
    """Patches added up to images."""

    output_size: Size
    kernel_size: Size
    dilation: Size = 1
    padding: Size = 0
    stride: Size = 1


class Unfold(Operator, call=F.unfold, shown="kernel_size dilation padding stride"):
    """The patches of images."""

    kernel_size: Size
    dilation: Size = 1
    padding: Size = 0
    stride: Size = 1


class CosineSimilarity(Operator, call=F.cosine_similarity):
    """The cosine of the angle of two vectors."""

    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(Operator, call=F.pairwise_distance):
    """The norm of the difference of two vectors."""

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False


class _Resized(Operator):
    size: Size | None = None
    scale_factor: float | Sequence[float] | None = None

    _mode: str = "nearest"
    _corners: bool | None = None

    def _prepare(self) -> None:
        if self.scale_factor is not None:
            given = self.scale_factor
            self.scale_factor = tuple(map(float, given)) if isinstance(given, Sequence) else float(given)

    def _how(self) -> tuple[str, bool | None, bool | None]:
        return self._mode, self._corners, None

    def forward(self, *inputs: Any) -> Any:
        return self._call(inputs[0], self.size, self.scale_factor, *self._how())

    def extra_repr(self) -> str:
        size = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{size}, mode={self._how()[0]!r}"


class Upsample(_Resized, call=F.interpolate):
    """Images resized by interpolation."""

    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def _how(self) -> tuple[str, bool | None, bool | None]:
        return self.mode, self.align_corners, self.recompute_scale_factor


class UpsamplingNearest2d(_Resized, call=F.interpolate):
    """Images resized by the nearest pixel."""


class UpsamplingBilinear2d(_Resized, call=F.interpolate):
    """Images resized by bilinear interpolation with aligned corners."""

    _mode = "bilinear"
    _corners = True


class _Pad(Operator):
    """Pads the last axes.

    Parameters
    ----------
    padding : int or sequence of int
        Widths before and after the last axis, then before and after its predecessor, and so on; one number for all.
    value : float
        Value of the new elements.
    """

    padding: Size

    _axes = 1
    _mode = "constant"

    def _prepare(self) -> None:
        self.padding = repeated(self.padding, 2 * self._axes)
        if self._mode != "constant" and len(self.padding) != 2 * self._axes:
            raise ValueError(f"{type(self).__name__}: padding must be one number or {2 * self._axes}, got {self.padding}")

    def forward(self, *inputs: Any) -> Any:
        return F.pad(inputs[0], self.padding, self._mode, getattr(self, "value", None))


class _ConstantPad(_Pad):
    value: float


class ConstantPad1d(_ConstantPad, call=F.pad, shown="padding value"):
    """Pads the last axis with a constant."""


class ConstantPad2d(_ConstantPad, call=F.pad, shown="padding value"):
    """Pads images with a constant."""

    _axes = 2


class ConstantPad3d(_ConstantPad, call=F.pad, shown="padding value"):
    """Pads volumes with a constant."""

    _axes = 3


class ZeroPad1d(_Pad, call=F.pad, shown="*padding"):
    """Pads the last axis with zeros."""


class ZeroPad2d(_Pad, call=F.pad, shown="*padding"):
    """Pads images with zeros."""

    _axes = 2


class ZeroPad3d(_Pad, call=F.pad, shown="*padding"):
    """Pads volumes with zeros."""

    _axes = 3


class ReflectionPad1d(_Pad, call=F.pad, shown="*padding"):
    """Pads the last axis by reflection, without repeating the ends."""

    _mode = "reflect"


class ReflectionPad2d(ReflectionPad1d, call=F.pad, shown="*padding"):
    """Pads images by reflection, without repeating the borders."""

    _axes = 2


class ReflectionPad3d(ReflectionPad1d, call=F.pad, shown="*padding"):
    """Pads volumes by reflection, without repeating the borders."""

    _axes = 3


class ReplicationPad1d(_Pad, call=F.pad, shown="*padding"):
    """Pads the last axis by repeating the ends."""

    _mode = "replicate"


class ReplicationPad2d(ReplicationPad1d, call=F.pad, shown="*padding"):
    """Pads images by repeating the borders."""

    _axes = 2


class ReplicationPad3d(ReplicationPad1d, call=F.pad, shown="*padding"):
    """Pads volumes by repeating the borders."""

    _axes = 3


class CircularPad1d(_Pad, call=F.pad, shown="*padding"):
    """Pads the last axis as a circle."""

    _mode = "circular"


class CircularPad2d(CircularPad1d, call=F.pad, shown="*padding"):
    """Pads images periodically."""

    _axes = 2


class CircularPad3d(CircularPad1d, call=F.pad, shown="*padding"):
    """Pads volumes periodically."""

    _axes = 3
