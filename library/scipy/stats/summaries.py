"""Summaries of data with SciPy's interface: means, moments, scores, correlation, linear regression, entropy, distances.

Computes them with operators.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...generated.ops import abs, absolute, exp, log, sqrt, square, where
from ...special import entr, rel_entr, stdtr
from ...support.dispatch import ops
from ..values import reals


class Described(NamedTuple):
    """The result of `describe`."""

    nobs: int
    minmax: tuple[Any, Any]
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """The result of `linregress`."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any
    intercept_stderr: Any


def _along(name: str, a: Any, axis: Any) -> tuple[Any, int, int]:
    """An array, its axis, and the number of elements along it; flattened if there is no axis."""
    (a,) = reals(name, a)
    a, axis = (ops.reshape(a, (-1,)), 0) if axis is None else (a, axis)
    return a, axis, a.shape[axis]


def gmean(a: Any, axis: int | None = 0, weights: Any = None) -> Any:
    """Geometric mean.

    Parameters
    ----------
    a : array_like
        Positive numbers.
    axis : int or None
        None for all elements.
    weights : array_like, optional
        Has the shape of `a`.

    Returns
    -------
    Tensor
    """
    return pmean(a, 0, axis=axis, weights=weights)


def hmean(a: Any, axis: int | None = 0, *, weights: Any = None) -> Any:
    """Harmonic mean.

    Parameters
    ----------
    a, axis, weights
        As for `gmean`.

    Returns
    -------
    Tensor
    """
    return pmean(a, -1, axis=axis, weights=weights)


def pmean(a: Any, p: float, *, axis: int | None = 0, weights: Any = None) -> Any:
    """Power mean: the mean of a**p, to the power 1 / p; the geometric mean if p is 0.

    Parameters
    ----------
    a : array_like
        Positive numbers.
    p : float
        The power.
    axis, weights
        As for `gmean`.

    Returns
    -------
    Tensor
    """
    a, axis, count = _along("pmean", a, axis)
    if weights is not None:
        weights = _along("pmean", weights, None)[0] if a.ndim == 1 else reals("pmean", weights)[0]
    values = log(a) if p == 0 else a**p
    if weights is None:
        mean = ops.mean(values, axis=axis)
    else:
        mean = ops.sum(values * weights, axis=axis) / ops.sum(weights * ops.ones_like(a), axis=axis)
    return exp(mean) if p == 0 else mean ** (1 / p)


def moment(a: Any, order: int | float = 1, axis: int | None = 0, *, center: Any = None) -> Any:
    """Mean of (a - center)**order; about the mean by default.

    Parameters
    ----------
    a : array_like
    order : number
    axis : int or None
        None for all elements.
    center : number or Tensor, optional

    Returns
    -------
    Tensor
    """
    a, axis, _ = _along("moment", a, axis)
    if center is None and order in (0, 1):  # exact; the sum of deviations would be rounded
        return ops.mean(a, axis=axis) * 0.0 + (1.0 if order == 0 else 0.0)
    return ops.mean((a - (ops.mean(a, axis=axis, keepdims=True) if center is None else center)) ** order, axis=axis)


