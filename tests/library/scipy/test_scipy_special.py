"""gs.scipy.special: values are SciPy's, derivatives those of differences, in both modes and to second order."""

import cmath
import math

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import special
from tests.asked import each
from tests.directional import along, in_all_ways
from tests.later import later

scipy_special = later("scipy.special")

X = np.array([0.2, 0.55, 0.83])
POSITIVE = np.array([0.3, 1.4, 2.7])
SIGNED = np.array([-1.3, 0.4, 2.2])
# The arguments of a call; those that are lists of numbers of Python stay as they are.
CALLS = [
    ("ellipk", X), ("ellipk", SIGNED - 2.0), ("ellipe", X), ("ellipkm1", X), ("ellipkinc", SIGNED, X), ("ellipkinc", 4 + SIGNED, X), ("ellipeinc", SIGNED, X),
    ("ellipeinc", 4 + SIGNED, X - 0.9), ("elliprf", X, POSITIVE, 2 * X), ("elliprd", X, POSITIVE, 2 * X), ("elliprc", X, POSITIVE),
    ("elliprj", X, POSITIVE, 2 * X, POSITIVE[::-1]), ("elliprg", X, POSITIVE, 2 * X), ("agm", X, POSITIVE),
    ("hyp2f1", POSITIVE, X, X + 2, X), ("hyp1f1", POSITIVE, X + 1, SIGNED), ("hyp0f1", X + 1, SIGNED), ("hyperu", X + 1, [0.7], POSITIVE),
    ("erfi", SIGNED), ("voigt_profile", SIGNED, POSITIVE, X), ("owens_t", SIGNED, X), ("spence", POSITIVE), ("ndtri_exp", -POSITIVE),
    ("sici", SIGNED), ("shichi", POSITIVE), ("fresnel", SIGNED), ("airy", SIGNED), ("cosdg", 40 * SIGNED), ("sindg", 40 * SIGNED), ("tandg", 40 * X),
    ("cotdg", 40 * X), ("exp10", SIGNED), ("cosm1", SIGNED), ("powm1", POSITIVE, SIGNED), ("poch", POSITIVE, SIGNED + 2), ("binom", POSITIVE + 2, POSITIVE),
    ("struve", X + 1, POSITIVE), ("modstruve", X + 1, POSITIVE), ("wrightomega", SIGNED), ("expn", [0], POSITIVE), ("expn", [3], POSITIVE),
    ("loggamma", POSITIVE), ("softplus", SIGNED), ("huber", POSITIVE, SIGNED), ("pseudo_huber", POSITIVE, SIGNED), ("exprel", SIGNED), ("boxcox", POSITIVE, SIGNED),
    ("boxcox1p", POSITIVE, SIGNED), ("inv_boxcox", X, X), ("inv_boxcox1p", X, X), ("zetac", POSITIVE + 1), ("factorial", POSITIVE), ("comb", POSITIVE + 2, POSITIVE),
    ("perm", POSITIVE + 2, POSITIVE), ("betaincc", POSITIVE, X, X), ("betaincinv", POSITIVE, 2 * X, X), ("betainccinv", POSITIVE, 2 * X, X),
    ("gammainccinv", POSITIVE, X), ("stdtrit", POSITIVE, X - 0.1), ("chdtr", POSITIVE, X), ("chdtrc", POSITIVE, X), ("chdtri", POSITIVE, X),
    ("gdtr", X, POSITIVE, POSITIVE), ("gdtrc", X, POSITIVE, POSITIVE), ("gdtrix", POSITIVE, POSITIVE, X), ("fdtr", POSITIVE, 2 * X, X), ("fdtrc", POSITIVE, 2 * X, X),
    ("fdtri", POSITIVE, 2 * X, X), ("pdtr", [3], POSITIVE), ("pdtrc", [3], POSITIVE), ("bdtr", [3], [7], X), ("bdtrc", [3], [7], X), ("nbdtr", [3], [7], X),
    ("nbdtrc", [3], [7], X), ("kolmogorov", POSITIVE), ("kolmogorov", X), ("kn", [2], POSITIVE), ("jvp", [1.5], POSITIVE, [2]), ("yvp", [1.5], POSITIVE), ("ivp", [1.5], POSITIVE, [3]),
    ("kvp", [1.5], POSITIVE, [2]), ("spherical_jn", [2], POSITIVE), ("spherical_jn", [2], POSITIVE, [True]), ("spherical_yn", [2], POSITIVE, [True]),
    ("spherical_in", [2], POSITIVE), ("spherical_in", [0], POSITIVE, [True]), ("spherical_kn", [2], POSITIVE), ("spherical_kn", [0], POSITIVE, [True]),
    ("eval_genlaguerre", [3], X, SIGNED), ("eval_gegenbauer", [3], X, SIGNED), ("eval_jacobi", [3], X, POSITIVE, SIGNED),
    ("eval_jacobi", [0], X, POSITIVE, SIGNED), *((f"eval_{name}", [4], X) for name in ("legendre", "chebyt", "chebyu", "chebyc", "chebys", "sh_legendre", "sh_chebyt", "sh_chebyu")),
    ("eval_hermite", [4], X), ("eval_hermitenorm", [4], X), ("eval_laguerre", [4], X), ("lambertw", POSITIVE), *((name, [1.3], POSITIVE) for name in ("hankel1", "hankel1e", "hankel2", "hankel2e")), ("airye", POSITIVE),
    ("wofz", SIGNED),
    ("sph_harm_y", [3], [2], POSITIVE, SIGNED), ("sph_harm_y", [4], [-1], POSITIVE, SIGNED), ("sph_harm_y", [2], [0], POSITIVE, SIGNED), ("ellipj", SIGNED, X), ("ellipj", SIGNED + 6, X),
    *((name, POSITIVE) for name in ("ber", "bei", "ker", "kei", "berp", "beip", "kerp", "keip", "kelvin", "iti0k0", "itj0y0", "it2i0k0", "it2j0y0", "it2struve0", "itstruve0", "itmodstruve0", "modfresnelp", "modfresnelm")),
    *((name, SIGNED) for name in ("ber", "bei", "berp", "beip")), ("jve", [1.3], POSITIVE), ("yve", [1.3], POSITIVE), ("h1vp", [1.3], POSITIVE, [2]), ("h2vp", [1.3], POSITIVE),
    ("besselpoly", POSITIVE, [1.0], [0.0]), ("besselpoly", POSITIVE, [0.5], [1.3]), ("wright_bessel", [1.2], [0.7], POSITIVE), ("log_wright_bessel", [1.2], [0.7], POSITIVE),
    *((name, [1.3], SIGNED) for name in ("pbdv", "pbvv", "pbwa")), *((name, [m], POSITIVE) for name in ("mathieu_a", "mathieu_b") for m in (1, 2, 5, 6)), ("mathieu_a", [0], 30 * SIGNED),
    *((name, [2], [1.5], 40 * X) for name in ("mathieu_cem", "mathieu_sem")), *((f"mathieu_mod{kind}m{i}", [2], [1.5], X) for kind in ("ce", "se") for i in (1, 2)),
    *((f"{kind}_{which}", [1], [2], [1.5], X + (kind + which == "prorad1")) for kind in ("pro", "obl") for which in ("ang1", "rad1")), *((f"{kind}_{which}_cv", [1], [2], [1.5], [cv], X + (kind + which == "prorad1")) for kind, cv in (("pro", 6.9447848136442785), ("obl", 5.015885665256057)) for which in ("ang1", "rad1")),
    ("bdtri", [3], [7], X), ("nbdtri", [3], [7], X), ("pdtri", [3], X), ("bdtrik", X, [7], [0.3]), ("bdtrin", [3], X, X), ("btdtria", X, POSITIVE, X), ("btdtrib", POSITIVE, X, X), ("chdtriv", X, POSITIVE),
    ("chndtr", POSITIVE, X, POSITIVE), ("chndtridf", POSITIVE + 1, X / 2, X), ("chndtrinc", X, POSITIVE, X / 9), ("chndtrix", X, POSITIVE, POSITIVE), ("fdtridfd", POSITIVE, X / 2, POSITIVE), ("gdtria", X, POSITIVE, POSITIVE), ("gdtrib", POSITIVE, X, POSITIVE),
    ("kolmogi", X), ("nbdtrik", X, [7], [0.3]), ("nbdtrin", [3], X, X), ("ncfdtr", POSITIVE, X + 1, X, POSITIVE), ("ncfdtri", POSITIVE, X + 1, X, X), ("nctdtr", POSITIVE, X, SIGNED), ("nctdtrit", POSITIVE, X, X), ("nctdtrinc", POSITIVE, X, POSITIVE), ("nrdtrimn", X, POSITIVE, SIGNED),
    ("nrdtrisd", SIGNED, X, SIGNED + 1), ("pdtrik", X / 2 + 0.4, POSITIVE + 2), ("stdtridf", X / 9 + 0.7, X + 1), ("tklmbda", X / 2, SIGNED), ("radian", POSITIVE, SIGNED, X), ("diric", SIGNED, [4]), ("diric", SIGNED, [5]), ("assoc_laguerre", SIGNED, [3], X), ("eval_sh_jacobi", [3], X + 2, X, X),
    ("lpmv", [2], [2.5], X), ("legendre_p_all", [3], X), *((name, [3], [m], X) for name in ("assoc_legendre_p", "sph_legendre_p") for m in (-3, -2, 0, 1, 2)), *((name, [2], [2], X) for name in ("assoc_legendre_p_all", "sph_legendre_p_all")), ("sph_harm_y_all", [2], [2], POSITIVE, SIGNED),
]  # fmt: skip


