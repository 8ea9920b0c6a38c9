"""Pooling as layers: each calls the function with its name.

Max pools can also return the indices of their maxima.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradspec as gs

from .. import functional as F
from .module import Module
from .operator import Operator

Size = int | Sequence[int]
Sizes = int | None | Sequence[int | None]


class _Pool(Operator):
    """A pool whose `stride` defaults to the size of its windows."""

    kernel_size: Size
    stride: Size | None = None

    def _prepare(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class _MaxPool(_Pool):
    """A pool of maxima.

    Parameters
    ----------
    return_indices : bool
        Whether the positions of the maxima are returned as well.
    """

    padding: Size = 0
    dilation: Size = 1
    return_indices: bool = False
    ceil_mode: bool = False

    _with_indices: Callable[..., Any]

    def forward(self, *inputs: Any) -> Any:
        if not self.return_indices:
            return super().forward(*inputs)
        options = {name: getattr(self, name) for name, _ in self._arguments}
        return self._with_indices(*inputs, **options)


class MaxPool1d(_MaxPool, call=F.max_pool1d, shown="kernel_size stride padding dilation ceil_mode"):
    """The largest number in each window along one axis."""

    _with_indices = staticmethod(F.max_pool1d_with_indices)


class MaxPool2d(_MaxPool, call=F.max_pool2d, shown="kernel_size stride padding dilation ceil_mode"):
    """The largest number in each window of images."""

    _with_indices = staticmethod(F.max_pool2d_with_indices)


class MaxPool3d(_MaxPool, call=F.max_pool3d, shown="kernel_size stride padding dilation ceil_mode"):
    """The largest number in each window of volumes."""

    _with_indices = staticmethod(F.max_pool3d_with_indices)


class AvgPool1d(_Pool, call=F.avg_pool1d, shown="kernel_size stride padding"):
    """The mean of each window along one axis."""

    padding: Size = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def _prepare(self) -> None:
        super()._prepare()
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, repeated(getattr(self, name), 1))


class _AvgPool(_Pool):
    padding: Size = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool2d(_AvgPool, call=F.avg_pool2d, shown="kernel_size stride padding"):
    """The mean of each window of images."""


class AvgPool3d(_AvgPool, call=F.avg_pool3d, shown="kernel_size stride padding"):
    """The mean of each window of volumes."""


class _LPPool(Operator):
    norm_type: float
    kernel_size: Size
    stride: Size | None = None
    ceil_mode: bool = False


class LPPool1d(_LPPool, call=F.lp_pool1d, shown="norm_type kernel_size stride ceil_mode"):
    """The norm of each window along one axis."""


class LPPool2d(_LPPool, call=F.lp_pool2d, shown="norm_type kernel_size stride ceil_mode"):
    """The norm of each window of images."""


class LPPool3d(_LPPool, call=F.lp_pool3d, shown="norm_type kernel_size stride ceil_mode"):
    """The norm of each window of volumes."""


class _MaxUnpool(Operator):
    """Called with the pooled array, the indices, and the size of the result if it differs from the default."""

    kernel_size: Size
    stride: Size | None = None
    padding: Size = 0

    _axes = 1

    def _prepare(self) -> None:
        stride = self.kernel_size if self.stride is None else self.stride
        for name, value in (("kernel_size", self.kernel_size), ("stride", stride), ("padding", self.padding)):
            setattr(self, name, repeated(value, self._axes))

    def forward(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        size = None if output_size is None else tuple(output_size)[-self._axes :]
        return self._call(x, indices, self.kernel_size, self.stride, self.padding, size)


class MaxUnpool1d(_MaxUnpool, call=F.max_unpool1d, shown="kernel_size stride padding"):
    """Maxima at their original places along one axis, 0 elsewhere."""


class MaxUnpool2d(_MaxUnpool, call=F.max_unpool2d, shown="kernel_size stride padding"):
    """Maxima at their original places in images, 0 elsewhere."""

    _axes = 2


class MaxUnpool3d(_MaxUnpool, call=F.max_unpool3d, shown="kernel_size stride padding"):
    """Maxima at their original places in volumes, 0 elsewhere."""

    _axes = 3


class AdaptiveAvgPool1d(Operator, call=F.adaptive_avg_pool1d, shown="output_size"):
    """Means of windows along one axis; the result has a given length."""

    output_size: int


class _Adaptive(Operator):
    """A pool whose result has given lengths.

    Parameters
    ----------
    output_size : int or None or sequence of (int or None)
        Length of each pooled axis, one number or one for each axis; None keeps the length of the input.
    """

    output_size: Sizes

    _axes = 2

    def _size(self, x: Any) -> tuple[int, ...]:
        given = self.output_size
        sizes = (given,) * self._axes if given is None or isinstance(given, int) else given
        return tuple(size if wanted is None else wanted for wanted, size in zip(sizes, x.shape[-self._axes :], strict=True))

    def forward(self, *inputs: Any) -> Any:
        return self._call(inputs[0], self._size(inputs[0]))


class AdaptiveAvgPool2d(_Adaptive, call=F.adaptive_avg_pool2d, shown="output_size"):
    """Means of windows of images; the result has given lengths."""


class AdaptiveAvgPool3d(_Adaptive, call=F.adaptive_avg_pool3d, shown="output_size"):
    """Means of windows of volumes; the result has given lengths."""

    _axes = 3


class _AdaptiveMax(_Adaptive):
    """A pool of maxima with given lengths.

    Parameters
    ----------
    return_indices : bool
        Whether the positions of the maxima are returned as well.
    """

    return_indices: bool = False

    _with_indices: Callable[..., Any]

    def forward(self, *inputs: Any) -> Any:
        call = self._with_indices if self.return_indices else self._call
        return call(inputs[0], self._size(inputs[0]))


class AdaptiveMaxPool1d(_AdaptiveMax, call=F.adaptive_max_pool1d, shown="output_size"):
    """Maxima of windows along one axis; the result has a given length."""

    _axes = 1
    _with_indices = staticmethod(F.adaptive_max_pool1d_with_indices)


class AdaptiveMaxPool2d(_AdaptiveMax, call=F.adaptive_max_pool2d, shown="output_size"):
    """Maxima of windows of images; the result has given lengths."""

    _with_indices = staticmethod(F.adaptive_max_pool2d_with_indices)


class AdaptiveMaxPool3d(_AdaptiveMax, call=F.adaptive_max_pool3d, shown="output_size"):
    """Maxima of windows of volumes; the result has given lengths."""

    _axes = 3
    _with_indices = staticmethod(F.adaptive_max_pool3d_with_indices)


class _FractionalMaxPool(Module):
    """The largest element of each window, with random distances between windows, drawn at each call.

    Parameters
    ----------
    kernel_size : int or sequence of int
    output_size : int or sequence of int, optional
    output_ratio : float or sequence of float, optional
        Either this or `output_size` is given.
    return_indices : bool
    _random_samples : array_like, optional
        Numbers that replace the random ones.
    """

    _random_samples: gs.Tensor | None

    _axes = 2
    _call: Callable[..., Any]

    def __init__(
        self, kernel_size: Size, output_size: Size | None = None, output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False, _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.return_indices = repeated(kernel_size, self._axes), return_indices
        self.output_size = None if output_size is None else repeated(output_size, self._axes)
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, self._axes)
        name = f"FractionalMaxPool{self._axes}d"
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.register_buffer("_random_samples", None if _random_samples is None else gs.asarray(_random_samples))

    def forward(self, x: gs.Tensor) -> Any:
        return self._call(x, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    __doc__ = _FractionalMaxPool.__doc__
    _call = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    __doc__ = _FractionalMaxPool.__doc__
    _axes, _call = 3, staticmethod(F.fractional_max_pool3d)


def repeated(value: Any, count: int) -> tuple[Any, ...]:
    """A number for each axis, from one for all axes or one for each."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * count
