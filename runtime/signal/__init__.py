"""Windows for spectra under PyTorch's path: gradspec.signal.windows."""

from . import windows as windows

__all__ = ["windows"]
