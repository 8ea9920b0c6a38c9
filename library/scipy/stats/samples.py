"""Statistics of samples with SciPy's interface: trimmed and circular summaries, quantiles, transformations, tests of moments.

Computes the statistics with operators; a p-value is the tail of a normal, chi-squared, F or Student distribution.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradspec.scipy.optimize  # noqa: F401 (waits for it)
import gradspec.scipy.special  # noqa: F401 (as well)

from ...core.conversion import asarray
from ...generated.ops import abs, arctan2, asinh, cos, exp, log, log1p, sin, sqrt, square, where
from ...special import betainc, exprel, gammaincc, ndtr, ndtri, stdtr
from ...support.dispatch import ops
from ..optimize.minimizing import minimize_scalar
from ..special.compositions import boxcox as _boxcox
from ..values import reals
from .summaries import Tested, _along, _cdf_gap, boxcox_llf, kurtosis, pearsonr, skew

__all__ = [
    "bartlett", "boxcox", "chisquare", "circmean", "circstd", "circvar", "combine_pvalues", "differential_entropy",
    "directional_stats", "energy_distance", "expectile", "f_oneway", "gstd", "iqr", "jarque_bera", "kstat", "kstatvar",
    "kurtosistest", "levene", "lmoment", "median_abs_deviation", "normaltest", "obrientransform", "pointbiserialr",
    "power_divergence", "quantile", "scoreatpercentile", "sigmaclip", "skewtest", "tmax", "tmean", "tmin", "trim1", "trimboth",
    "tsem", "tstd", "ttest_ind_from_stats", "tvar", "yeojohnson", "yeojohnson_llf",
]  # fmt: skip


def _kept(name: str, a: Any, limits: Any, inclusive: Any, axis: Any) -> tuple[Any, int, Any]:
    """An array, its axis, and which elements are within limits, which may be None."""
    a, axis, _ = _along(name, a, axis)
    low, high = (None, None) if limits is None else limits
    mask = ops.ones_like(a) > 0
    if low is not None:
        mask = mask & (a >= low if inclusive[0] else a > low)
    if high is not None:
        mask = mask & (a <= high if inclusive[1] else a < high)
    return a, axis, mask


def _moments(a: Any, mask: Any, axis: int, ddof: int) -> tuple[Any, Any, Any]:
    """Count, mean and variance of the elements in a mask."""
    count = ops.sum(where(mask, ops.ones_like(a), 0.0), axis=axis, keepdims=True)
    mean = ops.sum(where(mask, a, 0.0), axis=axis, keepdims=True) / count
    variance = ops.sum(where(mask, square(a - mean), 0.0), axis=axis) / (ops.squeeze(count, axis) - ddof)
    return ops.squeeze(count, axis), ops.squeeze(mean, axis), variance


def tmean(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: int | None = None) -> Any:
    """Mean of the elements within limits.

    Parameters
    ----------
    a : array_like
    limits : pair of numbers or None, optional
        A limit that is None holds nothing off.
    inclusive : pair of bool
        Whether an element that equals a limit counts, for each limit.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, mask = _kept("tmean", a, limits, inclusive, axis)
    return _moments(a, mask, axis, 0)[1]


def tvar(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: int | None = 0, ddof: int = 1) -> Any:
    """Variance of the elements within limits.

    Parameters
    ----------
    a, limits, inclusive, axis
        As for `tmean`.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    a, axis, mask = _kept("tvar", a, limits, inclusive, axis)
    return _moments(a, mask, axis, ddof)[2]


def tstd(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: int | None = 0, ddof: int = 1) -> Any:
    """Standard deviation of the elements within limits.

    Parameters
    ----------
    a, limits, inclusive, axis
        As for `tmean`.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    return sqrt(tvar(a, limits, inclusive, axis, ddof))


