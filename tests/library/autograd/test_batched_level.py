"""Many tangents at once: one run of a function whose tangents are the rows of a leading axis."""

import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, forward_ad, functional, grad, gradcheck
from gradspec.autograd.flat_derivatives import push
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.methods.dual_level import batched_level
from gradspec.support.errors import NotBatched

RNG = np.random.default_rng(0)
A, ROWS = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 2, 3))


def looped(function, x, rows):
    """The tangents of the only output, each by a run of its own."""
    return np.stack([push(lambda xs: [function(*xs)], [x], [row])[1][0].detach().numpy() for row in rows])


def together(function, x, rows):
    return push(lambda xs: [function(*xs)], [x], [rows], len(rows))[1][0]


def same(function, x=A, rows=ROWS):
    x, rows = gs.asarray(x), gs.asarray(rows)
    found = together(function, x, rows)
    np.testing.assert_allclose(found.detach().numpy(), looped(function, x, rows), rtol=1e-12, atol=1e-14)
    return found


# Runs.


@pytest.mark.parametrize("strategy", ["jacfwd", "vectorize", "one by one", "hessian"])
def test_one_run_of_the_function(strategy):
    calls = []

    def counted(x):
        calls.append(None)
        return (x**3).sum(axis=0)

    if strategy == "jacfwd":
        found = gs.func.jacfwd(counted)(A)
    elif strategy == "hessian":
        found = functional.hessian(lambda x: counted(x).sum(), A, outer_jacobian_strategy="forward-mode")
    else:
        found = functional.jacobian(counted, A, strategy="forward-mode", vectorize=strategy == "vectorize")
    assert len(calls) == 1
    expected = np.zeros((3, 2, 3))
    for i in range(3):
        expected[i, :, i] = 3 * A[:, i] ** 2
    if strategy == "hessian":
        np.testing.assert_allclose(found.numpy().reshape(6, 6), np.diag(6 * A.ravel()))
    else:
        np.testing.assert_allclose(found.numpy(), expected)


def test_as_many_at_a_time_as_the_cache_holds(monkeypatch):
    monkeypatch.setattr("gradspec.autograd.flat_derivatives.IN_CACHE", 4)
    calls = []

    def counted(a, b):
        calls.append(None)
        return a * 2, b * a[:1]

    a, b = np.arange(2.0), np.arange(3.0)
    for vectorize, expected in ((False, 5), (True, 1)):
        calls.clear()
        (aa, ab), (ba, bb) = functional.jacobian(counted, (a, b), strategy="forward-mode", vectorize=vectorize)
        assert len(calls) == expected
        np.testing.assert_array_equal(aa.numpy(), 2 * np.eye(2))
        np.testing.assert_array_equal(ab.numpy(), np.zeros((2, 3)))
        np.testing.assert_array_equal(ba.numpy(), np.stack([b, np.zeros(3)], axis=1))
        np.testing.assert_array_equal(bb.numpy(), a[0] * np.eye(3))


def test_a_function_that_looks_at_tangents_runs_for_one_after_the_other():
    seen = []

    def looks(x):
        seen.append(unpack_dual(x).tangent.shape)
        return x * 2

    found = functional.jacobian(looks, A[0], strategy="forward-mode")
    np.testing.assert_array_equal(found.numpy(), 2 * np.eye(3))
    assert seen == [(3,)] * 3

    def makes(x):
        return x * unpack_dual(make_dual(x, gs.ones((3,)))).primal

    np.testing.assert_allclose(functional.jacobian(makes, A[0], strategy="forward-mode").numpy(), np.diag(A[0]))


def test_a_level_of_its_own_inside():
    def inner(x):
        with dual_level():
            return unpack_dual((make_dual(x, x * x) ** 3).sum(axis=0)).tangent

    same(inner)  # sum 3 x**4


def test_a_batched_level_is_not_for_users():
    with batched_level(2) as level:
        x = level.push(gs.ones((3,)), gs.ones((2, 3)))
        for look in (lambda: unpack_dual(x), lambda: make_dual(x, x), lambda: unpack_dual(x, level=0)):
            with pytest.raises(NotBatched):
                look()
        with dual_level():
            assert unpack_dual(x).tangent is None
            with pytest.raises(NotBatched):
                unpack_dual(x, level=0)
        assert level.pushed(x * 3).tangent.tolist() == [[3.0] * 3] * 2
    with dual_level():  # nothing of it is left
        assert unpack_dual(make_dual(gs.ones((3,)), gs.ones((3,))) * 2).tangent.tolist() == [2.0] * 3
    assert x._version == 0


