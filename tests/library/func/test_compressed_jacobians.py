"""Sparse Jacobians and Hessians from few products: exact values, differences, SciPy's own, and when a plan does not hold."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.func import sparse_hessian, sparse_jacobian, sparse_plan
from tests.later import later

optimize = later("scipy.optimize", "SciPy is not installed")
sparse = later("scipy.sparse", "SciPy is not installed")
X = np.array([0.3, -0.7, 1.1, 0.4, -0.2])


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def reaction_diffusion(u, shape=(2, 50, 100)):
    """Gray and Scott's model on a torus."""
    a, b = gs.reshape(u, shape)

    def laplacian(z):
        return gs.roll(z, 1, 0) + gs.roll(z, -1, 0) + gs.roll(z, 1, 1) + gs.roll(z, -1, 1) - 4 * z

    reaction = a * b * b
    return gs.reshape(gs.stack([0.16 * laplacian(a) - reaction + 0.06 * (1 - a), 0.08 * laplacian(b) + reaction - 0.12 * b]), (-1,))


def test_a_hessian_is_scipys():
    random = np.random.default_rng(0)
    hessian = sparse_hessian(rosenbrock)
    for _ in range(3):
        x = random.normal(size=30)
        found = hessian(x)
        assert isinstance(found, sparse.csr_array) and np.allclose(found.toarray(), optimize.rosen_hess(x))
    assert sparse_plan(rosenbrock, np.ones(30), hessian=True).products <= 3


def test_a_jacobian_is_that_of_differences():
    random = np.random.default_rng(1)
    shape = (2, 4, 5)
    u = random.random(40)
    found = sparse_jacobian(lambda u: reaction_diffusion(u, shape))(u).toarray()
    step = 1e-6
    values = [(reaction_diffusion(u + step * e, shape) - reaction_diffusion(u - step * e, shape)).numpy() / (2 * step) for e in np.eye(40)]
    assert np.allclose(found, np.stack(values, axis=1), atol=1e-8)


def test_ten_thousand_unknowns_take_less_than_twenty_products_and_one_call():
    calls = []

    def f(u):
        calls.append(u)
        return reaction_diffusion(u)

    u = np.random.default_rng(2).random(10_000)
    plan = sparse_plan(f, u)
    assert plan.products < 20 and plan.pattern.nnz == 60_000
    calls.clear()
    found = plan(u)
    assert len(calls) == 1
    v = np.random.default_rng(3).random(10_000)
    step = 1e-6
    wanted = (reaction_diffusion(u + step * v) - reaction_diffusion(u - step * v)).numpy() / (2 * step)
    assert np.allclose(found @ v, wanted, atol=1e-7)


def test_dense_rows_and_columns_go_from_both_sides():
    def f(x):
        return gs.concat([gs.reshape((x**2).sum(), (1,)), x[1:] * x[0] ** 2])

    x = np.arange(1.0, 101.0)
    plan = sparse_plan(f, x)
    wanted = np.diag(np.append(0, np.ones(99)))
    wanted[0], wanted[1:, 0] = 2 * x, 2 * x[1:] * x[0]
    assert plan.products == 3 and np.allclose(plan(x).toarray(), wanted)
    turned = sparse_plan(lambda x: gs.reshape((x**3).sum(), (1,)), x)
    assert turned.products == 1 and np.allclose(turned(x).toarray(), 3 * x**2)


def test_nests_single_precision_and_keywords():
    jacobian = sparse_jacobian(lambda p, k, *, shift: {"y": p["a"] * k + shift, "z": p["b"] ** 2}, 0)
    p = {"a": np.ones(2, np.float32), "b": np.array([3.0], np.float32)}
    found = jacobian(p, 2.0, shift=1)
    assert np.array_equal(found.toarray(), [[2, 0, 0], [0, 2, 0], [0, 0, 6]]) and found.dtype == np.float32
    both = sparse_jacobian(lambda x, y: x * y, (0, 1))(np.array([2.0, 3.0]), np.array([5.0, 7.0]))
    assert np.array_equal(both.toarray(), [[5, 0, 2, 0], [0, 7, 0, 3]])
    assert sparse_jacobian(lambda x: x[:0])(X).shape == (0, 5)
    assert sparse_jacobian(lambda x: gs.ones(3) + 0 * x[0])(X).shape == (3, 5)
    assert sparse_hessian(lambda x: x.sum())(X).nnz == 0


def test_a_plan_is_kept_for_each_kind_of_arguments():
    calls = []

    def f(x, k=1):
        calls.append(x)
        return x[k:] * 2.0

    jacobian = sparse_jacobian(f)
    first, second = jacobian(X), jacobian(X + 1)
    count = len(calls)
    jacobian(X + 2)
    assert len(calls) == count + 1 and np.array_equal(first.toarray(), second.toarray())
    first.data[:] = 0
    first.indices[:] = 0
    assert np.array_equal(jacobian(X).toarray(), 2 * np.eye(4, 5, 1))  # nobody else writes to the plan
    assert np.array_equal(jacobian(X, 2).toarray(), 2 * np.eye(3, 5, 2))
    assert jacobian(X[:3]).shape == (2, 3)
    assert repr(sparse_plan(f, X)) == "<SparsePlan of a Jacobian: (4, 5), 4 elements, 1 products>"