def as_reals(y):
    """The numbers of a result, or of several, in one row of real ones."""
    parts = [gs.asarray(part) for part in (y if isinstance(y, tuple) else (y,))]
    return gs.concat([gs.concat([gs.real(p), gs.imag(p)]) if p.dtype.kind == "c" else p for p in parts])


@each("call", CALLS)
def test_values_and_derivatives(call):
    name, *arguments = call
    expected = getattr(scipy_special, name)(*(v[0] if isinstance(v, list) else v for v in arguments))
    moving = [i for i, v in enumerate(arguments) if not isinstance(v, list)]

    def function(*values):
        given = [v[0] if isinstance(v, list) else v for v in arguments]
        for i, value in zip(moving, values):
            given[i] = value
        return as_reals(getattr(special, name)(*given))

    given = [arguments[i] for i in moving]
    parts = expected if isinstance(expected, tuple) else (expected,)
    expected = np.concatenate([np.concatenate([p.real, p.imag]) if np.iscomplexobj(p) else p for p in parts])
    np.testing.assert_allclose(function(*given).numpy(), expected, rtol=1e-11, atol=1e-13)
    moves = [np.random.default_rng(i).uniform(0.3, 0.7, v.shape) * 0.2 * (1 if name.startswith("ellip") is False else 0.5) for i, v in enumerate(given)]
    moves = [0.3 * m * np.minimum(np.abs(v), np.where((v > 0) & (v < 1), 1 - v, 1.0)) for m, v in zip(moves, given)]
    (backward, forward), (twice_backward, twice_forward) = in_all_ways_of_sums(function, given, moves)
    first, second = along(function, given, moves, elementwise=False)
    np.testing.assert_allclose(forward, first, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(backward, first.sum(), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(twice_forward, second, rtol=2e-5, atol=3e-7)
    np.testing.assert_allclose(twice_backward, second.sum(), rtol=2e-5, atol=1e-6)


def in_all_ways_of_sums(function, given, moves):
    """As in_all_ways of a function whose result is longer than its arguments: backward gives the sum."""
    backward, forward = in_all_ways(lambda *v: function(*v), given, moves)
    return (backward[0].sum(), backward[1]), (forward[0].sum(), forward[1])


REFUSED = [("hyp2f1", (1.2, 0.7, 2.3, 0.4 + 0.1j), 0), ("hyp1f1", (1.2, 0.7, 0.4j), 1), ("pdtr", (3.0, 0.7), 0), ("hankel1", (1.2, 0.7), 0)]  # fmt: skip


@each("name, arguments, place", REFUSED)
def test_derivatives_that_are_refused(name, arguments, place):
    function = lambda v: as_reals(getattr(special, name)(*arguments[:place], v[None], *arguments[place + 1 :])).sum()  # noqa: E731
    with pytest.raises(NotImplementedError, match=f"scipy.special.{name} has no derivative in"):
        gs.grad(function)(gs.asarray(arguments[place]))
    with pytest.raises(NotImplementedError, match=f"scipy.special.{name} has no derivative in"):
        gs.jvp(function, (arguments[place],), (1.0,))


def test_parameters_of_hypergeometric_functions():
    """By mpmath: a number is right, and where differences do not settle there is none."""
    mp, rng = pytest.importorskip("mpmath").mp, np.random.default_rng(0)
    for name, reference, places in (("hyp2f1", mp.hyp2f1, (20.0, 20.0, 20.0)), ("hyp1f1", mp.hyp1f1, (20.0, 20.0)), ("hyp0f1", mp.hyp0f1, (20.0,)), ("struve", mp.struveh, (20.0,)), ("modstruve", mp.struvel, (20.0,))):
        at = [*(np.exp(rng.uniform(-4, np.log(high), 12)) for high in places), rng.uniform(0.02, 0.97, 12)]
        leaves = [gs.tensor(v, requires_grad=True) for v in at[:-1]]
        y = getattr(special, name)(*leaves, at[-1])
        missing = 0
        for place, found in enumerate(gs.autograd.grad(y.sum(), leaves)):
            for i, number in enumerate(found.tolist()):
                order = tuple(int(place == k) for k in range(len(leaves)))
                with mp.workdps(30):
                    given = [mp.mpf(float(v[i])) for v in at]
                    exact = mp.diff(lambda *p, given=given, reference=reference: reference(*p, given[-1]), tuple(given[:-1]), order)
                missing += np.isnan(number)
                assert np.isnan(number) or abs(number - exact) <= 2e-10 * (abs(exact) + abs(y.detach().numpy()[i])), (name, order, given)
        assert missing <= 4 * len(leaves), (name, missing)
    slope = lambda v: special.hyp0f1(v, 0.5)  # noqa: E731
    for _ in range(3):
        slope = gs.grad(slope)
    np.testing.assert_allclose(slope(1.5).item(), float(mp.diff(lambda v: mp.hyp0f1(v, 0.5), 1.5, 3)), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="scipy.special.hyp0f1 has no derivative in its parameters beyond the third here"):
        gs.grad(slope)(1.5)


def test_the_parameter_of_jacobis_functions():
    """By mpmath, within a quarter and after many turns, and where the parameter is 0 or next to 1."""
    mp = pytest.importorskip("mpmath").mp
    for u in (0.5, -7.3, 12.0):
        for m in (0.0, 0.4, 0.999):
            slopes = [gs.grad(lambda m: special.ellipj(u, m)[i])(m).item() for i in range(3)]  # noqa: B023
            exact = [mp.diff(lambda m: mp.ellipfun(kind, u, m=m), m, direction=1 if m == 0 else 0) for kind in ("sn", "cn", "dn")]  # noqa: B023
            np.testing.assert_allclose(slopes, list(map(float, exact)), rtol=1e-7, atol=1e-9, err_msg=f"{u} {m}")
    exact = -(np.sinh(0.5) * np.cosh(0.5) - 0.5) / (4 * np.cosh(0.5))  # DLMF 22.10 (ii)
    np.testing.assert_allclose(gs.grad(lambda m: special.ellipj(0.5, m)[3])(1.0).item(), exact, rtol=1e-12)


@each("call", CALLS)
def test_single_precision_and_nan(call):
    """Single precision stays, near SciPy's double; NaN among the arguments gives NaN if it does in SciPy, but of a constant."""
    name, *arguments = call
    plain = [v[0] if isinstance(v, list) else v for v in arguments]
    narrow = [v.astype(np.float32) if isinstance(v, np.ndarray) else v for v in plain]
    found = as_reals(getattr(special, name)(*narrow))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.numpy(), as_reals(getattr(special, name)(*(v.astype(float) if isinstance(v, np.ndarray) else v for v in narrow))).numpy(), rtol=3e-3, atol=1e-4)
    for place, v in enumerate(plain):
        if isinstance(v, np.ndarray):
            given = [w[:1] * (math.nan if k == place else 1.0) if isinstance(w, np.ndarray) else w for k, w in enumerate(plain)]
            with np.errstate(all="ignore"):
                expected = as_reals(getattr(scipy_special, name)(*given)).numpy()
            value, slope = gs.jvp(lambda x, given=given, place=place: as_reals(getattr(special, name)(*given[:place], x, *given[place + 1 :])), (gs.asarray(given[place]),), (gs.ones(1),))
            assert (np.isnan(value.numpy()) | (slope.numpy() == 0))[np.isnan(expected)].all(), value


HARD = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, 3.0, -3.0, 0.999)
NEWER = next(i for i, call in enumerate(CALLS) if call[0] == "ber")
STEPS = {("tklmbda", 1, 0.0), ("nctdtrinc", 2, 0.0)}  # around these SciPy's values do not move; with steps of 1e-2 the slopes agree
BELOW = {"modfresnelp", "modfresnelm"}  # SciPy's values are wrong there; test_integrals_by_mpmath has these


