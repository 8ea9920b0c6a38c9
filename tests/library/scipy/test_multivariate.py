"""Distributions of vectors and matrices: values are SciPy's, derivatives those of differences, to second order."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from gradspec.scipy import stats
from tests.asked import each
from tests.later import later

scipy_stats = later("scipy.stats")

A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 0.9]])
B = np.array([[1.1, 0.2, 0.0], [0.2, 2.0, 0.3], [0.0, 0.3, 1.4]])
X = np.array([[0.1, 0.2, 0.3], [1.0, -1.0, 0.5]])
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
ALPHA, SIMPLEX = np.array([1.2, 0.7, 3.0]), np.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]])
M = np.arange(6.0).reshape(3, 2)
VALUES = [
    ("multivariate_normal", "logpdf", (X, X[1], A)), ("multivariate_normal", "pdf", (X, X[0], [1.0, 2.0, 3.0])),
    ("multivariate_normal", "logpdf", (X, X[0], 2.0)),
    ("multivariate_normal", "logpdf", (X[0],)), ("multivariate_normal", "logpdf", (0.3,)), ("multivariate_normal", "entropy", (None, A)),
    ("multivariate_t", "logpdf", (X, X[1], A, 3.5)), ("multivariate_t", "pdf", (X, X[1], A, 3.5)), ("multivariate_t", "entropy", (X[1], A, 3.5)),
    ("vonmises_fisher", "logpdf", (UNIT, UNIT[0], 2.5)), ("vonmises_fisher", "entropy", (UNIT[0], 2.5)),
    ("dirichlet", "logpdf", (SIMPLEX, ALPHA)), ("dirichlet", "pdf", (SIMPLEX[:2], ALPHA)), ("dirichlet", "mean", (ALPHA,)),
    ("dirichlet", "var", (ALPHA,)), ("dirichlet", "cov", (ALPHA,)), ("dirichlet", "entropy", (ALPHA,)),
    ("multinomial", "logpmf", ([[1, 2, 3], [0, 0, 6], [1, 1, 1]], 6, [0.2, 0.3, 0.5])), ("multinomial", "pmf", ([1, 2, 3], 6, [0.2, 0.3, 0.5])),
    ("multinomial", "cov", (6, [0.2, 0.3, 0.5])), ("dirichlet_multinomial", "logpmf", ([1, 2, 3], ALPHA, 6)),
    ("dirichlet_multinomial", "pmf", ([1, 2, 3], ALPHA, 6)), ("dirichlet_multinomial", "mean", (ALPHA, 6)),
    ("wishart", "logpdf", (B, 5.5, A)), ("wishart", "logpdf", (np.stack([A, B], -1), 5.5, A)), ("wishart", "pdf", (0.7, 2.5, 1.3)),
    ("wishart", "mean", (5.5, A)), ("wishart", "var", (5.5, A)), ("wishart", "entropy", (5.5, A)),
    ("invwishart", "logpdf", (B, 5.5, A)), ("invwishart", "mean", (5.5, A)), ("invwishart", "mode", (5.5, A)), ("invwishart", "entropy", (5.5, 1.3)),
    ("matrix_normal", "logpdf", (0.3 * M, 0.2 * M, A, B[:2, :2])),
    ("matrix_normal", "logpdf", (0.3 * M, None, A, B[:2, :2])),
    ("matrix_normal", "entropy", (A, B[:2, :2])),
]  # fmt: skip


def numbers(x):
    return x.detach().numpy() if isinstance(x, gs.Tensor) else np.asarray(x)


@each("name, method, arguments", VALUES)
def test_values_are_those_of_scipy(name, method, arguments):
    found = numbers(getattr(getattr(stats, name), method)(*arguments))
    np.testing.assert_allclose(found, getattr(getattr(scipy_stats, name), method)(*arguments), rtol=1e-10)


DERIVATIVES = [
    ("multivariate_normal", lambda x, m, h: stats.multivariate_normal.logpdf(x, m, h @ h.T + gs.eye(3)), (X, X[1], 0.5 * A)),
    ("multivariate_normal of variances", lambda x, m, v: stats.multivariate_normal.logpdf(x, m, v), (X, X[1], np.array([1.0, 2.0, 0.5]))),
    ("entropy of multivariate_normal", lambda h: stats.multivariate_normal.entropy(None, h @ h.T + gs.eye(3)), (0.5 * A,)),
    ("multivariate_t", lambda x, m, h, df: stats.multivariate_t.logpdf(x, m, h @ h.T + gs.eye(3), df), (X, X[1], 0.5 * A, 3.5)),
    ("vonmises_fisher", lambda x, m, k: stats.vonmises_fisher.logpdf(x, m, k), (UNIT, UNIT[0], 2.5)),
    ("dirichlet", lambda x, a: stats.dirichlet.logpdf(x / x.sum(axis=0), a), (SIMPLEX, ALPHA)),
    ("moments of dirichlet", lambda a: gs.concat([stats.dirichlet.cov(a), stats.dirichlet.entropy(a) * gs.ones((1, 3))]), (ALPHA,)),
    ("multinomial", lambda p: stats.multinomial.logpmf(np.array([1.0, 2.0, 3.0]), 6, p), (np.array([0.2, 0.3, 0.5]),)),
    ("dirichlet_multinomial", lambda a: stats.dirichlet_multinomial.logpmf(np.array([1.0, 2.0, 3.0]), a, 6), (ALPHA,)),
    ("wishart", lambda x, df, h: stats.wishart.logpdf(x @ x.T + gs.eye(3), df, h @ h.T + gs.eye(3)), (B, 5.5, 0.5 * A)),
    ("entropy of wishart", lambda df, h: stats.wishart.entropy(df, h @ h.T + gs.eye(3)), (5.5, 0.5 * A)),
    ("invwishart", lambda x, df, h: stats.invwishart.logpdf(x @ x.T + gs.eye(3), df, h @ h.T + gs.eye(3)), (B, 5.5, 0.5 * A)),
    ("matrix_normal", lambda x, m, r, c: stats.matrix_normal.logpdf(x, m, r @ r.T + gs.eye(3), c), (0.3 * M, 0.2 * M, 0.5 * A, np.array([0.7, 2.0]))),
]  # fmt: skip


@each("name, function, arguments", DERIVATIVES)
def test_derivatives_are_those_of_differences(name, function, arguments):
    tensors = [gs.tensor(v, requires_grad=True) for v in arguments]
    assert gradcheck(function, tensors, check_forward_ad=True)
    assert gradgradcheck(lambda *t: function(*t).sum(), tensors)


def test_entropy_of_invwishart():
    """SciPy 1.17 is wrong for more than one row: this is the mean of -logpdf over numbers that SciPy draws."""
    drawn = np.moveaxis(scipy_stats.invwishart.rvs(9.5, A, size=3000, random_state=1), 0, 2)
    np.testing.assert_allclose(numbers(stats.invwishart.entropy(9.5, A)), -scipy_stats.invwishart.logpdf(drawn, 9.5, A).mean(), atol=0.06)


def test_random_vectors_move_with_the_parameters():
    mean, cov = gs.tensor(X[0], requires_grad=True), gs.tensor(A, requires_grad=True)
    drawn = stats.multivariate_normal(mean, cov).rvs(20000, random_state=2)
    np.testing.assert_allclose(np.cov(numbers(drawn).T), A, atol=0.06)
    slopes = gs.autograd.grad((drawn**2).mean(axis=0).sum(), (mean, cov))  # trace of cov, and squares of the mean
    np.testing.assert_allclose(numbers(slopes[0]), 2 * X[0], atol=0.06)
    np.testing.assert_allclose(np.diag(numbers(slopes[1])), 1, atol=0.06)
    alpha = gs.tensor(ALPHA, requires_grad=True)
    drawn = stats.dirichlet.rvs(alpha, 1500, random_state=2)
    slope = gs.autograd.grad(drawn[:, 0].mean(), alpha)[0]
    expected = gs.autograd.grad(stats.dirichlet.mean(alpha)[0], alpha)[0]
    np.testing.assert_allclose(numbers(slope), numbers(expected), atol=0.03)
    df, scale = gs.tensor(5.5, requires_grad=True), gs.tensor(A, requires_grad=True)
    drawn = stats.wishart.rvs(df, scale, 1500, random_state=2)
    np.testing.assert_allclose(numbers(drawn.mean(axis=0)), 5.5 * A, atol=0.6)
    np.testing.assert_allclose(numbers(gs.autograd.grad(drawn.mean(axis=0)[0, 0], df)[0]), A[0, 0], atol=0.3)
    assert stats.matrix_normal.rvs(M, A, 2.0, size=3, random_state=1).shape == (3, 3, 2)
    assert stats.multinomial.rvs(6, [0.2, 0.3, 0.5], 4, random_state=1).sum(axis=-1).tolist() == [6] * 4


def test_what_is_refused():
    x = gs.tensor(X, requires_grad=True)
    with pytest.raises(NotImplementedError, match="multivariate_normal.cdf has no derivative"):
        stats.multivariate_normal.cdf(x, X[1], A).sum().backward()
    np.testing.assert_allclose(numbers(stats.multivariate_normal.cdf(X, X[1], A)), scipy_stats.multivariate_normal.cdf(X, X[1], A), atol=1e-4)
    with pytest.raises(np.linalg.LinAlgError):
        stats.multivariate_normal.logpdf(X, X[1], -A)
    for wrong, words in ((lambda: stats.multivariate_normal.logpdf(X, X[1], A[:2]), "cov must be"), (lambda: stats.multivariate_normal.logpdf(X[:, :2], X[1], A), "3 elements"),
                         (lambda: stats.dirichlet.logpdf([0.5, 0.1, 0.1], ALPHA), "whose sum is 1"), (lambda: stats.dirichlet.logpdf(SIMPLEX, -ALPHA), "positive")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            wrong()
    with pytest.raises(NotImplementedError, match="no derivative in x"):
        stats.multinomial.logpmf(gs.tensor([1.0, 2.0, 3.0], requires_grad=True), 6, [0.2, 0.3, 0.5]).backward()


def test_singular_covariances():
    """The density on the range of the covariance; beside it there is none."""
    cov = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0]) + np.outer([0.0, 1.0, 1.0], [0.0, 1.0, 1.0])
    on = np.array([[1.0, 3.0, 0.0], [0.5, 1.0, -0.5]])
    found = stats.multivariate_normal.logpdf(on, None, cov, allow_singular=True)
    np.testing.assert_allclose(numbers(found), scipy_stats.multivariate_normal.logpdf(on, None, cov, allow_singular=True), rtol=1e-12)
    assert stats.multivariate_normal.logpdf([1.0, 0.0, 0.0], None, cov, allow_singular=True).item() == -np.inf
    half = gs.tensor(np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 1.0]]), requires_grad=True)
    place = gs.tensor([0.5, -0.3], requires_grad=True)
    assert gradcheck(lambda h, p: stats.multivariate_normal.logpdf(h @ p, None, h @ h.T, True), (half, place))
