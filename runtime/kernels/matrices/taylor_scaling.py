"""Scales of paths of matrices: the powers of two that multiply Taylor coefficients before a computation.

Chooses them from norms and singular values, for the Taylor coefficients of functions of matrices.  Scaling by a power of two does
not round; it keeps the relative accuracy of each coefficient, however large the others are.
"""

import numpy as np

__all__ = ["det_circles", "path_scale"]

_BELOW = 60  # the range of powers of two around the natural radius to search for the circles
_ABOVE = 12
_LEAST = 1e-150  # singular value


def path_scale(x):
    """For each coefficient k, the power of a time scale that makes no coefficient larger than the first, or larger than k.

    Parameters
    ----------
    x : (..., n, n, k) ndarray

    Returns
    -------
    (..., k) ndarray
        Powers of two.

    Notes
    -----
    The exponential then has a coefficient of about 1, because k**k / k! is large: rounding in its sum loses no digits.
    """
    x, moduli, dtype = _sizes(x)
    count = x.shape[-1]
    reach = _reach(dtype) // max(count - 1, 1)
    natural = np.clip(_natural(moduli, np.maximum(moduli[..., 0], count)), -reach, reach)
    return np.ldexp(np.ones((), dtype), natural[..., None] * np.arange(count))


def det_circles(x):
    """Circles on the complex plane to evaluate the determinant of a path of matrices, one for each of its coefficients.

    Parameters
    ----------
    x : (..., n, n, k) ndarray
        The coefficients of the path.

    Returns
    -------
    scale : (..., k, k) ndarray
        For each circle the factors of the path's coefficients: the powers of its radius, times a number that brings the
        determinant to about 1; 0 after the circle's own coefficient.
    factor : (..., k) ndarray
        The factor of the determinant's coefficient at the end.

    Notes
    -----
    Let s be the singular values of the first coefficient.  The matrix at radius r has at most the singular values
    b[i] = s[i] + sum(moduli[j] * r**j).  Rounding changes its determinant by about prod(b) * sum(1 / b) * max(b).  The error of
    coefficient m is this divided by r**m.  It is least where the logarithmic slope of the product is m; the slope grows with r.
    """
    x, moduli, dtype = _sizes(x)
    count, n = x.shape[-1], x.shape[-2]
    number = np.arange(count)
    values = np.linalg.svd(x[..., 0], compute_uv=False)
    most = np.max(values, -1, initial=0)
    asked = np.tri(count, dtype=bool)  # coefficient m depends on the path's coefficients up to m
    moduli = np.where(asked, moduli[..., None, :], 0)
    below = _natural(moduli, np.where(most > 0, most, 1)[..., None]) - _BELOW
    above = below + _BELOW + _ABOVE
    moduli[..., 0] = 0
    with np.errstate(divide="ignore"):
        exponents = np.log2(moduli)

    def at(radius):
        sizes = np.exp2(exponents + radius[..., None] * number)
        bound = np.maximum(values[..., None, :] + sizes.sum(-1)[..., None], _LEAST)
        return bound, (sizes * number).sum(-1)

    while (above - below > 1).any():
        middle = (below + above) // 2
        bound, growth = at(middle)
        inverse = 1 / bound
        total = inverse.sum(-1)
        with np.errstate(invalid="ignore"):
            slope = growth * (total - (inverse**2).sum(-1) / total + inverse.min(-1, initial=np.inf))
        steep = slope > number
        below, above = np.where(steep, below, middle), np.where(steep, middle, above)
    size = np.rint(np.log2(at(below)[0]).sum(-1) / max(n, 1)).astype(int)
    powers = below[..., None] * number - size[..., None]
    reach = _reach(dtype)
    scale = np.ldexp(np.ones((), dtype), np.clip(powers, -reach, reach))
    scale[(abs(powers) > reach) & (moduli > 0)] = np.nan  # at such sizes a sum cannot represent both
    return np.where(asked, scale, 0), np.ldexp(np.ones((), dtype), n * size - below * number)


def _sizes(x):
    """Matrices with non-finite values removed, their norms, and their real dtype."""
    x = np.asarray(x)
    dtype = np.finfo(np.result_type(x, np.float32)).dtype
    x = np.where(np.isfinite(x).all((-3, -2, -1), keepdims=True), x, 0)
    wide = x.astype(np.result_type(x, np.float64))
    return wide, np.sqrt((wide.real**2 + wide.imag**2).sum((-3, -2))), dtype


def _natural(moduli, size):
    """The exponent of the largest power of two for the time scale that makes no coefficient larger than `size`."""
    number = np.arange(1, moduli.shape[-1])
    later = moduli[..., 1:]
    with np.errstate(divide="ignore"):
        found = np.where(later > 0, (np.log2(size)[..., None] - np.log2(later)) / number, np.inf).min(-1, initial=np.inf)
    return np.where(np.isfinite(found), np.floor(found), 0).astype(int)


def _reach(dtype):
    """The largest exponent such that a power of two and its inverse are representable."""
    return np.finfo(dtype).maxexp - 2
