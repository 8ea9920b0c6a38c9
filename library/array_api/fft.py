"""The extension `fft`."""

from ..fft import fft, fftn, fftshift, hfft, ifft, ifftn, ifftshift, ihfft, irfft, irfftn, rfft, rfftn
from ..support.dispatch import ops
from .creation import on_cpu


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of `fft`."""
    on_cpu(device)
    return ops.fftfreq(n, d, dtype=dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of `rfft`."""
    on_cpu(device)
    return ops.rfftfreq(n, d, dtype=dtype)


__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
           "rfftfreq", "rfftn"]  # fmt: skip
__dir__ = __all__.copy
