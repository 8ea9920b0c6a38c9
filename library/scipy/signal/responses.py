"""Frequency responses of filters, and filters that change the rate or adapt to local variance.

Defines these formulas, which are built from operators; the filters of `decimate` are SciPy's.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...core.tensor import TensorBase
from ...support.dispatch import ops
from ..values import numbers
from .convolutions import correlate
from .filters import sosfilt, sosfiltfilt
from .resampling import resample_poly

__all__ = ["decimate", "freqz", "freqz_sos", "freqz_zpk", "upfirdn", "wiener"]


def _frequencies(name: str, worN: Any, whole: bool, fs: float, ends: bool = False) -> Any:
    """Frequencies in radians per sample: a number of evenly spaced ones, or the given ones."""
    if not isinstance(worN, TensorBase) and np.ndim(worN) == 0:
        count = 512 if worN is None else operator.index(worN)
        return asarray(np.linspace(0, 2 * math.pi if whole else math.pi, count, endpoint=bool(ends) and not whole))
    (w,) = numbers(name, worN)
    return ops.reshape(w, (-1,)) * (2 * math.pi / fs)


def _of_unit_circle(w: Any) -> Any:
    return ops.complex(ops.cos(w), ops.sin(w))


def _polynomial(b: Any, w: Any) -> Any:
    """The sum of b[k] exp(-1j k w)."""
    angles = -ops.expand_dims(w, -1) * np.arange(b.size)
    return ops.sum(_of_unit_circle(angles) * b, -1)


def of_roots(zeros: Any, poles: Any, gain: Any, at: Any) -> Any:
    """The rational function with these zeros and poles, each along one axis, at some points."""
    at = ops.expand_dims(at, -1)
    return gain * ops.prod(at - zeros, -1) / ops.prod(at - poles, -1)


def freqz(b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: None = None, fs: float = 2 * math.pi,
          include_nyquist: bool = False) -> tuple:  # fmt: skip
    """The frequency response of a digital filter.

    Parameters
    ----------
    b, a : array_like or Tensor, 1-D
        Numerator and denominator in powers of 1 / z.
    worN : int or array_like or Tensor
        Number of frequencies, or the frequencies, in units of `fs`.
    whole : bool
        Whether the frequencies go round the unit circle, rather than half of it.
    plot : None
    fs : float
        The sampling frequency.
    include_nyquist : bool
        Whether half the sampling frequency is included as the last one, if `worN` is an int.

    Returns
    -------
    w : Tensor
        Frequencies, in units of `fs`.
    h : Tensor
        The response, complex.
    """
    if plot is not None:
        raise NotImplementedError("freqz: plot must be None; plot w and abs(h) of the result")
    w = _frequencies("freqz", worN, whole, fs, include_nyquist)
    b, a = (ops.reshape(part, (-1,)) for part in numbers("freqz", b, a))
    return w * (fs / (2 * math.pi)), _polynomial(b, w) / _polynomial(a, w)


def freqz_sos(sos: Any, worN: Any = 512, whole: bool = False, fs: float = 2 * math.pi) -> tuple:
    """The frequency response of a filter in sections of second order.

    Parameters
    ----------
    sos : array_like or Tensor, shape (n, 6)
    worN, whole, fs
        As for `freqz`.

    Returns
    -------
    w, h : Tensor
        As for `freqz`.
    """
    (sos,) = numbers("freqz_sos", sos)
    if sos.ndim != 2 or sos.shape[1] != 6 or not sos.shape[0]:
        raise ValueError(f"freqz_sos: sos must have the shape (n, 6) with n above 0, got {sos.shape}")
    w = _frequencies("freqz_sos", worN, whole, fs)
    h = math.prod(_polynomial(sos[i, :3], w) / _polynomial(sos[i, 3:], w) for i in range(sos.shape[0]))
    return w * (fs / (2 * math.pi)), h


def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: float = 2 * math.pi) -> tuple:
    """The frequency response of a filter of zeros, poles and a gain.

    Parameters
    ----------
    z, p : array_like or Tensor, 1-D
        Zeros and poles, real or complex.
    k : float or Tensor
        The gain.
    worN, whole, fs
        As for `freqz`.

    Returns
    -------
    w, h : Tensor
        As for `freqz`.
    """
    w = _frequencies("freqz_zpk", worN, whole, fs)
    z, p, k = numbers("freqz_zpk", z, p, k)
    return w * (fs / (2 * math.pi)), of_roots(ops.reshape(z, (-1,)), ops.reshape(p, (-1,)), k, _of_unit_circle(w))


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0) -> Any:
    """A filtered signal with zeros between its samples, with one sample in `down` kept.

    Parameters
    ----------
    h : array_like or Tensor, 1-D
        The filter.
    x : array_like or Tensor
    up, down : int
    axis : int
    mode : {"constant"}
        The signal is 0 beyond its ends.
    cval : 0

    Returns
    -------
    Tensor
    """
    if mode != "constant" or cval:
        raise NotImplementedError("upfirdn: mode must be 'constant' and cval 0: other paddings have no derivative here")
    h, x = numbers("upfirdn", h, x, least=np.float32)
    up, down = operator.index(up), operator.index(down)
    if h.ndim != 1 or not h.size or up < 1 or down < 1:
        raise ValueError("upfirdn: h must have one axis and some elements, up and down must be at least 1")
    x = ops.moveaxis(x, axis, -1)
    count = -(-((x.shape[-1] - 1) * up + h.size) // down)
    # Sample i of the result is the sum of h[i * down - j * up] x[j].
    inputs = (np.arange(count) * down // up)[:, None] - np.arange((h.size - 1) // up + 1)
    tap = np.arange(count)[:, None] * down - inputs * up
    valid = (inputs >= 0) & (inputs < x.shape[-1]) & (tap < h.size)
    weights = ops.where(asarray(valid), ops.take(h, np.minimum(tap, h.size - 1), 0), 0.0)
    y = ops.sum(ops.take(x, np.clip(inputs, 0, x.shape[-1] - 1), axis=-1) * weights, axis=-1)
    return ops.moveaxis(y, -1, axis)


def decimate(x: Any, q: int, n: int | None = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True) -> Any:
    """One sample in `q` of a signal, after a filter against aliases.

    Parameters
    ----------
    x : array_like or Tensor
    q : int
    n : int, optional
        The order of the filter: 8 of "iir", 20 q of "fir".
    ftype : {"iir", "fir"}
        A Chebyshev filter, or one of Hamming's window.
    axis : int
    zero_phase : bool
        Whether the filter shifts no phase.

    Returns
    -------
    Tensor
    """
    from scipy.signal import cheby1, firwin

    q = operator.index(q)
    (x,) = numbers("decimate", x)
    if ftype == "fir":
        taps = firwin((20 * q if n is None else operator.index(n)) + 1, 1.0 / q, window="hamming")
        if zero_phase:
            return resample_poly(x, 1, q, axis=axis, window=taps)
        kept = ops.moveaxis(upfirdn(taps.astype(x.dtype), x, 1, q, axis), axis, -1)[..., : -(-x.shape[axis] // q)]
        return ops.moveaxis(kept, -1, axis)
    if ftype != "iir":
        raise NotImplementedError(f"decimate: ftype must be 'iir' or 'fir', got {ftype!r}; write sosfiltfilt(sos, x)[::q]")
    sos = cheby1(8 if n is None else operator.index(n), 0.05, 0.8 / q, output="sos").astype(x.dtype)
    y = (sosfiltfilt if zero_phase else sosfilt)(sos, x, axis=axis)
    return ops.moveaxis(ops.moveaxis(y, axis, -1)[..., ::q], -1, axis)


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """Wiener's filter, which smooths where the local variance is the noise's variance.

    Parameters
    ----------
    im : array_like or Tensor
    mysize : int or sequence of int, optional
        The window, 3 along each axis by default.
    noise : float or Tensor, optional
        Power of the noise; by default the mean of the local variances.

    Returns
    -------
    Tensor
        Has the shape of `im`.
    """
    (im,) = numbers("wiener", im)
    sizes = [3] * im.ndim if mysize is None else [mysize] * im.ndim if np.ndim(mysize) == 0 else list(mysize)
    window = np.ones(sizes, im.dtype)
    means = correlate(im, window, "same") / window.size
    spreads = correlate(im * im, window, "same") / window.size - means * means
    noise = ops.mean(spreads) if noise is None else noise
    quiet = spreads < noise
    return ops.where(quiet, means, means + (im - means) * (1 - noise / ops.where(quiet, 1.0, spreads)))
