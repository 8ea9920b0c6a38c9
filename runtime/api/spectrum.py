"""Short-time spectra of a signal, and the inverse: PyTorch's `stft` and `istft`.

Computes how segments are cut and overlapped; the rest is operators, so every mode of differentiation works.
"""

from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops


def _stretches(length: int, n_fft: int, hop: int) -> np.ndarray:
    """Indices of the elements of each segment, one row for each."""
    return np.arange(0, length - n_fft + 1, hop)[:, None] + np.arange(n_fft)


def _window_of(name: str, window: Any, win_length: int, n_fft: int, x: Any) -> Any:
    """The window, padded with zeros on both sides to `n_fft`."""
    if not 0 < win_length <= n_fft:
        raise ValueError(f"{name}: win_length must be from 1 to n_fft, which is {n_fft}, got {win_length}")
    window = ops.ones((win_length,), dtype=np.real(np.ones(0, x.dtype) * 1.0).dtype) if window is None else asarray(window)
    if window.shape != (win_length,):
        raise ValueError(f"{name}: window must have shape ({win_length},), got {window.shape}")
    before = (n_fft - win_length) // 2
    return ops.pad(window, ((before, n_fft - win_length - before),)) if win_length < n_fft else window


def stft(x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
         center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None, return_complex: bool = True, align_to_window: bool | None = None) -> Any:  # fmt: skip
    """The spectrum of each segment of a signal.

    Parameters
    ----------
    x : array_like
        Signals along the last axis.
    n_fft : int
        Length of a segment.
    hop_length : int, optional
        Distance between the starts of segments; a quarter of `n_fft` by default.
    win_length : int, optional
        Length of the window, `n_fft` by default.
    window : array_like, optional
        Factor for each segment; ones by default.
    center : bool
        Whether segments are centred; the signal is then padded at both ends by `pad_mode`.
    pad_mode : str
    normalized : bool
        Whether to divide by the square root of `n_fft`.
    onesided : bool, optional
        Whether to omit the redundant half of a real signal's spectrum; by default, this is done for real signals.
    return_complex : bool
        Whether the result is complex; otherwise a new last axis holds real and imaginary parts.
    align_to_window : bool, optional
        Without `center`: whether the first window, and not its segment, begins with the signal.

    Returns
    -------
    Tensor
        Frequencies along the second to last axis, segments along the last.
    """
    x = asarray(x)
    hop, real = n_fft // 4 if hop_length is None else hop_length, x.dtype.kind != "c"
    if hop < 1:
        raise ValueError(f"stft: hop_length must be positive, got {hop}")
    if onesided and not real:
        raise ValueError("stft: onesided is for real signals")
    if center and align_to_window is not None:
        raise ValueError("stft: align_to_window is for center=False")
    win_length = n_fft if win_length is None else win_length
    window = _window_of("stft", window, win_length, n_fft, x)
    if align_to_window:
        x = ops.pad(x, ((0, 0),) * (x.ndim - 1) + (((n_fft - win_length) // 2,) * 2,))
    if center:
        x = ops.pad(x, ((0, 0),) * (x.ndim - 1) + ((n_fft // 2, n_fft // 2),), pad_mode)
    if x.shape[-1] < n_fft:
        raise ValueError(f"stft: a signal of {x.shape[-1]} elements has no stretch of {n_fft}")
    parts = ops.take(x, _stretches(x.shape[-1], n_fft, hop), -1) * window
    norm = "ortho" if normalized else None
    short = real if onesided is None else onesided
    y = ops.swapaxes(ops.rfft(parts, axis=-1, norm=norm) if short else ops.fft(parts, axis=-1, norm=norm), -1, -2)
    return y if return_complex else ops.stack([ops.real(y), ops.imag(y)], -1)


def istft(x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
          center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
          return_complex: bool = False) -> Any:  # fmt: skip
    """The signal with spectra `x` from `stft`, or the nearest such signal.

    Parameters
    ----------
    x : array_like
        Frequencies along the second to last axis, segments along the last.
    n_fft, hop_length, win_length, window, center, normalized, onesided
        The arguments of `stft`.
    length : int, optional
        Number of elements of the signal, padded with zeros at the end; by default all that the segments contain.
    return_complex : bool
        Whether the signal is complex; `x` then has all frequencies.

    Returns
    -------
    Tensor
    """
    x = asarray(x)
    if x.ndim > 2 and x.shape[-1] == 2 and x.dtype.kind != "c":
        raise ValueError("istft: x is real; write istft(view_as_complex(x), ...) after stft(return_complex=False)")
    hop = n_fft // 4 if hop_length is None else hop_length
    short = not return_complex and x.shape[-2] == n_fft // 2 + 1 if onesided is None else onesided
    if x.ndim < 2 or x.shape[-2] != (n_fft // 2 + 1 if short else n_fft):
        raise ValueError(f"istft: n_fft = {n_fft} wants {n_fft // 2 + 1 if short else n_fft} frequencies, got shape {x.shape}")
    window = _window_of("istft", window, n_fft if win_length is None else win_length, n_fft, x)
    norm, rows = "ortho" if normalized else None, ops.swapaxes(x, -1, -2)
    parts = ops.irfft(rows, n_fft, axis=-1, norm=norm) if short else ops.ifft(rows, axis=-1, norm=norm)
    parts = (parts if short or return_complex else ops.real(parts)) * window
    size = n_fft + hop * (x.shape[-1] - 1)
    places = _stretches(size, n_fft, hop)
    flat = ops.reshape(parts, (*x.shape[:-2], places.size))
    total = ops.index_add(ops.zeros((*x.shape[:-2], size), dtype=flat.dtype), -1, places.ravel(), flat)
    squares = ops.broadcast_to(window * window, places.shape)
    weight = ops.index_add(ops.zeros((size,), dtype=squares.dtype), 0, places.ravel(), ops.reshape(squares, (places.size,)))
    start = n_fft // 2 if center else 0
    stop = size - start if length is None else min(start + length, size)
    weight = weight[start:stop]
    if not (np.abs(weight.detach().numpy()) > 1e-11).all():
        raise ValueError("istft: the sum of the squared windows is 0 at some sample, so its value is lost")
    y = total[..., start:stop] / weight
    missing = 0 if length is None else length - y.shape[-1]
    return ops.pad(y, ((0, 0),) * (y.ndim - 1) + ((0, missing),)) if missing > 0 else y
