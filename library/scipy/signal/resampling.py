"""Resample signals, and compute their trend, their envelope and their running median, with operators.

Computes the transform of one length from the transform of another.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops
from .filters import _floats

__all__ = ["detrend", "hilbert", "medfilt", "resample", "resample_poly"]


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:
    """The analytic signal: its real part is `x`, its imaginary part the Hilbert transform.

    Parameters
    ----------
    x : array_like or Tensor
        Real.
    N : int, optional
        The length of the Fourier transform; that of `x` by default.
    axis : int

    Returns
    -------
    Tensor
        Complex.
    """
    (x,) = _floats(x)
    if x.dtype.kind == "c":
        raise ValueError("hilbert: x must be real")
    size = x.shape[axis] if N is None else N
    if size <= 0:
        raise ValueError(f"hilbert: N must be positive, got {size}")
    weights = np.zeros(size)
    weights[: (size + 1) // 2] = 2
    weights[0] = 1
    weights[size // 2] = 1 if size % 2 == 0 else weights[size // 2]
    found = ops.fft(ops.moveaxis(x, axis, -1), size) * asarray(weights.astype(x.dtype))
    return ops.moveaxis(ops.ifft(found), -1, axis)


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> Any:
    """A signal without its mean, or without the straight lines that fit it best.

    Parameters
    ----------
    data : array_like or Tensor
    axis : int
    type : {"linear", "constant"}
    bp : int or sequence of int
        Breakpoints between the lines.
    overwrite_data : bool
        Accepted as in SciPy; `data` is unchanged.

    Returns
    -------
    Tensor
        Has the shape of `data`.
    """
    (x,) = _floats(data)
    if type in ("constant", "c"):
        return x - ops.mean(x, axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError(f"detrend: type must be 'linear' or 'constant', got {type!r}")
    x = ops.moveaxis(x, axis, -1)
    ends = sorted({0, x.shape[-1], *np.atleast_1d(bp).tolist()})
    if ends[-1] > x.shape[-1]:
        raise ValueError("detrend: breakpoints must be less than the length of the data")
    parts = []
    for start, stop in zip(ends, ends[1:]):
        lines = np.stack([np.arange(1, stop - start + 1) / (stop - start), np.ones(stop - start)], axis=1)
        basis = asarray(np.linalg.svd(lines, full_matrices=False)[0][:, : np.linalg.matrix_rank(lines)].astype(x.dtype))
        part = x[..., start:stop]
        parts.append(part - (part @ basis) @ ops.mT(basis))
    return ops.moveaxis(ops.concat(parts, axis=-1), -1, axis)


def resample(x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time") -> Any:
    """A periodic signal at `num` points, by its Fourier transform.

    Parameters
    ----------
    x : array_like or Tensor
    num : int
    t : array_like, optional
        Positions of the samples; the positions of the result are returned as well.
    axis : int
    window : array_like, callable, str, float or tuple, optional
        Factor of the transform, as in SciPy.
    domain : {"time", "freq"}
        Whether `x` is the signal or its transform.

    Returns
    -------
    y : Tensor
    t : ndarray
        Only with `t`.
    """
    from scipy.fft import fftfreq, ifftshift
    from scipy.signal import get_window

    (x,) = _floats(x)
    if domain not in ("time", "freq"):
        raise ValueError(f"resample: domain must be 'time' or 'freq', got {domain!r}")
    x, real = ops.moveaxis(x, axis, -1), x.dtype.kind == "f" and domain == "time"
    count = x.shape[-1]
    found = x if domain == "freq" else ops.fft(x)
    if window is not None:
        weights = window(fftfreq(count)) if callable(window) else window
        if not callable(window):
            weights = np.asarray(window) if isinstance(window, np.ndarray) else ifftshift(get_window(window, count))
        if real:  # the transform of a real signal keeps its symmetry
            weights = (weights + np.roll(weights[::-1], 1)) / 2
        found = found * asarray(weights)
    kept = min(num, count)
    half = kept // 2 + 1
    low, high = found[..., :half], found[..., count - (kept - half) :] if kept > half else found[..., :0]
    if kept % 2 == 0 and num != count:  # the highest frequency represents both of its signs
        edge = low[..., -1:]
        if num < count:
            edge = edge + found[..., count - kept // 2 : count - kept // 2 + 1]
            low = ops.concat([low[..., :-1], edge], axis=-1)
        else:
            low, high = ops.concat([low[..., :-1], edge / 2], axis=-1), ops.concat([edge / 2, high], axis=-1)
    missing = num - low.shape[-1] - high.shape[-1]
    spectrum = ops.concat([low, ops.zeros((*low.shape[:-1], missing), dtype=low.dtype), high], axis=-1)
    y = ops.ifft(spectrum) * (num / count)
    y = ops.moveaxis(ops.real(y) if real else y, -1, axis)
    if t is None:
        return y
    t = np.asarray(t)
    return y, np.arange(num) * (t[1] - t[0]) * count / num + t[0]


def resample_poly(
    x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: str = "constant", cval: Any = None
) -> Any:
    """A signal at up / down times its rate, by a filter of finite length.

    Parameters
    ----------
    x : array_like or Tensor
    up, down : int
    axis : int
    window : str, tuple or array_like
        The window of the filter, or the filter itself.
    padtype : {"constant"}
        The signal is 0 beyond its ends.
    cval : None

    Returns
    -------
    Tensor
    """
    from scipy.signal import firwin

    if padtype != "constant" or cval:
        raise NotImplementedError("resample_poly: padtype must be 'constant' and cval 0: other paddings have no derivative here")
    (x,) = _floats(x)
    if up != int(up) or down != int(down) or up < 1 or down < 1:
        raise ValueError("resample_poly: up and down must be whole and at least 1")
    common = gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    if up == down == 1:
        return x * 1
    x = ops.moveaxis(x, axis, -1)
    count = x.shape[-1]
    wanted = -(-count * up // down)
    if isinstance(window, (list, np.ndarray)):
        taps = np.asarray(window)
        half = (taps.size - 1) // 2
    else:
        half = 10 * max(up, down)
        taps = firwin(2 * half + 1, 1.0 / max(up, down), window=window)
    taps = taps * up
    # Sample i of the result is the sum of taps[half + i * down - j * up] x[j].
    reach = half // up + 1
    places = np.arange(wanted) * down // up
    inputs = places[:, None] + np.arange(-reach, reach + 1)
    tap = half + np.arange(wanted)[:, None] * down - inputs * up
    valid = (inputs >= 0) & (inputs < count) & (tap >= 0) & (tap < taps.size)
    weights = np.where(valid, taps[np.clip(tap, 0, taps.size - 1)], 0).astype(x.dtype)
    y = ops.sum(ops.take(x, np.clip(inputs, 0, count - 1), axis=-1) * asarray(weights), axis=-1)
    return ops.moveaxis(y, -1, axis)


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The running median of an array, extended by zeros beyond its edges.

    Parameters
    ----------
    volume : array_like or Tensor
    kernel_size : int or sequence of int, optional
        Odd; 3 along each axis by default.

    Returns
    -------
    Tensor
        Has the shape of `volume`.
    """
    (x,) = _floats(volume)
    sizes = np.broadcast_to(3 if kernel_size is None else kernel_size, (x.ndim,)).tolist()
    if any(size % 2 == 0 for size in sizes):
        raise ValueError("medfilt: each element of kernel_size must be odd")
    wide = ops.pad(x, [(size // 2, size // 2) for size in sizes])
    windows = [wide[tuple(slice(i, i + n) for i, n in zip(start, x.shape))] for start in np.ndindex(*sizes)]
    return ops.median(ops.stack(windows), axis=0)