def tsem(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: int | None = 0, ddof: int = 1) -> Any:
    """Standard error of the mean of the elements within limits.

    Parameters
    ----------
    a, limits, inclusive, axis
        As for `tmean`.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    a, axis, mask = _kept("tsem", a, limits, inclusive, axis)
    count, _, variance = _moments(a, mask, axis, ddof)
    return sqrt(variance / count)


def tmin(a: Any, lowerlimit: Any = None, axis: int | None = 0, inclusive: bool = True) -> Any:
    """Least element within a limit; NaN if there are no elements.

    Parameters
    ----------
    a : array_like
        Real numbers.
    lowerlimit : number, optional
        The least number that counts.
    axis : int or None
        None for all elements.
    inclusive : bool
        Whether an element that equals the limit counts.

    Returns
    -------
    Tensor
    """
    a, axis, mask = _kept("tmin", a, (lowerlimit, None), (inclusive, True), axis)
    return ops.amin(where(mask, a, where(ops.any(mask, axis=axis, keepdims=True), math.inf, math.nan)), axis=axis)


def tmax(a: Any, upperlimit: Any = None, axis: int | None = 0, inclusive: bool = True) -> Any:
    """Greatest element within a limit; NaN if there are no elements.

    Parameters
    ----------
    a : array_like
        Real numbers.
    upperlimit : number, optional
        The greatest number that counts.
    axis : int or None
        None for all elements.
    inclusive : bool
        Whether an element that equals the limit counts.

    Returns
    -------
    Tensor
    """
    (a,) = reals("tmax", a)
    return -tmin(-a, None if upperlimit is None else -upperlimit, axis, inclusive)


def _central(a: Any, axis: int) -> tuple[Any, Any, Any]:
    d = a - ops.mean(a, axis=axis, keepdims=True)
    return tuple(ops.mean(d**k, axis=axis) for k in (2, 3, 4))  # type: ignore[return-value]


def kstat(data: Any, n: int = 2, *, axis: int | None = None) -> Any:
    """Unbiased estimate of a cumulant.

    Parameters
    ----------
    data : array_like
        Real numbers.
    n : int
        The order, from 1 to 4; other numbers are refused.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, size = _along("kstat", data, axis)
    if n not in (1, 2, 3, 4):
        raise ValueError(f"kstat: n must be from 1 to 4, got {n}")
    if n == 1:
        return ops.mean(a, axis=axis)
    m2, m3, m4 = _central(a, axis)
    if n == 2:
        return size / (size - 1) * m2
    if n == 3:
        return size**2 / ((size - 1) * (size - 2)) * m3
    return size**2 * ((size + 1) * m4 - 3 * (size - 1) * square(m2)) / ((size - 1) * (size - 2) * (size - 3))


