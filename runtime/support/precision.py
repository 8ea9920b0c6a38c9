"""PyTorch's settings for precision, memory layout and determinism, accepted without effect; half precision is refused.

Defines the names, so that programs with such settings run unchanged.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .devices import cuda

__all__ = [
    "GradScaler", "amp", "are_deterministic_algorithms_enabled", "autocast", "channels_last", "channels_last_3d",
    "contiguous_format", "get_float32_matmul_precision", "is_autocast_enabled", "jagged", "preserve_format",
    "set_float32_matmul_precision", "use_deterministic_algorithms",
]  # fmt: skip

# Layouts, as values of `memory_format=`: NumPy chooses the layout, and no value depends on it.
preserve_format, contiguous_format, channels_last, channels_last_3d = (
    "preserve_format", "contiguous_format", "channels_last", "channels_last_3d",
)  # fmt: skip
jagged = "jagged"  # as `layout=` of nested tensors, which have no other
PRECISIONS = ("highest", "high", "medium")


def _enabled(name: str, device_type: str, enabled: bool) -> bool:
    """Whether half precision is requested on the CPU; for any other device warn that it does not exist, as PyTorch does."""
    if enabled and str(device_type) != "cpu":
        warnings.warn(f"{name} is enabled for {str(device_type)!r}, but there is no such device.  Disabling.", stacklevel=4)
    return bool(enabled) and str(device_type) == "cpu"


class autocast:
    """A block, or a function, that allows or forbids half precision in PyTorch.

    Parameters
    ----------
    device_type : str
        For a device other than "cpu" it has no effect, with a warning if it is enabled.
    dtype : dtype, optional
    enabled : bool
    cache_enabled : bool, optional

    Raises
    ------
    RuntimeError
        If it is enabled on "cpu": there are no products in half precision.
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if _enabled("autocast", device_type, enabled):
            raise RuntimeError("autocast: nothing is computed in half precision here; write enabled=False, or leave it out, "
                               "and module.to(gs.float32) for single precision")  # fmt: skip

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *raised: Any) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return called


class GradScaler:
    """The scale of losses in half precision, which is always 1.

    Parameters
    ----------
    device : str
        For a device other than "cpu" it has no effect, with a warning if it is enabled.
    init_scale, growth_factor, backoff_factor, growth_interval
        Ignored.
    enabled : bool

    Raises
    ------
    RuntimeError
        If it is enabled on "cpu": there are no gradients in half precision that could underflow.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:  # fmt: skip
        if _enabled("GradScaler", device, enabled):
            raise RuntimeError("GradScaler: nothing is computed in half precision here; write enabled=False, or leave it out")

    def scale(self, outputs: Any) -> Any:
        """Return the outputs unchanged."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a step of the optimiser."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Do nothing."""

    def get_scale(self) -> float:
        """1.0."""
        return 1.0

    def is_enabled(self) -> bool:
        """False."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """An empty dict."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Do nothing."""


class amp:
    """PyTorch's namespace of half precision: `gs.amp.autocast`, `gs.amp.GradScaler`."""

    autocast, GradScaler = autocast, GradScaler


class _OfAbsent:
    """`gs.cuda.amp`, with the names of `gs.amp` without a device."""

    autocast, GradScaler = staticmethod(functools.partial(autocast, "cuda")), staticmethod(functools.partial(GradScaler, "cuda"))


vars(cuda)["amp"] = _OfAbsent()


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether operators choose their precision: never.

    Parameters
    ----------
    device_type : str
        Not used.

    Returns
    -------
    bool
        False.
    """
    return False


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: products in single precision are computed in single precision.

    Parameters
    ----------
    precision : {"highest", "high", "medium"}
        Precision that PyTorch may reduce to.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"set_float32_matmul_precision: precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")


def get_float32_matmul_precision() -> str:
    """The precision of products in single precision.

    Returns
    -------
    str
        "highest".
    """
    return PRECISIONS[0]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: results are the same from run to run.

    Parameters
    ----------
    mode, warn_only : bool
    """


def are_deterministic_algorithms_enabled() -> bool:
    """Whether results are the same from run to run.

    Returns
    -------
    bool
        True.
    """
    return True
