"""NumPy's Fourier transforms, with padded or cut axes and the chosen normalisation."""

import numpy as np
import numpy.fft  # NumPy binds the name on first access; two threads at once may recurse

__all__ = ["fitted", "fourier", "frequencies", "interior", "irfourier", "rfourier", "shifted"]

# The divisor of a sum, by NumPy's names for a transform and for its inverse.
_NORMS = {"none": ("backward", "forward"), "root": ("ortho", "ortho"), "all": ("forward", "backward")}


def fitted(x, shape):
    """Each axis cut, or padded with zeros at its end, to the given length."""
    x = np.asarray(x)
    y = np.zeros(shape, x.dtype)
    common = tuple(slice(min(m, n)) for m, n in zip(x.shape, shape))
    y[common] = x[common]
    return y


def fourier(x, axes, inverse, norm):
    """Discrete Fourier transform along `axes`; the inverse has a positive exponent.

    `norm` is the divisor: 1 for "none", the square root of the number of terms for "root", that number for "all".
    """
    x = np.asarray(x)
    if x.size == 0 or not axes:
        return x.astype(np.result_type(x, 1j if x.dtype.kind in "fc" else 1j + 0.0))
    if len(axes) == 1:
        return (np.fft.ifft if inverse else np.fft.fft)(x, axis=axes[0], norm=_norm(norm, inverse))
    if inverse:
        return np.fft.ifftn(x, axes=axes, norm=_norm(norm, True))
    return np.fft.fftn(x, axes=axes, norm=_norm(norm, False))


def frequencies(n, d, dtype, half):
    """The frequency of each element of a transform of length `n`, or of its first half, of samples at distance `d`."""
    return np.asarray((np.fft.rfftfreq if half else np.fft.fftfreq)(n, d), dtype)


def interior(x, n, axis, factor):
    """Multiply by `factor` the elements of a half spectrum that represent two elements of the whole one, of length `n`."""
    y = np.array(x, np.result_type(x, 1.0))
    np.moveaxis(y, axis, -1)[..., 1 : (n + 1) // 2] *= factor
    return y


def irfourier(x, n, axis, norm):
    """The real numbers whose forward transform has the first half `x`."""
    x = np.asarray(x)
    if x.size == 0:
        shape = list(x.shape)
        shape[axis] = n
        return np.zeros(shape, np.result_type(x, 1.0).type(0).real.dtype)
    return np.fft.irfft(x, n, axis, _norm(norm, True))


def rfourier(x, axis, norm):
    """The first half of the transform of real numbers."""
    x = np.asarray(x)
    if x.size == 0:
        shape = list(x.shape)
        shape[axis] = shape[axis] // 2 + 1
        return np.zeros(shape, np.result_type(x, 1j if x.dtype.kind in "fc" else 1j + 0.0))
    return np.fft.rfft(x, None, axis, _norm(norm, False))


def shifted(x, axes, inverse):
    """Rotate each axis by half its length: frequency 0 from the front to the middle, or back if `inverse`; None is all axes."""
    return (np.fft.ifftshift if inverse else np.fft.fftshift)(x, axes)


def _norm(norm, inverse):
    if norm not in _NORMS:
        raise ValueError(f"norm must be 'none', 'root' or 'all', got {norm!r}")
    return _NORMS[norm][inverse]
