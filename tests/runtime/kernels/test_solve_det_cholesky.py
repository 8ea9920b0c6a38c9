"""Small matrices against NumPy's LAPACK and exact minors: sizes, stacks, layouts, singular ones, any number of threads."""

from fractions import Fraction

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from tests.asked import each

FUNCTIONS = {
    "cholesky": lambda x: x @ np.swapaxes(x, -2, -1).conj() + np.eye(x.shape[-1], dtype=x.dtype),
    "det": lambda x: x,
    "inv": lambda x: x + 3 * x.shape[-1] * np.eye(x.shape[-1], dtype=x.dtype),
    "slogdet": lambda x: x,
}


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -2, -1)), -2, -1)
    yield x.astype(x.dtype.newbyteorder())


@each("dtype", [np.float32, np.float64, np.complex128])
@each("name", FUNCTIONS)
def test_as_numpy_has_it(name, dtype):
    random = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 7, 8, 9):
        for lead in ((), (5,), (2, 3), (400,), (0,)):
            x = random.normal(size=(*lead, n, n)).astype(dtype)
            x = FUNCTIONS[name](x + 1j * random.normal(size=x.shape) if dtype is np.complex128 else x).astype(dtype)
            expected = getattr(np.linalg, name)(x)
            tolerance = 2e-3 if dtype is np.float32 else 1e-11
            for given in layouts(x):
                found = getattr(kernels, name)(given)
                for y, z in zip(found, expected) if name == "slogdet" else [(found, expected)]:
                    assert np.shape(y) == np.shape(z) and np.asarray(y).dtype == z.dtype
                    np.testing.assert_allclose(y, z, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solutions(dtype):
    random = np.random.default_rng(1)
    for n in (1, 3, 8, 9):
        for lead, other in [
            ((), ()),
            ((4,), (4,)),
            ((), (4,)),
            ((4,), ()),
            ((2, 3), (2, 3)),
            ((3,), (2, 3)),
            ((300,), (300,)),
            ((1,), (4,)),
        ]:
            for columns in (0, 1, 4):
                a = (random.normal(size=(*lead, n, n)) + 3 * n * np.eye(n)).astype(dtype)
                b = random.normal(size=(*other, n, columns)).astype(dtype)
                expected, kept = np.linalg.solve(a, b), b.copy()
                for left, right in zip(layouts(a), layouts(b)):
                    found = kernels.solve(left, right)
                    assert found.shape == expected.shape and found.dtype == dtype
                    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype is np.float32 else 1e-10, atol=1e-5)
                np.testing.assert_array_equal(b, kept)


def test_singular_ones_are_said():
    x = np.random.default_rng(2).normal(size=(5, 3, 3))
    x[3] = 1
    for call in (kernels.inv, kernels.cholesky, lambda x: kernels.solve(x, x)):
        with pytest.raises(np.linalg.LinAlgError):
            call(x)
    assert kernels.det(x)[3] == 0 and (kernels.det(x)[:3] != 0).all()
    sign, logarithm = kernels.slogdet(x)
    assert sign[3] == 0 and logarithm[3] == -np.inf


def test_numbers_that_are_none_and_overflow_are_as_numpy_has_them():
    with np.errstate(all="ignore"):
        for bad in (np.nan, np.inf, 1e300):
            x = np.eye(3) + 0.5
            x[1, 2] = x[0, 1] = bad
            np.testing.assert_array_equal(np.isfinite(kernels.det(x)), np.isfinite(np.linalg.det(x)))
            np.testing.assert_array_equal(np.isfinite(kernels.inv(x)), np.isfinite(np.linalg.inv(x)))


def test_no_bit_depends_on_the_number_of_threads():
    x, before, found = np.random.default_rng(3).normal(size=(3000, 5, 5)), get_num_threads(), []
    for number in (1, 2, 5):
        set_num_threads(number)
        found.append([np.asarray(getattr(kernels, name)(make(x))).tobytes() for name, make in FUNCTIONS.items()])
        found[-1].append(kernels.solve(x, x[:, :, :2]).tobytes())
    set_num_threads(before)
    assert found[0] == found[1] == found[2]


def exact_cofactor(x):
    """By minors, in fractions."""

    def determinant(rows):
        if not rows:
            return Fraction(1)
        return sum((-1) ** j * v * determinant([r[:j] + r[j + 1 :] for r in rows[1:]]) for j, v in enumerate(rows[0]))

    rows = [[Fraction(float(v)) for v in row] for row in x]
    return np.array([
        [float((-1) ** (i + j) * determinant([r[:j] + r[j + 1 :] for k, r in enumerate(rows) if k != i])) for j in range(len(rows))]
        for i in range(len(rows))
    ]).reshape(x.shape)  # fmt: skip


def test_cofactors_are_exact_near_and_far_from_singular():
    random, matrices = np.random.default_rng(4), []
    for n in (1, 2, 3, 4, 5):
        for rank in range(n + 1):
            left, right = random.integers(-3, 4, (n, rank)).astype(float), random.integers(-3, 4, (rank, n)).astype(float)
            matrices += [
                left @ right,
                left @ right + 1e-9 * random.normal(size=(n, n)),
                1e-90 * left @ right,
                1e70 * left @ right,
            ]
        matrices += [random.normal(size=(n, n)) for _ in range(5)]
    for x in matrices:
        expected = exact_cofactor(x)
        scale = np.abs(expected).max(initial=0) + np.linalg.norm(x) ** (len(x) - 1) * 1e-3
        np.testing.assert_allclose(kernels.cofactor(x), expected, rtol=0, atol=1e-12 * scale)
    stack = np.array([x for x in matrices if len(x) == 3])
    for found, x in zip(kernels.cofactor(stack), stack):
        np.testing.assert_allclose(found, kernels.cofactor(x), rtol=1e-13, atol=1e-13 * np.abs(found).max())
