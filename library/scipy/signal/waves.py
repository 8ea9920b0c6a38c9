"""Waves, responses of analogue filters, coherence and deconvolution under SciPy's names.

Computes them with operators; parameters of waves have derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...core.tensor import TensorBase
from ...special import exprel
from ...support.dispatch import ops
from ..values import numbers, reals
from .filters import lfilter
from .responses import freqz_sos, of_roots
from .spectra import csd

__all__ = ["chirp", "coherence", "deconvolve", "freqs", "freqs_zpk", "gausspulse", "sawtooth", "sosfreqz", "sweep_poly"]

sosfreqz = freqz_sos


def chirp(t: Any, f0: Any, t1: Any, f1: Any, method: str = "linear", phi: Any = 0, vertex_zero: bool = True) -> Any:
    """A cosine whose frequency moves from f0 at 0 to f1 at t1.

    Parameters
    ----------
    t : array_like
    f0, t1, f1 : float or Tensor
    method : {"linear", "quadratic", "logarithmic", "hyperbolic"}
    phi : float or Tensor
        Phase at 0, in degrees.
    vertex_zero : bool
        Whether the vertex of the quadratic frequency is at 0, else at t1.

    Returns
    -------
    Tensor
    """
    t, f0, t1, f1, phi = reals("chirp", t, f0, t1, f1, phi)
    beta: Any
    if method in ("linear", "lin", "li"):
        beta = (f1 - f0) / t1
        turns = f0 * t + beta * t * t / 2
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / (t1 * t1)
        turns = f0 * t + beta * t**3 / 3 if vertex_zero else f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3
    elif method in ("logarithmic", "log", "lo"):
        growth = ops.log(f1 / f0) / t1
        turns = f0 * t * exprel(growth * t)
    elif method in ("hyperbolic", "hyp"):
        sing = -f1 * t1 / (f0 - f1)
        turns = ops.where(f0 == f1, f0 * t, -sing * f0 * ops.log(ops.absolute(1 - t / sing)))
    else:
        raise ValueError(f"chirp: method must be 'linear', 'quadratic', 'logarithmic' or 'hyperbolic', got {method!r}")
    return ops.cos(2 * math.pi * turns + phi * (math.pi / 180))


def sawtooth(t: Any, width: Any = 1) -> Any:
    """A wave of the period 2 pi that rises to 1 over a share `width` of it, and falls to -1.

    Parameters
    ----------
    t : array_like
        Real.
    width : float or Tensor
        From 0 to 1; the result is NaN for others.

    Returns
    -------
    Tensor
    """
    t, width = reals("sawtooth", t, width)
    at = ops.remainder(t, 2 * math.pi) / math.pi
    rising = at < 2 * width
    found = ops.where(rising, at / ops.where(rising, width, 1.0) - 1, (width + 1 - at) / ops.where(rising, 1.0, 1 - width))
    return ops.where((width < 0) | (width > 1), math.nan, found)


def gausspulse(
    t: Any, fc: Any = 1000, bw: Any = 0.5, bwr: Any = -6, tpr: Any = -60, retquad: bool = False, retenv: bool = False
) -> Any:
    """A sine under a Gaussian envelope.

    Parameters
    ----------
    t : array_like
        Times in seconds; "cutoff" is refused.
    fc : float or Tensor
        Frequency of the sine in hertz.
    bw : float or Tensor
        Width of the band, as a fraction of `fc`.
    bwr : float or Tensor
        Level at the ends of the band, in decibels.
    tpr : float
        Without effect: it belongs to "cutoff".
    retquad : bool
        Whether to return the pulse in quadrature, too.
    retenv : bool
        Whether to return the envelope, too.

    Returns
    -------
    Tensor, or tuple of Tensor
    """
    if isinstance(t, str):
        raise NotImplementedError("gausspulse: t='cutoff' is not there; call SciPy's")
    t, fc, bw, bwr = reals("gausspulse", t, fc, bw, bwr)
    ref = 10 ** (bwr / 20)
    envelope = ops.exp((math.pi * fc * bw) ** 2 / (4 * ops.log(ref)) * t * t)
    wave, quadrature = envelope * ops.cos(2 * math.pi * fc * t), envelope * ops.sin(2 * math.pi * fc * t)
    parts = [wave, *([quadrature] if retquad else []), *([envelope] if retenv else [])]
    return parts[0] if len(parts) == 1 else tuple(parts)


def sweep_poly(t: Any, poly: Any, phi: Any = 0) -> Any:
    """A cosine whose frequency is a polynomial of the time.

    Parameters
    ----------
    t : array_like
        Times.
    poly : array_like, 1-D, or numpy.poly1d
        Coefficients of the frequency, with the highest power first.
    phi : float or Tensor
        Phase at 0, in degrees.

    Returns
    -------
    Tensor
    """
    if isinstance(poly, np.poly1d):
        poly = poly.coeffs
    t, poly, phi = reals("sweep_poly", t, poly, phi)
    turns = ops.polyval(poly / np.arange(poly.size, 0, -1), t) * t
    return ops.cos(2 * math.pi * turns + phi * (math.pi / 180))


def _points(name: str, worN: Any, of_count: Any) -> Any:
    if isinstance(worN, TensorBase) or np.ndim(worN):
        return numbers(name, worN)[0]
    return asarray(of_count(200 if worN is None else int(worN)))


def freqs(b: Any, a: Any, worN: Any = 200, plot: None = None) -> tuple:
    """The response of an analogue filter.

    Parameters
    ----------
    b, a : array_like or Tensor, 1-D
        Numerator and denominator, from the highest power.
    worN : int or array_like or Tensor
        Number of frequencies, which SciPy chooses, or the frequencies in radians.
    plot : None

    Returns
    -------
    w : Tensor
    h : Tensor
        Complex.
    """
    from scipy.signal import findfreqs

    if plot is not None:
        raise NotImplementedError("freqs: plot must be None; plot w and abs(h) of the result")
    b, a = (ops.reshape(part, (-1,)) for part in numbers("freqs", b, a))
    w = _points("freqs", worN, lambda n: findfreqs(b.detach().numpy(), a.detach().numpy(), n))
    s = ops.complex(ops.zeros_like(w), w)
    return w, ops.polyval(b, s) / ops.polyval(a, s)


def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> tuple:
    """The response of an analogue filter of zeros, poles and a gain.

    Parameters
    ----------
    z, p : array_like or Tensor, 1-D
        Zeros and poles.
    k : float or Tensor
        The gain.
    worN
        As for `freqs`.

    Returns
    -------
    w : Tensor
    h : Tensor
        Complex.
    """
    from scipy.signal import findfreqs

    z, p, k = numbers("freqs_zpk", z, p, k)
    w = _points("freqs_zpk", worN, lambda n: findfreqs(z.detach().numpy(), p.detach().numpy(), n, kind="zp"))
    return w, of_roots(z, p, k, ops.complex(ops.zeros_like(w), w))


def deconvolve(signal: Any, divisor: Any) -> tuple:
    """Quotient and remainder: signal = convolve(divisor, quotient) + remainder.

    Parameters
    ----------
    signal : array_like or Tensor, 1-D
    divisor : array_like or Tensor, 1-D
        Its first element is not 0.

    Returns
    -------
    quotient, remainder : Tensor
    """
    num, den = (ops.reshape(part, (-1,)) for part in numbers("deconvolve", signal, divisor))
    if den.size > num.size:
        return num[:0], num
    impulse = np.zeros(num.size - den.size + 1, num.dtype)
    impulse[0] = 1
    quotient = lfilter(num, den, impulse)
    return quotient, num - ops.convolve(den, quotient)


def coherence(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", axis: int = -1,
) -> tuple:  # fmt: skip
    """The squared coherence of two signals: abs(Pxy)**2 / (Pxx * Pyy).

    Parameters
    ----------
    x, y, fs, window, nperseg, noverlap, nfft, detrend, axis
        As for `csd`.

    Returns
    -------
    f : ndarray
        Frequencies.
    Cxy : Tensor
        From 0 to 1.
    """
    how = fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis
    (f, xx), (_, yy), (_, xy) = csd(x, x, *how), csd(y, y, *how), csd(x, y, *how)
    return f, (ops.real(xy) ** 2 + ops.imag(xy) ** 2) / (ops.real(xx) * ops.real(yy))
