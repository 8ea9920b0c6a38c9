"""The functions of autograd.functional inside of functions that gradspec.func differentiates: the derivatives are seen, and none leaks."""

import numpy as np

import gradspec as gs
from gradspec import func
from gradspec.autograd import functional as F
from tests.asked import each

X = np.array([0.3, -0.7, 1.2])


def minus_cos(x):
    return -gs.cos(x).sum()


INNER = {  # each is cos(x)
    "jacobian": lambda x: F.jacobian(lambda x: gs.sin(x).sum(), x),
    "jacobian by columns": lambda x: F.jacobian(gs.sin, x, strategy="forward-mode").sum(1),
    "jacobian at once": lambda x: F.jacobian(gs.sin, x, vectorize=True).sum(0),
    "vjp": lambda x: F.vjp(gs.sin, x, gs.ones(3))[1],
    "jvp": lambda x: F.jvp(gs.sin, x, gs.ones(3))[1],
    "vhp": lambda x: F.vhp(minus_cos, x, gs.ones(3))[1],
    "hvp": lambda x: F.hvp(minus_cos, x, gs.ones(3))[1],
    "hessian": lambda x: F.hessian(minus_cos, x).sum(0),
    "hessian by columns": lambda x: F.hessian(minus_cos, x, outer_jacobian_strategy="forward-mode").sum(0),
    "strict": lambda x: F.vjp(gs.sin, x, gs.ones(3), strict=True)[1],
    "outputs": lambda x: -F.vjp(minus_cos, x)[0] / 3 + F.jvp(gs.sin, x, gs.ones(3))[1] - gs.cos(x).sum() / 3,
}
OUTER = {
    "grad": (lambda f, x: func.grad(lambda x: f(x).sum())(x), -np.sin(X)),
    "vjp": (lambda f, x: func.vjp(f, x)[1](gs.ones(3))[0], -np.sin(X)),
    "jvp": (lambda f, x: func.jvp(f, (x,), (gs.ones(3),))[1], -np.sin(X)),
    "linearize": (lambda f, x: func.linearize(f, x)[1](gs.ones(3)), -np.sin(X)),
    "jacrev": (lambda f, x: func.jacrev(f)(x), np.diag(-np.sin(X))),
    "jacfwd": (lambda f, x: func.jacfwd(f)(x), np.diag(-np.sin(X))),
    "hessian": (lambda f, x: func.hessian(lambda x: f(x).sum())(x), np.diag(-np.cos(X))),
    "grad of a grad": (lambda f, x: func.grad(lambda x: func.grad(lambda x: f(x).sum())(x).sum())(x), -np.cos(X)),
    "vmap of a grad": (lambda f, x: func.vmap(func.grad(lambda x: f(x).sum()))(gs.stack([x, x])), -np.sin([X, X])),
    "grad of a vmap": (lambda f, x: func.grad(lambda x: func.vmap(f)(gs.stack([x, x])).sum())(x), -2 * np.sin(X)),
}


@each("outer", OUTER)
@each("inner", INNER)
def test_what_is_differentiated_outside_is_no_constant_inside(outer, inner):
    take, expected = OUTER[outer]
    found = take(INNER[inner], gs.tensor(X))
    assert not found.requires_grad
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


@each("inner", INNER)
def test_a_weight_outside_of_the_function_gets_its_gradient(inner):
    w = gs.tensor(2.0, requires_grad=True)
    func.jvp(lambda x: INNER[inner](x * w), (gs.tensor(X),), (gs.ones(3),))[0].sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), -(X * np.sin(2 * X)).sum(), rtol=1e-12)


@each("inner", INNER)
def test_results_are_detached_elsewhere_also_after_an_error_inside(inner):
    x = gs.tensor(X, requires_grad=True)
    try:
        func.grad(lambda x: 1 / 0)(x)
    except ZeroDivisionError:
        pass
    if inner != "outputs":  # reads `x` itself as well
        assert not INNER[inner](x).requires_grad
