"""Values and gradients of all distributions beside PyTorch's, from one table; beside SciPy's where PyTorch has no formula."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import gradspec as gs
from tests.asked import each
from tests.later import later
from tests.library.distributions.cases import CASES, IDS, MATRICES, SIMPLEXES

torch = later("torch")

# PyTorch's trigamma has an error of some 1e-9, and its Bessel functions are polynomials with errors of 1e-7: these are compared with
# SciPy's to all digits below.
CLOSE = {"rtol": 2e-8, "atol": 1e-10}
CLOSE_BESSEL = {"rtol": 3e-6, "atol": 1e-6}


def beside(case, function, *values):
    """A function of a distribution and values gives the same in both libraries, and so do its gradients; False where PyTorch has none."""
    parameters, ours = case.ours(grad=True)
    others, theirs = case.torchs(grad=True)
    x = [gs.tensor(value, requires_grad=not case.discrete) for value in values]
    y = [
        torch.tensor(value, dtype=None if case.name == "Categorical" else torch.float64, requires_grad=not case.discrete)
        for value in values
    ]
    try:
        expected = function(theirs, *y)
    except NotImplementedError:
        return False
    close = CLOSE_BESSEL if case.name == "VonMises" else CLOSE
    found = function(ours, *x)
    assert tuple(found.shape) == tuple(expected.shape)
    stated = ~torch.isnan(expected).numpy()  # of modes that PyTorch has none of, see below
    np.testing.assert_allclose(found.detach().numpy()[stated], expected.detach().numpy()[stated], **close)
    assert found.requires_grad == expected.requires_grad
    if expected.requires_grad:
        weights = np.cos(np.arange(expected.numel())).reshape(expected.shape)
        gs.where(gs.isfinite(found), found, 0.0).mul(gs.tensor(weights)).sum().backward()
        try:
            torch.where(torch.isfinite(expected), expected, 0.0).mul(torch.tensor(weights)).sum().backward()
        except NotImplementedError:
            return False  # of `igamma` by its first argument
        for (name, one), other in zip([*parameters.items(), *zip(["value"] * len(x), x)], [*others.values(), *y]):
            if other.grad is not None:
                known = torch.isfinite(other.grad).numpy()  # PyTorch has NaN beside a branch that was not taken
                gradient = np.zeros(one.shape) if one.grad is None else one.grad.numpy()
                np.testing.assert_allclose(
                    *(tangent(case, name, np.where(known, g, 0.0)) for g in (gradient, other.grad.numpy())), **close
                )
    return True


def tangent(case, name, gradient):
    """The part of a gradient along a constraint: the values of either library beside it are its own matter."""
    if name == "scale_tril" or (name == "value" and case.name == "LKJCholesky"):
        return np.tril(gradient)
    if name in ("covariance_matrix", "precision_matrix") or (name == "value" and case.name in MATRICES):
        return gradient + np.swapaxes(gradient, -1, -2)
    if name == "value" and case.name in SIMPLEXES:
        return gradient - gradient.mean(-1, keepdims=True)
    return gradient


@each("case", CASES, ids=IDS)
def test_log_prob(case):
    assert beside(case, lambda d, x: d.log_prob(x), case.values)


SCIPY = {
    "StudentT": lambda df, loc, scale: scipy.stats.t(df, loc, scale), "Gamma": lambda a, rate: scipy.stats.gamma(a, scale=1 / rate),
    "Chi2": scipy.stats.chi2, "FisherSnedecor": scipy.stats.f, "Beta": scipy.stats.beta, "Poisson": scipy.stats.poisson,
    "InverseGamma": lambda a, rate: scipy.stats.invgamma(a, scale=rate),
    "NegativeBinomial": lambda n, p: scipy.stats.nbinom(n, 1 - (p if 0 < p[0] else 1 / (1 + np.exp(-p)))),
}  # fmt: skip


def beside_scipy(case, method, values):
    """A method has SciPy's values, and central differences of these are its gradient."""
    parameters, ours = case.ours(grad=True)
    arrays = [parameter.detach().numpy() for parameter in parameters.values()]
    name = {"icdf": "ppf"}.get(method, method)
    found = getattr(ours, method)(gs.tensor(values))
    np.testing.assert_allclose(found.detach().numpy(), getattr(SCIPY[case.name](*arrays), name)(values), rtol=1e-10)
    found.sum().backward()
    for place, parameter in enumerate(parameters.values()):
        step = 1e-5 * np.abs(arrays[place])
        above, below = ([array + sign * step * (k == place) for k, array in enumerate(arrays)] for sign in (1, -1))
        ends = [getattr(SCIPY[case.name](*side), name)(values).sum(0) for side in (above, below)]
        np.testing.assert_allclose(parameter.grad.numpy(), (ends[0] - ends[1]) / (2 * step), rtol=2e-6, atol=1e-8)


