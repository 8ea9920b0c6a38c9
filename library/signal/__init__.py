"""Windows for spectra under PyTorch's path: gradspec.signal.windows."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import later

if TYPE_CHECKING:
    from . import windows as windows
else:
    __getattr__ = later(__name__, {"": ("windows",)})

__all__ = ["windows"]
