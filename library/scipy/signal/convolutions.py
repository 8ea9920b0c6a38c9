"""Convolutions and correlations of arrays of any dimension, by Fourier transforms.

Handles the modes, and the extension beyond the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.dispatch import ops

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "oaconvolve"]

_MODES = ("full", "valid", "same")


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution of two arrays along some axes.

    Parameters
    ----------
    in1, in2 : array_like or Tensor
        Has as many axes; the others broadcast.
    mode : {"full", "valid", "same"}
        All of it, what needs nothing beyond the edges, or the middle of the size of `in1`.
    axes : int or sequence of int, optional
        All of them by default.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.scipy.signal.fftconvolve([1.0, 2.0], [1.0, 1.0]).round(9).tolist()
    [1.0, 3.0, 2.0]
    """
    a, b = _pair("fftconvolve", in1, in2, mode)
    if not a.ndim:
        return a * b
    chosen = sorted(axis % a.ndim for axis in (range(a.ndim) if axes is None else np.atleast_1d(axes).tolist()))
    if mode == "valid":
        a, b = _larger_first(a, b, chosen)
    if not chosen:
        return a * b
    if not (a.size and b.size):
        return ops.zeros((0,), dtype=a.dtype)
    full = [a.shape[axis] + b.shape[axis] - 1 for axis in chosen]
    found = _transformed(a, b, full, chosen)
    return _part(found, a.shape, b.shape, chosen, mode)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`fftconvolve` under the name of SciPy's overlap-add method; here it is computed without blocks.

    Parameters
    ----------
    in1, in2, mode, axes
        As for `fftconvolve`.

    Returns
    -------
    Tensor
    """
    return fftconvolve(in1, in2, mode, axes)


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto", *, axes: Any = None, dot_axes: Any = ((), ())) -> Any:
    """The convolution of two arrays along all axes.

    Parameters
    ----------
    in1, in2 : array_like or Tensor
        Has as many axes.
    mode : {"full", "valid", "same"}
    method : {"auto", "direct", "fft"}
        SciPy's; all are computed by Fourier transforms.
    axes, dot_axes : pair of sequences of int, optional
        HIPS autograd's: the axes of `in1` and of `in2` to convolve along, the last ones by default, and those to sum over.  The
        result has what is left of `in1`, what is left of `in2`, and the convolved axes.

    Returns
    -------
    Tensor
    """
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"convolve: method must be 'auto', 'direct' or 'fft', got {method!r}")
    if axes is None and not any(map(len, dot_axes)):
        return fftconvolve(in1, in2, mode)
    a, b = asarray(in1), asarray(in2)
    dots = [[axis % x.ndim for axis in some] for x, some in zip((a, b), dot_axes)]
    if axes is None:
        count = min(x.ndim - len(some) for x, some in zip((a, b), dots))
        axes = [[axis for axis in range(x.ndim) if axis not in some][-count:] for x, some in zip((a, b), dots)]
    along = [[axis % x.ndim for axis in some] for x, some in zip((a, b), axes)]
    rest = [[axis for axis in range(x.ndim) if axis not in some + other] for x, some, other in zip((a, b), along, dots)]
    # Free axes of in1, free axes of in2, axes of the sum, axes of the convolution.
    shapes = [[x.shape[axis] for axis in some] for x, some in zip((a, b), rest)]
    first, second = (ops.permute_dims(x, tuple(r + d + c)) for x, r, d, c in zip((a, b), rest, dots, along))
    first = ops.reshape(first, tuple(shapes[0]) + (1,) * len(shapes[1]) + first.shape[len(shapes[0]) :])
    second = ops.reshape(second, (1,) * len(shapes[0]) + second.shape)
    places = list(range(first.ndim - len(along[0]), first.ndim))
    found = fftconvolve(first, second, mode, places) if places else first * second
    summed = tuple(range(len(shapes[0]) + len(shapes[1]), found.ndim - len(places)))
    return ops.sum(found, summed) if summed else found


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The cross-correlation of two arrays along all axes.

    Parameters
    ----------
    in1, in2, mode, method
        As for `convolve`.

    Returns
    -------
    Tensor
    """
    a, b = _pair("correlate", in1, in2, mode)
    if not a.ndim:
        return a * ops.conj(b)
    swapped = mode == "valid" and any(x < y for x, y in zip(a.shape, b.shape))
    found = convolve(a, ops.conj(ops.flip(b)), mode, method)
    if not swapped:
        return found
    return ops.conj(ops.flip(convolve(b, ops.conj(ops.flip(a)), mode, method)))


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The convolution of two matrices.

    Parameters
    ----------
    in1, in2 : array_like or Tensor, 2-D
    mode : {"full", "valid", "same"}
    boundary : {"fill", "wrap", "symm"}
        Extension beyond the edges of `in1`: `fillvalue`, the opposite side, or the mirror image.
    fillvalue : number

    Returns
    -------
    Tensor
    """
    a, b = _pair("convolve2d", in1, in2, mode)
    if a.ndim != 2:
        raise ValueError("convolve2d: inputs must both be 2-D arrays")
    if boundary not in ("fill", "wrap", "symm"):
        raise ValueError(f"convolve2d: boundary must be 'fill', 'wrap' or 'symm', got {boundary!r}")
    if mode == "valid" or boundary == "fill" and fillvalue == 0:
        return fftconvolve(a, b, mode)
    widths = [(size - 1, size - 1) for size in b.shape]
    for axis, (before, after) in enumerate(widths):
        places = np.arange(-before, a.shape[axis] + after)
        if boundary == "fill":
            continue
        period = a.shape[axis] * (1 if boundary == "wrap" else 2)
        places = places % period
        places = np.where(places >= a.shape[axis], period - 1 - places, places)
        a = ops.take(a, places, axis=axis)
    if boundary == "fill":
        a = ops.pad(a, widths, constant_values=fillvalue)
    found = fftconvolve(a, b, "valid")
    if mode == "full":
        return found
    return found[tuple(slice((size - 1) // 2, found.shape[i] - (size - 1 - (size - 1) // 2)) for i, size in enumerate(b.shape))]


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The cross-correlation of two matrices.

    Parameters
    ----------
    in1, in2, mode, boundary, fillvalue
        As for `convolve2d`.

    Returns
    -------
    Tensor
    """
    a, b = _pair("correlate2d", in1, in2, mode)
    if mode == "valid" and any(x < y for x, y in zip(a.shape, b.shape)):
        return correlate(a, b, mode)
    if mode == "same":  # for an even size the middle is on the other side
        found = convolve2d(a, ops.conj(ops.flip(b)), "full", boundary, fillvalue)
        return found[tuple(slice(size // 2, size // 2 + n) for n, size in zip(a.shape, b.shape))]
    return convolve2d(a, ops.conj(ops.flip(b)), mode, boundary, fillvalue)


def _pair(name: str, in1: Any, in2: Any, mode: str) -> tuple:
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be 'full', 'valid' or 'same', got {mode!r}")
    found = [asarray(x) for x in (in1, in2)]
    found = [x if x.dtype.kind in "fc" else ops.astype(x, np.float64) for x in found]
    if found[0].ndim != found[1].ndim:
        raise ValueError(f"{name}: the inputs must have as many axes, got the shapes {found[0].shape} and {found[1].shape}")
    return tuple(found)


def _larger_first(a: Any, b: Any, axes: list) -> tuple:
    if all(a.shape[axis] >= b.shape[axis] for axis in axes):
        return a, b
    if not all(b.shape[axis] >= a.shape[axis] for axis in axes):
        raise ValueError("with mode='valid' one of the inputs must be at least as large as the other along every axis")
    return b, a


def _transformed(a: Any, b: Any, full: list, axes: list) -> Any:
    """The full convolution, by Fourier transforms of the sizes that SciPy takes."""
    from scipy.fft import next_fast_len

    real = a.dtype.kind == "f" and b.dtype.kind == "f"
    sizes = tuple(next_fast_len(size, real) for size in full)
    where = tuple(axes)
    if real:
        found = ops.irfftn(ops.rfftn(a, sizes, where) * ops.rfftn(b, sizes, where), sizes, where)
    else:
        found = ops.ifftn(ops.fftn(a, sizes, where) * ops.fftn(b, sizes, where), sizes, where)
    cuts = [slice(None)] * found.ndim
    for axis, size in zip(axes, full):
        cuts[axis] = slice(size)
    return found[tuple(cuts)]


def _part(found: Any, shape: tuple, other: tuple, axes: list, mode: str) -> Any:
    if mode == "full":
        return found
    cuts = [slice(None)] * found.ndim
    for axis in axes:
        size = shape[axis] if mode == "same" else shape[axis] - other[axis] + 1
        start = (found.shape[axis] - size) // 2
        cuts[axis] = slice(start, start + size)
    return found[tuple(cuts)]
