"""Continuous families of gs.scipy.stats: values are SciPy's, derivatives those of differences, in both modes and to second order."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import stats
from gradspec.scipy.stats.continuous import Continuous
from tests.asked import each
from tests.directional import along, in_all_ways
from tests.later import later

scipy_stats = later("scipy.stats")

# Shape parameters of each family, as SciPy takes them.
SHAPES = {
    "norm": (), "cauchy": (), "logistic": (), "laplace": (), "gumbel_r": (), "gumbel_l": (), "hypsecant": (), "moyal": (),
    "t": (3.3,), "skewnorm": (-1.4,), "exponnorm": (1.5,), "gennorm": (1.7,), "genlogistic": (0.6,), "loggamma": (1.4,),
    "johnsonsu": (0.5, 1.8), "laplace_asymmetric": (1.6,), "norminvgauss": (1.6, -0.5), "dgamma": (1.6,), "dweibull": (1.8,),
    "expon": (), "exponpow": (1.4,), "exponweib": (2.1, 1.3), "burr": (9.5, 1.3), "burr12": (8.0, 4.2), "fisk": (9.1,),
    "fatiguelife": (0.8,), "foldcauchy": (1.3,), "foldnorm": (1.4,), "genexpon": (2.1, 1.2, 1.7), "genpareto": (0.13,),
    "genextreme": (0.23,), "genhalflogistic": (0.7,), "gompertz": (0.9,), "halfcauchy": (), "halflogistic": (), "halfnorm": (),
    "invgauss": (0.6,), "wald": (), "recipinvgauss": (0.8,), "invweibull": (9.6,), "levy": (), "levy_l": (), "lognorm": (0.7,),
    "gibrat": (), "powerlognorm": (2.1, 0.5), "loglaplace": (7.3,), "lomax": (6.4,), "pareto": (6.2,), "mielke": (3.2, 9.1),
    "kappa3": (1.3,), "rayleigh": (), "rice": (0.8,), "weibull_min": (1.8,), "weibull_max": (1.8,), "alpha": (3.6,),
    "truncpareto": (2.2, 5.3), "truncweibull_min": (1.6, 0.3, 1.9), "gamma": (2.3,), "erlang": (3,), "chi2": (5.3,), "chi": (2.6,),
    "maxwell": (), "nakagami": (1.9,), "halfgennorm": (0.8,), "gengamma": (2.2, 1.6), "invgamma": (6.1,), "f": (5.2, 9.3),
    "betaprime": (2.1, 6.6), "beta": (2.3, 0.8), "rdist": (3.6,), "argus": (1.4,), "uniform": (), "arcsine": (), "anglit": (),
    "cosine": (), "semicircular": (), "bradford": (0.7,), "triang": (0.3,), "trapezoid": (0.2, 0.7), "truncexpon": (3.7,),
    "truncnorm": (-0.7, 2.1), "loguniform": (0.4, 3.1), "reciprocal": (0.2, 1.1), "powerlaw": (1.7,), "johnsonsb": (0.7, 1.4),
    "wrapcauchy": (0.4,), "skewcauchy": (0.4,), "powernorm": (3.2,), "vonmises": (1.7,), "vonmises_line": (1.7,), "crystalball": (1.3, 2.8),
    "ncx2": (3.4, 2.6), "ncf": (5.2, 9.3, 1.8), "nct": (6.3, -0.8), "pearson3": (-0.7,), "jf_skew_t": (2.6, 1.4), "kappa4": (-0.3, 0.2),
    "rel_breitwigner": (1.7,), "irwinhall": (4,),
    "tukeylambda": (0.3,), "kstwobign": (), "dpareto_lognorm": (0.3, 1.2, 1.5, 2.0), "gausshyper": (1.8, 3.1, 2.5, 5.2), "geninvgauss": (2.3, 1.5), "genhyperbolic": (0.5, 1.5, -0.5),
}  # fmt: skip
PROBABILITIES = np.array([1e-3, 0.37, 0.998])
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
# What has no formula, by which the derivative is refused.
REFUSED = {"norminvgauss", "vonmises", "vonmises_line", "gausshyper", "geninvgauss", "genhyperbolic"}
# Of which the shape is a whole number: each method refuses its derivative.
WHOLE = {"irwinhall"}


def families(of=SHAPES):
    return [pytest.param(name, shapes, id=name) for name, shapes in of.items()]


def points(name, shapes):
    """Numbers all over the support, off hard points."""
    x = getattr(scipy_stats, name).ppf(PROBABILITIES, *shapes)
    return np.where(x == 0, 0.01, x)


def close(found, expected, tolerance, what):
    found = found.detach().numpy() if isinstance(found, gs.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 1e-3, err_msg=what)


def test_every_family_is_asked():
    assert {name for name in stats.__all__ if isinstance(getattr(stats, name), Continuous)} == set(SHAPES)


@each("name, shapes", families())
def test_values_are_those_of_scipy(name, shapes):
    ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
    x = points(name, shapes) * 1.7 + 0.4
    for method in METHODS:
        close(getattr(ours, method)(x, *shapes, loc=0.4, scale=1.7), getattr(theirs, method)(x, *shapes, loc=0.4, scale=1.7), 2e-10, method)
    for method in ("ppf", "isf"):
        close(getattr(ours, method)(PROBABILITIES, *shapes, 0.4, 1.7), getattr(theirs, method)(PROBABILITIES, *shapes, 0.4, 1.7), 1e-9, method)
    close(ours.cdf(ours.ppf(PROBABILITIES, *shapes), *shapes), PROBABILITIES, 1e-7, "cdf of ppf")
    if ours._entropy is not None:
        close(ours.entropy(*shapes, loc=0.4, scale=1.7), theirs.entropy(*shapes, loc=0.4, scale=1.7), 1e-6, "entropy")
    for letter, stated in zip("mvsk", ours._stats(*map(gs.asarray, shapes)) if ours._stats else ()):
        if stated is not None and name not in REFUSED:  # for these SciPy integrates, for seconds
            expected = theirs.stats(*shapes, loc=0.4, scale=1.7, moments=letter)
            close(ours.stats(*shapes, loc=0.4, scale=1.7, moments=letter), expected, 1e-6, letter)
    ends = [float(end.item()) for end in ours.support(*shapes, 0.4, 1.7)]
    if name == "pearson3":  # SciPy's has the whole line, with densities of 0
        assert ends == pytest.approx([-np.inf, 0.4 + 1.7 * 2 / 0.7]) and theirs.pdf(ends[1] + 1e-9, *shapes, 0.4, 1.7) == 0
    else:
        assert ends == pytest.approx(list(theirs.support(*shapes, 0.4, 1.7)))


def direction(name, shapes, x, generator):
    """How far each argument may move: a number and `loc` as far as there is probability beyond, the others by a tenth."""
    theirs = getattr(scipy_stats, name)
    free = np.minimum(theirs.cdf(x, *shapes), theirs.sf(x, *shapes)) / theirs.pdf(x, *shapes)
    fixed = name in REFUSED
    sizes = [free, *(0.1 * (not fixed) * abs(v) * free / (free + abs(v) + abs(x)) for v in shapes), free, free / (1 + abs(x))]
    return [size * generator.uniform(0.3, 0.7, size=x.shape) for size in sizes]


@pytest.mark.slow
@each("name, shapes", families())
def test_derivatives_are_those_of_differences(name, shapes):
    ours, generator = getattr(stats, name), np.random.default_rng(7)
    q = np.array([0.03, 0.4, 0.62, 0.96])
    x = getattr(scipy_stats, name).ppf(q, *shapes)
    moves = direction(name, shapes, x, generator)
    whole = shapes if name in WHOLE else ()
    given = [x, *(np.full(x.shape, float(v)) for v in shapes[len(whole) :]), np.zeros(x.shape), np.ones(x.shape)]
    moves = [moves[0], *moves[1 + len(whole) :]]
    for method in ("logpdf", "cdf", "logsf", "ppf"):
        if method == "ppf" and name in REFUSED - {"vonmises"}:
            continue  # SciPy searches for each number
        if method == "ppf":
            given[0], moves[0] = q, 0.3 * q * (1 - q)
        function = lambda x, *rest, method=method: getattr(ours, method)(x, *whole, *rest)  # noqa: E731
        first, second = in_all_ways(function, given, moves)
        expected = along(function, given, moves)
        for found, way in zip(first, ("backward", "forward")):
            close(found, expected[0], 3e-8, f"{method} {way}")
        for found, way in zip(second, ("backward", "forward")):
            np.testing.assert_allclose(found, expected[1], rtol=1e-5, atol=1e-7, err_msg=f"{method} twice {way}")


@each("name, places", [("gausshyper", (0, 1, 2, 3)), ("genhyperbolic", (1, 2)), ("geninvgauss", (1,))])
def test_densities_move_with_shapes(name, places):
    """Families whose probabilities do not: the density does, in all shapes that are no orders of Bessel functions."""
    x = getattr(scipy_stats, name).ppf(np.array([0.2, 0.5, 0.9]), *SHAPES[name])
    for place in places:
        at = lambda v, method: method(x, *SHAPES[name][:place], v, *SHAPES[name][place + 1 :])  # noqa: B023, E731
        slope = gs.jvp(lambda v: at(v, getattr(stats, name).logpdf), (SHAPES[name][place],), (1.0,))[1]  # noqa: B023
        ends = [at(SHAPES[name][place] + h, getattr(scipy_stats, name).logpdf) for h in (-1e-5, 1e-5)]
        close(slope, (ends[1] - ends[0]) / 2e-5, 1e-7, f"shape {place}")
    with pytest.raises(NotImplementedError, match=f"scipy.stats.{name}"):
        gs.grad(lambda v: getattr(stats, name).cdf(x, *SHAPES[name][:-1], v).sum())(SHAPES[name][-1])


def test_a_far_tail_of_dpareto_lognorm():
    """The probability is 0 in floating point; by the power law of the tail, x**-a, and the hazard's."""
    x = np.exp(np.array([400.0, 410.0]))
    tail = stats.dpareto_lognorm.logsf(x, 0.3, 1.2, 1.5, 2.0).numpy()
    assert tail[1] - tail[0] == pytest.approx(-15, rel=1e-12) and tail[0] < -590
    slope = gs.grad(lambda s: stats.dpareto_lognorm.logsf(np.exp(s), 0.3, 1.2, 1.5, 2.0))
    assert slope(400.0) == pytest.approx(-1.5, rel=1e-12) and gs.grad(lambda x: stats.tukeylambda.cdf(x, 0.5))(2.5) == 0


