"""Special functions: SciPy's where it is installed, else `math` one element at a time, else a clear refusal."""

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
    return _function("erf", _erf)(x)


def erfc(x):
    """Complementary error function.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("erfc", _erfc)(x)


def erfcx(x):
    """Scaled complementary error function. Needs SciPy.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return _function("erfcx")(x)


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
    if n > 170:  # asked before n! is computed, which takes for ever where n is large
        raise OverflowError(f"the derivative {n} of digamma is beyond floating point")
    # (-1)**(n + 1) n! zeta(n + 1, x)
    x = np.asarray(x)
    scale = (-1.0) ** (n + 1) * math.factorial(n)
    return scale * _function("zeta")(x.dtype.type(n + 1) if x.dtype.kind == "f" else n + 1, x)


def sigmoid(x):
    """``1 / (1 + exp(-x))``, exact to the last digits for very negative `x` too.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    x = np.asarray(x)
    return _logistic(x) if x.dtype.kind == "c" else _function("expit", _logistic)(x)


@functools.cache
def _function(name, substitute=None):
    """SciPy's ufunc, imported when it is first needed, or what stands in where SciPy is missing."""
    try:
        import scipy.special
    except ImportError:
        if substitute is None:
            raise ImportError(f"gradspec: {name} needs SciPy, which is not installed: pip install scipy") from None
        return substitute
    return getattr(scipy.special, name)


def _one_by_one(function):
    """A function of Python floats made one of arrays, which keeps float32."""
    loop = np.frompyfunc(function, 1, 1)

    def apply(x):
        x = np.asarray(x)
        with np.errstate(invalid="ignore"):  # math.* raises the flag on NaN
            y = np.asarray(loop(x))
        return y.astype(x.dtype if x.dtype.kind == "f" else np.float64)

    return apply


_erf, _erfc = _one_by_one(math.erf), _one_by_one(math.erfc)
_lgamma = _one_by_one(lambda x: math.inf if x <= 0 and x % 1 == 0 else math.lgamma(x))  # Python raises at the poles


def _logistic(x):
    if x.dtype.kind == "c":
        small = np.exp(np.where(x.real < 0, x, -x))
        return np.where(x.real < 0, small, 1) / (1 + small)
    # exp(x) / (1 + exp(x)) below 0 and 1 / (1 + exp(-x)) above, in one expression.
    return np.exp(np.minimum(x, 0.0)) / (1 + np.exp(-np.abs(x)))