@each("call", [call for call in CALLS[NEWER:] if call[0] not in BELOW])
def test_hard_places(call):
    """Ends, both infinities, negative numbers: SciPy's value, or NaN at infinity; a slope is NaN, infinite or a difference's, of both sides or of one."""
    name, *arguments = call
    plain = [v[0] if isinstance(v, list) else v[:1] for v in arguments]
    for place, v in enumerate(plain):
        for x in HARD if isinstance(v, np.ndarray) else ():
            around = [float(w[0]) if isinstance(w, np.ndarray) else w for w in plain]
            here, its = (lambda z, f=getattr(module, name), a=around, k=place: as_row(f(*a[:k], z, *a[k + 1 :])) for module in (special, scipy_special))
            value, slope = (part.numpy() for part in gs.jvp(here, (np.float64(x),), (1.0,)))
            step = 1e-5 * max(1.0, abs(x)) if math.isfinite(x) else 0.0
            with np.errstate(all="ignore"):
                low, middle, high = (its(np.float64(x + k * step)).numpy() for k in (-1, 0, 1))
                unknown = np.isnan(middle) | (np.isnan(value) & math.isinf(x))
                np.testing.assert_allclose(value[~unknown], middle[~unknown], rtol=1e-8, atol=1e-12, err_msg=f"{name} {place} {x}")
                ways = [(high - low) / (2 * step), (high - middle) / step, (middle - low) / step] if step and (name, place, x) not in STEPS else []
                right = [np.isclose(slope, way, rtol=2e-3, atol=1e-5 * (1 + np.abs(value))) | ~np.isfinite(way) for way in ways]
            assert not ways or (np.any(right, axis=0) | ~np.isfinite(slope)).all(), f"{name} {place} {x}: {slope}, by differences {ways[0]}"


