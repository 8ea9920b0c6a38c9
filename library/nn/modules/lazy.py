"""Lazy layers: infer the number of input features from the first input.

Defines the mixin, which turns into the layer at its first call, and the lazy classes.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any, Self

import gradspec as gs

from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .normalisation import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


class LazyModuleMixin(Module):
    """Makes a layer lazy; must precede the layer among the bases of a class.

    The class creates an `UninitializedParameter` for each unknown shape, and `initialize_parameters(*inputs)` materializes it.
    This method is called with the inputs of the first call; the layer then becomes an instance of the class `cls_to_become`.
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize the uninitialized tensors, from the inputs of a call; for classes to override."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether the shape of a parameter or a buffer is unknown."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        self._initialize_hook.remove()
        del self._initialize_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become  # type: ignore[assignment]

    # Conversion and state of uninitialized tensors.

    def _apply(self, fn: Callable[[gs.Tensor], gs.Tensor], recurse: bool = True) -> Self:
        waiting = [name for name, value in self._buffers.items() if is_lazy(value)]
        super()._apply(fn, recurse)
        for name in waiting:
            self._buffers[name] = UninitializedBuffer(dtype=self._buffers[name].dtype)  # type: ignore[union-attr]
        return self

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination.update({prefix + name: value for name, value in self._own_state() if is_lazy(value)})

    def _take(self, name: str, held: gs.Tensor, key: str, value: Any, assign: bool) -> str | None:
        if is_lazy(held):
            if is_lazy(value):
                return None
            held.materialize(value.shape)  # type: ignore[attr-defined]
        return super()._take(name, held, key, value, assign)


class LazyLinear(LazyModuleMixin, Linear):
    """Linear; `in_features` is the length of the last axis of the first input.

    Parameters
    ----------
    out_features : int
    bias : bool
    device : str, optional
    dtype : dtype, optional
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        wait(self, ("weight", "bias") if bias else ("weight",), device, dtype)

    def reset_parameters(self) -> None:
        """Reinitialise the parameters, if they are initialized."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, x: gs.Tensor) -> None:
        """Infer the number of features from an input."""
        self.in_features = self.in_features or x.shape[-1]
        shape(self, {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)})


class _LazyConvolution(LazyModuleMixin):
    """A convolution; `in_channels` is inferred from the first input."""

    __signature__: Signature
    _axes: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        of_class = signature(cls.cls_to_become)  # type: ignore[arg-type]
        cls.__signature__ = of_class.replace(parameters=[*of_class.parameters.values()][1:])
        further = (cls.cls_to_become.__doc__ or "").partition("\n")[2]
        cls.__doc__ = f"{_LazyConvolution.__doc__}\n{further}".replace("in_channels, out_channels :", "out_channels :")

    def __init__(self, *args: Any, **options: Any) -> None:
        given = self.__signature__.bind(*args, **options)
        given.apply_defaults()
        found = given.arguments
        out_channels, bias = found.pop("out_channels"), found.pop("bias")
        super().__init__(0, 0, bias=False, **found)
        self.out_channels = out_channels
        wait(self, ("weight", "bias") if bias else ("weight",), found["device"], found["dtype"])

    def reset_parameters(self) -> None:
        """Reinitialise the parameters, if they are initialized."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, x: gs.Tensor, *args: Any, **kwargs: Any) -> None:
        """Infer the number of channels from an input."""
        if x.ndim not in (self._axes + 1, self._axes + 2):
            raise RuntimeError(f"Expected {self._axes + 1}D (unbatched) or {self._axes + 2}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {list(x.shape)}")  # fmt: skip
        channels = self.in_channels or x.shape[-1 - self._axes]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        first, second = (channels, self.out_channels) if self._transposed else (self.out_channels, channels)
        shape(self, {"weight": (first, second // self.groups, *self.kernel_size), "bias": (self.out_channels,)})


class _LazyNorm(LazyModuleMixin):
    """A normalisation; the number of channels is the length of axis 1 of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats
        As for the normalisation without `Lazy`.
    device : str, optional
    dtype : dtype, optional
    bias : bool
    """

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        waiting = ("weight", *["bias"] * bias) if affine else ()
        wait(self, waiting, device, dtype)
        for name in ("running_mean", "running_var") if track_running_stats else ():
            self._buffers[name] = UninitializedBuffer(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Reset statistics, factors and summands, if they are initialized."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, x: gs.Tensor) -> None:
        """Infer the number of channels from an input."""
        self._check_input_dim(x)
        self.num_features = self.num_features or x.shape[1]
        shape(self, dict.fromkeys(("weight", "bias", "running_mean", "running_var"), (self.num_features,)))


def wait(module: Module, names: tuple[str, ...], device: Any, dtype: Any) -> None:
    """Make parameters of a module uninitialized."""
    for name in names:
        setattr(module, name, UninitializedParameter(device=device, dtype=dtype))


def shape(module: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Materialize and initialise the uninitialized tensors; without any, values loaded from a state are kept."""
    waiting = [(own[name], shapes[name]) for own in (module._parameters, module._buffers) for name in own if is_lazy(own[name])]
    for value, wanted in waiting:
        value.materialize(wanted)
    if waiting:
        module.reset_parameters()


class LazyConv1d(_LazyConvolution, Conv1d):
    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvolution, ConvTranspose1d):
    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvolution, ConvTranspose2d):
    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvolution, ConvTranspose3d):
    cls_to_become = ConvTranspose3d


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    __doc__ = _LazyNorm.__doc__
    cls_to_become = InstanceNorm3d