def test_a_plan_that_does_not_hold_is_told():
    def f(x):
        return gs.where(x > 0, x, gs.flip(x, 0))

    positive, mixed = np.arange(1.0, 6.0), X
    everywhere = sparse_plan(f, positive)
    everywhere.check(mixed)
    here = sparse_plan(f, positive, local=True)
    assert here.pattern.nnz == 5
    here.check(positive)
    with pytest.raises(ValueError, match="row 1 of the Jacobian.*new plan"):
        here.check(mixed)
    always = sparse_jacobian(f, local=True, check="always")
    always(positive)
    assert np.array_equal(always(mixed).toarray(), gs.jacobian(f)(mixed))  # the plan is made anew
    curved = sparse_plan(lambda x: (f(x)[1:] * f(x)[:-1]).sum(), positive, hessian=True, local=True)
    with pytest.raises(ValueError, match="Hessian"):
        curved.check(mixed)


def test_a_derivative_that_the_pattern_does_not_know_is_told_at_first_use():
    hidden = {"index": 0}

    def f(x):  # depends on what it holds, which changes
        return x * x[hidden["index"]]

    plan = sparse_plan(f, X)
    hidden["index"] = 2
    with pytest.raises(ValueError, match="does not hold"):
        plan.check(X)


def test_an_argument_that_nothing_hangs_on_keeps_the_precision():
    x, y = X.astype(np.float32), np.ones(3, np.float32)
    for f in (lambda x, y: x[1:] * x[:-1], lambda x, y: (x * x).sum()[None], lambda x, y: gs.stack([y.sum(), x[0]])):
        found = sparse_jacobian(f, argnums=(0, 1))(x, y)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.toarray(), np.concatenate(gs.jacrev(f, (0, 1))(x, y), 1), rtol=1e-6)


def test_a_given_pattern():
    f = lambda x: x[1:] * x[:-1]  # noqa: E731
    plan = sparse_plan(f, X, pattern=np.eye(4, 5) + np.eye(4, 5, 1))
    assert plan.products == 2
    plan.check(X)
    with pytest.raises(ValueError, match="does not hold"):
        sparse_plan(f, X, pattern=np.eye(4, 5)).check(X)
    with pytest.raises(ValueError, match="symmetric"):
        sparse_plan(rosenbrock, X, hessian=True, pattern=np.eye(5, k=1))
    with pytest.raises(ValueError, match="5 variables"):
        sparse_plan(f, X, pattern=np.eye(4))
    with pytest.raises(ValueError, match="made for a matrix"):
        sparse_plan(f, X)(X[:3])


def test_functions_without_forward_mode():
    class Cubed(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * grad

    found = sparse_jacobian(lambda x: Cubed.apply(x)[1:])(X)
    assert np.allclose(found.toarray(), np.diag(3 * X**2)[1:])


def test_what_is_being_differentiated_is_refused():
    jacobian = sparse_jacobian(lambda x: x**2)
    with pytest.raises(TypeError, match="being differentiated.*detach"):
        gs.grad(lambda x: gs.asarray(jacobian(x).sum()) * x[0])(X)
    with pytest.raises(TypeError, match="being differentiated"):
        jacobian(gs.asarray(X, requires_grad=True))
    assert jacobian(gs.asarray(X)).nnz == 5
    with pytest.raises(ValueError, match="check must be"):
        sparse_jacobian(lambda x: x, check="sometimes")


def test_nothing_is_left_behind():
    weights = gs.asarray(np.ones(5), requires_grad=True)
    with pytest.raises(TypeError, match="closes over a tensor that is being differentiated"):
        sparse_jacobian(lambda x: x * weights)(X)
    with gs.no_grad():
        sparse_jacobian(lambda x: x * weights)(X)
        sparse_hessian(lambda x: (x**3 * weights).sum())(X)
        assert weights.grad is None
        assert np.allclose(sparse_hessian(lambda x: (x**3).sum())(X).diagonal(), 6 * X)


def test_a_hessian_by_substitution():
    def coupled(x):
        u = x.reshape(6, 5)
        return gs.sin(u[1:, 1:] * u[:-1, :-1]).sum() + (u[1:, :-1] ** 2 * u[:-1, 1:]).sum() + (u[1:] * u[:-1] ** 3).sum() + gs.exp(u[:, 1:] * u[:, :-1]).sum()

    x = np.random.default_rng(3).normal(size=30)
    plan, usual = (sparse_plan(coupled, x, hessian=True, substitution=way) for way in (True, False))
    assert plan.products < usual.products and plan.substitution and not usual.substitution
    np.testing.assert_allclose(plan(x).toarray(), gs.hessian(coupled)(x).numpy(), rtol=0, atol=1e-12)
    found = sparse_hessian(coupled, substitution=True, check="always")
    np.testing.assert_allclose(found(x + 1).toarray(), gs.hessian(coupled)(x + 1).numpy(), rtol=0, atol=1e-10)
    single = sparse_hessian(coupled, substitution=True)(x.astype(np.float32))
    assert single.dtype == np.float32
    with pytest.raises(ValueError, match="substitution needs a symmetric matrix"):
        sparse_plan(lambda x: x * x, x, substitution=True)


def test_a_constant_has_a_matrix_without_elements():
    for check in ("always", "first", "never"):
        found = sparse_jacobian(lambda x: gs.ones(2), check=check)(X)
        assert found.shape == (2, 5) and found.nnz == 0