def as_row(found):
    return as_reals(tuple(gs.reshape(gs.asarray(part), (-1,)) for part in (found if isinstance(found, tuple) else (found,))))


BY_MPMATH = [  # where SciPy's values are wrong or have few digits; each part, its derivative by definition
    ("itairy", (-1.3, 0.4, 2.2), (lambda mp: mp.airyai, lambda mp: mp.airybi, lambda mp: lambda x: mp.airyai(-x), lambda mp: lambda x: mp.airybi(-x)), 5e-7),
    ("modfresnelp", (-1.3, 0.0, -0.2), (lambda mp: lambda x: -mp.expj(x * x),), 1e-13), ("modfresnelm", (-1.3, 0.0, -0.2), (lambda mp: lambda x: -mp.expj(-x * x),), 1e-13),
]  # fmt: skip


@each("name, places, integrands, near", BY_MPMATH)
def test_integrals_by_mpmath(name, places, integrands, near):
    mp = pytest.importorskip("mpmath").mp
    for x in places:
        for part, integrand in enumerate(integrands):
            value = lambda x, part=part: getattr(special, name)(x)[part]  # noqa: E731
            difference = (value(x) - value(1.0)).item()
            assert abs(difference - complex(mp.quad(integrand(mp), [1, x]))) < near * (1 + abs(difference))
            slope = gs.jvp(value, (x,), (1.0,))[1].item()
            np.testing.assert_allclose(complex(slope), complex(integrand(mp)(x)), rtol=1e-13)


