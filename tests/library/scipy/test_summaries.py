"""Summaries of data and gaussian_kde: values are SciPy's, derivatives those of differences, to second order."""

import doctest
import importlib

import numpy as np

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from gradspec.scipy import stats
from tests.asked import each
from tests.later import later

scipy_stats = later("scipy.stats")

A = np.random.default_rng(3).uniform(0.5, 3.0, (5, 4))
V, W = A[:, 0], A[:, 1]
WEIGHTS = np.array([0.3, 1.0, 0.2, 2.0, 0.7])
CALLS = [
    ("gmean", (A,), {}), ("gmean", (A,), {"axis": 1}), ("gmean", (A,), {"axis": None}), ("gmean", (V,), {"weights": WEIGHTS}), ("hmean", (A,), {}),
    ("hmean", (V,), {"weights": WEIGHTS}), ("pmean", (A, 3), {}), ("pmean", (A, 0), {}), ("pmean", (V, 2), {"weights": WEIGHTS}),
    ("moment", (A,), {}), ("moment", (A, 3), {}), ("moment", (A, 2), {"axis": 1}), ("moment", (A, 2), {"center": 0.7}), ("moment", (A, 0), {}),
    ("skew", (A,), {}), ("skew", (A,), {"bias": False, "axis": 1}), ("kurtosis", (A,), {}), ("kurtosis", (A,), {"bias": False}),
    ("kurtosis", (A,), {"fisher": False, "axis": None}), ("sem", (A,), {}), ("sem", (A,), {"ddof": 0, "axis": 1}), ("variation", (A,), {}),
    ("variation", (A,), {"ddof": 1}), ("zscore", (A,), {}), ("zscore", (A,), {"axis": 1, "ddof": 1}), ("zscore", (A,), {"axis": None}),
    ("zmap", (V, W), {}), ("gzscore", (A,), {}), ("trim_mean", (A, 0.2), {}), ("trim_mean", (A, 0.3), {"axis": 1}),
    ("entropy", (A,), {}), ("entropy", (V, W), {}), ("entropy", (V,), {"base": 2}), ("wasserstein_distance", (V, W), {}),
    ("wasserstein_distance", (V, W[:3], WEIGHTS, WEIGHTS[1:4]), {}), ("boxcox_llf", (0.4, V), {}), ("boxcox_llf", (0.0, V), {}),
]  # fmt: skip
SEVERAL = [
    ("pearsonr", (V, W), ("statistic", "pvalue")), ("ttest_1samp", (V, 1.1), ("statistic", "pvalue")), ("ttest_rel", (V, W), ("statistic", "pvalue")),
    ("ttest_ind", (V, W[:4]), ("statistic", "pvalue")), ("describe", (A,), ("mean", "variance", "skewness", "kurtosis", "minmax")),
    ("linregress", (V, W), ("slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr")),
]  # fmt: skip


def numbers(x):
    return x.detach().numpy() if isinstance(x, gs.Tensor) else np.asarray(x)


def checked(function, arguments):
    tensors = [gs.tensor(v, requires_grad=True) for v in arguments]
    assert gradcheck(function, tensors, check_forward_ad=True)
    assert gradgradcheck(lambda *t: function(*t).sum(), tensors)


@each("name, arguments, keywords", CALLS)
def test_values_are_those_of_scipy(name, arguments, keywords):
    expected = getattr(scipy_stats, name)(*arguments, **keywords)
    np.testing.assert_allclose(numbers(getattr(stats, name)(*arguments, **keywords)), expected, rtol=1e-12, atol=1e-15)
    if name != "moment" or len(arguments) > 1 and arguments[1]:
        arrays = [v for v in arguments[:2] if isinstance(v, np.ndarray)]
        rest = arguments[1:] if len(arrays) == 1 else arguments[2:]
        if name == "boxcox_llf":
            checked(lambda v: stats.boxcox_llf(arguments[0], v), [V])
        else:
            small = [v[:, :2] if v.ndim == 2 and keywords.get("axis", 0) == 0 else v for v in arrays]
            checked(lambda *v: getattr(stats, name)(*v, *rest, **keywords), small)


@each("name, arguments, parts", SEVERAL)
def test_several_results(name, arguments, parts):
    found, expected = getattr(stats, name)(*arguments), getattr(scipy_stats, name)(*arguments)
    for part in parts:
        ours, theirs = getattr(found, part), getattr(expected, part)
        np.testing.assert_allclose([numbers(v) for v in ours] if part == "minmax" else numbers(ours), theirs, rtol=1e-10)
    arrays = [v for v in arguments if isinstance(v, np.ndarray)]
    rest = arguments[len(arrays) :]
    checked(lambda *v: gs.stack([gs.sum(getattr(getattr(stats, name)(*v, *rest), part)) for part in parts if part != "minmax"]), arrays)


def test_welch():
    found, expected = stats.ttest_ind(V, W[:4], equal_var=False), scipy_stats.ttest_ind(V, W[:4], equal_var=False)
    np.testing.assert_allclose([numbers(v) for v in found], [expected.statistic, expected.pvalue], rtol=1e-10)


@each("dataset, places", [(V, np.array([0.7, 1.9])), (A[:, :2].T, A[:2, 2:].T)])
@each("options", [{}, {"bw_method": "silverman"}, {"bw_method": 0.6}, {"weights": WEIGHTS}])
def test_gaussian_kde(dataset, places, options):
    ours, theirs = stats.gaussian_kde(dataset, **options), scipy_stats.gaussian_kde(dataset, **options)
    for method in ("pdf", "logpdf", "evaluate", "__call__"):
        np.testing.assert_allclose(numbers(getattr(ours, method)(places)), getattr(theirs, method)(places), rtol=1e-10)
    np.testing.assert_allclose(numbers(ours.covariance), theirs.covariance, rtol=1e-12)
    checked(lambda d, x: stats.gaussian_kde(d, **options).logpdf(x), [dataset, places])


def test_the_bandwidth_has_a_derivative():
    checked(lambda factor, weights: stats.gaussian_kde(V, factor, weights).logpdf([0.7, 1.9]), [0.6, WEIGHTS])
    assert doctest.testmod(importlib.import_module("gradspec.scipy.stats.kde")).failed == 0
