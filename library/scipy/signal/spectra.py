"""Spectra of segments of a signal, by Fourier transforms.

Decides how a signal is divided into segments, and how spectra are scaled.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.fft

from ...core.conversion import asarray
from ...support.dispatch import ops
from .filters import _floats
from .resampling import detrend as without_trend

__all__ = ["csd", "istft", "periodogram", "spectrogram", "stft", "welch"]


def _window(name: str, window: Any, nperseg: int | None, count: int, default: int = 256) -> tuple:
    from scipy.signal import get_window

    if isinstance(window, (str, tuple)):
        size = min(default if nperseg is None else int(nperseg), count)
        return asarray(get_window(window, size)), size
    values = asarray(window)
    if values.ndim != 1 or nperseg is not None and nperseg != values.size or values.size > count:
        raise ValueError(f"{name}: window must be a vector of nperseg elements, not longer than the signal")
    return values, values.size


def _stretches(x: Any, size: int, step: int) -> Any:
    """Segments along the last axis: an axis of segments, and an axis of positions in each."""
    starts = np.arange(0, x.shape[-1] - size + 1, step)
    return ops.take(x, starts[:, None] + np.arange(size), axis=-1)


def _extended(x: Any, boundary: Any, width: int) -> Any:
    if boundary is None:
        return x
    if boundary == "zeros":
        edge = ops.zeros((*x.shape[:-1], width), dtype=x.dtype)
        return ops.concat([edge, x, edge], axis=-1)
    before, after = ops.flip(x[..., 1 : width + 1], -1), ops.flip(x[..., -width - 1 : -1], -1)
    if boundary == "odd":
        before, after = 2 * x[..., :1] - before, 2 * x[..., -1:] - after
    elif boundary == "constant":
        before, after = ops.broadcast_to(x[..., :1], before.shape), ops.broadcast_to(x[..., -1:], after.shape)
    elif boundary != "even":
        raise ValueError(f"boundary must be 'even', 'odd', 'constant', 'zeros' or None, got {boundary!r}")
    return ops.concat([before, x, after], axis=-1)


def _spectra(
    name, x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, mode, boundary=None, padded=False
):
    """Frequencies, times, and spectra with the axes of frequencies and times last."""
    alone = y is None
    x, *rest = _floats(x) if alone else _floats(x, y)
    x = ops.moveaxis(x, axis, -1)
    y = x if alone else ops.moveaxis(rest[0], axis, -1)
    if not alone and x.shape[-1] != y.shape[-1]:
        raise ValueError(f"{name}: the signals must be of one length")
    weights, size = _window(name, window, nperseg, x.shape[-1])
    overlap = size // 2 if noverlap is None else int(noverlap)
    length = size if nfft is None else int(nfft)
    if overlap >= size or length < size:
        raise ValueError(f"{name}: noverlap must be less than nperseg, and nfft not less")
    step = size - overlap
    signals = []
    for signal in (x,) if alone else (x, y):
        signal = _extended(signal, boundary, size // 2)
        if padded:
            missing = -(signal.shape[-1] - size) % step % size
            signal = ops.concat([signal, ops.zeros((*signal.shape[:-1], missing), dtype=signal.dtype)], axis=-1)
        signals.append(signal)
    total = signals[0].shape[-1]
    one_sided = return_onesided and all(signal.dtype.kind == "f" for signal in signals)
    found = []
    for signal in signals:
        stretch = _stretches(signal, size, step)
        if detrend:
            stretch = detrend(stretch) if callable(detrend) else without_trend(stretch, -1, detrend)
        stretch = stretch * weights
        found.append(ops.rfft(stretch, length) if one_sided else ops.fft(stretch, length))
    if scaling == "density":
        scale = 1 / (fs * ops.sum(weights * weights))
    elif scaling == "spectrum":
        scale = 1 / ops.sum(weights) ** 2
    else:
        raise ValueError(f"{name}: scaling must be 'density' or 'spectrum', got {scaling!r}")
    if mode == "stft":
        result = found[0] * ops.sqrt(scale)
    else:
        result = ops.conj(found[0]) * (found[0] if alone else found[1]) * scale
        if one_sided:
            doubled = np.full(result.shape[-1], 2.0)
            doubled[0] = 1
            if length % 2 == 0:
                doubled[-1] = 1
            result = result * asarray(doubled)
        if alone:
            result = ops.real(result)
    times = np.arange(size / 2, total - size / 2 + 1, step) / fs - (size / 2 / fs if boundary is not None else 0)
    freqs = np.fft.rfftfreq(length, 1 / fs) if one_sided else np.fft.fftfreq(length, 1 / fs)
    return freqs, times, ops.mT(result)


def _placed(result: Any, axis: int, ndim: int) -> Any:
    """Move the axis of frequencies to the position of the signal's axis."""
    return ops.moveaxis(result, -1, axis) if axis % ndim != ndim - 1 else result


def csd(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    average: str = "mean",
) -> tuple:  # fmt: skip
    """The cross spectrum of two signals by Welch's method: the mean of the segments' cross spectra.

    Parameters
    ----------
    x, y : array_like or Tensor
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
        SciPy's; a window may be a Tensor.
    average : {"mean"}

    Returns
    -------
    f : ndarray
    Pxy : Tensor
    """
    if average != "mean":
        raise NotImplementedError(f"csd: average must be 'mean', got {average!r}: medians of spectra have no derivative here")
    freqs, _, found = _spectra("csd", x, None if y is x else y, fs, window, nperseg, noverlap, nfft, detrend,
                               return_onesided, scaling, axis, "psd")  # fmt: skip
    return freqs, _placed(ops.mean(found, -1), axis, found.ndim - 1)


