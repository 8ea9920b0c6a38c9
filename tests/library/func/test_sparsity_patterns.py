"""gs.func.sparsity: patterns of Jacobians and Hessians, for all arguments or at some."""

import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.func import sparsity

pytest.importorskip("scipy")
X = np.array([0.3, -0.7, 1.1, 0.4, -0.2])
BAND = np.eye(5) + np.eye(5, k=1)


def has(found, wanted):
    return np.array_equal(found.toarray(), np.asarray(wanted) != 0)


EXACT = {
    "elements": (lambda x: gs.sin(x) * gs.exp(x) - 2, np.eye(5)),
    "broadcast": (lambda x: x[:, None] * x[:2], np.repeat(np.eye(5), 2, axis=0) + np.tile(np.eye(5)[:2], (5, 1))),
    "stencil": (lambda x: x[1:] * x[:-1], np.eye(4, 5) + np.eye(4, 5, k=1)),
    "reversed": (lambda x: gs.flip(x, 0) + gs.roll(x, 1), np.eye(5)[::-1] + np.roll(np.eye(5), 1, axis=0)),
    "sum": (lambda x: gs.sum(x[1:3] ** 2), [[0, 1, 1, 0, 0]]),
    "sums": (lambda x: gs.sum(gs.reshape(gs.tanh(x[:4]), (2, 2)), axis=0), [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0]]),
    "cumsum": (lambda x: gs.cumsum(x, 0), np.tril(np.ones((5, 5)))),
    "diff": (lambda x: gs.diff(x), np.eye(4, 5) + np.eye(4, 5, k=1)),
    "product": (lambda x: BAND @ gs.sin(x), BAND),
    "product from the right": (lambda x: gs.exp(x) @ BAND, BAND.T),
    "gathered": (lambda x: x[np.array([3, 3, 0])], np.eye(5)[[3, 3, 0]]),
    "masked": (lambda x: x[np.array([True, False, True, False, False])], np.eye(5)[[0, 2]]),
    "constant mask": (lambda x: x * np.array([1.0, 0, 1, 0, 0]), np.diag([1, 0, 1, 0, 0])),
    "softmax by rows": (lambda x: gs.softmax(gs.reshape(x[:4], (2, 2)), -1), np.kron(np.eye(2), np.ones((2, 2))) @ np.eye(4, 5)),
    "nothing": (lambda x: gs.floor(x) + gs.ones(5), np.zeros((5, 5))),
    "joined": (lambda x: gs.concat([x[3:], gs.zeros(1), x[:1]]), np.eye(5)[[3, 4, 1, 0]] * [[1], [1], [0], [1]]),
    "solved": (lambda x: gs.linalg.solve(np.eye(2) * 3, x[:2]), np.eye(2, 5)),
    "several outputs": (lambda x: {"a": x[:1], "b": (x[1] * x[2], x[3:])}, [[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]),
    "a product with itself": (lambda x: gs.outer(x[:2], x[3:]), [[1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 1, 0, 0, 1]]),
    "a gradient": (gs.grad(lambda x: (x[1:] * x[:-1]).sum()), np.eye(5, k=1) + np.eye(5, k=-1)),
    "rows": (gs.vmap(lambda x: x * x), np.eye(5)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    f, wanted = EXACT[name]
    assert has(sparsity(f, X), wanted)
    assert has(sparsity(f, X, local=True), wanted)


def written(x):
    y = gs.zeros(6)
    view = y[1:]
    view[:2] = x[:2] * x[4]
    view *= 2
    y[0] += y[2]
    view[4] = 3.0  # over nothing
    y[1] = 1.0  # over what depends on x
    return y


def test_writes_are_seen_through_views():
    wanted = np.zeros((6, 5))
    wanted[2] = wanted[0] = [0, 1, 0, 0, 1]
    assert has(sparsity(written, X), wanted)


BRANCHES = {
    "where": (lambda x: gs.where(x > 0, x, gs.flip(x, 0)), np.eye(5) + np.eye(5)[::-1], [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]]),
    "sort": (lambda x: gs.sort(x), np.ones((5, 5)), np.eye(5)[np.argsort(X)]),
    "max": (lambda x: gs.max(x), np.ones((1, 5)), [[0, 0, 1, 0, 0]]),
    "rows sorted": (lambda x: gs.sort(gs.reshape(x[:4], (2, 2)), 0), [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0]] * 2, np.eye(5)[[0, 1, 2, 3]]),
    "mask": (lambda x: x[x > 0], np.ones((3, 5)), np.eye(5)[X > 0]),
    "maximum": (lambda x: gs.maximum(x, x[::-1]), np.eye(5) + np.eye(5)[::-1], [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]]),
    "places": (lambda x: gs.take(x, gs.argsort(x)[:2], axis=0), np.ones((2, 5)), np.eye(5)[np.argsort(X)[:2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name):
    f, everywhere, here = BRANCHES[name]
    assert has(sparsity(f, X), everywhere)
    assert has(sparsity(f, X, local=True), here)


def test_a_branch_of_python_is_known_at_one_point_only():
    def f(x):
        return x[:2] if x.sum() > 0 else x[2:4]

    with pytest.raises(ValueError, match="gave its truth to Python.*local=True"):
        sparsity(f, X)
    assert has(sparsity(f, X, local=True), np.eye(2, 5))


HESSIANS = {
    "linear": (lambda x: (3 * x).sum(), np.zeros((5, 5))),
    "squares": (lambda x: (x**2).sum() + x.sum(), np.eye(5)),
    "pairs": (lambda x: (x[1:] * x[:-1]).sum(), np.eye(5, k=1) + np.eye(5, k=-1)),
    "of a sum": (lambda x: gs.exp(x[0] + x[2]) + x[4], np.outer([1, 0, 1, 0, 0], [1, 0, 1, 0, 0])),
    "of a linear part": (lambda x: gs.exp(x[0]) * (x[1] + x[2]), [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0] * 5, [0] * 5]),
    "log of a sum": (lambda x: gs.logsumexp(x[:3]), np.outer([1, 1, 1, 0, 0], [1, 1, 1, 0, 0])),
    "a form": (lambda x: x @ (BAND @ x), BAND + BAND.T),
}  # fmt: skip


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name):
    f, wanted = HESSIANS[name]
    assert has(sparsity(f, X, hessian=True), wanted)


