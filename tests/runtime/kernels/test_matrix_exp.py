"""The exponential of matrices and its derivative along a direction: digits by mpmath, beside SciPy's."""

import mpmath
import numpy as np
import pytest

import gradspec as gs
from gradspec.kernels.matrices.matrix_exp import matrix_exp, matrix_exp_along
from tests.asked import each

random = np.random.default_rng(0)
MATRICES = {
    "tiny": random.normal(size=(4, 4)) * 1e-9,
    "order 3": random.normal(size=(4, 4)) * 1e-3,
    "order 5": random.normal(size=(4, 4)) * 0.05,
    "order 7": random.normal(size=(4, 4)) * 0.2,
    "order 13": random.normal(size=(4, 4)),
    "large": random.normal(size=(4, 4)) * 20,
    "complex": random.normal(size=(4, 4)) * 3 + 1j * random.normal(size=(4, 4)),
    "falling": -5 * np.eye(4) - 30 * random.random((4, 4)),
    "a rotation": np.array([[0.0, -100.0], [100.0, 0.0]]),
    "rates": np.diag([300.0, 100.0, 200.0]) @ np.array([[-1, 1, 0], [0.5, -1, 0.5], [0, 1, -1.0]]),
    "far eigenvalues (Ward)": np.array([[-131.0, 19, 18], [-390, 56, 54], [-387, 57, 52]]),
    "small powers": np.triu(random.normal(size=(5, 5)), 1) * 1e3,
    "small powers but for rounding": np.array([[1.0, 1e5, 3], [1e-5, 2, 1e4], [0, 1e-4, -1]]),
    "large above the diagonal": np.array([[1.0, 1e6], [0.0, -1.0]]),
    "triangular": np.tril(random.normal(size=(5, 5))) * 10,
    "diagonal": np.diag([1.0, -40, 30, 3]),
    "a number": np.array([[3.7]]),
}
WORST = {"small powers but for rounding": 256}  # units of the last place; 64 where nothing is said
DIRECTIONS = {name: random.normal(size=x.shape) * 10.0 ** random.integers(-8, 8) for name, x in MATRICES.items()}


def exact(x):
    with mpmath.workdps(200):
        return np.array(mpmath.expm(mpmath.matrix(x.tolist()), method="pade").tolist(), object).reshape(x.shape)


def gap(found, wanted):
    """The 1-norm of the difference, relative, in units of the last place."""
    if found.dtype.kind == "c":
        found = found.astype(complex)
    gaps = np.abs(np.array([[mpmath.mpmathify(x) for x in row] for row in found.tolist()]) - wanted)
    return float(gaps.sum(0).max() / np.abs(wanted).sum(0).max()) / float(np.finfo(found.dtype).eps)


def in_single(x):
    return x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)


def asked(x, wanted):
    """How far rounding the argument moves the result, in the same units; at least 1."""
    moved = x * (1 + np.finfo(x.dtype).eps * np.random.default_rng(1).choice([-1, 1], x.shape)).astype(x.real.dtype)
    return max(1.0, gap(exact(moved).astype(x.dtype), wanted))


@each("single", [False, True], ids=["double", "single"])
@each("name", MATRICES)
def test_digits(name, single):
    x = in_single(MATRICES[name]) if single else MATRICES[name]
    wanted = exact(x)
    y = matrix_exp(x)
    assert y.dtype == x.dtype
    assert gap(y, wanted) < WORST.get(name, 64) * asked(x, wanted)


@each("name", MATRICES)
def test_digits_of_the_derivative(name):
    x, direction = MATRICES[name], DIRECTIONS[name]
    n, zeros = len(x), np.zeros_like(x)
    wanted = exact(np.block([[x, direction], [zeros, x]]))[:n, n:]
    assert gap(matrix_exp_along(x, direction), wanted) < 64 * asked(x, exact(x))


def test_not_worse_than_scipy():
    scipy = pytest.importorskip("scipy.linalg")
    ratios = {}
    for name, x in MATRICES.items():
        wanted = exact(x)
        ratios[name] = (gap(matrix_exp(x), wanted) + 1) / (gap(scipy.expm(x), wanted) + 1)
    assert np.exp(np.log(list(ratios.values())).mean()) < 1
    assert max(ratio for name, ratio in ratios.items() if name not in WORST) < 8  # SciPy 1.18 has the digits of the one in WORST


@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
def test_a_stack_is_its_matrices(single):
    """Matrices of all orders and numbers of halvings beside each other, and beside one that is no number."""
    x = np.array([x for name, x in MATRICES.items() if x.shape == (4, 4) and x.dtype.kind == "f"] + [np.full((4, 4), np.nan)])
    direction = random.normal(size=x.shape)
    if single:
        x, direction = x.astype(np.float32), direction.astype(np.float32)
    for function, parts in ((matrix_exp, (x,)), (matrix_exp_along, (x, direction))):
        y = function(*(part.reshape(3, 3, 4, 4) for part in parts)).reshape(9, 4, 4)
        for i in range(9):
            alone = function(*(part[i] for part in parts))
            size = np.nan_to_num(np.abs(alone)).max()
            np.testing.assert_allclose(y[i], alone, rtol=0, atol=2e3 * np.finfo(x.dtype).eps * size)


def test_a_number_beside_a_stack():
    """Directions in front of one matrix, as a batch of cotangents has them."""
    x, directions = MATRICES["order 13"], random.normal(size=(3, 4, 4))
    y = matrix_exp_along(x, directions)
    for one, direction in zip(y, directions, strict=True):
        np.testing.assert_allclose(one, matrix_exp_along(x, direction), rtol=1e-13)


def test_extremes():
    np.testing.assert_array_equal(matrix_exp(np.zeros((2, 3, 3))), np.broadcast_to(np.eye(3), (2, 3, 3)))
    np.testing.assert_array_equal(matrix_exp(np.array([[0, 1e300], [0, 0]])), [[1, 1e300], [0, 1]])
    np.testing.assert_array_equal(matrix_exp(np.array([[0, 1e30], [0, 0]], np.float32)), np.array([[1, 1e30], [0, 1]], np.float32))
    np.testing.assert_array_equal(matrix_exp(np.diag([-1e300, 1e-300])), np.diag([0.0, 1.0]))
    assert np.isinf(matrix_exp(np.array([[800.0, 1], [1, 0]]))).all()
    assert np.isnan(matrix_exp(np.array([[np.inf, 1], [1, 0]]))).all()
    assert matrix_exp(np.zeros((3, 0, 0))).shape == (3, 0, 0) and matrix_exp(np.zeros((0, 2, 2))).shape == (0, 2, 2)


@pytest.mark.parametrize(("given", "found"), [("f2", "f4"), (">f8", "f8"), ("i8", "f8"), ("F", "F"), ("D", "D")])
def test_dtypes(given, found):
    y = matrix_exp(np.array([[0, 1], [0, 0]], given))
    assert y.dtype == np.dtype(found)
    np.testing.assert_array_equal(y, [[1, 1], [0, 1]])


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_refused(shape):
    with pytest.raises(ValueError, match="the last two axes must be of one length"):
        gs.linalg.matrix_exp(np.zeros(shape))
