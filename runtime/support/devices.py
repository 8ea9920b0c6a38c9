"""Devices: the CPU, and answers to programs that check for other devices before they use them.

Defines the names that such programs use at the start, so that they run unchanged; any use of another device is refused.
"""

from __future__ import annotations

from typing import Any

__all__ = ["accelerator", "backends", "cuda", "device", "get_default_device", "mps", "set_default_device", "xpu"]

WAY_OUT = "every tensor is in memory; write 'cpu', or nothing"


class device(str):
    """The device "cpu", under PyTorch's name: the string itself, with attributes.

    Parameters
    ----------
    type : str or device
        "cpu", optionally with a colon and a number.
    index : int, optional

    Attributes
    ----------
    type : str
    index : None

    Raises
    ------
    RuntimeError
        Any other device.
    """

    __slots__ = ()

    def __new__(cls, type: str = "cpu", index: int | None = None) -> device:
        if str(type).partition(":")[0] != "cpu":
            raise RuntimeError(f"device: there is no device {str(type)!r}: {WAY_OUT}")
        return super().__new__(cls, "cpu")

    @property
    def type(self) -> str:
        return "cpu"

    @property
    def index(self) -> None:  # type: ignore[override]
        return None

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __enter__(self) -> device:
        return self

    def __exit__(self, *raised: Any) -> None:
        pass

    def __reduce__(self) -> tuple[Any, ...]:
        return device, ("cpu",)


CPU = device()


def get_default_device() -> device:
    """The device of new tensors.

    Returns
    -------
    device
        "cpu".
    """
    return CPU


def set_default_device(device: Any) -> None:
    """Do nothing, for "cpu" and None.

    Parameters
    ----------
    device : str, device or None

    Raises
    ------
    RuntimeError
        Any other device.
    """
    if device is not None:
        type(CPU)(device)


class Absent:
    """A kind of device that does not exist here.

    Queries of its availability and settings of its computation are answered; any use is refused.
    """

    def __init__(self, name: str, **parts: Any) -> None:
        self._name = name
        vars(self).update(parts)

    def is_available(self) -> bool:
        """False."""
        return False

    is_built = is_initialized = is_available

    def device_count(self) -> int:
        """0."""
        return 0

    def manual_seed(self, seed: int) -> None:
        """Do nothing: `gs.manual_seed` seeds the generator of this library."""

    manual_seed_all = manual_seed

    def empty_cache(self) -> None:
        """Do nothing: `gs.empty_cache` frees the memory that this library caches."""

    def __repr__(self) -> str:
        return f"<gs.{self._name}: not available>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"gs.{self._name}.{name}: {WAY_OUT}; gs.{self._name}.is_available() is False")

    def __reduce__(self) -> str:
        return self._name


cuda, mps, xpu, accelerator = Absent("cuda"), Absent("mps"), Absent("xpu"), Absent("accelerator")
LIBRARIES = "cuda", "cudnn", "mps", "mkl", "mkldnn", "openmp"
backends = Absent("backends", **{name: Absent(f"backends.{name}") for name in LIBRARIES})