def test_places_where_a_formula_is_singular():
    """Kelvin's functions and their series at 0, to the fourth order; integrals over an integrand with a removable singularity."""
    mp = pytest.importorskip("mpmath").mp
    for name, reference in (("ber", lambda x: mp.ber(0, x)), ("bei", lambda x: mp.bei(0, x))):
        for x in (0.0, 0.3, 1.7):
            function, exact = lambda x, name=name: getattr(special, name)(x), mp.taylor(reference, x, 4)
            for order in range(1, 5):
                function = gs.grad(function)
                np.testing.assert_allclose(function(x).item(), float(exact[order]) * math.factorial(order), rtol=1e-9, atol=1e-12)
    for name, place, exact in (("it2i0k0", 0, [0, 0.25, 0]), ("it2j0y0", 0, [0, 0.25, 0])):
        function = lambda x, name=name, place=place: getattr(special, name)(x)[place]  # noqa: E731
        for slope in exact:
            function = gs.grad(function)
            np.testing.assert_allclose(function(0.0).item(), slope, atol=1e-15)


def test_derivatives_that_would_be_wrong_are_nan():
    """SciPy's value at an end of the range, which solves no equation; a characteristic value of another function."""
    for name, arguments, place in (("pdtrik", (0.01, 3.0), 1), ("bdtrik", (0.001, 7.0, 0.3), 2), ("pro_ang1_cv", (1, 2, 1.5, 6.8, 0.3), 4)):
        function = lambda v: as_reals(getattr(special, name)(*arguments[:place], v[None], *arguments[place + 1 :]))[-1]  # noqa: B023, E731
        assert math.isnan(gs.grad(function)(gs.asarray(arguments[place])).item()), name
    assert gs.grad(lambda x: special.tklmbda(x, 2.0))(0.7).item() == 0 and special.tklmbda(-0.7, 2.0).item() == 0


