"""Devices: the one that there is, and what a program that may run on others asks of those before it uses them.

Owns the names that such programs begin with, so that they need no other beginning here; what uses another device is refused.
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
        "cpu", perhaps with a number behind a colon.
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
    """The device on which tensors are made."""
    return CPU


def set_default_device(device: Any) -> None:
    """Nothing, for "cpu" and None.

    Raises
    ------
    RuntimeError
        Any other device.
    """
    if device is not None:
        type(CPU)(device)


class Absent:
    """A kind of device that is not here.

    What asks whether it is there, or says how it should compute, is answered; what uses it is refused.
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
        """Nothing: `gs.manual_seed` seeds what draws here."""

    manual_seed_all = manual_seed

    def empty_cache(self) -> None:
        """Nothing: `gs.empty_cache` gives back the memory that is kept here."""

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