def welch(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    average: str = "mean",
) -> tuple:  # fmt: skip
    """The power spectrum of a signal by Welch's method: `csd` of the signal with itself.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
        As for `csd`.

    Returns
    -------
    f : ndarray
        Frequencies.
    Pxx : Tensor
    """
    return csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def periodogram(
    x: Any, fs: float = 1.0, window: Any = "boxcar", nfft: int | None = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
) -> tuple:  # fmt: skip
    """The power spectrum of a signal, from all of it at once.

    Parameters
    ----------
    x, fs, window
        As for `csd`.
    nfft : int, optional
        Length of the transform; a longer signal is cut.
    detrend, return_onesided, scaling, axis
        As for `csd`.

    Returns
    -------
    f : ndarray
        Frequencies.
    Pxx : Tensor
    """
    count = asarray(x).shape[axis]
    if nfft is not None and nfft < count:
        x, count = ops.moveaxis(ops.moveaxis(asarray(x), axis, -1)[..., :nfft], -1, axis), nfft
    return welch(x, fs, window, count, 0, nfft, detrend, return_onesided, scaling, axis)


def spectrogram(
    x: Any, fs: float = 1.0, window: Any = ("tukey", 0.25), nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    mode: str = "psd",
) -> tuple:  # fmt: skip
    """The power spectra of stretches of a signal.

    Parameters
    ----------
    x : array_like or Tensor
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
        As for `csd`; an eighth of a stretch overlaps by default.
    mode : {"psd", "complex", "magnitude", "angle"}

    Returns
    -------
    f, t : ndarray
    Sxx : Tensor
        With the axis of times last.
    """
    if mode not in ("psd", "complex", "magnitude", "angle"):
        raise ValueError(f"spectrogram: mode must be 'psd', 'complex', 'magnitude' or 'angle', got {mode!r}")
    count = asarray(x).shape[axis]
    size = _window("spectrogram", window, nperseg, count)[1]
    overlap = size // 8 if noverlap is None else noverlap
    kind = "psd" if mode == "psd" else "stft"
    freqs, times, found = _spectra("spectrogram", x, None, fs, window, size, overlap, nfft, detrend, return_onesided, scaling,
                                   axis, kind)  # fmt: skip
    found = abs(found) if mode == "magnitude" else ops.angle(found) if mode == "angle" else found
    return freqs, times, found if axis % (found.ndim - 1) == found.ndim - 2 else ops.moveaxis(found, -2, axis % (found.ndim - 1))


def stft(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = 256, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = False, return_onesided: bool = True, boundary: Any = "zeros", padded: bool = True,
    axis: int = -1, scaling: str = "spectrum",
) -> tuple:  # fmt: skip
    """The short-time Fourier transform.

    Parameters
    ----------
    x : array_like or Tensor
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis
        SciPy's; a window may be a Tensor.
    scaling : {"spectrum", "psd"}

    Returns
    -------
    f, t : ndarray
    Zxx : Tensor
        Complex, with the axis of times last.
    """
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"stft: scaling must be 'spectrum' or 'psd', got {scaling!r}")
    kind = "density" if scaling == "psd" else scaling
    freqs, times, found = _spectra("stft", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, kind, axis,
                                   "stft", boundary, padded)  # fmt: skip
    return freqs, times, found if axis % (found.ndim - 1) == found.ndim - 2 else ops.moveaxis(found, -2, axis % (found.ndim - 1))


def istft(
    Zxx: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple:  # fmt: skip
    """The signal of a short-time Fourier transform: what overlaps is added.

    Parameters
    ----------
    Zxx : array_like or Tensor
    fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling
        SciPy's; a window may be a Tensor.

    Returns
    -------
    t : ndarray
    x : Tensor
    """
    z = ops.moveaxis(asarray(Zxx), (time_axis, freq_axis), (-2, -1))
    bins = z.shape[-1]
    default = 2 * (bins - 1) if input_onesided else bins
    size = default if nperseg is None else int(nperseg)
    length = (size if input_onesided and size == default + 1 else default) if nfft is None else int(nfft)
    weights, size = _window("istft", window, size, size)
    step = size - (size // 2 if noverlap is None else int(noverlap))
    parts = (ops.irfft(z, length) if input_onesided else ops.ifft(z, length))[..., :size]
    scale = ops.sum(weights) if scaling == "spectrum" else ops.sqrt(fs * ops.sum(weights * weights))
    count = parts.shape[-2]
    total = size + (count - 1) * step
    places = (np.arange(count)[:, None] * step + np.arange(size)).ravel()
    flat = ops.reshape(parts * weights, (*parts.shape[:-2], -1)) * scale
    x = ops.index_add(ops.zeros((*flat.shape[:-1], total), dtype=flat.dtype), -1, places, flat)
    norm = ops.index_add(ops.zeros(total, dtype=weights.dtype), 0, places, ops.tile(weights * weights, (count,)))
    if boundary:
        x, norm = x[..., size // 2 : total - size // 2], norm[size // 2 : total - size // 2]
    if (norm.detach().numpy() <= 1e-10).any():
        warnings.warn("istft: some samples lie under no window, so the signal cannot be told from its transform", stacklevel=2)
    x = x / ops.where(norm > 1e-10, norm, 1.0)
    if parts.ndim > 2 and time_axis % asarray(Zxx).ndim != asarray(Zxx).ndim - 1:
        x = ops.moveaxis(x, -1, time_axis if freq_axis > time_axis else time_axis - 1)
    return np.arange(x.shape[0 if x.ndim == 1 else -1]) / fs, x