def test_kappa4_at_hard_parameters():
    """Of either sign and 0, where other families are its limits: values, and derivatives by differences."""
    x, step = np.array([-0.3, 0.1, 0.6]), 1e-5
    for h, k in ((0.0, 0.0), (0.0, 0.3), (0.4, 0.0), (-0.4, 0.0), (0.4, 0.3), (0.4, -0.3), (-0.4, 0.3), (1.0, 0.2), (0.7, 1e-9)):
        for method in ("pdf", "cdf"):
            found, theirs = getattr(stats.kappa4, method), getattr(scipy_stats.kappa4, method)
            tiny = 0 < k < 1e-8  # where SciPy's loses seven digits, and the limit has nine
            close(found(x, h, k), theirs(x, h, 0.0 if tiny else k), 1e-8 if tiny else 1e-12, f"{method} {h} {k}")
            slope = gs.grad(lambda h, k: found(x, h, k).sum(), (0, 1))(h, k)  # noqa: B023
            for part, moved in zip(slope, ((step, 0.0), (0.0, step))):
                ahead, behind = (found(x, h + sign * moved[0], k + sign * moved[1]).sum() for sign in (1, -1))
                close(part, (ahead - behind).item() / (2 * step), 1e-7, f"{method} {h} {k}")
        ends = [float(end.item()) for end in stats.kappa4.support(h, k)]
        assert ends == pytest.approx([float(end) for end in scipy_stats.kappa4.support(h, k)]), (h, k)