def test_hard_points_of_elliptic_integrals():
    """By their series at m = 0, and by mpmath where 1 - m is tiny."""
    m = gs.tensor(0.0, requires_grad=True)
    slope = gs.autograd.grad(special.ellipk(m), m, create_graph=True)[0]
    np.testing.assert_allclose([slope.item(), gs.autograd.grad(slope, m)[0].item()], [np.pi / 8, 9 * np.pi / 64], rtol=1e-14)
    slope = gs.autograd.grad(special.ellipe(m), m, create_graph=True)[0]
    np.testing.assert_allclose([slope.item(), gs.autograd.grad(slope, m)[0].item()], [-np.pi / 8, -3 * np.pi / 64], rtol=1e-14)
    p = gs.tensor(1e-12, requires_grad=True)
    np.testing.assert_allclose(gs.autograd.grad(special.ellipkm1(p), p)[0].item(), -499999999996.57457, rtol=1e-13)
    x = [gs.tensor(2.0, requires_grad=True) for _ in range(3)]  # all alike: RD is x**-1.5
    np.testing.assert_allclose(sum(g.item() for g in gs.autograd.grad(special.elliprd(*x), x)), -1.5 * 2.0**-2.5, rtol=1e-13)


def test_hard_points_of_others():
    zero = gs.tensor(0.0, requires_grad=True)
    for name, slope in (("exprel", 0.5), ("sici", 1.0), ("lambertw", 1.0), ("cosm1", 0.0)):
        y = getattr(special, name)(zero)
        y = gs.real(y[0] if isinstance(y, tuple) else y)
        np.testing.assert_allclose(gs.autograd.grad(y, zero)[0].item(), slope, rtol=1e-15)
    one = gs.tensor(1.0, requires_grad=True)
    np.testing.assert_allclose(gs.autograd.grad(special.spence(one), one)[0].item(), -1, rtol=1e-15)
    np.testing.assert_allclose(gs.autograd.grad(special.boxcox(2.0 * one, zero), zero)[0].item(), np.log(2.0) ** 2 / 2, rtol=1e-14)
    np.testing.assert_allclose(special.ndtri_exp(-1e4).item(), scipy_special.ndtri_exp(-1e4), rtol=1e-14)
    assert special.kolmogorov([0.0, 0.01, 30.0]).tolist() == [1.0, 1.0, 0.0]
    assert special.comb(3.0, 5.0).item() == 0 and special.huber(-1.0, 2.0).item() == np.inf