def kstatvar(data: Any, n: int = 2, *, axis: int | None = None) -> Any:
    """Unbiased estimate of the variance of `kstat`.

    Parameters
    ----------
    data : array_like
        Real numbers.
    n : int
        The order of the estimate, 1 or 2; other numbers are refused.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, size = _along("kstatvar", data, axis)
    k2 = kstat(a, 2, axis=axis)
    if n == 1:
        return k2 / size
    if n != 2:
        raise ValueError(f"kstatvar: n must be 1 or 2, got {n}")
    return (2 * size * square(k2) + (size - 1) * kstat(a, 4, axis=axis)) / (size * (size + 1))


def _circle(name: str, samples: Any, high: float, low: float, axis: Any) -> tuple[Any, Any, float]:
    a, axis, _ = _along(name, samples, axis)
    unit = (high - low) / (2 * math.pi)
    angle = (a - low) / unit
    return ops.mean(sin(angle), axis=axis), ops.mean(cos(angle), axis=axis), unit


def circmean(samples: Any, high: float = 2 * math.pi, low: float = 0, axis: int | None = None) -> Any:
    """Mean of angles.

    Parameters
    ----------
    samples : array_like
        Angles.
    high, low : float
        The ends of the full circle, which are one angle; 2 pi and 0 by default.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
        From `low` to `high`.
    """
    s, c, unit = _circle("circmean", samples, high, low, axis)
    return ops.remainder(arctan2(s, c), 2 * math.pi) * unit + low


def circvar(samples: Any, high: float = 2 * math.pi, low: float = 0, axis: int | None = None) -> Any:
    """1 less the length of the mean of the points on the circle.

    Parameters
    ----------
    samples, high, low, axis
        As for `circmean`.

    Returns
    -------
    Tensor
        From 0 to 1.
    """
    s, c, _ = _circle("circvar", samples, high, low, axis)
    return 1 - sqrt(s * s + c * c)


def circstd(samples: Any, high: float = 2 * math.pi, low: float = 0, axis: int | None = None, *, normalize: bool = False) -> Any:
    """Standard deviation of angles: sqrt(-2 log(R)) for the length R of the mean.

    Parameters
    ----------
    samples, high, low, axis
        As for `circmean`.
    normalize : bool
        Whether the result is in radians, instead of the unit of the angles.

    Returns
    -------
    Tensor
    """
    s, c, unit = _circle("circstd", samples, high, low, axis)
    return sqrt(-log(s * s + c * c)) * (1.0 if normalize else unit)


def directional_stats(samples: Any, *, axis: int = 0, normalize: bool = True) -> tuple[Any, Any]:
    """Mean direction of vectors along the last axis, and the length of their mean.

    Parameters
    ----------
    samples : array_like, shape (..., n)
        Vectors along the last axis.
    axis : int
        The axis of the mean, which is not the last one.
    normalize : bool
        Whether each vector is divided by its length before the mean.

    Returns
    -------
    direction : Tensor
        A vector of length 1 along the last axis.
    length : Tensor
        The length of the mean.
    """
    (a,) = reals("directional_stats", samples)
    a = ops.moveaxis(a, axis, 0)
    a = a / sqrt(ops.sum(a * a, -1, keepdims=True)) if normalize else a
    mean = ops.mean(a, axis=0)
    length = sqrt(ops.sum(mean * mean, -1, keepdims=True))
    return mean / length, length[..., 0]


def gstd(a: Any, axis: int | None = 0, ddof: int = 1) -> Any:
    """Geometric standard deviation.

    Parameters
    ----------
    a : array_like
        Positive numbers.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    a, axis, _ = _along("gstd", a, axis)
    return exp(ops.std(log(a), axis=axis, correction=ddof))


def quantile(x: Any, p: Any, *, method: str = "linear", axis: int | None = 0) -> Any:
    """Quantiles along an axis.

    Parameters
    ----------
    x : array_like
    p : float, or array_like of one dimension for x of one dimension
    method : str
        NumPy's.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, _ = _along("quantile", x, axis)
    if np.ndim(p) and (a.ndim != 1 or np.ndim(p) != 1):
        raise NotImplementedError("stats.quantile: an array p needs x of one dimension; take gs.quantile")
    return ops.quantile(a, p, axis=axis, method=method)


def scoreatpercentile(
    a: Any, per: Any, limit: Any = (), interpolation_method: str = "fraction", axis: int | None = None
) -> Any:
    """Percentiles of elements.

    Parameters
    ----------
    a : array_like
        Real numbers.
    per : float or array_like
        From 0 to 100.
    limit : tuple
        Empty; other limits are refused.
    interpolation_method : str
        "fraction", which interpolates between two elements, or a method of `gs.quantile`.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    if limit:
        raise NotImplementedError("scoreatpercentile: limit= is not there; choose the elements with a mask")
    a, axis, _ = _along("scoreatpercentile", a, axis)
    method = "linear" if interpolation_method == "fraction" else interpolation_method
    return ops.quantile(a, np.asarray(per) / 100, axis=axis, method=method)


def iqr(
    x: Any, axis: int | None = None, rng: Any = (25, 75), scale: float | str = 1.0, *, interpolation: str = "linear"
) -> Any:
    """Distance of two percentiles, over a scale.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    rng : pair of float
        The two percentiles, from 0 to 100.
    scale : float or str
        Divisor of the distance; "normal" makes the result the deviation of a normal distribution.
    interpolation : str
        A method of `gs.quantile`.

    Returns
    -------
    Tensor
    """
    a, axis, _ = _along("iqr", x, axis)
    low, high = (ops.quantile(a, q / 100, axis=axis, method=interpolation) for q in sorted(rng))
    if scale == "normal":
        scale = float(np.sqrt(2.0) * 2 * 0.4769362762044699)
    return (high - low) / scale


