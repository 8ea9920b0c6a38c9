"""erf, erfc and gelu in single precision against the same in double precision: every exponent, both signs, infinities and NaN."""

import math

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads


def points():
    rng = np.random.default_rng(0)
    magnitudes = np.concatenate([10.0 ** rng.uniform(-45, 38, 4000), rng.uniform(0, 15, 20000), [0, 1, 11, 9.19, 10.05]])
    return np.concatenate([magnitudes, -magnitudes]).astype(np.float32)


def exact(name, x):
    """In double precision, by Python's functions; below -38 gelu is 0 in single precision."""
    function = {
        "erf": math.erf,
        "erfc": math.erfc,
        "gelu": lambda x: x * math.erfc(-x * math.sqrt(0.5)) / 2,
    }[name]
    return np.array([function(float(value)) for value in x.reshape(-1)]).reshape(x.shape)


def call(name, x):
    return kernels.gelu(x, "none") if name == "gelu" else getattr(kernels, name)(x)


@pytest.mark.parametrize("name", ["erf", "erfc", "gelu"])
def test_single_precision_is_near_double_precision(name):
    """In float arithmetic: erf within one unit of the last digit, the others within 1.5."""
    x = points()
    found, expected = call(name, x), exact(name, x)
    assert found.dtype == np.float32
    ulp = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - expected) / ulp).max() < (1 if name == "erf" else 1.5)


@pytest.mark.parametrize("name", ["erf", "erfc", "gelu"])
def test_layouts_and_shapes(name):
    x = points()[:600].reshape(20, 30)
    expected = call(name, x)
    frozen = x.copy()
    frozen.flags.writeable = False
    for laid in (np.asfortranarray(x), np.repeat(x, 2, -1)[:, ::2], np.flip(np.flip(x).copy()), frozen, x.astype(">f4")):
        found = call(name, laid)
        assert found.dtype.newbyteorder("=") == np.float32
        np.testing.assert_array_equal(found, expected)
    for shape in ((), (0,), (3, 0), (1, 1, 1)):
        assert np.shape(call(name, np.ones(shape, np.float32))) == shape
    np.testing.assert_array_equal(call(name, np.float32(0.5)), call(name, np.array([0.5], np.float32))[0])


def test_infinities_zeros_and_nan():
    x = np.array([np.inf, -np.inf, 0.0, -0.0, np.nan], np.float32)
    np.testing.assert_array_equal(kernels.erf(x), np.array([1, -1, 0, 0, np.nan], np.float32))
    np.testing.assert_array_equal(np.signbit(kernels.erf(x[:4])), [False, True, False, True])
    np.testing.assert_array_equal(kernels.erfc(x), np.array([0, 2, 1, 1, np.nan], np.float32))
    np.testing.assert_array_equal(kernels.gelu(x, "none"), np.array([np.inf, 0, 0, 0, np.nan], np.float32))


@pytest.mark.parametrize("name", ["erf", "erfc", "gelu"])
def test_double_precision_is_that_of_pythons_functions(name):
    x = points()[::50].astype(np.float64)
    x = x[np.abs(x) < 30]
    found = call(name, x)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, exact(name, x), rtol=1e-12)


@pytest.mark.parametrize("name", ["erf", "erfc", "gelu"])
def test_results_do_not_depend_on_the_number_of_threads(name):
    x, before = np.resize(points(), 100_001), get_num_threads()
    try:
        results = [set_num_threads(number) or call(name, x) for number in (1, 2, 3)]
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])