def test_many_uniform_numbers():
    """Splines of a high order, of which no term cancels, and the derivative in n that there is not."""
    n, x = np.array([1, 2, 30]), np.array([[0.3, 0.7, 2.0], [0.9, 1.1, 27.0]])
    close(stats.irwinhall.sf(x[1, 2], 30), scipy_stats.irwinhall.cdf(30 - x[1, 2], 30), 1e-12, "sf")
    for method in ("pdf", "cdf"):
        for i in range(3):
            close(getattr(stats.irwinhall, method)(x, n)[:, i], getattr(scipy_stats.irwinhall, method)(x[:, i], n[i]), 1e-11, method)
        with pytest.raises(NotImplementedError, match="scipy.stats.irwinhall has no derivative in n, which is a whole number"):
            gs.grad(lambda n: getattr(stats.irwinhall, method)(0.7, n))(2.0)  # noqa: B023


@each("name", sorted(REFUSED))
def test_derivatives_without_a_formula_are_refused(name):
    shapes = SHAPES[name]
    function = getattr(stats, name).cdf
    with pytest.raises(NotImplementedError, match=f"scipy.stats.{name}.cdf has no derivative in"):
        gs.grad(lambda v: function(0.3, v, *shapes[1:]))(gs.asarray(shapes[0]))
    with pytest.raises(NotImplementedError, match=f"scipy.stats.{name}.cdf has no derivative in"):
        gs.jvp(lambda v: function(0.3, v, *shapes[1:]), (shapes[0],), (1.0,))


