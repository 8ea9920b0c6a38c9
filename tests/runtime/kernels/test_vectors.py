"""Elementary functions by loops of ours: their errors, NumPy's special values and warnings, and one result for one argument."""

import os
import subprocess
import sys
import warnings

import mpmath
import numpy as np
import pytest

import gradspec as gs
from gradspec.kernels.fusion_engine.ufunc import Ufunc
from gradspec.kernels.fusion_engine.vectors import chosen, chosen_of_two
from tests import ulps
from tests.asked import each

NAMES = sorted(chosen())
OURS = [(name, dtype) for name in NAMES for dtype, owner in chosen()[name].items() if owner == "gradspec"]
SPECIAL = [
    0, np.inf, np.nan, 1, 2, 0.5, 5e-324, 1e-310, 1e-45, 2.0**-126, 1e-8, 0.9999999, 1.0000001, 44, 87.4, 88.7, 88.73, 89, 103, 104, 110,
    127.99, 128, 149, 150, 708, 709, 709.79, 710, 745, 746, 800, 1023.99, 1024, 1074, 1075, 2.0**30, 2.0**31, 1e9, 1e16, 3e38, 1e300,
]  # fmt: skip


def function(name):
    return Ufunc(getattr(np, name), name)


def special(dtype):
    with np.errstate(over="ignore", under="ignore"):
        return np.array([sign * x for x in SPECIAL for sign in (1, -1)]).astype(dtype)


def ordinary(name, dtype, count):
    """Arguments of all sizes, most of them near 1, in the domain."""
    rng = np.random.default_rng(0)
    low, high = {"log1p": (-0.99, 3), "arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-0.99, 0.99), "arccosh": (1, 4)}.get(
        name, (0.01, 3) if name.startswith("log") else (-3, 3)
    )
    return rng.uniform(low, high, count).astype(dtype)


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = call()
    return y, sorted(str(warning.message) for warning in found)


@each("name", NAMES)
@each("dtype", [np.float32, np.float64])
def test_special_values_and_warnings_are_those_of_numpy(name, dtype):
    """One by one and all at once; what is finite and normal may differ by the last digits."""
    for x in (*special(dtype)[:, None], special(dtype)):
        (found, said), (expected, wanted) = (warned(lambda f=f: f(x)) for f in (function(name), getattr(np, name)))
        assert said == wanted, x
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))
        np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).smallest_subnormal)


@each("name", NAMES)
@each("dtype", [np.float32, np.float64])
def test_the_result_depends_on_the_argument_alone(name, dtype):
    """Not on neighbours, length, strides, alignment, threads, or on the way: alone, in place, into `out`, in a program."""
    rng = np.random.default_rng(1)
    x = np.concatenate([ordinary(name, dtype, 1500), special(dtype)])
    rng.shuffle(x)
    f = function(name)
    with np.errstate(all="ignore"):
        y = f(x)
        for start, stop, step in [(0, 1, 1), (1, 4, 1), (3, 20, 1), (5, 700, 1), (0, None, 2), (0, None, -3), (700, 20, -1)]:
            for part in (x[start:stop:step], x[start:stop:step].copy()):
                np.testing.assert_array_equal(f(part).view(np.uint8), y[start:stop:step].copy().view(np.uint8))
        out = np.empty((len(x), 3), dtype)[:, 1]
        f.function(x, out=out)
        np.testing.assert_array_equal(out.copy().view(np.uint8), y.view(np.uint8))
        inside = x.copy()
        f.function(inside, out=inside)
        np.testing.assert_array_equal(inside.view(np.uint8), y.view(np.uint8))
        threads = gs.get_num_threads()
        for count in (1, 2, 3):
            gs.set_num_threads(count)
            np.testing.assert_array_equal(f(np.tile(x, 150)).view(np.uint8), np.tile(y, 150).view(np.uint8))
        gs.set_num_threads(threads)
        own = getattr(gs, name)(gs.tensor(x))
        np.testing.assert_array_equal(own.numpy().view(np.uint8), y.view(np.uint8))
        np.testing.assert_array_equal(getattr(np, name)(gs.tensor(x)).numpy().view(np.uint8), y.view(np.uint8))


@each("name", [name for name, dtype in OURS if dtype == "float32"])
def test_floats_of_every_exponent(name):
    """A sample of those that `python -m tests.ulps --all` tries."""
    assert ulps.worst_of_floats(name, stride=4099) < 1


@each("name", NAMES if OURS else [])
def test_doubles_are_within_one_ulp(name):
    """With AVX-512 NumPy's loops are a choice, too, so the promise holds for these."""
    assert ulps.worst_of_doubles(name, 20000) < 1


EXACT_PAIRS = {"hypot": mpmath.hypot, "arctan2": mpmath.atan2}


def pairs(dtype):
    """Every special number with every other, and ordinary ones."""
    values = np.concatenate([special(dtype), np.array([0.3, -0.7, 5.0, -3.25, 1e-3, 4096, -(2.0**-24), 2.0**24], dtype)])
    a, b = (part.reshape(-1) for part in np.meshgrid(values, values))
    rng = np.random.default_rng(0)
    return np.concatenate([a, rng.normal(size=2000).astype(dtype)]), np.concatenate([b, rng.normal(size=2000).astype(dtype)])