def median_abs_deviation(x: Any, axis: int | None = 0, center: Any = None, scale: float | str = 1.0) -> Any:
    """Median distance of elements from their median, over a scale.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    center : None
        Others than the median are refused.
    scale : float or str
        Divisor of the distance; "normal" makes the result the deviation of a normal distribution.

    Returns
    -------
    Tensor
    """
    if center is not None:
        raise NotImplementedError("median_abs_deviation: center must be the median; write gs.quantile(abs(x - c), 0.5)")
    a, axis, _ = _along("median_abs_deviation", x, axis)
    middle = ops.quantile(a, 0.5, axis=axis, keepdims=True)
    return ops.quantile(abs(a - middle), 0.5, axis=axis) / (0.6744897501960817 if scale == "normal" else scale)


def expectile(a: Any, alpha: Any = 0.5, *, weights: Any = None) -> Any:
    """The number with alpha times the mean excess above it as the rest times the mean shortfall below it.

    Parameters
    ----------
    a : array_like
        Real numbers; all axes count as one.
    alpha : float or Tensor
        From 0 to 1; 0.5 gives the mean.
    weights : array_like, optional
        Weight of each element; equal by default.

    Returns
    -------
    Tensor
    """
    from scipy import stats

    a, *given = reals("expectile", a, *(() if weights is None else (weights,)))
    plain = {"weights": given[0].detach().numpy()} if given else {}
    level = asarray(alpha)
    at = stats.expectile(a.detach().numpy(), float(level.detach().numpy()), **plain)
    w = where(a.detach() > at, level, 1 - level) * (given[0] if given else 1.0)
    return ops.sum(w * a) / ops.sum(w)


def lmoment(sample: Any, order: Any = None, *, axis: int | None = 0, sorted: bool = False, standardize: bool = True) -> Any:
    """L-moments along an axis.

    Parameters
    ----------
    sample : array_like
        Real numbers.
    order : int or array_like of int, optional
        Orders from 1; 1 to 4 by default.
    axis : int or None
        None for all elements.
    sorted : bool
        Whether the elements ascend already.
    standardize : bool
        Whether the moments from the third on are divided by the second.

    Returns
    -------
    Tensor
        The orders are along an axis at the front, if there are several.
    """
    a, axis, n = _along("lmoment", sample, axis)
    a = ops.moveaxis(a if sorted else ops.sort(a, axis=axis), axis, -1)
    orders = np.arange(1, 5) if order is None else np.asarray(order)
    b = [ops.mean(a * np.array([math.comb(i, r) / math.comb(n - 1, r) for i in range(n)]), -1)
         for r in range(max(2, int(orders.max())))]  # fmt: skip
    found = [sum((-1) ** (r - k) * math.comb(r, k) * math.comb(r + k, k) * b[k] for k in range(r + 1)) for r in range(len(b))]
    found = [value / found[1] if standardize and i > 1 else value for i, value in enumerate(found)]
    chosen = [found[int(r) - 1] for r in orders.reshape(-1)]
    return ops.stack(chosen) if orders.ndim else chosen[0]


def _chi2_sf(x: Any, df: Any) -> Any:
    return gammaincc(df / 2 + 0 * x, x / 2)


def _f_sf(x: Any, m: Any, n: Any) -> Any:
    return betainc(n / 2 + 0 * x, m / 2 + 0 * x, n / (n + m * x))


