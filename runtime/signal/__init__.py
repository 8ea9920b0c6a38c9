"""Windows for spectra under PyTorch's path: gradspec.signal.windows."""

import gradspec  # noqa: F401 (waits for it)

from . import windows as windows

__all__ = ["windows"]


def __dir__() -> list[str]:
    return list(__all__)
