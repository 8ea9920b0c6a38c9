"""gs.scipy at seams, ends and centres: no finite number is wrong, and a number is there where both sides have it.

A usual run asks a ninth of the families by one of their eight methods and at some of their points, and all points of some that are
cheap; the whole takes minutes: `python -m tests.seams`, and `python -m tests.seams --hard` with hard shape parameters.
"""

import math

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import special, stats
from tests.asked import each
from tests.later import later
from tests.library.scipy.test_continuous import REFUSED, SHAPES, WHOLE
from tests.seams import METHODS, Finding, of_family, walk

mpmath, scipy_special, scipy_stats = later("mpmath"), later("scipy.special"), later("scipy.stats")

# SciPy integrates, or searches, for each number.
SLOW = {"norminvgauss", "vonmises", "vonmises_line", "exponnorm", "irwinhall"}


def wrong(findings) -> list:
    """Those that are finite and wrong."""
    return [finding for finding in findings if (finding if isinstance(finding, Finding) else finding[1]).kind == "wrong"]


def test_the_law_sees_what_it_is_for():
    """A formula of which the slope is 0 where its pieces meet, one that is NaN there, a corner with a slope that neither side has."""
    x, reach = np.array([0.0, 0.7]), np.full(2, 0.1)
    glued = lambda x: gs.where(x > 0, 1 - gs.exp(-gs.abs(x)) / 2, gs.exp(-gs.abs(x)) / 2)  # noqa: E731
    count, findings = walk(glued, [x], [reach])
    assert [(f.kind, f.order, f.point) for f in findings] == [("wrong", 1, (0.0,))] and count["asked 1"] == 2
    _, findings = walk(lambda x: gs.where(x > 0, x, gs.sqrt(x * x)), [x], [reach])
    assert findings == [] or {f.kind for f in findings} == {"nan"}
    _, findings = walk(lambda x: x + 0 * gs.sqrt(gs.abs(x)), [x], [reach])
    assert ("nan", 1, (0.0,)) in [(f.kind, f.order, f.point) for f in findings]
    assert walk(gs.abs, [x], [reach])[1] == []  # a corner: 0 lies between the sides
    assert [f.kind for f in walk(lambda x: gs.abs(x) + 3 * gs.where(x == 0, x, gs.stop_gradient(x)), [x], [reach])[1]] == ["wrong"]
    smooth = lambda x: -gs.abs(x) - 2 * gs.log1p(gs.exp(-gs.abs(x)))  # noqa: E731
    assert {(f.kind, f.order) for f in walk(smooth, [x], [reach])[1]} == {("wrong", 2)}


def test_a_ninth_of_the_families_at_their_seams():
    """The others by `python -m tests.seams`."""
    asked = 0
    for place, (name, shapes) in list(enumerate(SHAPES.items()))[1::9]:
        if name in SLOW:
            continue
        count, findings = of_family(name, shapes, METHODS[place % 8 :][:1], whole=name in REFUSED | WHOLE, every=12, first=place)
        assert not wrong(findings), f"{name}: {wrong(findings)[:5]}"
        asked += count["asked 1"] + count["asked 2"]
    assert asked > 50


@each("name", ["laplace", "logistic", "loglaplace", "cauchy", "skewcauchy", "triang", "hypsecant", "rayleigh", "expon", "pareto"])
def test_whole_families_at_their_seams(name):
    """All methods and points of those that are cheap; where there is a first derivative on both sides, it is found."""
    _, findings = of_family(name, SHAPES[name])
    findings = [(method, finding) for method, finding in findings if (finding.kind, finding.order) != ("nan", 2)]
    assert not findings, findings[:5]


@each("name, shapes", [("dweibull", (1.0,)), ("gennorm", (2.0,)), ("genpareto", (0.0,)), ("genextreme", (0.0,)), ("skewcauchy", (0.0,)),
                       ("truncpareto", (-1.3, 5.3))])  # fmt: skip
def test_hard_shape_parameters(name, shapes):
    _, findings = of_family(name, shapes, ("logpdf", "logcdf", "ppf"), every=12)
    assert not wrong(findings), wrong(findings)[:5]