def skewtest(a: Any, axis: int | None = 0) -> Tested:
    """Test of the hypothesis that the skewness is that of a normal distribution, two-sided.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    a, axis, n = _along("skewtest", a, axis)
    y = skew(a, axis) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w = -1 + math.sqrt(2 * (beta - 1))
    z = asinh(y / math.sqrt(2 / (w - 1))) / math.sqrt(math.log(w) / 2)
    return Tested(z, 2 * ndtr(-abs(z)))


def kurtosistest(a: Any, axis: int | None = 0) -> Tested:
    """Test of the hypothesis that the kurtosis is that of a normal distribution, two-sided.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    a, axis, n = _along("kurtosistest", a, axis)
    spread = math.sqrt(24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5)))
    x = (kurtosis(a, axis, False) - 3 * (n - 1) / (n + 1)) / spread
    root = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    A = 6 + 8 / root * (2 / root + math.sqrt(1 + 4 / root**2))
    z = (1 - 2 / (9 * A) - ops.cbrt((1 - 2 / A) / (1 + x * math.sqrt(2 / (A - 4))))) / math.sqrt(2 / (9 * A))
    return Tested(z, 2 * ndtr(-abs(z)))


def normaltest(a: Any, axis: int | None = 0) -> Tested:
    """Test of the hypothesis that a sample is from a normal distribution, by skewness and kurtosis.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    found = square(skewtest(a, axis).statistic) + square(kurtosistest(a, axis).statistic)
    return Tested(found, exp(-found / 2))


def jarque_bera(x: Any, *, axis: int | None = None) -> Tested:
    """Test of the hypothesis that a sample is from a normal distribution, by its skewness and kurtosis.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    a, axis, n = _along("jarque_bera", x, axis)
    found = n / 6 * (square(skew(a, axis)) + square(kurtosis(a, axis)) / 4)
    return Tested(found, exp(-found / 2))


def _groups(name: str, samples: Any, axis: int) -> tuple[list[Any], list[int], list[Any]]:
    if len(samples) < 2:
        raise TypeError(f"{name}: at least two samples are needed, got {len(samples)}")
    groups = [ops.moveaxis(a, axis, -1) for a in reals(name, *samples)]
    return groups, [a.shape[-1] for a in groups], [ops.mean(a, -1) for a in groups]


def f_oneway(*samples: Any, axis: int = 0) -> Tested:
    """Analysis of variance of one factor: the test of the hypothesis that samples have one mean.

    Parameters
    ----------
    *samples : array_like
        At least two, each of real numbers.
    axis : int
        The axis of the elements of each sample.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    groups, sizes, means = _groups("f_oneway", samples, axis)
    total, k = sum(sizes), len(groups)
    mean = sum(n * m for n, m in zip(sizes, means)) / total
    between = sum(n * square(m - mean) for n, m in zip(sizes, means)) / (k - 1)
    within = sum(ops.sum(square(a - m[..., None]), -1) for a, m in zip(groups, means)) / (total - k)
    found = between / within
    return Tested(found, _f_sf(found, k - 1.0, total - float(k)))


def bartlett(*samples: Any, axis: int = 0) -> Tested:
    """Test of the hypothesis that samples have one variance.

    Parameters
    ----------
    *samples : array_like
        At least two, each of real numbers.
    axis : int
        The axis of the elements of each sample.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    groups, sizes, _ = _groups("bartlett", samples, axis)
    total, k = sum(sizes), len(groups)
    variances = [ops.var(a, axis=-1, correction=1) for a in groups]
    pooled = sum((n - 1) * v for n, v in zip(sizes, variances)) / (total - k)
    found = (total - k) * log(pooled) - sum((n - 1) * log(v) for n, v in zip(sizes, variances))
    found = found / (1 + (sum(1 / (n - 1) for n in sizes) - 1 / (total - k)) / (3 * (k - 1)))
    return Tested(found, _chi2_sf(found, k - 1.0))


