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


def rounding_of_det(x):
    """How far rounding may move each coefficient of the determinant of a path, on the circle where it moves it least.

    LU with row exchanges gives the determinant of x + e with |e| <= n**2 * u * |x| as long as the pivots do not grow (Higham (2002),
    Accuracy and Stability of Numerical Algorithms, 9.3), which moves it by at most |e| * sum_i prod_{j != i} s_j to first order (Ipsen and
    Rehman (2008), Perturbation bounds for determinants and characteristic polynomials).  On a circle of radius r the singular values s are
    at most s(0) + sum_k r**k |x_k|, and coefficient m is at most the largest value on the circle over r**m.  No LAPACK is better.
    """
    n, count = x.shape[-2:]
    values, sizes = np.linalg.svd(x[..., 0], compute_uv=False), np.linalg.norm(x, axis=(0, 1))[1:]
    least = np.full(count, np.inf)
    for radius in np.exp2(np.arange(-60.0, 60.0)):
        for m in range(count):
            b = values + (sizes[:m] * radius ** np.arange(1.0, m + 1)).sum()
            with np.errstate(over="ignore"):
                moved = b.max() * sum(np.prod(np.delete(b, i)) for i in range(n))
                least[m] = min(least[m], moved / radius**m)
    return n**2 * np.finfo(float).eps / 2 * least


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
                scale = size ** -np.arange(6.0)  # of time, at which the path is of about 1
                noise = np.where(wanted == 0, 1e-15 * np.abs(wanted * scale).max(), 0)
                most = 1e-10 * np.abs(wanted)
                if name == "rank one" and size < 1:  # which is ill-conditioned: how the last digit of its first matrix changes it
                    most = np.maximum(most, rounding_of_det(x))
                assert (np.abs(found - wanted) * scale <= most * scale + noise).all(), (name, size, decay)


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