# Special functions at their seams: arguments, and how far each moves on either side.
CALLS = [
    ("zetac", ([-4.0, -1.0, 0.0, 0.5, 2.0],)), ("boxcox", ([1.0, 1.0, 2.0], [0.0, 1.0, 0.0])), ("boxcox1p", ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])),
    ("inv_boxcox", ([0.0, 0.5, 1.0], [0.0, 0.0, 0.0])), ("elliprc", ([0.7, 1.0, 2.0], [-0.4, 1.0, -2.0])), ("voigt_profile", ([0.0, 0.7, -1.0], [0.4, 1.0, 2.0], [0.4, 1.0, 0.3])),
    ("huber", ([1.0, 1.0, 1.0], [1.0, -1.0, 0.0])), ("pseudo_huber", ([1.0, 2.0], [0.0, 1.0])), ("exprel", ([0.0, 1.0],)), ("sici", ([0.0, 1.0],)), ("shichi", ([0.5, -0.5, 1.0],)),
    ("fresnel", ([0.0, 1.0],)), ("powm1", ([1.0, 2.0], [0.0, 0.0])), ("spence", ([1.0, 0.5, 2.0],)), ("owens_t", ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])),
    ("wrightomega", ([0.0, 1.0, -2.0],)), ("cosm1", ([0.0, 1.0],)), ("kolmogorov", ([0.82, 1.0],)), ("softplus", ([0.0, 1.0],)), ("binom", ([1.5, 2.5], [0.5, 1.5])),
]  # fmt: skip


@each("name, arguments", CALLS)
def test_special_functions_at_their_seams(name, arguments):
    points = [np.concatenate([np.array(a) + step * (place == 0) for step in (0, 1e-9, -1e-9)]) for place, a in enumerate(arguments)]
    function = getattr(special, name)

    def first(*values):
        found = function(*values)
        return found[0] if isinstance(found, tuple) else found

    with np.errstate(all="ignore"):
        count, findings = walk(first, points, [np.full(points[0].size, 0.03) for _ in points])
    assert not wrong(findings), wrong(findings)[:5]
    assert count["asked 1"] > 0


def test_special_functions_where_they_end():
    """By mpmath and closed forms: derivatives on an edge, which has one side only."""
    slope = gs.grad(lambda x, p: special.boxcox(x, p), (0, 1))(0.0, 0.7)
    assert special.boxcox(0.0, 0.7).item() == pytest.approx(-1 / 0.7, rel=1e-15) and slope[1].item() == pytest.approx(0.7**-2, rel=1e-14)
    assert special.boxcox1p(-1.0, 0.7).item() == pytest.approx(-1 / 0.7, rel=1e-15)
    for x in (-7.3, -4.0, -1.0, 0.0, 0.3, 0.9):
        value, slopes = special.zetac(x), [gs.grad(special.zetac)(x), gs.grad(gs.grad(special.zetac))(x)]
        assert value.item() == pytest.approx(float(mpmath.zeta(x) - 1), rel=1e-13)
        assert [s.item() for s in slopes] == pytest.approx([float(mpmath.zeta(x, derivative=k)) for k in (1, 2)], rel=1e-11)

    def cauchy(x, gamma):
        return gamma / (math.pi * (x * x + gamma * gamma))

    sharp = gs.grad(lambda x, sigma, gamma: special.voigt_profile(x, sigma, gamma), (0, 1, 2))(0.7, 0.0, 0.4)
    wanted = mpmath.diff(cauchy, (0.7, 0.4), (1, 0)), 0, mpmath.diff(cauchy, (0.7, 0.4), (0, 1))
    assert [s.item() for s in sharp] == pytest.approx([float(w) for w in wanted], rel=1e-12, abs=1e-15)
    curved = gs.grad(gs.grad(lambda sigma: special.voigt_profile(0.7, sigma, 0.4)))(0.0).item()
    assert curved == pytest.approx(float(mpmath.diff(cauchy, (0.7, 0.4), (2, 0))), rel=1e-12)  # diffusion
    assert [g.item() for g in gs.grad(lambda p: stats.entropy(p))(np.array([0, 0.5, 0.5]))] == pytest.approx([np.inf, 0, 0], abs=1e-15)
    assert gs.grad(lambda a, p: special.gammaincinv(a, p), (0, 1))(2.5, 0.0)[0].item() == 0


