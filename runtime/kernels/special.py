"""Special functions: SciPy's where it is installed, else `math` one element at a time, else a clear refusal."""

from __future__ import annotations

import functools
import math

import numpy as np


def digamma(x):
    """Derivative of the logarithm of the gamma function. Needs SciPy.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("digamma")(x)


def erf(x):
    """Error function.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("erf", math.erf)(x)


def erfc(x):
    """Complementary error function.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("erfc", math.erfc)(x)


def erfinv(x):
    """Inverse error function. Needs SciPy.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("erfinv")(x)


def gelu(x, approximate):
    """Gaussian error linear unit.

    Parameters
    ----------
    x : ndarray
    approximate : {'none', 'tanh'}

    Returns
    -------
    ndarray
    """
    if approximate == "none":
        return x * (erfc(-math.sqrt(0.5) * x) * 0.5)
    if approximate == "tanh":
        return x * ((1 + np.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))) * 0.5)
    raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")


def lgamma(x):
    """Logarithm of the modulus of the gamma function.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("gammaln", _lgamma)(x)


def polygamma(n, x):
    """Derivative `n` of the digamma function. Needs SciPy.

    Parameters
    ----------
    n : int
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    if n == 0:
        return digamma(x)
    # (-1)**(n + 1) n! zeta(n + 1, x)
    x = np.asarray(x)
    scale = (-1.0) ** (n + 1) * math.factorial(n)
    return scale * _function("zeta")(x.dtype.type(n + 1) if x.dtype.kind == "f" else n + 1, x)


@functools.cache
def _function(name, scalar=None):
    """SciPy's ufunc, imported when it is first needed, or one made of a function of Python floats."""
    try:
        import scipy.special
    except ImportError:
        if scalar is None:
            raise ImportError(f"gradspec: {name} needs SciPy, which is not installed: pip install scipy") from None
    else:
        return getattr(scipy.special, name)
    loop = np.frompyfunc(scalar, 1, 1)

    def function(x):
        x = np.asarray(x)
        return np.asarray(loop(x)).astype(x.dtype if x.dtype.kind == "f" else np.float64)

    return function


def _lgamma(x):
    """math.lgamma with infinity at the poles, where Python raises."""
    return math.inf if x <= 0 and x == int(x) else math.lgamma(x)