def test_arguments():
    def f(p, scale, k, *, shift):
        return {"y": p["a"] * scale + shift, "z": p["b"][k] * gs.ones(2)}

    p = {"a": np.ones(2), "b": [gs.ones(()), gs.ones(())]}
    found = sparsity(f, p, 2.0, 1, shift=gs.zeros(2))
    assert has(found, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    assert sparsity(f, p, 0.0, 1, shift=gs.zeros(2)).nnz == 4  # another scale has them, too
    assert has(sparsity(f, p, 0.0, 1, argnums=1, shift=gs.zeros(2)), [[1], [1], [0], [0]])
    assert sparsity(f, p, 2.0, 1, argnums=(0, 1), shift=gs.zeros(2)).shape == (4, 5)
    index = np.array([1, 0])
    assert has(sparsity(lambda x, index: x[index], X, index), np.eye(5)[[1, 0]])


def test_nothing_is_left_of_the_run():
    x = gs.asarray(X.copy())
    generator = np.random.default_rng(0)
    f = lambda x: gs.nn.dropout(x, 0.5, generator=generator)  # noqa: E731
    sparsity(f, x)
    assert not x.requires_grad and x.grad_fn is None and np.array_equal(x.numpy(), X)


def test_single_precision_and_other_layouts():
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T
    assert has(sparsity(lambda x: gs.cumsum(x, 0), x), np.kron(np.tril(np.ones((4, 4))), np.eye(3)))
    assert sparsity(lambda x: x, np.zeros((0, 3))).shape == (0, 0)
    assert sparsity(lambda x: x[:0], X).shape == (0, 5)


def test_custom_functions_are_as_their_derivatives_say():
    class Rounded(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return gs.round(x)

        @staticmethod
        def backward(ctx, grad):
            return gs.flip(grad, 0)

        @staticmethod
        def jvp(ctx, tangent):
            return gs.flip(tangent, 0)

    assert has(sparsity(Rounded.apply, X), np.eye(5)[::-1])


def test_refusals():
    with pytest.raises(TypeError, match="real floating point"):
        sparsity(lambda x: x, np.ones(2) * 1j)
    with pytest.raises(TypeError, match="real floating point"):
        sparsity(lambda x: x, np.arange(3))
    with pytest.raises(TypeError, match="being differentiated.*detach"):
        gs.grad(lambda x: gs.asarray(sparsity(lambda x: x, x).sum()) * x[0])(X)
    with pytest.raises(TypeError, match="being differentiated.*detach"):
        gs.jvp(lambda x: gs.asarray(sparsity(lambda x: x, x).sum()) * x[0], (X,), (X,))
    with pytest.raises(ValueError, match="argnums"):
        sparsity(lambda x: x, X, argnums=1)


def test_scipy_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    for call in (gs.func.sparsity, gs.func.sparse_plan, gs.func.jacobian_operator, lambda f, x: gs.func.sparse_jacobian(f)(x)):
        with pytest.raises(ImportError, match="needs SciPy"):
            call(lambda x: x, X)


# Random functions.

LENGTH = 10


def steps(random):
    """One step of a function: from a vector to a vector of the same length."""
    order = random.permutation(LENGTH)
    i, j = (int(n) for n in random.integers(1, LENGTH, 2))
    weights = random.normal(size=(LENGTH, LENGTH)) * (random.random((LENGTH, LENGTH)) < 0.15)
    v = random.normal(size=LENGTH) * (random.random(LENGTH) < 0.8)

    def put(x):
        y = gs.zeros_like(x)
        y[:i] = gs.flip(x[:i], 0) * x[j]
        y[i:] += x[: LENGTH - i] * v[i:]
        return y

    def halves(x):
        y = gs.reshape(x, (2, LENGTH // 2))
        return gs.reshape(gs.stack([y[0] * y[1], y[1] - y[0].mean()]), (LENGTH,))

    def in_place(x):
        y = x * 1.5
        y[order[:3]] = gs.sin(x[order[2:5]])
        y[j:].mul_(x[j - 1])
        return y

    return [
        lambda x: gs.sin(x) * v, lambda x: x[order], lambda x: weights @ x, lambda x: gs.roll(x, i) + x, lambda x: x * gs.roll(x, -1),
        lambda x: gs.where(x > 0.1, x * x, gs.flip(x, 0)), lambda x: gs.pad(gs.diff(x), ((1, 0),)), lambda x: gs.maximum(x, x[order]),
        lambda x: gs.concat([gs.cumsum(x[:i], 0), x[i:]]), lambda x: gs.clip(x, -1, 1), lambda x: x / (2 + gs.cos(x[j])), put, halves,
        in_place, lambda x: gs.concat([gs.sort(x[:3]), x[3:]]), lambda x: gs.index_add(x, 0, order[:2], x[order[3:5]]), lambda x: x @ gs.outer(v, v) / LENGTH,
        lambda x: gs.take_along_axis(x, gs.argsort(x), axis=0) if i == j else x - 1, lambda x: gs.linalg.solve(np.eye(LENGTH) + weights / 9, x) if i == 1 else gs.tanh(x),
    ]  # fmt: skip


def function(random):
    chosen = [steps(random)[int(n)] for n in random.integers(0, 19, int(random.integers(1, 5)))]

    def f(x):
        for step in chosen:
            x = step(x)
        return x

    return f


def outcome(seed):
    """What is wrong with one function, None where nothing is."""
    random = np.random.default_rng(seed)
    f, point = function(random), random.normal(size=LENGTH)
    everywhere, here = sparsity(f, point).toarray(), sparsity(f, point, local=True).toarray()
    if (here & ~everywhere).any():
        return f"{seed}: an element is there at a point, and not everywhere"
    for x in (point, *random.normal(size=(3, LENGTH))):
        matrix = gs.jacfwd(f)(x).numpy() != 0
        if (matrix & ~everywhere).any() or x is point and (matrix & ~here).any():
            return f"{seed}: an element of the Jacobian is missed"
    weights = random.normal(size=LENGTH)

    def weighed(x):
        return (f(x) ** 2 @ weights) + f(x)[0]

    found = sparsity(weighed, point, hessian=True).toarray()
    for x in (point, *random.normal(size=(2, LENGTH))):
        if ((np.abs(gs.hessian(weighed)(x).numpy()) > 1e-14) & ~found).any():
            return f"{seed}: an element of the Hessian is missed"
    return None


def test_no_element_of_a_random_function_is_missed():
    assert [found for seed in range(40) if (found := outcome(seed))] == []


if __name__ == "__main__":  # python -m tests.library.func.test_sparsity_patterns 1000
    wrong = [found for seed in range(int(sys.argv[1])) if (found := outcome(seed))]
    print(len(wrong), *wrong[:10], sep="\n")
