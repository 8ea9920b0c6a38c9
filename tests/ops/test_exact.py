"""Derivatives with known values, at the points where formulas go wrong: zeros, ties, singular matrices, unused branches."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.support.dispatch import ops
from tests.asked import each

from .calls import array


def forward(function, x, *directions):
    """The derivative of `function` at `x` along each direction in turn: nested forward mode."""

    def along(value, rest):
        if not rest:
            return function(value)
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(along(forward_ad.make_dual(value, gs.tensor(rest[0])), rest[1:])).tangent
            return gs.zeros(()) if tangent is None else tangent

    return array(along(gs.tensor(x), directions)).copy()


def reverse(function, x, order=1):
    """The gradient of a sum, of the sum of its elements, and so on."""
    x = gs.tensor(x, requires_grad=True)
    value = function(x).sum()
    for _ in range(order):
        (value,) = grad(value.sum(), x, create_graph=True, materialize_grads=True)
        if not value.requires_grad:
            return array(value)
    return array(value)


EYE, ONES = np.eye(2), np.ones((2, 2))


class TestDet:
    def test_second_derivative_along_the_identity(self):
        # det(X + sI + tI) = det X + (s + t) tr X + (s + t)**2, so d2/ds dt = 2; along 2I and I it is 4.
        x = np.array([[1.0, 2.0], [3.0, 4.0]])
        assert forward(gs.linalg.det, x, EYE, EYE) == pytest.approx(2)
        assert forward(gs.linalg.det, x, 2 * EYE, EYE) == pytest.approx(4)
        assert forward(gs.linalg.det, x, EYE, EYE, EYE) == pytest.approx(0)

    @pytest.mark.parametrize("x", [np.zeros((2, 2)), np.ones((2, 2)), np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 2, 0])])
    def test_singular_matrices(self, x):
        n = len(x)
        cofactors = [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)] for i in range(n)]
        np.testing.assert_allclose(reverse(gs.linalg.det, x), cofactors, atol=1e-12)
        for order in (1, 2, 3):
            directions = [np.random.default_rng(k).normal(size=(n, n)) for k in range(order)]
            # det is multilinear in the rows: sum over the choices of distinct rows that move.
            expected = 0.0
            for rows in itertools.permutations(range(n), order):
                moved = x.copy()
                for row, d in zip(rows, directions):
                    moved[row] = d[row]
                expected += np.linalg.det(moved)
            np.testing.assert_allclose(forward(gs.linalg.det, x, *directions), expected, atol=1e-11)


class TestSlogdet:
    def test_second_derivative(self):
        # d2 log det = -tr(inv(X) D inv(X) E).
        x = np.array([[2.0, 1.0], [0.5, 3.0]])
        d, e = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.3, 1.0], [0.2, 0.1]])
        inverse = np.linalg.inv(x)
        expected = -np.trace(inverse @ d @ inverse @ e)
        np.testing.assert_allclose(forward(lambda x: gs.linalg.slogdet(x)[1], x, d, e), expected, rtol=1e-12)
        assert forward(lambda x: gs.linalg.slogdet(x)[1], np.diag([2.0, 4.0]), EYE, EYE) == pytest.approx(-(1 / 4 + 1 / 16))
        assert forward(lambda x: gs.linalg.slogdet(x)[0], x, d) == 0


class TestProducts:
    @pytest.mark.parametrize("x", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [2.0, 5.0, 3.0]])
    def test_prod_with_zeros(self, x):
        x = np.array(x)
        first = [np.prod(np.delete(x, i)) for i in range(3)]
        np.testing.assert_allclose(reverse(gs.prod, x), first)
        second = [sum(np.prod(np.delete(x, [i, j])) for j in range(3) if j != i) for i in range(3)]
        np.testing.assert_allclose(reverse(gs.prod, x, 2), second)
        np.testing.assert_allclose(reverse(gs.prod, x, 3), [2.0, 2.0, 2.0])
        assert forward(gs.prod, x, *[np.ones(3)] * 3) == pytest.approx(6)

    @pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
    @pytest.mark.parametrize("x", [[1e200, 5.0, 1e-100, 1e-150], [1e200, 5.0, 1e-200, 1e-200], [1e-200, 5.0, 1e200, 1e200], [1e200, 3.0, 1e200]])
    def test_prod_from_both_ends(self, x):
        """What is before an element and what is behind it may be out of range, though the product of both is not."""
        before, behind = np.cumprod([1.0, *x[:-1]]), np.cumprod([1.0, *x[:0:-1]])[::-1]
        np.testing.assert_allclose(reverse(gs.prod, np.array(x)), before * behind)

    @pytest.mark.parametrize("x", [[2.0, 0.0, 3.0, 0.5], [0.0, 0.0, 3.0, 1.0], [2.0, 5.0, 3.0, 1.0]])
    @pytest.mark.parametrize("backwards", [False, True])
    def test_cumprod_with_zeros(self, x, backwards):
        x = np.array(x)
        prefixes = [list(range(k, 4)) if backwards else list(range(k + 1)) for k in range(4)]
        jacobian = [[np.prod(x[[j for j in p if j != i]]) if i in p else 0.0 for i in range(4)] for p in prefixes]

        def cumprod(x):
            return gs.cumprod(x, 0, reverse=backwards)

        np.testing.assert_allclose(reverse(cumprod, x), np.sum(jacobian, 0))
        for i, direction in enumerate(np.eye(4)):
            np.testing.assert_allclose(forward(cumprod, x, direction), np.array(jacobian)[:, i])
        second = [sum(np.prod(x[[k for k in p if k not in (0, 2)]]) for p in prefixes if {0, 2} <= set(p))]
        np.testing.assert_allclose(np.sum(forward(cumprod, x, np.eye(4)[0], np.eye(4)[2])), second)


class TestTies:
    @pytest.mark.parametrize("name, x", [("max", [3.0, 1.0, 3.0, 3.0]), ("min", [1.0, 1.0, 2.0, 1.0])])
    def test_extremes_share_the_gradient(self, name, x):
        x = np.array(x)
        expected = (x == getattr(np, name)(x)) / 3
        np.testing.assert_allclose(reverse(getattr(gs, name), x), expected)
        assert forward(getattr(gs, name), x, np.arange(4.0)) == pytest.approx(expected @ np.arange(4.0))

    @pytest.mark.parametrize("name", ["max", "min"])
    def test_nan_is_the_extreme(self, name):
        np.testing.assert_array_equal(reverse(getattr(gs, name), np.array([np.nan, 1.0, np.nan])), [0.5, 0, 0.5])

    @pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
    def test_two_equal_operands_share(self, name):
        a, b = gs.tensor([2.0], requires_grad=True), gs.tensor([2.0], requires_grad=True)
        assert [array(g).item() for g in grad(getattr(gs, name)(a, b), (a, b), gs.ones(1))] == [0.5, 0.5]


class TestPow:
    @pytest.mark.parametrize("b, first, second", [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 2.0), (3.0, 0.0, 0.0)])
    def test_of_zero(self, b, first, second):
        x = np.array([0.0])
        assert reverse(lambda x: x**b, x) == [first]
        assert reverse(lambda x: x**b, x, 2) == [second]
        assert forward(lambda x: x**b, x, [1.0]) == [first]
        assert forward(lambda x: x**b, x, [1.0], [1.0]) == [second]
        exponent = gs.tensor([b])
        assert reverse(lambda x: x**exponent, x, 2) == [second]

    def test_of_zero_by_the_exponent(self):
        np.testing.assert_array_equal(reverse(lambda b: 0.0**b, np.array([0.0, 1.0, 2.5])), [-np.inf, 0, 0])  # at 0 from 1 to 0
        assert reverse(lambda b: 0.0**b, np.array([-1.0])) == [-np.inf]

    def test_of_a_negative_number(self):
        assert reverse(lambda x: x**3, np.array([-2.0]), 2) == [-12.0]


class TestBothFactorsMove:
    """The limits of t**t and t * log(t), whose slopes grow as log(t)."""

    @pytest.mark.parametrize("function, limit", [
        (lambda t: t**t, -np.inf), (lambda t: gs.special.xlogy(t, t), -np.inf), (lambda t: gs.special.xlog1py(t, t - 1), -np.inf),
        (lambda t: gs.special.entr(t), np.inf), (lambda t: gs.nn.kl_div(np.log(0.5), t, "sum"), -np.inf),
    ])  # fmt: skip
    def test_both_factors_move(self, function, limit):
        with np.errstate(all="ignore"):
            assert np.sign(reverse(function, np.array(1e-3))) == np.sign(limit)
            assert reverse(function, np.array(0.0)) == limit
            assert forward(function, np.array(0.0), np.array(1.0)) == limit
            assert not np.isfinite(reverse(function, np.array(0.0), 2))

    @pytest.mark.parametrize("function", [lambda t: gs.special.xlogy(t * t, t), lambda t: gs.sqrt(t**2), lambda t: gs.sqrt(t**4)])
    def test_an_infinite_slope_times_zero(self, function):
        """Not known: the operator meets the same numbers where the derivative is 0 and where it is infinite."""
        with np.errstate(all="ignore"):
            assert np.isnan(reverse(function, np.array(0.0))) and np.isnan(forward(function, np.array(0.0), np.array(1.0)))


class TestNorms:
    @pytest.mark.parametrize("ord", [1, 1.5, 2, 3])
    def test_at_zero(self, ord):
        np.testing.assert_array_equal(reverse(lambda x: gs.linalg.vector_norm(x, ord), np.zeros(3)), np.zeros(3))
        assert forward(lambda x: gs.linalg.vector_norm(x, ord), np.zeros(3), np.ones(3)) == 0

    @pytest.mark.parametrize("name", ["std", "hypot", "absolute", "atan2"])
    def test_others_at_zero(self, name):
        function = getattr(gs, name)
        x = np.zeros(3)
        call = function if name in ("std", "absolute") else lambda x: function(x, x)
        np.testing.assert_array_equal(reverse(call, x), x)
        assert np.isnan(reverse(call, x, 2)).all() == (name != "absolute")  # of real numbers a corner, between two pieces


class TestUnusedBranch:
    @pytest.mark.parametrize("bad", [lambda x: gs.log(x), lambda x: gs.sqrt(x), lambda x: 1 / x, lambda x: x * float("nan")],
                             ids=["log", "sqrt", "reciprocal", "nan"])  # fmt: skip
    def test_where_stops_nan_in_its_own_gradient(self, bad):
        # What where itself passes on is 0; what the branch makes of 0 is the branch's own affair (0 * inf is NaN).
        x, y = gs.tensor([0.0, 2.0], requires_grad=True), gs.tensor([1.0, 1.0], requires_grad=True)
        with np.errstate(all="ignore"):
            branch = bad(x)
            (g_branch, g_y) = grad(gs.where(x > 1, branch, y * 3).sum(), (branch, y))
        np.testing.assert_array_equal(array(g_branch), [0, 1])
        np.testing.assert_array_equal(array(g_y), [3, 0])

    def test_where_passes_no_nan_tangent(self):
        with forward_ad.dual_level():
            bad = forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([np.nan, 5.0]))
            y = gs.where(np.array([False, True]), bad, np.inf)
            np.testing.assert_array_equal(array(forward_ad.unpack_dual(y).tangent), [0, 5])


class TestSpecial:
    """Against mpmath with 40 digits, derivatives too."""

    CASES = [
        ("digamma", mpmath.digamma, [0.3, 1.5, 7.0]), ("erf", mpmath.erf, [-1.2, 0.0, 0.4]),
        ("erfc", mpmath.erfc, [-1.2, 3.0, 5.0]),
        ("erfinv", mpmath.erfinv, [-0.7, 0.1, 0.9]), ("lgamma", mpmath.loggamma, [0.3, 2.5, 9.0]),
        ("log1p", lambda x: mpmath.log(1 + x), [-0.5, 1e-9, 3.0]), ("expm1", lambda x: mpmath.exp(x) - 1, [-3.0, 1e-9, 2.0]),
        ("logit", lambda x: mpmath.log(x / (1 - x)), [0.1, 0.9]),
        ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), [-30.0, 0.2, 30.0]),
        ("sinc", lambda x: mpmath.sincpi(x), [0.0, 1e-5, 0.5, 2.25]), ("cbrt", mpmath.cbrt, [0.2, 8.0]),
    ]  # fmt: skip

    @each("name, exact, points", CASES, ids=[name for name, *_ in CASES])
    def test_values_and_three_derivatives(self, name, exact, points):
        function = getattr(gs, name)
        with mpmath.workdps(40):
            for order in range(4):
                expected = [float(mpmath.diff(exact, mpmath.mpf(x), order).real) for x in points]
                x = np.array(points)
                found = array(function(gs.tensor(x))) if order == 0 else reverse(function, x, order)
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=f"reverse, order {order}")
                if order:
                    found = forward(function, x, *[np.ones_like(x)] * order)
                    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=f"forward, order {order}")

    @pytest.mark.parametrize("n", [1, 2, 4])
    def test_polygamma(self, n):
        x = np.array([0.3, 1.5, 7.0])
        expected = [[float(mpmath.polygamma(k, v)) for v in x] for k in (n, n + 1, n + 2)]
        np.testing.assert_allclose(array(gs.polygamma(n, gs.tensor(x))), expected[0], rtol=1e-12)
        np.testing.assert_allclose(reverse(lambda x: gs.polygamma(n, x), x), expected[1], rtol=1e-12)
        np.testing.assert_allclose(forward(lambda x: gs.polygamma(n, x), x, np.ones(3), np.ones(3)), expected[2], rtol=1e-12)


class TestDivideOrZero:
    def test_how_it_changes_where_the_divisor_is_zero_is_not_known(self):
        for a in (0.0, 3.0):
            assert np.isnan(reverse(lambda b, a=a: ops._divide_or_zero(a, b), np.zeros(3))).all()
            assert np.isnan(forward(lambda b, a=a: ops._divide_or_zero(a, b), np.zeros(3), np.ones(3))).all()
        assert np.isnan(reverse(lambda a: ops._divide_or_zero(a, np.zeros(3)), np.ones(3))).all()

    def test_what_does_not_move_or_is_not_asked_for_stays_zero(self):
        b = np.array([0.0, 2.0])
        assert reverse(lambda a: ops._divide_or_zero(a, b)[1], np.ones(2)).tolist() == [0, 0.5]
        assert array(forward(lambda a: ops._divide_or_zero(a, b), np.ones(2), np.array([0.0, 1.0]))).tolist() == [0, 0.5]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64])
    def test_values_and_dtypes(self, dtype):
        b = np.array([0, 2, 4], dtype)
        wanted = [0, 0.5, 0.25]
        got = array(ops._divide_or_zero(1, b))
        assert got.tolist() == wanted and got.dtype == np.divide(1, np.ones(3, dtype)).dtype
        assert array(ops._divide_or_zero(np.ones((2, 1)), b)).tolist() == [wanted, wanted]


class TestDropout:
    def test_same_generator_same_mask_and_its_gradient(self):
        x = gs.tensor(np.arange(1.0, 1001.0), requires_grad=True)
        y, again = (gs.nn.dropout(x, 0.25, generator=np.random.default_rng(7)) for _ in range(2))
        assert array(y).tolist() == array(again).tolist()
        kept = array(y) != 0
        np.testing.assert_allclose(array(y)[kept], array(x)[kept] / 0.75)
        assert 0.2 < 1 - kept.mean() < 0.3
        y.sum().backward()
        np.testing.assert_allclose(array(x.grad), kept / 0.75)

    def test_all_nothing_and_not_training(self):
        x = gs.tensor([1.0, np.inf], requires_grad=True)
        assert array(gs.nn.dropout(gs.tensor([1.0, 2.0]), 1.0)).tolist() == [0, 0]
        assert array(gs.nn.dropout(x, 0.0)).tolist() == array(gs.nn.dropout(x, 0.9, False)).tolist() == [1, np.inf]

    def test_what_is_refused(self):
        with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 1.5"):
            gs.nn.dropout(gs.ones(3), 1.5)
        with pytest.raises(TypeError, match=r"dropout: argument 'generator' must be a numpy.random.Generator, .* got str"):
            gs.nn.dropout(gs.ones(3), generator="1")

    def test_only_what_is_visible_is_returned(self):
        y = gs.nn.dropout(gs.ones(3, requires_grad=True))
        assert isinstance(y, gs.Tensor) and y.shape == (3,)


class TestSolveTriangular:
    def test_lower_and_upper_say_the_same(self):
        a, b = np.array([[2.0, 5.0], [3.0, 4.0]]), np.array([[2.0], [11.0]])
        below, above = array(gs.linalg.solve_triangular(a, b, lower=True)), array(gs.linalg.solve_triangular(a, b))
        np.testing.assert_allclose(below, [[1.0], [2.0]])
        np.testing.assert_allclose(above, [[-5.875], [2.75]])
        for keywords, wanted in (({"upper": False}, below), ({"upper": True}, above), ({"lower": True, "upper": False}, below)):
            np.testing.assert_allclose(array(gs.linalg.solve_triangular(a, b, **keywords)), wanted)

    @pytest.mark.parametrize("both", [True, False])
    def test_a_contradiction_is_refused(self, both):
        with pytest.raises(ValueError, match=f"lower={both} and upper={both} contradict each other"):
            gs.linalg.solve_triangular(np.eye(2), np.ones((2, 1)), lower=both, upper=both)


@pytest.mark.parametrize("subscripts", ["->", "...->...", ""])
def test_einsum_of_single_numbers(subscripts):
    x = gs.tensor(3.0, requires_grad=True)
    gs.einsum(subscripts, x).backward()
    assert x.grad.shape == () and x.grad.item() == 1.0


@pytest.mark.parametrize("axes", [np.int64(1), np.array([[1], [0]]), (np.int64(1), [np.int64(0)]), [gs.tensor([1]), [0]]])
def test_tensordot_takes_axes_of_numpy(axes):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    x, y = gs.tensor(a, requires_grad=True), gs.tensor(b, requires_grad=True)
    gs.tensordot(x, y, axes).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones((2, 4)) @ b.T)
    np.testing.assert_array_equal(y.grad.numpy(), a.T @ np.ones((2, 4)))


@pytest.mark.parametrize("axes", [0, 1, 2, ((), ()), ((1, 2), (1, 0)), ((-1, 0), (0, -1)), ([2], [-3]), (1, 1)])
@pytest.mark.parametrize("shape", [(2, 3, 4), (4, 3, 4), (0, 3, 4)])
def test_tensordot_is_numpys(axes, shape):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=(4, 3, shape[0]))
    if axes == 2:
        b = rng.normal(size=(3, 4, 2))
    np.testing.assert_allclose(gs.tensordot(gs.tensor(a), gs.tensor(b), axes).numpy(), np.tensordot(a, b, axes), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("axes", [-1, 4, 10**12, ((0,), (1,)), ((0, 1), (2,)), ((0, 0), (2, 2)), ((2, 2), (0, 0)), (2, 2), ((0, 2), (1, 0))])
def test_tensordot_refuses_axes_that_do_not_pair(axes):
    """Also where the products of the lengths are equal: 2 * 6 and 4 * 3."""
    a, b = gs.tensor(np.ones((2, 3, 4))), gs.tensor(np.ones((4, 3, 2)))
    with pytest.raises(ValueError, match="^tensordot: cannot (pair|sum)"):
        gs.tensordot(a, b, axes)
    with pytest.raises(ValueError, match="cannot pair axes"):
        gs.tensordot(gs.tensor(np.ones((2, 6))), gs.tensor(np.ones((4, 3))), ((0, 1), (0, 1)))
    for beyond in (((3,), (0,)), ((0,), (-4,))):
        with pytest.raises(IndexError, match="out of range"):
            gs.tensordot(a, b, beyond)


def test_tensordot_of_more_axes_than_letters():
    a, b = gs.tensor(np.full((1,) * 29 + (2,), 3.0), requires_grad=True), gs.tensor(np.arange(2.0).reshape((2,) + (1,) * 29))
    y = gs.tensordot(a, b, 1)
    y.sum().backward()
    assert y.shape == (1,) * 58 and y.item() == 3.0 and a.grad.numpy().ravel().tolist() == [0.0, 1.0]
    rows = gs.vmap(lambda x: gs.tensordot(x, b, 1))(gs.stack([a, 2 * a]))
    assert rows.shape == (2,) + (1,) * 58 and rows.detach().numpy().ravel().tolist() == [3.0, 6.0]


def test_cofactors_of_two_rows_are_elements():
    """Where a cofactor is 1e200 times smaller than another it is not lost."""
    values = np.array([[1e-200, 1e200], [3.0, 2.0]])
    x = gs.tensor(values, requires_grad=True)
    (slope,) = grad(gs.linalg.det(x), x, create_graph=True)
    assert slope.tolist() == [[2.0, -3.0], [-1e200, 1e-200]]
    assert grad(slope[0, 0], x)[0].tolist() == [[0, 0], [0, 1]]