def levene(*samples: Any, center: str = "median", axis: int = 0) -> Tested:
    """Test of the hypothesis that samples have one variance, by distances from the median or mean.

    Parameters
    ----------
    *samples : array_like
        At least two, each of real numbers.
    center : {"median", "mean"}
        Others are refused.
    axis : int
        The axis of the elements of each sample.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    groups, _, means = _groups("levene", samples, axis)
    if center not in ("median", "mean"):
        raise NotImplementedError(f"levene: center must be 'median' or 'mean', got {center!r}")
    middles = [ops.quantile(a, 0.5, axis=-1) for a in groups] if center == "median" else means
    return f_oneway(*(abs(a - m[..., None]) for a, m in zip(groups, middles)), axis=-1)


def obrientransform(*samples: Any) -> list[Any]:
    """O'Brien's transforms, whose means are the variances of the samples.

    Parameters
    ----------
    *samples : array_like, shape (n,)
        Each of at least three real numbers.

    Returns
    -------
    list of Tensor
        The transform of each sample.
    """
    found = []
    for a in reals("obrientransform", *samples):
        n, squares = a.shape[0], square(a - ops.mean(a))
        total = ops.sum(squares)
        found.append(((n - 1.5) * n * squares - 0.5 * total) / ((n - 1) * (n - 2)))
    return found


_POWERS = {"pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0, "neyman": -2.0,
           "cressie-read": 2 / 3}  # fmt: skip


def power_divergence(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0, lambda_: Any = None) -> Tested:
    """Test of the hypothesis that counts have given expectations; equal ones by default.

    Parameters
    ----------
    f_obs : array_like
        The counts.
    f_exp : array_like, optional
        The expected counts; the mean of `f_obs` by default.
    ddof : int
        Subtracted from the degrees of freedom, which are the number of counts less 1.
    axis : int or None
        None for all elements.
    lambda_ : float or str, optional
        The power: 1, "pearson", by default; 0 is "log-likelihood".

    Returns
    -------
    Tested
    """
    power = 1.0 if lambda_ is None else _POWERS[lambda_] if isinstance(lambda_, str) else float(lambda_)
    f, axis, n = _along("power_divergence", f_obs, axis)
    expected = ops.mean(f, axis=axis, keepdims=True) if f_exp is None else reals("power_divergence", f_exp)[0]
    ratio = f / expected
    if power == 1:
        terms = square(f - expected) / expected
    elif power in (0, -1):
        terms = 2 * (f * log(ratio) if power == 0 else -expected * log(ratio))
    else:
        terms = 2 / (power * (power + 1)) * f * (ratio**power - 1)
    found = ops.sum(terms, axis=axis)
    return Tested(found, _chi2_sf(found, n - 1.0 - ddof))


def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0) -> Tested:
    """Pearson's test of counts.

    Parameters
    ----------
    f_obs, f_exp, ddof, axis
        As for `power_divergence`.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    return power_divergence(f_obs, f_exp, ddof, axis)


