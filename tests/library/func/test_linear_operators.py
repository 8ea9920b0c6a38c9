"""Jacobians, Hessians, Gauss-Newton and Fisher matrices as linear operators, by SciPy's solvers."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from gradspec.func import fisher_operator, gauss_newton_operator, hessian_operator, jacobian_operator
from gradspec.utils.checkpoint import checkpoint
from tests.later import later

linalg = later("scipy.sparse.linalg", "SciPy is not installed")
RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(7, 5))
X = RANDOM.normal(size=5)
SLOPE = 1 - np.tanh(A @ X) ** 2
J = SLOPE[:, None] * A  # of tanh(A x)


def f(x):
    return gs.tanh(A @ x)


def agrees(operator, matrix):
    height, width = matrix.shape
    right, left = RANDOM.normal(size=(width, 3)), RANDOM.normal(size=(height, 3))
    assert operator.shape == matrix.shape and operator.dtype == np.float64
    assert np.allclose(operator.matvec(right[:, 0]), matrix @ right[:, 0]) and np.allclose(operator @ right, matrix @ right)
    assert np.allclose(operator.rmatvec(left[:, 0]), matrix.T @ left[:, 0]) and np.allclose(operator.T @ left, matrix.T @ left)
    assert np.allclose(operator @ right[:, :1], matrix @ right[:, :1])


def test_jacobian():
    agrees(jacobian_operator(f, X), J)
    values = linalg.svds(jacobian_operator(f, X), k=2, return_singular_vectors=False)
    assert np.allclose(np.sort(values), np.linalg.svd(J)[1][1::-1])
    square = jacobian_operator(lambda x: x**3 + x[::-1], X)
    found, failed = linalg.gmres(square, np.ones(5), rtol=1e-12)
    assert not failed and np.allclose((np.diag(3 * X**2) + np.eye(5)[::-1]) @ found, 1)


def test_jacobian_of_nests():
    operator = jacobian_operator(lambda p, k: {"y": p["a"] * k, "z": p["b"]}, {"a": np.ones(2), "b": 1.0}, 3.0)
    agrees(operator, np.diag([3.0, 3.0, 1.0]))
    agrees(jacobian_operator(lambda x, y: x * y, 2.0, 3.0, argnums=(0, 1)), np.array([[3.0, 2.0]]))
    agrees(jacobian_operator(lambda x: gs.ones(2), X), np.zeros((2, 5)))


def test_hessian():
    wanted = A.T @ np.diag(-2 * np.tanh(A @ X) * SLOPE) @ A + np.diag(12 * X**2)
    operator = hessian_operator(lambda x: f(x).sum() + (x**4).sum(), X)
    agrees(operator, wanted)
    assert np.allclose(np.sort(linalg.eigsh(operator, k=2, return_eigenvectors=False)),
                       np.sort(sorted(np.linalg.eigvalsh(wanted), key=abs)[-2:]))  # fmt: skip
    agrees(hessian_operator(lambda x: x.sum(), X), np.zeros((5, 5)))


def test_gauss_newton():
    agrees(gauss_newton_operator(f, X), J.T @ J)
    found, failed = linalg.cg(gauss_newton_operator(f, X), np.ones(5), rtol=1e-12)
    assert not failed and np.allclose(J.T @ J @ found, 1)
    agrees(gauss_newton_operator(f, X, loss=lambda y: (y**4).sum()), J.T @ np.diag(12 * np.tanh(A @ X) ** 2) @ J)
    nested = gauss_newton_operator(lambda x: {"y": f(x)}, X, loss=lambda nest: (nest["y"] ** 2).sum() / 2)
    agrees(nested, J.T @ J)


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_fisher():
    z = A @ X
    p, q = softmax(z), 1 / (1 + np.exp(-z))
    wanted = {"gaussian": np.eye(7), "bernoulli": np.diag(q * (1 - q)), "poisson": np.diag(np.exp(z)),
              "categorical": np.diag(p) - np.outer(p, p)}  # fmt: skip
    for family, of in wanted.items():
        agrees(fisher_operator(lambda x: A @ x, X, family=family), A.T @ of @ A)
    with pytest.raises(ValueError, match="family must be"):
        fisher_operator(f, X, family="cauchy")


def test_fisher_is_the_mean_of_squared_scores():
    """Over all labels, by their probabilities: its definition."""
    logits = RANDOM.normal(size=(3, 4))
    w = gs.asarray(logits)
    p = softmax(logits)
    wanted = np.zeros((12, 12))
    for i in range(3):
        for label in range(4):
            score = np.zeros((3, 4))
            score[i] = np.eye(4)[label] - p[i]
            wanted += p[i, label] * np.outer(score, score)
    agrees(fisher_operator(lambda w: w, w, family="categorical"), wanted)


def test_a_function_is_called_once_for_all_vectors():
    calls = []

    def g(x):
        calls.append(x)
        return f(x)

    operator = jacobian_operator(g, X)
    for _ in range(3):
        operator.matvec(X)
        operator.rmatvec(np.ones(7))
    assert len(calls) == 1


def test_refusals():
    with pytest.raises(TypeError, match="being differentiated"):
        jacobian_operator(f, gs.asarray(X, requires_grad=True))
    with pytest.raises(TypeError, match="complex"):
        jacobian_operator(lambda x: x * 1j, X)
    with pytest.raises(RuntimeError, match="single element"):
        hessian_operator(f, X)


def test_products_where_nothing_is_recorded():
    """Of functions that ask for derivatives themselves, and compute again in their backward."""
    def g(x):
        return checkpoint(gs.tanh, A @ x, use_reentrant=False) * gs.grad(lambda y: (y**3).sum())(x).sum()

    matrix = gs.jacrev(g)(X).numpy()
    operator = jacobian_operator(g, X)
    with gs.no_grad(), forward_ad._set_fwd_grad_enabled(False):
        agrees(operator, matrix)
        agrees(hessian_operator(lambda x: (x**4).sum(), X), np.diag(12 * X**2))


def test_what_the_function_writes_to_keeps_its_value_alone():
    kept = gs.zeros(7)

    def g(x):
        kept.copy_(A @ x)
        return gs.tanh(A @ x)

    operator = jacobian_operator(g, X)
    assert type(kept.grad_fn).__name__ == "CutHistory" and np.allclose(kept, A @ X)
    agrees(operator, J)
    agrees(jacobian_operator(g, X), J)