def test_hard_points_of_noncentral_families():
    """A noncentrality of 0, at which there is a slope; great ones; few degrees of freedom; batches; a skewness of 0."""
    slope = (scipy_stats.chi2.pdf(2.0, 5) - scipy_stats.chi2.pdf(2.0, 3)) / 2  # of a mixture of chi-squared numbers
    assert gs.grad(lambda nc: stats.ncx2.pdf(2.0, 3.0, nc))(0.0).item() == pytest.approx(slope, rel=1e-13)
    slope = (scipy_stats.chi2.cdf(2.0, 5) - scipy_stats.chi2.cdf(2.0, 3)) / 2
    assert gs.grad(lambda nc: stats.ncx2.cdf(2.0, 3.0, nc))(0.0).item() == pytest.approx(slope, rel=1e-13)
    for name, shapes in (("ncx2", (2.0, 1000.0)), ("ncx2", (300.0, 5.0)), ("ncf", (2.0, 50.0, 300.0)), ("nct", (0.7, 0.0)), ("nct", (1.5, 8.0)),
                         ("nct", (200.0, -3.0)), ("nct", (30.0, 30.0))):  # fmt: skip
        ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
        x = theirs.ppf([1e-6, 0.5, 1 - 1e-6], *shapes)
        for method in ("logpdf", "cdf", "sf"):
            close(getattr(ours, method)(x, *shapes), getattr(theirs, method)(x, *shapes), 1e-11, f"{name} {shapes} {method}")
    x = np.array([0.5, 2.0, 3.0])
    for name, shapes in (("ncx2", (3.0, 2.0)), ("ncf", (3.0, 7.0, 2.0)), ("nct", (3.0, 2.0))):
        for method in ("logpdf", "cdf"):
            function = getattr(getattr(stats, name), method)
            close(gs.vmap(lambda v: function(v, *shapes))(x), function(x, *shapes), 1e-12, name)  # noqa: B023
            lost = gs.vmap(lambda nc: function(x[2], *shapes[:-1], nc))(np.array([1e6, 2.0]))  # noqa: B023
            assert name == "nct" or method == "logpdf" or np.isnan(lost[0].item()), "counts that a batch does not hold"
            close(lost[1], function(x[2], *shapes), 1e-12, name)
    for method, step in (("logpdf", 1e-3), ("cdf", 1e-3)):
        ends = [getattr(scipy_stats.pearson3, method)(0.7, skew) for skew in (step, -step)]
        slope = gs.grad(lambda skew: getattr(stats.pearson3, method)(0.7, skew))(0.0).item()  # noqa: B023
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)
    counts = np.arange(60.0)
    expected = np.logaddexp.reduce(scipy_stats.poisson.logpmf(300 + counts, 2.0) + scipy_stats.poisson.logpmf(counts, 3.0))
    assert stats.skellam.logpmf(300, 2.0, 3.0).item() == pytest.approx(expected, rel=1e-13)  # where SciPy's is -inf