def combine_pvalues(pvalues: Any, method: str = "fisher", weights: Any = None, *, axis: int = 0) -> Tested:
    """One p-value of several.

    Parameters
    ----------
    pvalues : array_like
        From 0 to 1.
    method : {"fisher", "pearson", "tippett", "stouffer"}
        How to combine them; others are refused.
    weights : array_like, optional
        Weight of each p-value for "stouffer"; equal by default.
    axis : int
        The axis of the p-values.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    p, axis, n = _along("combine_pvalues", pvalues, axis)
    if method == "fisher":
        found = -2 * ops.sum(log(p), axis=axis)
        return Tested(found, _chi2_sf(found, 2.0 * n))
    if method == "pearson":
        found = 2 * ops.sum(log1p(-p), axis=axis)
        return Tested(found, 1 - _chi2_sf(-found, 2.0 * n))
    if method == "tippett":
        found = ops.amin(p, axis=axis)
        return Tested(found, 1 - (1 - found) ** n)
    if method != "stouffer":
        raise NotImplementedError(f"combine_pvalues: method must be 'fisher', 'pearson', 'tippett' or 'stouffer', got {method!r}")
    w = ops.ones_like(p) if weights is None else reals("combine_pvalues", weights)[0]
    found = ops.sum(-w * ndtri(p), axis=axis) / sqrt(ops.sum(w * w + 0 * p, axis=axis))
    return Tested(found, ndtr(-found))


def ttest_ind_from_stats(
    mean1: Any, std1: Any, nobs1: Any, mean2: Any, std2: Any, nobs2: Any, equal_var: bool = True
) -> Tested:
    """t-test of two samples by their means, deviations and sizes, two-sided.

    Parameters
    ----------
    mean1, std1, nobs1 : array_like
        Mean, standard deviation and number of elements of the first sample.
    mean2, std2, nobs2 : array_like
        The same of the second sample.
    equal_var : bool
        Whether the samples have one variance; else the test is Welch's.

    Returns
    -------
    Tested
        The statistic and the p-value.
    """
    m1, s1, n1, m2, s2, n2 = reals("ttest_ind_from_stats", mean1, std1, nobs1, mean2, std2, nobs2)
    v1, v2 = square(s1) / n1, square(s2) / n2
    if equal_var:
        df = n1 + n2 - 2
        error = sqrt(((n1 - 1) * square(s1) + (n2 - 1) * square(s2)) / df * (1 / n1 + 1 / n2))
    else:
        df, error = square(v1 + v2) / (square(v1) / (n1 - 1) + square(v2) / (n2 - 1)), sqrt(v1 + v2)
    t = (m1 - m2) / error
    return Tested(t, 2 * stdtr(df, -abs(t)))


def pointbiserialr(x: Any, y: Any) -> Tested:
    """Correlation of numbers with numbers of two values: pearsonr(x, y).

    Parameters
    ----------
    x : array_like, shape (n,)
        Numbers of two values.
    y : array_like, shape (n,)
        Real numbers.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    return pearsonr(x, y)


def trimboth(a: Any, proportiontocut: float, axis: int | None = 0) -> Any:
    """Sorted elements without a share of the least and as many of the greatest.

    Parameters
    ----------
    a : array_like
        Real numbers.
    proportiontocut : float
        The share to cut at each end, rounded down to whole elements.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("trimboth", a, axis)
    cut = int(proportiontocut * n)
    return ops.narrow(ops.sort(a, axis=axis), axis, cut, n - 2 * cut)


def trim1(a: Any, proportiontocut: float, tail: str = "right", axis: int | None = 0) -> Any:
    """Sorted elements without a share at one end.

    Parameters
    ----------
    a : array_like
        Real numbers.
    proportiontocut : float
        The share to cut, rounded down to whole elements.
    tail : {"right", "left"}
        Whether the greatest or the least elements are cut.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("trim1", a, axis)
    if tail not in ("left", "right"):
        raise ValueError(f"trim1: tail must be 'left' or 'right', got {tail!r}")
    cut = int(proportiontocut * n)
    return ops.narrow(ops.sort(a, axis=axis), axis, cut if tail == "left" else 0, n - cut)


def sigmaclip(a: Any, low: float = 4.0, high: float = 4.0) -> tuple[Any, Any, Any]:
    """The elements near the mean of the elements that remain, and the limits.

    Parameters
    ----------
    a : array_like
        Real numbers, which are flattened.
    low, high : float
        How far elements may be below and above the mean, in standard deviations.

    Returns
    -------
    clipped : Tensor, 1-D
        The elements that remain.
    lower, upper : Tensor
        The limits.
    """
    (c,) = reals("sigmaclip", a)
    c = ops.reshape(c, (-1,))
    while True:
        mean, spread = ops.mean(c), ops.std(c)
        lower, upper = mean - spread * low, mean + spread * high
        kept = ((c >= lower) & (c <= upper)).detach().numpy()
        if kept.all():
            return c, lower, upper
        c = c[np.flatnonzero(kept)]