def test_derivatives_of_legendre_polynomials():
    for n, z in ((0, 0.3), (1, -0.4), (5, np.array([-1.0, 0.2, 1.0]))):
        np.testing.assert_allclose(special.legendre_p(n, z, diff_n=2), scipy_special.legendre_p(n, z, diff_n=2), rtol=1e-12, atol=1e-14)
    assert gs.grad(lambda z: special.legendre_p(4, z, diff_n=1)[0])(0.3).item() == pytest.approx(scipy_special.legendre_p(4, 0.3, diff_n=1)[1])


def test_airy_functions_that_are_scaled():
    """Where the plain ones are 0 or inf, and below 0, where SciPy has NaN for Ai."""
    found = special.airye(np.array([-2.0, 0.0, 1e4]))
    np.testing.assert_allclose(found, scipy_special.airye(np.array([-2.0, 0.0, 1e4])), rtol=1e-13)
    z, step = 1e4, 1.0
    for place in range(4):
        ends = [scipy_special.airye(z + h)[place] for h in (-step, step)]
        slope = gs.grad(lambda z, place=place: special.airye(z)[place])(z).item()
        np.testing.assert_allclose(slope, (ends[1] - ends[0]) / (2 * step), rtol=1e-6)
    ends = [scipy_special.airye(-2.0 + h)[2] for h in (-1e-5, 1e-5)]
    np.testing.assert_allclose(gs.grad(lambda z: special.airye(z)[2])(-2.0).item(), (ends[1] - ends[0]) / 2e-5, rtol=1e-8)


def test_complex_numbers():
    for name, arguments in (("hyp2f1", (0.5, 1.0, 1.5)), ("wofz", ()), ("lambertw", ()), ("erfi", ()), ("hyp1f1", (0.5, 1.5)), ("hankel2e", (1.5,)), ("wrightomega", ()), ("sici", ()), ("shichi", ()), ("fresnel", ()), ("loggamma", ()), ("airy", ())):
        z = gs.tensor(0.3 + 0.4j, requires_grad=True)
        parts = [found if isinstance(found, tuple) else (found,) for found in (getattr(special, name)(*arguments, z), *(getattr(scipy_special, name)(*arguments, 0.3 + 0.4j + h) for h in (0, 1e-5, -1e-5)))]
        for y, its, above, below in zip(*parts):
            np.testing.assert_allclose(y.item(), its, rtol=1e-13)
            gradient = gs.autograd.grad(gs.real(y), z)[0].item()
            assert cmath.isclose(gradient.conjugate(), (above - below) / 2e-5, rel_tol=1e-8), name
    with pytest.raises(TypeError, match="ellipk: .* takes real numbers"):
        special.ellipk(1j)


def test_every_name_of_the_operators_is_there():
    assert set(gs.special.__all__) <= set(special.__all__)
    assert special.gammaln is gs.special.gammaln and gs.vmap(special.ellipk)(X).tolist() == special.ellipk(X).tolist()


def test_a_power_beyond_all_numbers_is_infinite():
    """SciPy's powm1 is 0 there, as if the power were 1."""
    x, y = (gs.tensor(v, requires_grad=True) for v in (1e-100, -40.0))
    v = gs.scipy.special.powm1(x, y)
    v.backward()
    assert (v.item(), x.grad.item(), y.grad.item()) == (math.inf, -math.inf, -math.inf)
    near = gs.scipy.special.powm1([1 + 2**-40, -2.0, 0.0], [0.5, 3.0, 2.0]).tolist()
    assert near == [pytest.approx(math.expm1(0.5 * math.log1p(2**-40)), rel=1e-15), -9.0, -1.0]
