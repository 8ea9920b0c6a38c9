"""Filters, convolutions and spectra under SciPy's names: gradspec.scipy.signal.

Defines the names.  All functions are built from operators, except the loop of a recursive filter, which is SciPy's.
"""

import gradspec  # noqa: F401 (waits for it)

from .convolutions import convolve, convolve2d, correlate, correlate2d, fftconvolve, oaconvolve
from . import windows
from .filters import filtfilt, lfilter, lfilter_zi, lfiltic, savgol_filter, sosfilt, sosfilt_zi, sosfiltfilt
from .resampling import detrend, hilbert, medfilt, resample, resample_poly
from .responses import decimate, freqz, freqz_sos, freqz_zpk, upfirdn, wiener
from .spectra import csd, istft, periodogram, spectrogram, stft, welch
from .systems import bode, freqresp, lsim
from . import waves
from .waves import *  # noqa: F403
from .windows import get_window
from ..values import in_given_precision
from ..without import add_without_derivative

__all__ = [
    *waves.__all__,
    "bode", "convolve", "convolve2d", "correlate", "correlate2d", "csd", "decimate", "detrend", "fftconvolve", "filtfilt",
    "freqresp", "freqz", "freqz_sos", "freqz_zpk", "get_window", "hilbert", "istft", "lfilter", "lfilter_zi", "lfiltic",
    "lsim", "medfilt", "oaconvolve", "periodogram", "resample", "resample_poly", "savgol_filter", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "spectrogram", "stft", "upfirdn", "welch", "wiener", "windows",
]  # fmt: skip
in_given_precision(globals(), __all__)
add_without_derivative(globals())