@pytest.mark.parametrize("name", [*sorted(chosen_of_two()), "remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_have_numpys_special_values_and_warnings(name, dtype):
    a, b = pairs(dtype)
    ours, numpys = function(name), getattr(np, name)
    (found, said), (expected, wanted) = (warned(lambda f=f: f(a, b)) for f in (ours, numpys))
    assert said == wanted
    if name in EXACT_PAIRS:
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))
        np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).smallest_subnormal)
    else:  # what is left of a division is exact
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))
    with np.errstate(all="ignore"):
        for part in (np.s_[::3], np.s_[::-2], np.s_[5:6]):
            np.testing.assert_array_equal(ours(a[part], b[part]), found[part])
        np.testing.assert_array_equal(ours(a, dtype(0.7)), ours(a, np.full(a.shape, 0.7, dtype)))
        np.testing.assert_array_equal(ours(dtype(0.7), b), ours(np.full(b.shape, 0.7, dtype), b))
        np.testing.assert_array_equal(ours(np.tile(a, 30), np.tile(b, 30)), np.tile(found, 30))
        inside = a.copy()
        if name in EXACT_PAIRS:
            ours.function(inside, b, out=inside)
        else:
            inside = ours(inside, b)
        np.testing.assert_array_equal(inside, found)


@pytest.mark.parametrize("name", ["remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_divisions_with_a_rest_have_numpys_bits(name, dtype):
    """Multiples and what stands beside them, where a rounded quotient is one too many."""
    rng = np.random.default_rng(0)
    b = rng.uniform(0.01, 30, 20000).astype(dtype) * rng.choice([-1, 1], 20000).astype(dtype)
    a = b * rng.integers(-5000, 5000, 20000).astype(dtype)
    for numbers in (
        a,
        np.nextafter(a, dtype(np.inf)),
        np.nextafter(a, dtype(-np.inf)),
        rng.normal(size=20000).astype(dtype) * dtype(100),
    ):
        np.testing.assert_array_equal(function(name)(numbers, b), getattr(np, name)(numbers, b))


@pytest.mark.parametrize("name", EXACT_PAIRS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_within_one_ulp(name, dtype):
    rng = np.random.default_rng(0)
    a, b = ((rng.normal(size=1000) * 10.0 ** rng.integers(-6, 6, 1000)).astype(dtype) for _ in range(2))
    with mpmath.workprec(300):
        exact = [EXACT_PAIRS[name](mpmath.mpf(float(p)), mpmath.mpf(float(q))) for p, q in zip(a, b)]
    assert ulps.errors(function(name)(a, b), exact).max() < 1


@pytest.mark.parametrize("name", ["maximum", "minimum", "sign", "copysign", "sqrt"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_choices_have_numpys_bits(name, dtype):
    x = np.tile(special(dtype), 9)
    ours, numpys = function(name), getattr(np, name)
    for other in (0, 1.5, -np.inf, np.nan, np.inf):
        for given in (
            [(x,)]
            if name in ("sign", "sqrt")
            else [(x, dtype(other)), (dtype(other), x), (x, np.full_like(x, other)), (x[::2], dtype(other))]
        ):
            (found, said), (expected, wanted) = (warned(lambda f=f: f(*given)) for f in (ours, numpys))
            assert said == wanted
            np.testing.assert_array_equal(found, expected)
            keeps = expected != 0 if name in ("maximum", "minimum") else np.ones(expected.shape, bool)  # of two zeros either
            np.testing.assert_array_equal(np.signbit(found[keeps]), np.signbit(expected[keeps]))


def test_hard_doubles():
    """Near multiples of half pi, whose sine and cosine are nearly 0, and where a logarithm nearly vanishes."""
    mpmath.mp.prec = 300
    near = [float(k * mpmath.pi / 2) for k in (1, 2, 3, 355 * 2, 573204, 1048577, 683565275)]
    for name, points in {"sin": near, "cos": near, "tan": near, "log": [1 - 2**-53, 1 + 2**-52, 0.5, 2], "log1p": [-0.5, 2**-53]}.items():
        for x in np.array([*points, *np.nextafter(points, 0), *np.nextafter(points, 1e10)]):
            assert ulps.errors(function(name)(np.array([x])), [getattr(mpmath, name)(mpmath.mpf(x))]).max() < 1, (name, x)


@each("name, dtype", OURS)
def test_ends_of_every_range(name, dtype):
    """The largest and the least numbers, and what stands on both sides of each power of two."""
    dtype = np.dtype(dtype).type
    powers = np.ldexp(np.ones(1, dtype), np.arange(np.finfo(dtype).minexp - np.finfo(dtype).nmant, np.finfo(dtype).maxexp))
    x = np.concatenate([powers, np.nextafter(powers, dtype(0)), np.nextafter(powers, dtype(np.inf)), [np.finfo(dtype).max]]).astype(dtype)
    with np.errstate(all="ignore"):
        for points in (x, -x):
            expected = getattr(np, name)(points)
            np.testing.assert_allclose(function(name)(points), expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).tiny)


def printed(code, elementary):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"GRADSPEC_ELEMENTARY": elementary}, text=True, capture_output=True, check=True
    ).stdout.strip()


def test_what_it_takes_to_have_numpys_own():
    code = "import gradspec as gs, numpy as np; x = np.linspace(0.1, 0.9, 1000); print((gs.exp(x).numpy() == np.exp(x)).all())"
    assert printed(code, "numpy") == "True"


@pytest.mark.skipif(not OURS, reason="this NumPy has no loops beside ours")
def test_what_it_takes_to_have_the_same_digits_on_all_processors():
    code = "from gradspec.kernels.fusion_engine.vectors import chosen; print({o for row in chosen().values() for o in row.values()})"
    assert printed(code, "gradspec") == "{'gradspec'}"