def test_an_ordinary_level_around_and_inside_of_a_batched_one():
    with dual_level():
        x = make_dual(gs.asarray(A), gs.asarray(ROWS[0]))
        found = together(lambda x: gs.sin(x) * x.sum(), x, gs.asarray(ROWS))
        first, second = unpack_dual(found)
        one = [push(lambda xs: [gs.sin(xs[0]) * xs[0].sum()], [x], [gs.asarray(row)])[1][0] for row in ROWS]
        for parts, expected in ((first, [unpack_dual(v).primal for v in one]), (second, [unpack_dual(v).tangent for v in one])):
            np.testing.assert_allclose(parts.numpy(), np.stack([v.numpy() for v in expected]))


def test_batched_levels_nest():
    """A Hessian as columns of columns, in batches of different lengths."""
    x = gs.asarray(A)
    weights = RNG.normal(size=(3,))

    def f(x):
        return (gs.exp(x) * x[:, :1] * weights).sum(axis=1).prod()

    inner = gs.asarray(ROWS[:2])
    found = together(lambda x: together(f, x, inner), x, gs.asarray(ROWS))
    assert found.shape == (4, 2)
    hessian = functional.hessian(f, A, outer_jacobian_strategy="reverse-mode").numpy().reshape(6, 6)
    np.testing.assert_allclose(found.numpy(), ROWS.reshape(4, 6) @ hessian @ ROWS[:2].reshape(2, 6).T)
    twice = gs.func.jacfwd(gs.func.jacfwd(f))(A)
    np.testing.assert_allclose(twice.numpy().reshape(6, 6), hessian)


@pytest.mark.parametrize("matrix", [gs.func.jacrev, gs.func.jacfwd])
@pytest.mark.parametrize("inner", [gs.func.jacrev, gs.func.jacfwd, gs.func.hessian])
def test_matrices_of_matrices(matrix, inner):
    def f(x):
        return (x[0] * gs.sin(x[1]) * x).sum()

    found = matrix(inner(f))(A)
    expected = gs.func.jacrev(gs.func.jacrev(f) if inner is not gs.func.hessian else gs.func.jacrev(gs.func.jacrev(f)))(A)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-14)


def test_results_are_differentiable_by_what_the_function_closes_over():
    w = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = functional.jacobian(lambda x: (x * w).sum(axis=1) ** 2, A, create_graph=True, strategy="forward-mode")
    (by_w,) = grad((found * found).sum(), w)
    rows = functional.jacobian(lambda x: (x * w).sum(axis=1) ** 2, A, create_graph=True, strategy="reverse-mode")
    np.testing.assert_allclose(by_w.numpy(), grad((rows * rows).sum(), w)[0].numpy())


# Programs.


def test_views_and_writes():
    def f(x):
        y = x * 2
        row, column = y[0], y.T[1]
        row.mul_(x[1])
        column.add_(1.0)
        y[1, ::2] = gs.sin(y[0, ::2])
        y.T[0] = x[:, 2]
        z = gs.zeros((3, 2))
        z[:] = y.T
        z[0, 0] = 7.0
        return z.reshape((-1,)) * row.sum()

    same(f)


def test_writes_over_inputs_of_all_kinds():
    def f(x):
        y = gs.zeros((2, 3))
        y += x  # had no tangent
        y.copy_(gs.exp(x))
        y.index_add_(1, [0, 0], x[:, 1:])
        y.masked_fill_(np.array([[True, False, False], [False, False, True]]), 0.0)
        y.T.mul_(2)
        return y

    same(f)


def test_casts_broadcasts_and_complex_numbers():
    same(lambda x: gs.exp(1j * x) * x[:1])
    same(lambda x: gs.real(gs.fft.fft(x)) + gs.abs(x + 2j * x[:, :1]))
    found = together(lambda x: x.astype(np.float32) * 2, gs.asarray(A), gs.asarray(ROWS))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.numpy(), 2 * ROWS, rtol=1e-6)


def test_lists_of_which_some_have_no_tangent():
    same(lambda x: gs.stack([x[0], gs.ones((3,)), x[1] * x[0]], axis=1))
    same(lambda x: gs.concat([gs.ones((1, 3)), x, x * x], axis=0))
    same(lambda x: gs.einsum("ij,kj->ik", x, x) @ x)
    first, second = np.ones(3), A[0]
    (block, other), (by, last) = functional.jacobian(lambda a, b: (gs.split(a, [1])[1], gs.stack([a, b])), (first, second), strategy="forward-mode")
    np.testing.assert_array_equal(block.numpy(), np.eye(3)[1:])
    np.testing.assert_array_equal(other.numpy(), np.zeros((2, 3)))
    np.testing.assert_array_equal(last.numpy()[1], np.eye(3))
    np.testing.assert_array_equal(by.numpy()[0], np.eye(3))


def test_no_grad_and_detach_are_as_in_any_level():
    def f(x):
        with gs.no_grad():
            y = x * 3
        return y + x.detach() * x

    same(f)