@each("case", CASES, ids=IDS)
def test_cdf(case):
    if not beside(case, lambda d, x: d.cdf(x), case.values) and case.name in SCIPY:
        beside_scipy(case, "cdf", case.values)
    elif case.name not in SCIPY and type(case.torchs()[1]).cdf is torch.distributions.Distribution.cdf:
        with pytest.raises(NotImplementedError):
            case.ours()[1].cdf(gs.tensor(case.values))


@each("case", CASES, ids=IDS)
def test_icdf(case):
    probabilities = [[0.1, 0.9], [0.45, 0.02]]
    if case.discrete or case.ours()[1].event_shape:
        with pytest.raises(NotImplementedError):
            case.ours()[1].icdf(0.5)
    elif not beside(case, lambda d, p: d.icdf(p), probabilities) and case.name in SCIPY:
        beside_scipy(case, "icdf", probabilities)


@each("case", CASES, ids=IDS)
def test_entropy(case):
    beside(case, lambda d: d.entropy())


@each("moment", ["mean", "variance", "stddev", "mode"])
@each("case", CASES, ids=IDS)
def test_moments(case, moment):
    beside(case, lambda d: 1.0 * getattr(d, moment))


@each("case", CASES, ids=IDS)
def test_modes_are_maxima(case):
    """PyTorch's is NaN for Weibull's with a concentration below 1, and for most of Kumaraswamy's."""
    _, d = case.ours()
    if case.discrete or d.event_shape or case.name in ("Uniform", "ContinuousBernoulli") or "Relaxed" in case.name:
        return
    mode = d.mode.numpy()
    for place in range(2):
        if np.isfinite(mode[place]):
            beside = np.where(np.arange(2) == place, mode + np.array([[-1e-3], [1e-3]]), np.asarray(case.values)[0])
            inside = d.support.check(gs.tensor(beside)).numpy()[:, place]
            at = np.where(np.arange(2) == place, mode + 1e-9 * inside[1] - 1e-9 * inside[0], np.asarray(case.values)[0])
            if d.support.check(gs.tensor(at)).numpy().all():
                around = d.log_prob(gs.tensor(np.where(inside[:, None], beside, np.asarray(case.values)[0]))).numpy()[
                    inside, place
                ]
                assert (around < d.log_prob(gs.tensor(at)).numpy()[place] + 1e-9).all()
    assert not np.isnan(mode[1]) and (case.name not in ("Weibull",) or mode[0] == 0)


def test_von_mises_to_all_digits():
    d = gs.distributions.VonMises(0.3, [0.7, 12.1, 200.0])
    exact = scipy.stats.vonmises([0.7, 12.1, 200.0], 0.3)
    np.testing.assert_allclose(d.log_prob(0.45).numpy(), exact.logpdf(0.45), rtol=1e-12)
    np.testing.assert_allclose(d.entropy().numpy(), exact.entropy(), rtol=1e-10)


def test_gradients_of_entropies_to_all_digits():
    with mpmath.workdps(40):

        def beta(a, b):
            return (
                mpmath.log(mpmath.beta(a, b))
                - (a - 1) * mpmath.digamma(a)
                - (b - 1) * mpmath.digamma(b)
                + (a + b - 2) * mpmath.digamma(a + b)
            )

        expected = [float(mpmath.diff(beta, (3.25, 2.125), order)) for order in ((1, 0), (0, 1))]
    found = gs.grad(lambda a, b: gs.distributions.Beta(a, b).entropy(), (0, 1))(3.25, 2.125)
    np.testing.assert_allclose([g.item() for g in found], expected, rtol=1e-12)


@each("logit", [0.0, 1e-9, -1e-4, 0.01, -0.3, 0.499, 0.501, 3.0, -20.0, 300.0])
def test_continuous_bernoulli_near_and_far_from_one_half(logit):
    """PyTorch's Taylor series near 1/2 has three digits fewer."""
    with mpmath.workdps(60):

        def log_mean(t):
            return mpmath.log(mpmath.expm1(t) / t) if t else mpmath.mpf(0)

        at = mpmath.mpf(logit) + mpmath.mpf(10) ** -30
        expected = [float(mpmath.diff(log_mean, at, k)) for k in (1, 2)]
        density = float(logit * mpmath.mpf("0.3") - log_mean(at))
        probability = float(mpmath.expm1(at * mpmath.mpf("0.3")) / mpmath.expm1(at))
    d = gs.distributions.ContinuousBernoulli(logits=logit)
    np.testing.assert_allclose([d.mean.item(), d.variance.item()], expected, rtol=1e-12)
    np.testing.assert_allclose(d.log_prob(0.3).item(), density, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(d.cdf(0.3).item(), probability, rtol=1e-10)
    if probability > 1e-3:
        np.testing.assert_allclose(d.icdf(probability).item(), 0.3, rtol=1e-9)
