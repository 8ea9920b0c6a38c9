"""Scales of paths of matrices: by which powers of two coefficients are multiplied before they are computed with.

Owns the choice of them, from norms and singular values, for the Taylor coefficients of functions of matrices.  They change no
digit; a coefficient keeps those that it has however large the others are.
"""

import numpy as np

__all__ = ["det_circles", "path_scale"]

_BELOW = 60  # powers of two about the natural radius, within which the circles are sought
_ABOVE = 12
_LEAST = 1e-150  # singular value


def path_scale(x):
    """For each coefficient of a path of matrices the power of a scale of time at which none is larger than the first, or than k.

    Parameters
    ----------
    x : (..., n, n, k) ndarray

    Returns
    -------
    (..., k) ndarray
        Powers of two.

    Notes
    -----
    The exponential has a coefficient of about 1 there, as k**k / k! is large: what rounds off the sum of all keeps its digits.
    """
    x, moduli, dtype = _sizes(x)
    count = x.shape[-1]
    reach = _reach(dtype) // max(count - 1, 1)
    natural = np.clip(_natural(moduli, np.maximum(moduli[..., 0], count)), -reach, reach)
    return np.ldexp(np.ones((), dtype), natural[..., None] * np.arange(count))


def det_circles(x):
    """Circles on which the determinant of a path of matrices is computed, one for each coefficient of it.

    Parameters
    ----------
    x : (..., n, n, k) ndarray
        The coefficients of the path.

    Returns
    -------
    scale : (..., k, k) ndarray
        For each circle what the coefficients of the path are multiplied by: the powers of its radius, and a number that brings
        the determinant to about 1; 0 behind the coefficient that it is for.
    factor : (..., k) ndarray
        What the coefficient of the determinant is multiplied by in the end.

    Notes
    -----
    With the singular values s of the first coefficient the matrix at the radius r has at most the singular values
    b[i] = s[i] + sum(moduli[j] * r**j), and rounding changes its determinant by about prod(b) * sum(1 / b) * max(b).  That
    over r**m is the error of coefficient m, and least where the logarithmic slope of the product is m; it grows with r.
    """
    x, moduli, dtype = _sizes(x)
    count, n = x.shape[-1], x.shape[-2]
    number = np.arange(count)
    values = np.linalg.svd(x[..., 0], compute_uv=False)
    most = np.max(values, -1, initial=0)
    asked = np.tri(count, dtype=bool)  # coefficient m follows from those of the path up to m
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
    scale[(abs(powers) > reach) & (moduli > 0)] = np.nan  # of these sizes no sum has the digits of both
    return np.where(asked, scale, 0), np.ldexp(np.ones((), dtype), n * size - below * number)


def _sizes(x):
    """Matrices without what is no number, their norms, and the real dtype that they have."""
    x = np.asarray(x)
    dtype = np.finfo(np.result_type(x, np.float32)).dtype
    x = np.where(np.isfinite(x).all((-3, -2, -1), keepdims=True), x, 0)
    wide = x.astype(np.result_type(x, np.float64))
    return wide, np.sqrt((wide.real**2 + wide.imag**2).sum((-3, -2))), dtype


def _natural(moduli, size):
    """The exponent of the largest power of two of time at which no coefficient is larger than a size."""
    number = np.arange(1, moduli.shape[-1])
    later = moduli[..., 1:]
    with np.errstate(divide="ignore"):
        found = np.where(later > 0, (np.log2(size)[..., None] - np.log2(later)) / number, np.inf).min(-1, initial=np.inf)
    return np.where(np.isfinite(found), np.floor(found), 0).astype(int)


def _reach(dtype):
    """Up to which exponent there are powers of two, and their inverses."""
    return np.finfo(dtype).maxexp - 2