def test_gradients_inside():
    def f(x):
        y = x.detach().requires_grad_() if not x.requires_grad else x
        return grad((gs.sin(x * 1.0) * y).sum(), y, create_graph=True)[0]

    same(f, x=gs.tensor(A, requires_grad=True).detach().numpy())


# Custom Functions.


class Product(Function):
    """a * b, and the sum of a; b may be a number."""

    seen = []

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_forward(a, b)
        return a * b, a.sum()

    @staticmethod
    def jvp(ctx, a_t, b_t):
        a, b = ctx.saved_tensors
        Product.seen.append((a_t.shape, b_t.shape))
        return a_t * b + a * b_t, a_t.sum()


class Doubled(Function):
    """In place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def jvp(ctx, x_t):
        x_t.mul_(2)
        return x_t


class Viewed(Function):
    @staticmethod
    def forward(ctx, x):
        return x[0]

    @staticmethod
    def jvp(ctx, x_t):
        return x_t[0]


def test_a_custom_function_gets_its_tangents_one_by_one():
    Product.seen.clear()
    found = together(lambda x: Product.apply(x, x * 2)[0], gs.asarray(A), gs.asarray(ROWS))
    assert Product.seen == [((2, 3), (2, 3))] * 4
    np.testing.assert_allclose(found.numpy(), 4 * A * ROWS)
    same(lambda x: gs.add(*Product.apply(x, gs.ones((2, 3)))))


def test_a_custom_function_that_writes_to_its_input():
    def f(x):
        y = x * x
        z = Doubled.apply(y)
        return y + z

    same(f)


def test_a_custom_function_that_writes_to_what_has_no_tangent_yet():
    def f(x):
        y = gs.ones((2, 3))
        z = Doubled.apply(y)
        return z * x

    same(f)


def test_a_custom_function_that_returns_a_view():
    def f(x):
        y = x * 3
        row = Viewed.apply(y)
        return row * y

    same(f)


def test_a_wrong_tangent_of_a_custom_function_is_refused_in_batches_too():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.sum()

    with pytest.raises(RuntimeError, match="jvp returned a tangent of shape"):
        together(Wrong.apply, gs.asarray(A), gs.asarray(ROWS))

    class Stale(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2

    with pytest.raises(RuntimeError, match="is not modifying the forward mode gradients inplace"):
        together(lambda x: Stale.apply(x * 1), gs.asarray(A), gs.asarray(ROWS))


# gradcheck.


def test_gradcheck_in_batches():
    x = gs.tensor(A, requires_grad=True)
    options = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_forward_grad": True}
    assert gradcheck(lambda x: (gs.sin(x), x.sum()), x, **options)

    class OfRows(Function):
        """Right for a tangent of its own, wrong for a row of a batch, which is a view."""

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 1.5 if x_t._base is not None else x_t

    with pytest.raises(gs.autograd.GradcheckError, match="Batched forward gradient mismatch for output 0 with respect to input 0"):
        gradcheck(OfRows.apply, x, **options)


def test_gradcheck_of_a_function_that_looks_at_tangents():
    def looks(x):
        tangent = unpack_dual(x).tangent
        assert tangent is None or tangent.shape == (2, 3)
        return x * 2

    x = gs.tensor(A, requires_grad=True)
    assert gradcheck(looks, x, check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=True)


def test_threads_have_levels_of_their_own():
    found, errors = {}, []

    def work(i):
        try:
            for _ in range(50):
                found[i] = together(lambda x: gs.sin(x) * x.sum(), gs.asarray(A + i), gs.asarray(ROWS)).numpy()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for i in range(4):
        np.testing.assert_allclose(found[i], looped(lambda x: gs.sin(x) * x.sum(), gs.asarray(A + i), gs.asarray(ROWS)))


def test_a_function_that_fails_leaves_no_level_open():
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            functional.jacobian(lambda x: 1 / 0, A, strategy="forward-mode")
        with pytest.raises(RuntimeError, match="no level exists"):
            forward_ad.make_dual(gs.ones((1,)), gs.ones((1,)))


def test_axes_of_numbers_are_not_those_of_the_batch():
    x, rows = gs.asarray(2.0), gs.asarray([1.0, 2.0, 3.0])
    for axis in (0, -1, None):  # a number is a row of one element
        def number(x, axis=axis):
            return gs.cumsum(x * x, axis)

        np.testing.assert_array_equal(together(number, x, rows).numpy(), looped(number, x, rows))
        leaf = gs.tensor(2.0, requires_grad=True)
        (found,) = grad(number(leaf), leaf, rows.reshape((3, 1)), is_grads_batched=True)
        np.testing.assert_array_equal(found.numpy(), 4 * rows.numpy())

        def total(x, axis=axis):
            return gs.sum(x * x, axis)

        np.testing.assert_array_equal(together(total, x, rows).numpy(), looped(total, x, rows))
    with pytest.raises(IndexError, match="out of bounds"):
        together(lambda x: gs.sum(x * x, 1), x, rows)
