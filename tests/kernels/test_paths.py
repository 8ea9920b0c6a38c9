"""Scales of paths of matrices: powers of two that bring coefficients of any sizes together, and the circles of a determinant."""

from fractions import Fraction
from itertools import permutations

import numpy as np

import gradspec as gs
from gradspec import kernels
from gradspec.support.dispatch import ops


def exact_det(x):
    """The coefficients of the determinant of a path, in rational numbers."""
    n, count = x.shape[-2:]
    found = [Fraction(0)] * count
    for order in permutations(range(n)):
        terms = [Fraction(round(np.linalg.det(np.eye(n)[list(order)])))] + [Fraction(0)] * (count - 1)
        for row, column in enumerate(order):
            entry = [Fraction(float(value)) for value in x[row, column]]
            terms = [sum(terms[i] * entry[m - i] for i in range(m + 1)) for m in range(count)]
        found = [a + b for a, b in zip(found, terms)]
    return np.array([float(value) for value in found])


def test_determinants_of_paths_keep_their_digits():
    """Each coefficient to about its own size, whatever the sizes of singular values and of the path."""
    rng = np.random.default_rng(1)
    firsts = {
        "regular": rng.normal(size=(4, 4)), "zero": np.zeros((4, 4)), "rank one": np.ones((4, 4)),
        "sizes": np.diag([1, 1e-5, 1e-10, 0.0]), "unit": np.eye(4), "large": 1e60 * rng.normal(size=(4, 4)),
    }  # fmt: skip
    for name, first in firsts.items():
        for size in (1e-7, 1.0, 1e6):
            for decay in (0.0, 0.3, 2.0):
                rest = [size * decay**i * rng.normal(size=(4, 4)) for i in range(5)]
                x = np.stack([first, *rest], -1)
                wanted, found = exact_det(x), np.array(ops._det_coefficients(x).tolist())
                tolerance = 1e-8 if name == "rank one" and size < 1 else 1e-10  # how rounding the first one changes them
                scale = size ** -np.arange(6.0)  # of time, at which the path is of about 1
                noise = np.where(wanted == 0, 1e-15 * np.abs(wanted * scale).max(), 0)
                assert (np.abs(found - wanted) * scale <= tolerance * np.abs(wanted * scale) + noise).all(), (name, size, decay)


def test_scales_are_powers_of_two_of_their_own():
    x = np.zeros((3, 2, 2, 3))
    x[..., 0] = np.eye(2)
    x[0, ..., 1], x[1, ..., 2], x[2, ..., 1] = 1e-20, 1e8, np.nan
    found = kernels.path_scale(x)
    assert found.dtype == np.float64 and np.array_equal(np.frexp(found)[0], np.full((3, 3), 0.5))
    sizes = np.linalg.norm(np.moveaxis(x[:2], -1, -3) * found[:2, :, None, None], axis=(-2, -1))
    assert (sizes <= 3 * 1.001).all() and sizes[0, 1] > 1 and sizes[1, 2] > 0.5
    assert np.array_equal(found[2], np.ones(3))
    assert kernels.path_scale(x.astype(np.float32)).dtype == np.float32


def test_the_exponential_of_a_path_of_high_order():
    """Of a first coefficient 0 those of the exponential series, of any size, to orders beyond those of its approximations."""
    a = np.array([[0.2, 1.0], [-0.5, 0.3]])
    for size in (1e-3, 1.0, 1e3):
        order = 30
        series = [size * a] + [np.zeros((2, 2))] * (order - 1)
        found = gs.func.jet(gs.linalg.matrix_exp, (np.zeros((2, 2)),), (series,))[1]
        power = np.eye(2)
        for derivative in found:
            power = power @ (size * a)
            np.testing.assert_allclose(derivative.tolist(), power, rtol=1e-12, atol=1e-13 * np.abs(power).max())