def differential_entropy(
    values: Any, *, window_length: int | None = None, base: float | None = None, axis: int = 0, method: str = "auto"
) -> Any:
    """Estimate of the entropy of a density from distances of sorted elements.

    Parameters
    ----------
    values : array_like
        Real numbers.
    window_length : int, optional
        Distance of two sorted elements whose difference is used, less than half of their number; by default the rounded root of
        their number.
    base : float, optional
        Base of the logarithm; e by default.
    axis : int or None
        None for all elements.
    method : {"auto", "vasicek", "van es", "ebrahimi"}
        The estimate; "auto" chooses it by the number of elements.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("differential_entropy", values, axis)
    x = ops.moveaxis(ops.sort(a, axis=axis), axis, -1)
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    if not 2 <= 2 * m < n:
        raise ValueError(f"differential_entropy: window_length must be positive and less than half of {n}, got {m}")
    method = ("van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek") if method == "auto" else method
    if method == "van es":
        gaps = log((n + 1) / m * (x[..., m:] - x[..., :-m]))
        found = ops.mean(gaps, -1) + sum(1 / k for k in range(m, n + 1)) + math.log(m) - math.log(n + 1)
    elif method in ("vasicek", "ebrahimi"):
        places = np.arange(n)
        gaps = x[..., np.minimum(places + m, n - 1)] - x[..., np.maximum(places - m, 0)]
        share = np.minimum(1 + np.minimum(places, n - 1 - places) / m, 2.0) if method == "ebrahimi" else 2.0
        found = ops.mean(log(n / (share * m) * gaps), -1)
    else:
        raise NotImplementedError(f"differential_entropy: method must be 'vasicek', 'van es' or 'ebrahimi', got {method!r}")
    return found if base is None else found / math.log(base)


def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The energy distance of two samples, by their distribution functions.

    Parameters
    ----------
    u_values, v_values : array_like, shape (n,), (m,)
        Positions of the points.
    u_weights, v_weights : array_like, optional
        Weights of the points; equal by default.

    Returns
    -------
    Tensor
    """
    places, gap = _cdf_gap("energy_distance", u_values, v_values, u_weights, v_weights)
    return sqrt(2 * ops.sum(square(gap) * ops.diff(places)))


def boxcox(x: Any, lmbda: Any = None) -> Any:
    """The Box-Cox transformation.

    Parameters
    ----------
    x : array_like
        Positive numbers.
    lmbda : float or Tensor, optional
        The parameter; by default the one of the greatest likelihood.

    Returns
    -------
    y : Tensor
        The transformed numbers.
    lmbda : Tensor
        The parameter, if it was not given.
    """
    (x,) = reals("boxcox", x)
    found = minimize_scalar(lambda p: -boxcox_llf(p, x), bracket=(-2.0, 2.0), tol=1e-10).x if lmbda is None else lmbda
    y = _boxcox(x, asarray(found))
    return (y, found) if lmbda is None else y


def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """The transformation of Yeo and Johnson.

    Parameters
    ----------
    x : array_like
        Real numbers.
    lmbda : float or Tensor, optional
        The parameter; by default the one of the greatest likelihood.

    Returns
    -------
    y : Tensor
        The transformed numbers.
    lmbda : Tensor
        The parameter, if it was not given.
    """
    (x,) = reals("yeojohnson", x)
    if lmbda is None:
        found = minimize_scalar(lambda p: -yeojohnson_llf(p, x), bracket=(-2.0, 2.0), tol=1e-10).x
        return yeojohnson(x, found), found
    (p,) = reals("yeojohnson", lmbda)
    above = x >= 0
    size = log1p(where(above, x, -x))
    power = where(above, p, 2 - p)
    return where(above, 1.0, -1.0) * size * exprel(power * size)


def yeojohnson_llf(lmb: Any, data: Any, *, axis: int = 0) -> Any:
    """The log-likelihood of the parameter of yeojohnson.

    Parameters
    ----------
    lmb : float or Tensor
        The parameter.
    data : array_like
        Real numbers.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tensor
    """
    data, axis, n = _along("yeojohnson_llf", data, axis)
    rest = ops.sum(where(data < 0, -1.0, 1.0) * log1p(abs(data)), axis=axis)
    return -n / 2 * log(ops.var(yeojohnson(data, lmb), axis=axis)) + (reals("", lmb)[0] - 1) * rest
