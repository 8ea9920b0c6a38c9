"""Maximum likelihood and expectations: SciPy's values, gradients against differences."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import stats
from tests.later import later

scipy_stats = later("scipy.stats")

DATA = np.random.default_rng(3).gamma(2.5, 1.7, size=60)
# A family, what is fixed, and whether the likelihood has an inner maximum.
FITS = [
    ("gamma", {"floc": 0.0}), ("weibull_min", {"floc": 0.0}), ("lognorm", {"floc": 0.0, "fscale": 3.0}), ("invgauss", {"floc": 0.0}),
    ("norm", {}), ("logistic", {}), ("gumbel_r", {}), ("t", {"f0": 4.0}), ("chi2", {"floc": 0.0}), ("expon", {"floc": 0.0}),
    ("genlogistic", {}), ("nakagami", {"floc": 0.0}), ("betaprime", {"floc": 0.0, "fscale": 3.0}), ("ncx2", {"floc": 0.0, "fscale": 1.0}),
]  # fmt: skip


def test_fits_are_scipys():
    """The likelihood is not below that of SciPy's search, and the parameters are those."""
    for name, fixed in FITS:
        ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
        found, expected = [p.item() for p in ours.fit(DATA, **fixed)], theirs.fit(DATA, **fixed)
        assert theirs.logpdf(DATA, *found).mean() > theirs.logpdf(DATA, *expected).mean() - 1e-9, name
        np.testing.assert_allclose(found, expected, rtol=2e-3, err_msg=name)
    # At the edge of the support, which gradients do not find.
    np.testing.assert_allclose([p.item() for p in stats.uniform.fit(DATA)], scipy_stats.uniform.fit(DATA))
    given = stats.gamma.fit(DATA, 2.0, scale=1.0, fix_a=2.0, floc=0.0)
    assert given[0].item() == 2.0 and given[2].item() == pytest.approx(DATA.mean() / 2, rel=1e-7)


def test_a_fit_moves_with_its_data():
    for name, fixed in (("gamma", {"floc": 0.0}), ("gumbel_r", {})):
        distribution, direction = getattr(stats, name), np.cos(np.arange(DATA.size))
        function = lambda data: gs.stack(distribution.fit(data, **fixed))  # noqa: B023, E731
        ends = [function(DATA + step * direction).numpy() for step in (1e-4, -1e-4)]
        slope = (ends[0] - ends[1]) / 2e-4
        np.testing.assert_allclose(gs.jvp(function, (DATA,), (direction,))[1], slope, rtol=1e-5, atol=1e-8, err_msg=name)
        data = gs.tensor(DATA, requires_grad=True)
        (gradient,) = gs.autograd.grad(function(data).sum(), data)
        np.testing.assert_allclose((gradient * direction).sum().item(), slope.sum(), rtol=1e-5, err_msg=name)


def test_wrong_fits_are_refused():
    for call, words in (
        (lambda: stats.norm.fit([]), "norm.fit: the data must be finite numbers, one at least"),
        (lambda: stats.norm.fit([1.0, np.nan]), "norm.fit: the data must be finite"),
        (lambda: stats.norm.fit(DATA, floc=0.0, fscale=1.0), "norm.fit: all parameters are fixed"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument 'method'; it maximises the likelihood"):
        stats.norm.fit(DATA, method="MM")
    with pytest.raises(TypeError, match="floc is a number, and the fit has no derivative in it"):
        stats.norm.fit(DATA, floc=gs.tensor(0.0, requires_grad=True))


def test_expectations():
    """Values of SciPy's `expect`; derivatives by those of moments that have a formula, and by differences."""
    for name, shapes in (("gamma", (2.3,)), ("norm", ()), ("beta", (2.3, 0.8)), ("expon", ())):
        ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
        for ends in ({}, {"lb": 0.7, "ub": 1.6}, {"lb": 0.7, "conditional": True}):
            expected = theirs.expect(np.cos, shapes, 0.3, 1.7, **ends)
            np.testing.assert_allclose(ours.expect(gs.cos, shapes, 0.3, 1.7, **ends).item(), expected, rtol=1e-7, err_msg=f"{name} {ends}")
    a = gs.tensor(2.3, requires_grad=True)
    stats.gamma(a, scale=1.7).expect().backward()
    assert a.grad.item() == pytest.approx(1.7, rel=1e-8)  # the mean is a * scale
    upper = gs.tensor(1.6, requires_grad=True)
    (slope,) = gs.autograd.grad(stats.norm.expect(gs.exp, lb=-9.0, ub=upper), upper)
    assert slope.item() == pytest.approx(np.exp(1.6) * scipy_stats.norm.pdf(1.6), rel=1e-9)
    for name, shapes in (("poisson", (2.4,)), ("binom", (7, 0.3)), ("skellam", (2.3, 1.4)), ("geom", (0.4,))):
        ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
        for ends in ({}, {"lb": 2, "ub": 4, "conditional": True}):  # not below the support, where SciPy's is no mean
            expected = theirs.expect(lambda k: np.cos(0.3 * k), shapes, 1, **ends)
            np.testing.assert_allclose(ours.expect(lambda k: gs.cos(0.3 * k), shapes, 1, **ends).item(), expected, rtol=1e-8, err_msg=name)
    assert gs.grad(lambda mu: stats.poisson(mu).expect(gs.square))(2.4).item() == pytest.approx(1 + 2 * 2.4, rel=1e-9)
    with pytest.raises(NotImplementedError, match="zipf.expect: more than 1000000 numbers would be summed; give lb and ub"):
        stats.zipf.expect(args=(1.5,))
