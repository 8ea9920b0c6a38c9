"""Hankel transforms of samples at logarithmic points: fht, ifht.

Computes the coefficients by SciPy's transform of a unit vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...fft import irfft, rfft

__all__ = ["fht", "fhtoffset", "ifht"]


def _transform(name: str, a: Any, dln: float, mu: float, offset: float, bias: float) -> Any:
    import numpy.fft

    import scipy.fft

    a = asarray(a)
    n = a.shape[-1]
    places = np.arange(n) - (n - 1) / 2
    if name == "fht":
        before, after = np.exp(-bias * places * dln), np.exp(-bias * (places * dln + offset))
    else:
        before, after = np.exp(bias * (places * dln + offset)), np.exp(bias * places * dln)
    single = np.eye(1, n)[0] / before[0]
    coefficients = numpy.fft.rfft((getattr(scipy.fft, name)(single, dln, mu, offset, bias) / after)[::-1])
    return irfft(rfft(a * before) * coefficients, n)[..., ::-1] * after


def fht(a: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """Fast Hankel transform along the last axis.

    Parameters
    ----------
    a : array_like, shape (..., n)
        Real, at places whose logarithms are `dln` apart.
    dln, mu, offset, bias : float
        As in SciPy; they have no derivative.

    Returns
    -------
    Tensor
    """
    return _transform("fht", a, dln, mu, offset, bias)


def ifht(A: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """The inverse of `fht`.

    Parameters
    ----------
    A : array_like, shape (..., n)
        The result of `fht`.
    dln, mu, offset, bias : float
        As for `fht`.

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    return _transform("ifht", A, dln, mu, offset, bias)


def fhtoffset(dln: float, mu: float, initial: float = 0.0, bias: float = 0.0) -> float:
    """SciPy's fhtoffset: the offset near `initial` that reduces ringing of the transform.

    Parameters
    ----------
    dln, mu, initial, bias : float
        As in SciPy; they have no derivative.

    Returns
    -------
    float
    """
    import scipy.fft

    return float(scipy.fft.fhtoffset(dln, mu, initial, bias))