@each("name, shapes, x, value, slope", [
    ("genhalflogistic", (0.25,), 4.0, 0, 0), ("genhalflogistic", (0.5,), 2.0, 0, -1), ("genhalflogistic", (0.7,), 1 / 0.7, 0, np.nan),
    ("genhalflogistic", (1.0,), 1.0, 2, np.nan), ("genhalflogistic", (2.0,), 0.5, np.inf, np.nan), ("triang", (1.0,), 1.0, 2, np.nan),
    ("exponweib", (0.5, 2.0), 0.0, 1, np.nan), ("exponweib", (0.5, 3.0), 0.0, 0, np.nan), ("exponweib", (1.0, 2.0), 0.0, 0, 2),
    ("rdist", (2.0,), 1.0, 0.5, np.nan), ("johnsonsb", (0.5, 0.5), 1.0, 0, 0), ("invweibull", (9.6,), 0.0, 0, 0),
])  # fmt: skip
def test_densities_at_an_end_where_the_formula_is_lost(name, shapes, x, value, slope):
    """By the leading power of each formula: where infinities cancel, the limit, and a slope only where it is known."""
    family = getattr(stats, name)
    np.testing.assert_allclose(family.pdf(x, *shapes).item(), value, rtol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(family.logpdf(x, *shapes).item(), np.log(value), rtol=1e-12)
    np.testing.assert_allclose(gs.grad(lambda x: family.pdf(x, *shapes))(x).item(), slope, rtol=1e-12)


def test_tails_by_mpmath():
    """The slope of a noncentral t in its degrees of freedom, from the smaller tail."""
    mpmath.mp.dps = 30
    try:
        for df, nc, x in ((56.0, 0.96, float(scipy_stats.nct.isf(1e-9, 56, 0.96))), (6.3, -0.8, float(scipy_stats.nct.ppf(1e-9, 6.3, -0.8)))):
            sign = 1 if x > nc else -1

            def log_tail(df, x=x, nc=nc, sign=sign):
                def part(u):
                    return mpmath.ncdf(sign * (nc - x * u)) * u ** (df - 1) * mpmath.exp(-df * u * u / 2)

                places = [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 6]
                return mpmath.log(mpmath.quad(part, places) * 2 * (df / 2) ** (df / 2) / mpmath.gamma(df / 2))

            method = stats.nct.logsf if sign == 1 else stats.nct.logcdf
            found = gs.grad(lambda df, x=x, nc=nc, method=method: method(x, df, nc))(df).item()
            assert found == pytest.approx(float(mpmath.diff(log_tail, df)), rel=1e-10)
    finally:
        mpmath.mp.dps = 15
    c = gs.grad(lambda c: stats.genhalflogistic.isf(1e-9, c))(3.0).item()
    assert c == pytest.approx(-1 / 9, rel=1e-12)


@each("name, fixed", [("laplace", {}), ("laplace", {"floc": 0.2}), ("laplace", {"fscale": 1.2}), ("expon", {}), ("uniform", {}), ("uniform", {"fscale": 9.0})])
@each("size", [6, 7, 20, 21])
def test_fits_that_are_order_statistics(name, fixed, size):
    """SciPy's values, and the slopes of SciPy's own estimates by differences."""
    data = getattr(scipy_stats, name).rvs(size=size, random_state=size) + (0.0 if name == "laplace" else 0.3)
    theirs, ours = getattr(scipy_stats, name), getattr(stats, name)
    np.testing.assert_allclose([p.item() for p in ours.fit(data, **fixed)], theirs.fit(data, **fixed), rtol=1e-12)
    jacobian = gs.jacobian(lambda data: gs.stack(ours.fit(data, **fixed)))(data).numpy()
    for i in range(size):
        step = 1e-6 * (np.arange(size) == i)
        slope = (np.array(theirs.fit(data + step, **fixed)) - np.array(theirs.fit(data - step, **fixed))) / 2e-6
        np.testing.assert_allclose(jacobian[:, i], slope, atol=1e-8)
