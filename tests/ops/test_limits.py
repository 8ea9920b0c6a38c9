"""Equal and zero values, extreme scales and cancellation, in operators of whole arrays: exact, or NaN where nothing is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.autograd import forward_ad, grad
from tests.asked import each

from .calls import array

EYE = np.eye(2)
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def gradient(function, *values):
    leaves = [gs.tensor(value, requires_grad=True) for value in values]
    found = grad(function(*leaves).sum(), leaves)
    return array(found[0]) if len(found) == 1 else [array(part) for part in found]


def directions(function, x):
    """The tangent of the sum of what a function returns along each element of a real array."""
    found = np.zeros(np.shape(x))
    for place in np.ndindex(found.shape):
        direction = np.zeros_like(x)
        direction[place] = 1
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(gs.tensor(x), gs.tensor(direction)))).tangent
            found[place] = array(tangent).sum()
    return found


class TestEqualValues:
    """At the identity every vector is an eigenvector: what depends on which was taken is not known."""

    def test_a_function_of_the_vectors(self):
        x = gs.tensor(EYE, requires_grad=True)
        values, vectors = gs.linalg.eigh(x)
        y = vectors @ gs.diag(values * values) @ vectors.T  # x @ x
        assert np.isnan(array(grad(y[0, 1] + y[1, 0], x)[0])).all()
        u, s, vh = gs.linalg.svd(x)
        assert np.isnan(array(grad((u @ gs.diag(s) @ vh)[0, 1], x)[0])).all()

    @pytest.mark.parametrize("name", ["eigvalsh", "svdvals"])
    @pytest.mark.parametrize(
        "function", [lambda w: w**2, lambda w: w**3, gs.exp, gs.prod], ids=["squares", "cubes", "exp", "prod"]
    )
    def test_hessians_are_not_known(self, name, function):
        x = gs.tensor(EYE, requires_grad=True)
        (g,) = grad(function(getattr(gs.linalg, name)(x)).sum(), x, create_graph=True)
        assert np.isnan(array(grad(g[0, 1], x)[0])).all()

    @pytest.mark.parametrize("x", [EYE, np.zeros((2, 2)), np.diag([3.0, 1.0])])
    @pytest.mark.parametrize("name, slope", [("eigvalsh", lambda x: np.cos(x)), ("svdvals", lambda x: np.cos(x))])
    def test_first_derivatives_of_the_values_are_exact(self, name, slope, x):
        """d sum(sin(w)) = tr(cos(x) dx)."""

        def function(x):
            return gs.sin(getattr(gs.linalg, name)(x)).sum()

        expected = np.diag(slope(np.diag(x)))
        found = gradient(function, x)
        if x.any() or name == "eigvalsh":
            np.testing.assert_allclose(found, expected, atol=1e-14)
        assert np.isfinite(found).all() and np.isfinite(directions(function, x)).all()

    def test_separate_values_are_untouched(self):
        x = gs.tensor(np.array([[2.0, 1.0], [1.0, 3.0]]), requires_grad=True)
        values, vectors = gs.linalg.eigh(x)
        y = vectors @ gs.diag(values * values) @ vectors.T
        np.testing.assert_allclose(array(grad(y[0, 1] + y[1, 0], x)[0]), [[2, 5], [5, 2]])

    @each("shape", [(0, 3), (3, 0), (2, 0, 3)])
    @each("dtype", DTYPES)
    def test_nothing(self, shape, dtype):
        assert gs.linalg.svdvals(np.zeros(shape, dtype)).shape == (*shape[:-2], 0)

    def test_qr_of_a_matrix_of_less_rank(self):
        x = gs.tensor(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), requires_grad=True)
        q, r = gs.linalg.qr(x)
        assert not np.isfinite(array(grad(q.sum() + r.sum(), x)[0])).all()


def exact_substitution(a, b, lower, unit):
    """The solution in rational numbers."""
    n = len(a)
    order = range(n) if lower else range(n - 1, -1, -1)
    known = {}
    for i in order:
        rest = [Fraction(value) for value in b[i].tolist()]
        for j, values in known.items():
            factor = Fraction(a[i, j].item())
            rest = [p - factor * q for p, q in zip(rest, values)]
        known[i] = rest if unit else [p / Fraction(a[i, i].item()) for p in rest]
    return [known[i] for i in range(n)]


class TestTriangles:
    @each("n", [1, 5, 17, 40, 70])
    @each("lower", [True, False])
    @each("unit", [True, False])
    @each("transposed", [True, False])
    def test_backward_error_of_random_triangles(self, n, lower, unit, transposed):
        """Substitution solves a triangle that differs by a few ulp in each element, whatever its condition."""
        random = np.random.default_rng(n)
        a, b = random.normal(size=(n, n)), random.normal(size=(n, 2))
        a = a.T if transposed else a
        y = array(gs.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit))
        t = (np.tril if lower else np.triu)(a, (-1 if lower else 1) if unit else 0) + unit * np.eye(n)
        for column in range(2):
            exact = [[Fraction(v) for v in row] for row in t.tolist()]
            unknown = [Fraction(v) for v in y[:, column].tolist()]
            for row, right in zip(exact, b[:, column].tolist()):
                residual = abs(sum(p * q for p, q in zip(row, unknown)) - Fraction(right))
                size = sum(abs(p * q) for p, q in zip(row, unknown)) + abs(Fraction(right))
                assert residual <= size * Fraction(2 * n, 2**53)

    @pytest.mark.parametrize("lower", [True, False])
    def test_against_rational_numbers(self, lower):
        """A triangle that is far from singular has its solution to the last digits; NumPy's pivoted solver is 100 % off."""
        n, random = 60, np.random.default_rng(0)
        a = random.normal(size=(n, n))
        a[np.arange(n), np.arange(n)] = n
        b = random.normal(size=(n, 2))
        exact = np.array([[float(v) for v in row] for row in exact_substitution(a, b, lower, False)])
        np.testing.assert_allclose(array(gs.linalg.solve_triangular(a, b, lower=lower)), exact, rtol=1e-13)

    @each("dtype", DTYPES)
    @each("n", [3, 33, 130])
    def test_every_dtype_and_layout(self, dtype, n):
        random = np.random.default_rng(n)
        a = (random.normal(size=(2, 1, n, n)) / n + np.eye(n)).astype(dtype)
        b = random.normal(size=(3, n, 4)).astype(dtype)
        if np.iscomplexobj(a):
            a = a + 1j * a[..., ::-1, :] / n
        for matrix in (a, np.swapaxes(a, -1, -2), a[..., ::-1, ::-1], np.repeat(a, 2, -1)[..., ::2]):
            for lower in (True, False):
                y = array(gs.linalg.solve_triangular(matrix, b, lower=lower))
                assert y.shape == (2, 3, n, 4) and y.dtype == dtype
                product = (np.tril if lower else np.triu)(matrix) @ y
                np.testing.assert_allclose(product, np.broadcast_to(b, y.shape), atol=100 * np.finfo(dtype).eps * n)

    @pytest.mark.parametrize("n", [2, 20, 100])
    def test_a_zero_on_the_diagonal(self, n):
        a = np.tril(np.ones((n, n)))
        a[n // 2, n // 2] = 0
        for matrix, lower, known in ((a, True, slice(0, n // 2)), (a[::-1, ::-1], False, slice(n - n // 2, None))):
            y = array(gs.linalg.solve_triangular(matrix, np.ones((n, 2)), lower=lower))
            assert np.isfinite(y[known]).all() and np.isnan(np.delete(y, range(n)[known], 0)).all()

    def test_what_is_not_read_may_be_anything(self):
        a = np.array([[np.nan, np.nan], [3.0, np.inf]])
        y = array(gs.linalg.solve_triangular(a, np.ones((2, 1)), lower=True, unit_diagonal=True))
        assert y.tolist() == [[1], [-2]]


class TestScales:
    """What does not depend on the scale is right at every scale whose numbers are normal."""

    SCALES = [1e-307, 1e-200, 1.0, 1e160, 1e307]

    @each("scale", SCALES)
    @each("function, x, value, slope", [
        (gs.norm, [3.0, 4.0], 5, [0.6, 0.8]),
        (gs.linalg.vector_norm, [3.0, -4.0], 5, [0.6, -0.8]),
        (lambda x: gs.norm(x, 4), [1.0, 1.0], 2**0.25, [2**-0.75] * 2),
        (gs.std, [1.0, 3.0], 1, [-0.5, 0.5]),
        (lambda x: gs.hypot(x[0], x[1]), [3.0, 4.0], 5, [0.6, 0.8]),
    ], ids=["norm", "vector_norm", "norm 4", "std", "hypot"])  # fmt: skip
    def test_lengths(self, function, x, value, slope, scale):
        x = np.array(x) * scale
        np.testing.assert_allclose(array(function(gs.tensor(x))), value * scale, rtol=1e-14)
        np.testing.assert_allclose(gradient(function, x), slope, rtol=1e-13)
        np.testing.assert_allclose(directions(function, x), slope, rtol=1e-13)

    @pytest.mark.parametrize("scale", SCALES[:-1])
    def test_angles(self, scale):
        a, b = np.array([3.0, 4.0]) * scale, np.array([4.0, 3.0]) * scale
        assert array(gs.nn.cosine_similarity(a, b, eps=0)) == pytest.approx(0.96)
        np.testing.assert_allclose(gradient(lambda a: gs.atan2(a, a), a), [0, 0])
        np.testing.assert_allclose(gradient(lambda a: gs.atan2(a, b), a) * scale, [4 / 25, 3 / 25], rtol=1e-13)

    def test_the_mean_of_large_numbers(self):
        x = 1e15 + np.array([0.0, 1.0, 3.0])
        assert array(gs.var(gs.tensor(x))) == pytest.approx(14 / 9, rel=1e-14)
        assert array(gs.std(gs.tensor(x))) == pytest.approx(np.sqrt(14) / 3, rel=1e-14)
        np.testing.assert_allclose(gradient(gs.var, x), 2 / 3 * np.array([-4 / 3, -1 / 3, 5 / 3]), rtol=1e-14)

    def test_equal_numbers_have_no_variance(self):
        assert array(gs.var(np.full(3, 0.1))) == 0 and array(gs.std(np.full((3, 7), 0.3), axis=1)).tolist() == [0, 0, 0]

    def test_logsumexp_of_large_numbers(self):
        for x in ([-1e300] * 3, [1e300] * 3, [1e17] * 3):
            np.testing.assert_allclose(gradient(gs.logsumexp, np.array(x)), 1 / 3, rtol=1e-15)
            np.testing.assert_allclose(directions(gs.logsumexp, np.array(x)), 1 / 3, rtol=1e-15)


@each("scale", [1e300, -1e300, 1e16, 1e3, -1e3, 0.0])
@each("steps", [(0, 0, 0), (0, 2, -2), (3, 0, 0), (-800, 0, 1)])
def test_shares_of_sums_of_exponentials(scale, steps):
    """The sum of a few equal numbers is lost in such a result, but not in what each of them has of it."""
    x = scale + np.array(steps, float)
    share = [[Fraction(0) if i > j else Fraction(np.exp(a - max(x[: j + 1]))) for i, a in enumerate(x)] for j in range(3)]
    share = np.array([[float(part / sum(row)) for part in row] for row in share])
    for j in range(3):
        assert np.allclose(gradient(lambda t: gs.logcumsumexp(t, 0)[j], x), share[j], 1e-14, 0)  # noqa: B023
    assert np.allclose(directions(lambda t: gs.logcumsumexp(t, 0), x), share.sum(axis=0), 1e-14, 0)
    assert np.allclose(gradient(gs.logsumexp, x), share[2], 1e-14, 0)


class TestCutOff:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_pinv_of_less_rank(self, dtype):
        a = np.random.default_rng(0).normal(size=(4, 2))
        x = (a @ a.T).astype(dtype)
        exact = np.linalg.pinv(a.T) @ np.linalg.pinv(a)
        np.testing.assert_allclose(array(gs.linalg.pinv(x)), exact, rtol=1e4 * np.finfo(dtype).eps)

    def test_integers(self):
        np.testing.assert_allclose(array(gs.linalg.pinv(np.array([[2, 0], [0, 4]]))), [[0.5, 0], [0, 0.25]])


class TestLogdet:
    def test_sign_and_phase(self):
        assert np.isnan(array(gs.logdet(-np.eye(1)))) and array(gs.logdet(np.eye(2) * -1)) == 0
        assert array(gs.logdet(np.array([[1j]]))) == pytest.approx(np.pi / 2 * 1j)
        x = np.array([[1 + 2j, 3.0], [0.5j, 2 - 1j]])
        assert array(gs.logdet(x)) == pytest.approx(np.log(np.linalg.det(x)))
        leaf = gs.tensor(x, requires_grad=True)
        found = grad(gs.logdet(leaf), leaf, gs.tensor(1 + 0j))[0]
        np.testing.assert_allclose(array(found), np.linalg.inv(x).conj().T, rtol=1e-13)


def test_wide_qr_is_that_of_its_first_columns():
    x = np.random.default_rng(0).normal(size=(2, 3, 5))
    q, r = (array(part) for part in gs.linalg.qr(x))
    assert q.shape == (2, 3, 3) and r.shape == (2, 3, 5)
    np.testing.assert_allclose(q @ r, x, atol=1e-14)
    np.testing.assert_array_equal(np.tril(r, -1), np.tril(np.zeros_like(r)) + np.tril(r, -1) * 0)


@each("size", [1, 7, 1023, 1024, 1025, 5000])
@each("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
@each("name, scale", [("sigmoid_slope", 1), ("tanh_slope", 2)])
def test_logistic_slopes_block_by_block(name, scale, dtype, size):
    x = np.linspace(-12, 12, size).astype(dtype) if size > 1 else np.asarray(0.5, dtype)
    x = np.asarray(x + 0.25j * x if np.iscomplexobj(x) else x)
    for values in (x, x[::-1], x[None, ::-2]) if size > 1 else (x,):
        e = np.exp(-scale * np.where(values.real < 0, -values, values).astype(np.result_type(dtype, np.float64)))
        expected = scale**2 * e / (1 + e) ** 2
        found = getattr(kernels, name)(values)
        assert found.dtype == dtype
        tolerance = 30 * np.finfo(dtype).eps
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=float(4 * np.finfo(dtype).smallest_subnormal))


@pytest.mark.parametrize("function", [
    gs.linalg.cholesky, gs.linalg.eigvalsh, lambda x: gs.linalg.eigh(x)[0], lambda x: abs(gs.linalg.eigh(x)[1]),
])  # fmt: skip
def test_what_stands_above_the_diagonal_is_not_read(function):
    """Values and gradient are those of the Hermitian matrix, by differences of its lower triangle: two elements move together."""
    lower = np.array([[4.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -0.7, 2.0]])
    hermitian, other = lower + np.tril(lower, -1).T, lower + np.triu(np.full((3, 3), 9.0), 1)
    weights = np.random.default_rng(2).normal(size=function(hermitian).shape)

    def weighted(x):
        return (function(x) * weights).sum()

    found = gradient(weighted, other)
    np.testing.assert_allclose(found, found.T, rtol=1e-14)
    np.testing.assert_array_equal(found, gradient(weighted, hermitian))
    for i, j in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[i, j] = step[j, i] = 1e-5
        change = (weighted(hermitian + step).item() - weighted(hermitian - step).item()) / 2e-5
        np.testing.assert_allclose(found[i, j] + (found[j, i] if i != j else 0), change, rtol=1e-6, atol=1e-8)


def test_a_step_has_no_derivative():
    a, b = (gs.tensor([0.0, 1.0], requires_grad=True) for _ in range(2))
    y = gs.heaviside(a, b)
    assert y.tolist() == [0, 1] and not y.requires_grad


HOMOGENEOUS = {
    "std": gs.std, "std of a sample": lambda x: gs.std(x, 0, correction=1), "std_mean": lambda x: gs.std_mean(x, correction=0)[0],
    "nanstd": gs.nanstd, "norm": gs.linalg.norm, "vector_norm": gs.linalg.vector_norm, "norm 1": lambda x: gs.linalg.norm(x, 1),
    "norm 3": lambda x: gs.linalg.norm(x, 3), "dist": lambda x: gs.dist(x, 0 * x), "max": gs.max, "ptp": gs.ptp,
}  # fmt: skip


@each("dtype", [np.float32, np.float64])
@each("function", HOMOGENEOUS.values(), ids=HOMOGENEOUS)
def test_slopes_of_what_grows_with_its_argument_are_those_of_the_subnormal_too(function, dtype):
    """f(c * x) == c * f(x), so that the derivative at c * x is that at x, in both modes; 1 / f is out of range there."""
    x = np.array([3, -4, 12], dtype)
    scale = np.ldexp(np.finfo(dtype).smallest_subnormal, 14).astype(dtype)
    expected = gradient(function, x)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(gradient(function, x * scale), expected, rtol=1e-4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(x * scale), gs.tensor(np.array([1, 0.5, -2], dtype)))
        np.testing.assert_allclose(array(forward_ad.unpack_dual(function(dual)).tangent), expected @ [1, 0.5, -2], rtol=1e-3)


class TestSystemsFromTheRight:
    """`left=False` and `adjoint=True` undo the product that they name; differences test the gradients of every sample."""

    A = np.random.default_rng(3).normal(size=(2, 3, 3)) + 1j * np.random.default_rng(4).normal(size=(2, 3, 3))
    B = np.random.default_rng(5).normal(size=(2, 4, 3))

    def test_solve(self):
        np.testing.assert_allclose(array(gs.linalg.solve(self.A, self.B, left=False)) @ self.A, self.B, atol=1e-12)
        vector = self.B[0, 0]
        np.testing.assert_allclose(array(gs.linalg.solve(self.A[0], vector, left=False)) @ self.A[0], vector, atol=1e-12)

    def test_lu_solve(self):
        lu, pivots = gs.linalg.lu_factor(self.A)
        columns, adjoint = np.swapaxes(self.B, 1, 2), np.conj(np.swapaxes(self.A, 1, 2))
        found = gs.linalg.lu_solve(lu, pivots, columns, adjoint=True)
        np.testing.assert_allclose(adjoint @ array(found), columns, atol=1e-12)
        found = gs.linalg.lu_solve(lu, pivots, self.B, left=False)
        np.testing.assert_allclose(array(found) @ self.A, self.B, atol=1e-12)
        found = gs.linalg.lu_solve(lu, pivots, self.B, left=False, adjoint=True)
        np.testing.assert_allclose(array(found) @ adjoint, self.B, atol=1e-12)
