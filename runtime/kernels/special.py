"""Special functions: SciPy's where it is installed, else `math` one element at a time, else a clear refusal."""

import functools
import math

import numpy as np

from . import error_function


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
    y = error_function.erf(x)
    return _function("erf", _erf)(x) if y is None else y


def erfc(x):
    """Complementary error function.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    y = error_function.erfc(x)
    return _function("erfc", _erfc)(x) if y is None else y


def erfcx(x, n):
    """Derivative `n` of the scaled complementary error function. Needs SciPy.

    Parameters
    ----------
    x : ndarray or scalar
        Real.
    n : int

    Returns
    -------
    ndarray
    """
    function = _function("erfcx")
    if n == 0:
        return function(x)
    dtype = np.result_type(x, np.float16)
    x = np.asarray(x, np.float64)  # the series has terms beyond float32
    far = x > 6.5
    near = np.where(far, 0, x)
    before, y = 0, function(near)  # y' = 2 x y - 2 / sqrt(pi), which cancels far from 0
    for k in range(n):
        before, y = y, 2 * near * y + (2 * k * before if k else -2 / math.sqrt(math.pi))
    return np.where(far, _far_erfcx(np.where(far, x, 8 + n), n), y).astype(dtype)


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
    y = error_function.gelu(x) if approximate == "none" else None
    if y is not None:
        return y
    above = np.maximum(x, -50)  # below it all is 0, -inf too
    if approximate == "none":
        return above * (erfc(-math.sqrt(0.5) * above) * 0.5)
    if approximate == "tanh":
        inner = np.minimum(above, 50)
        return above * sigmoid(math.sqrt(8 / math.pi) * inner * (1 + 0.044715 * inner * inner))
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
    x = np.asarray(x)
    y = np.asarray(_function("gammaln", _lgamma)(x))
    if x.dtype.kind != "f" or not x.size:
        return y
    # SciPy's loses digits where the logarithm is near 0, and takes what is tiny for 0 and -inf for no pole.
    y = np.where(np.abs(x) < 2 * np.finfo(x.dtype).tiny, -np.log(np.abs(x)), np.where(x == -np.inf, np.inf, y))
    for root, slope, terms in ((1, -np.euler_gamma, _ZETAS), (2, 1 - np.euler_gamma, [zeta - 1 for zeta in _ZETAS])):
        z = np.where(np.abs(x - root) < 0.01, x - root, np.nan)
        series = 0.0
        for k, zeta in reversed(list(enumerate(terms, 2))):
            series = series * z + (-1) ** k * zeta / k
        y = np.where(np.isnan(z), y, z * (slope + z * series))
    return y.astype(x.dtype, copy=False)


def logit(x):
    """``log(x / (1 - x))``.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    if np.iscomplexobj(x):
        return np.log(x) - np.log1p(-x)
    # Around 1/2 the logarithms cancel: log(x / (1 - x)) = log1p((2 x - 1) / (1 - x)).
    middle = np.abs(np.subtract(x, 0.5)) < 0.25
    safe = np.where(middle, x, 0.5)
    return np.where(middle, np.log1p((2 * safe - 1) / (1 - safe)), np.log(x) - np.log1p(np.negative(x)))


def mish(x):
    """``x * tanh(log(1 + exp(x)))``.

    Parameters
    ----------
    x : ndarray or scalar
        Real.

    Returns
    -------
    ndarray
    """
    return np.maximum(x, -1000) * np.tanh(np.logaddexp(0, x))


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


def silu(x):
    """``x * sigmoid(x)``.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return (x if np.iscomplexobj(x) else np.maximum(x, -1000)) * sigmoid(x)  # 0 at -inf


def _far_erfcx(x, n):
    """Derivative `n` of erfcx by its asymptotic series, far from 0."""
    # erfcx(x) = sum of (-1)**k (2k - 1)!! / (2**k x**(2k + 1)) / sqrt(pi), each term derived `n` times.
    inverse = 1 / x
    terms, factor = [], 1.0
    for k in range(36):
        terms.append(factor * math.prod(range(2 * k + 1, 2 * k + 1 + n)))
        factor *= -(2 * k + 1) / 2
    series = 0.0
    for term in reversed(terms):
        series = series * inverse * inverse + term
    return (-1) ** n / math.sqrt(math.pi) * series * inverse ** (n + 1)


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


_ZETAS = (1.6449340668482264, 1.2020569031595942, 1.0823232337111382, 1.03692775514337, 1.0173430619844492, 1.0083492773819227)
_erf, _erfc = _one_by_one(math.erf), _one_by_one(math.erfc)
_lgamma = _one_by_one(lambda x: math.inf if x <= 0 and x % 1 == 0 else math.lgamma(x))  # Python raises at the poles


def _logistic(x):
    if x.dtype.kind == "c":
        small = np.exp(np.where(x.real < 0, x, -x))
        return np.where(x.real < 0, small, 1) / (1 + small)
    # exp(x) / (1 + exp(x)) below 0 and 1 / (1 + exp(-x)) above, in one expression.
    return np.exp(np.minimum(x, 0.0)) / (1 + np.exp(-np.abs(x)))