def skew(a: Any, axis: int | None = 0, bias: bool = True) -> Any:
    """Skewness: the third central moment over the cube of the deviation.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    bias : bool
        False corrects for the number of elements, if there are at least 3.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("skew", a, axis)
    found = moment(a, 3, axis) / moment(a, 2, axis) ** 1.5
    return found if bias or n < 3 else math.sqrt(n * (n - 1)) / (n - 2) * found


def kurtosis(a: Any, axis: int | None = 0, fisher: bool = True, bias: bool = True) -> Any:
    """Kurtosis: the fourth central moment over the square of the variance.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    fisher : bool
        Whether 3, the kurtosis of a normal distribution, is subtracted.
    bias : bool
        False corrects for the number of elements, if there are at least 4.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("kurtosis", a, axis)
    found = moment(a, 4, axis) / moment(a, 2, axis) ** 2
    if not bias and n > 3:
        found = ((n * n - 1) * found - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return found - 3 if fisher else found


def sem(a: Any, axis: int | None = 0, ddof: int = 1) -> Any:
    """Standard error of the mean.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    a, axis, n = _along("sem", a, axis)
    return ops.std(a, axis=axis, correction=ddof) / math.sqrt(n)


def variation(a: Any, axis: int | None = 0, ddof: int = 0) -> Any:
    """Standard deviation over the mean.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
    """
    a, axis, _ = _along("variation", a, axis)
    return ops.std(a, axis=axis, correction=ddof) / ops.mean(a, axis=axis)


def zmap(scores: Any, compare: Any, axis: int | None = 0, ddof: int = 0) -> Any:
    """Scores in standard deviations from the mean of other numbers.

    Parameters
    ----------
    scores : array_like
        Real numbers.
    compare : array_like
        The numbers that give mean and deviation.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
        Has the shape of `scores`, broadcast with the mean.
    """
    scores, compare = reals("zmap", scores, compare)
    mean = ops.mean(compare, axis=axis, keepdims=True) if axis is not None else ops.mean(compare)
    deviation = ops.std(compare, axis=axis, keepdims=axis is not None, correction=ddof)
    return (scores - mean) / deviation


def zscore(a: Any, axis: int | None = 0, ddof: int = 0) -> Any:
    """Elements in standard deviations from their mean.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.

    Returns
    -------
    Tensor
        Has the shape of `a`.
    """
    return zmap(a, a, axis, ddof)


def gzscore(a: Any, *, axis: int | None = 0, ddof: int = 0) -> Any:
    """`zscore` of the logarithms.

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
        Has the shape of `a`.
    """
    return zscore(log(reals("gzscore", a)[0]), axis, ddof)


def describe(a: Any, axis: int | None = 0, ddof: int = 1, bias: bool = True) -> Described:
    """Count, least and greatest, mean, variance, skewness and kurtosis.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    ddof : int
        Subtracted from the number of elements in the divisor of the variance.
    bias : bool
        Whether skewness and kurtosis are not corrected for the number of elements.

    Returns
    -------
    Described
    """
    a, axis, n = _along("describe", a, axis)
    ends = ops.min(a, axis=axis), ops.max(a, axis=axis)
    variance = ops.var(a, axis=axis, correction=ddof)
    return Described(n, ends, ops.mean(a, axis=axis), variance, skew(a, axis, bias), kurtosis(a, axis, True, bias))


def trim_mean(a: Any, proportiontocut: float, axis: int | None = 0) -> Any:
    """Mean without a share of the least elements and as many of the greatest.

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
    a, axis, n = _along("trim_mean", a, axis)
    cut = int(proportiontocut * n)
    return ops.mean(ops.narrow(ops.sort(a, axis=axis), axis, cut, n - 2 * cut), axis=axis)


def entropy(pk: Any, qk: Any = None, base: float | None = None, axis: int = 0) -> Any:
    """Entropy of probabilities, or their divergence from others; both are normalised.

    Parameters
    ----------
    pk : array_like
    qk : array_like, optional
        The distribution to compare pk with.
    base : float, optional
        Base of the logarithm; e by default.
    axis : int

    Returns
    -------
    Tensor
    """
    pk, *rest = reals("entropy", pk, *(() if qk is None else (qk,)))
    total = ops.sum(pk, axis=axis)  # dividing each element would give an infinite slope for an element of 0
    if rest:
        found = ops.sum(rel_entr(pk, rest[0]), axis=axis) / total - ops.log(total) + ops.log(ops.sum(rest[0], axis=axis))
    else:
        found = ops.sum(entr(pk), axis=axis) / total + ops.log(total)
    return found if base is None else found / math.log(base)


def _two_sided(t: Any, df: Any) -> Any:
    return 2 * stdtr(df * ops.ones_like(t), -abs(t))


def pearsonr(x: Any, y: Any, *, axis: int = 0) -> Tested:
    """Pearson's correlation, and the p-value of the hypothesis of no correlation.

    Parameters
    ----------
    x, y : array_like
        Real numbers of one shape.
    axis : int
        The axis of the pairs.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    x, y = reals("pearsonr", x, y)
    n = x.shape[axis]
    x, y = (v - ops.mean(v, axis=axis, keepdims=True) for v in (x, y))
    r = ops.sum(x * y, axis=axis) / sqrt(ops.sum(x * x, axis=axis) * ops.sum(y * y, axis=axis))
    return Tested(r, _two_sided(r * sqrt((n - 2) / ((1 - r) * (1 + r))), n - 2.0) if n > 2 else ops.ones_like(r))


def linregress(x: Any, y: Any) -> Line:
    """The line of least squares through points.

    Parameters
    ----------
    x, y : array_like, shape (n,)

    Returns
    -------
    Line
        slope, intercept, rvalue, pvalue, stderr, intercept_stderr: Tensors.
    """
    x, y = reals("linregress", x, y)
    n, x_mean, y_mean = x.size, ops.mean(x), ops.mean(y)
    xx, xy, yy = ops.mean(square(x - x_mean)), ops.mean((x - x_mean) * (y - y_mean)), ops.mean(square(y - y_mean))
    slope, r = xy / xx, xy / sqrt(xx * yy)
    left = (1 - r) * (1 + r)
    stderr = sqrt(left * yy / xx / (n - 2))
    t = r * sqrt((n - 2) / left)
    return Line(slope, y_mean - slope * x_mean, r, _two_sided(t, n - 2.0), stderr, stderr * sqrt(xx + square(x_mean)))


def ttest_1samp(a: Any, popmean: Any, axis: int | None = 0) -> Tested:
    """t-test of the hypothesis that the mean is `popmean`, two-sided.

    Parameters
    ----------
    a : array_like
        Real numbers.
    popmean : float or array_like
        The mean of the hypothesis.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    a, axis, n = _along("ttest_1samp", a, axis)
    t = (ops.mean(a, axis=axis) - popmean) / sem(a, axis)
    return Tested(t, _two_sided(t, n - 1.0))


def ttest_rel(a: Any, b: Any, axis: int | None = 0) -> Tested:
    """t-test of pairs, two-sided.

    Parameters
    ----------
    a, b : array_like
        Real numbers, in pairs.
    axis : int or None
        None for all elements.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    a, b = reals("ttest_rel", a, b)
    return ttest_1samp(a - b, 0.0, axis)


def ttest_ind(a: Any, b: Any, *, axis: int | None = 0, equal_var: bool = True) -> Tested:
    """t-test of two samples, two-sided.

    Parameters
    ----------
    a, b : array_like
        Real numbers.
    axis : int or None
        None for all elements.
    equal_var : bool
        Whether the samples have one variance; else the test is Welch's.

    Returns
    -------
    Tested
        The statistic and the p-value, without the axis.
    """
    (a, axis_a, n), (b, axis_b, m) = _along("ttest_ind", a, axis), _along("ttest_ind", b, axis)
    va, vb = ops.var(a, axis=axis_a, correction=1), ops.var(b, axis=axis_b, correction=1)
    if equal_var:
        df = n + m - 2.0
        error = sqrt(((n - 1) * va + (m - 1) * vb) / df * (1 / n + 1 / m))
    else:
        va, vb = va / n, vb / m
        df, error = square(va + vb) / (square(va) / (n - 1) + square(vb) / (m - 1)), sqrt(va + vb)
    t = (ops.mean(a, axis=axis_a) - ops.mean(b, axis=axis_b)) / error
    return Tested(t, _two_sided(t, df))


def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The least mean distance to transport one distribution of points to another: the area between distribution functions.

    Parameters
    ----------
    u_values, v_values : array_like, shape (n,), (m,)
        Positions of the points.
    u_weights, v_weights : array_like, optional
        Weights of the points; equal by default.

    Returns
    -------
    Tensor
        With derivatives in the points; not differentiable if points of the two coincide.
    """
    places, gap = _cdf_gap("wasserstein_distance", u_values, v_values, u_weights, v_weights)
    return ops.sum(absolute(gap) * ops.diff(places))


def _cdf_gap(name: str, u_values: Any, v_values: Any, u_weights: Any, v_weights: Any) -> tuple[Any, Any]:
    """Sorted points of two samples, and the difference of their distribution functions between these."""
    u, v = reals(name, u_values, v_values)
    weights = [ops.ones_like(u) if u_weights is None else reals("", u_weights)[0],
               ops.ones_like(v) if v_weights is None else reals("", v_weights)[0]]  # fmt: skip
    places = ops.concat([u, v])
    order = ops.argsort(places, stable=True)
    gap = ops.concat([weights[0] / ops.sum(weights[0]), -weights[1] / ops.sum(weights[1])])[order]
    return places[order], ops.cumsum(gap, 0)[:-1]


def boxcox_llf(lmb: Any, data: Any) -> Any:
    """The log-likelihood of the parameter of a Box-Cox transformation.

    Parameters
    ----------
    lmb : float or Tensor
        The parameter.
    data : array_like
        Positive numbers, along axis 0.

    Returns
    -------
    Tensor
    """
    lmb, data = reals("boxcox_llf", lmb, data)
    logs = log(data)
    zero = lmb == 0
    safe = where(zero, 1.0, lmb)
    moved = where(zero, logs, ops.expm1(safe * logs) / safe)
    return (lmb - 1) * ops.sum(logs, axis=0) - data.shape[0] / 2 * log(ops.var(moved, axis=0))
