"""Implicit derivatives: against exact values, the complex step of a solver, and differences of solutions."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.func import custom_linear_solve, custom_root, fixed_point, implicit
from gradspec.transforms.batching.batched_backward import is_mapped
from tests.later import later

mpmath = pytest.importorskip("mpmath")
optimize = later("scipy.optimize", "SciPy is not installed")


def differences(f, x, h=1e-4):
    """The Jacobian of a function of NumPy arrays, by central differences of fourth order."""
    x = np.asarray(x, float)
    columns = []
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = h
        e = e.reshape(x.shape)
        columns.append((8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h))
    return np.moveaxis(np.array(columns), 0, -1).reshape(*np.shape(columns[0]), *x.shape)


def cubic(a):
    return np.array(optimize.brentq(lambda x: x**3 + x - float(a.numpy()), -10, 10, xtol=1e-15))


def test_all_orders_in_both_modes_are_those_of_the_series():
    """x**3 + x = a at a = 2: the derivatives of the inverse function, by mpmath."""
    exact = [float(mpmath.diff(lambda a: mpmath.findroot(lambda x: x**3 + x - a, 1.0), 2.0, n)) for n in range(5)]
    root = implicit(cubic, lambda x, a: x**3 + x - a)
    c = gs.tensor(2.0, requires_grad=True)
    closing = lambda s: implicit(lambda: cubic((c * s).detach()), lambda x: x**3 + x - c * s)()  # noqa: E731
    push = lambda f: lambda a: gs.jvp(f, (a,), (1.0,))[1]  # noqa: E731
    for f, scale in ((root, 1.0), (closing, 2.0)):
        for ways in ("", "r", "f", "rr", "rf", "fr", "ff", "rrr", "ffr", "frf", "rfrr", "ffff", "frrf"):
            derivative = f
            for way in ways:
                derivative = gs.grad(derivative) if way == "r" else push(derivative)
            expected = exact[len(ways)] * scale ** len(ways)
            np.testing.assert_allclose(derivative(2.0 / scale).item(), expected, rtol=1e-7, err_msg=ways)


def system(x, p):
    w, b = p["w"], p["b"]
    return [gs.tanh(w @ x["u"]) + x["v"] * b.sum() - 1, x["v"] - (x["u"] * b).sum() / 4]


def solve_system(p):
    w, b = (np.asarray(p[k]) for k in "wb")

    def f(z):
        return np.concatenate([np.tanh(w @ z[:3]) + z[3] * b.sum() - 1, [z[3] - (z[:3] * b).sum() / 4]])

    z = optimize.root(f, np.zeros(4), tol=1e-14).x
    return {"u": z[:3], "v": z[3]}


P = {"w": np.array([[2.0, 0.3, 0.1], [-0.2, 1.5, 0.4], [0.3, -0.1, 1.8]]), "b": np.array([0.5, 0.2, 0.1])}


def test_nests_of_parameters_and_of_solutions():
    solution = implicit(solve_system, system)

    def f(b):
        found = solve_system({"w": P["w"], "b": b})
        return np.concatenate([found["u"], [found["v"]]])

    joined = lambda b: (lambda x: gs.concat([x["u"], x["v"][None]]))(solution({"w": P["w"], "b": b}))  # noqa: E731
    expected = differences(f, P["b"])
    second = differences(lambda b: differences(f, b), P["b"], 1e-3)
    for jacobian in (gs.jacrev, gs.jacfwd):
        np.testing.assert_allclose(jacobian(joined)(P["b"]), expected, rtol=1e-7)
        for outer in (gs.jacrev, gs.jacfwd):
            np.testing.assert_allclose(outer(jacobian(joined))(P["b"]), second, rtol=1e-4, atol=1e-5)
    gradient = gs.grad(lambda p: solution(p)["v"] ** 2)(P)
    by_w = differences(lambda w: solve_system({"w": w, "b": P["b"]})["v"] ** 2, P["w"])
    np.testing.assert_allclose(gradient["w"], by_w, rtol=1e-6, atol=1e-12)


def test_what_the_condition_closes_over_is_differentiated_in_a_backward_pass():
    w = gs.tensor(P["w"], requires_grad=True)
    x = implicit(lambda b: solve_system({"w": w.numpy(), "b": b}), lambda x, b: system(x, {"w": w, "b": b}))(gs.tensor(P["b"]))
    (x["v"] ** 2).backward()
    by_w = differences(lambda w: solve_system({"w": w, "b": P["b"]})["v"] ** 2, P["w"])
    np.testing.assert_allclose(w.grad, by_w, rtol=1e-6, atol=1e-12)


def linear(a, b):
    """A solution of a linear system by three ways of solving it, which all read `a` as a closure."""

    def solve(matvec, b):
        return optimize.newton_krylov(lambda x: matvec(gs.asarray(x)).numpy() - b.numpy(), np.zeros(b.shape), f_tol=1e-13)

    plain = lambda: np.linalg.solve(*[gs.asarray(x).detach().numpy() for x in (a, b)])  # noqa: E731
    yield custom_linear_solve(lambda x: a @ x, b, solve, solve)
    yield custom_root(lambda x: a @ x - b, gs.zeros(b.shape), lambda f, x: plain(),
                      lambda g, y: gs.linalg.solve(gs.jacfwd(g)(y), y))  # fmt: skip
    yield implicit(plain, lambda x: a @ x - b, solve=solve)()
    yield fixed_point(lambda a: lambda x: x + 0.3 * (b - a @ x), a, np.zeros(3), lambda x, y: abs(x - y).max(), 1e-14)


def test_linear_solves_under_all_names_have_the_derivatives_of_the_operator():
    a, b, v = P["w"], P["b"] + 1, np.array([1.0, -0.5, 2.0])

    def derivatives(solve):
        f = lambda a, b: (solve(a, b) ** 3 * v).sum()  # noqa: E731
        first = gs.grad(f, (0, 1))
        along = lambda a, b: first(a, b)[0][0, 1] + first(a, b)[1][2]  # noqa: E731
        return [f(a, b), *first(a, b), *gs.grad(along, (0, 1))(a, b), gs.jvp(f, (a, b), (a * a, b * b))[1],
                gs.jvp(along, (a, b), (a * a, b * b))[1], gs.grad(lambda a: gs.jvp(f, (a, b), (b * a, b * b))[1])(a)]  # fmt: skip

    expected = derivatives(gs.linalg.solve)
    for i in range(4):
        for k, (found, wanted) in enumerate(zip(derivatives(lambda a, b: list(linear(a, b))[i]), expected)):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9, err_msg=f"{i} {k}")


def test_inside_of_vmap_of_what_is_given_and_of_what_is_closed_over():
    a, b = np.array([2.0, 10.0, 30.0]), np.array([1.0, 2.0])
    root = implicit(lambda a, b: np.array(cubic(a / b)), lambda x, a, b: (x**3 + x) * b - a)
    grid = gs.vmap(gs.vmap(root, (None, 0)), (0, None))
    expected = np.array([[cubic(gs.tensor(i / j)) for j in b] for i in a])
    np.testing.assert_allclose(grid(a, b), expected)
    np.testing.assert_allclose(gs.vmap(gs.vmap(gs.grad(root), (None, 0)), (0, None))(a, b),
                               [[gs.grad(root)(i, j).item() for j in b] for i in a])  # fmt: skip
    weights = np.arange(6.0).reshape(3, 2)
    found = gs.grad(lambda a, b: (grid(a, b) * weights).sum(), (0, 1))(a, b)
    for i, (x, other) in enumerate(((a, b), (b, a))):

        def total(x, i=i, other=other):
            rows, columns = (other, x) if i else (x, other)
            return (np.array([[cubic(gs.tensor(p / q)) for q in columns] for p in rows]) * weights).sum()

        np.testing.assert_allclose(found[i], differences(total, x, 1e-3), rtol=1e-6)

    def closing(a):
        newton = lambda f, x: optimize.newton(lambda x: f(x).item(), x.item(), tol=1e-14)  # noqa: E731
        return custom_root(lambda x: x**3 + x - a, 1.0, newton, lambda g, y: y / g(gs.ones_like(y)))

    np.testing.assert_allclose(gs.vmap(gs.grad(closing))(a), 1 / (3 * expected[:, 0] ** 2 + 1))
    np.testing.assert_allclose(gs.vmap(gs.grad(gs.grad(closing)))(a), -6 * expected[:, 0] / (3 * expected[:, 0] ** 2 + 1) ** 3)
    np.testing.assert_allclose(gs.vmap(lambda a: gs.jvp(closing, (a,), (1.0,))[1])(a), 1 / (3 * expected[:, 0] ** 2 + 1))


def test_inside_of_checkpoint_and_compile():
    root = implicit(lambda a: cubic(a), lambda x, a: x**3 + x - a)
    expected = gs.grad(lambda a: gs.sin(root(a * a)))(1.5).item()
    assert gs.grad(gs.checkpoint(lambda a: gs.sin(root(a * a))))(1.5).item() == expected
    compiled = gs.compile(gs.grad(lambda a: gs.sin(root(a * a))))
    for a in (1.5, 1.5, 1.0, 2.0):
        np.testing.assert_allclose(compiled(gs.tensor(a)).item(), gs.grad(lambda a: gs.sin(root(a * a)))(a).item())


def test_complex_solutions():
    """The complex root of z**2 + b z + c, as of two real functions of two real unknowns."""
    solver = lambda b, c: (-b.numpy() + np.sqrt(b.numpy() ** 2 - 4 * c.numpy())) / 2  # noqa: E731
    root = implicit(solver, lambda z, b, c: z * z + b * z + c)
    b, c = 1.0 + 0.5j, 2.0 - 1.0j
    z = complex(root(b, c).item())
    found = gs.grad(lambda b, c: root(b, c).real, (0, 1))(b, c)
    np.testing.assert_allclose([x.item() for x in found], np.conj([-z / (2 * z + b), -1 / (2 * z + b)]))
    np.testing.assert_allclose(gs.jvp(root, (b, c), (1j, 0j))[1].item(), -1j * z / (2 * z + b))


def test_a_singular_jacobian_gives_nan():
    double = implicit(lambda a: np.array([1.0, 1.0]), lambda x, a: gs.stack([x.sum() - a, 2 * (x.sum() - a)]))
    flat = implicit(lambda a: np.array(0.0), lambda x, a: x * x - a)
    for f in (lambda a: double(a).sum(), flat):
        assert np.isnan(gs.grad(f)(0.0).item()) and np.isnan(gs.jvp(f, (0.0,), (1.0,))[1].item())
    scaled = implicit(lambda a: np.array([1e20, 1.0]), lambda x, a: gs.stack([x[0] * 1e-20 - a, x[1] - a]))
    np.testing.assert_allclose(gs.jacrev(scaled)(1.0), [1e20, 1.0])  # badly scaled is not singular


def test_inside_of_other_modes():
    root = implicit(lambda a: np.cbrt(a.numpy()), lambda x, a: x**3 - a)
    with gs.no_grad():
        assert root(8.0).item() == 2.0 and not root(gs.tensor(8.0, requires_grad=True)).requires_grad
    with gs.inference_mode():
        assert root(8.0).item() == 2.0 and custom_root(lambda x: x - 1, 0.0, lambda f, x: 1.0, lambda g, y: y / g(1.0)).item() == 1.0
    single = root(gs.tensor(8.0, dtype="float32", requires_grad=True))
    assert single.dtype == np.float32 and gs.grad(root)(gs.tensor(8.0, dtype="float32")).dtype == np.float32
    np.testing.assert_allclose(gs.hessian(lambda a: root(a).sum())(np.array([1.0, 8.0])), np.diag([-2 / 9, -1 / 144]), rtol=1e-12)
    sums = lambda a: gs.scan(lambda s, a: (s + root(a), root(s)), 1.0, a)[1].sum()  # noqa: E731
    np.testing.assert_allclose(gs.grad(sums)(np.array([1.0, 8.0])), [2 ** (-2 / 3) / 9, 0.0], rtol=1e-12)
    assert gs.grad(lambda a: root(a).sum())(gs.zeros((0,))).shape == (0,)
    with pytest.raises((RuntimeError, NotImplementedError), match="implicit.* write it with operators"):
        gs.func.jet(root, (8.0,), ([1.0, 0.0],))


def test_aux_and_no_gradient():
    root = implicit(lambda a: (np.sqrt(a.numpy()), {"steps": 3}), lambda x, a: x * x - a, has_aux=True)
    x, aux = root(4.0)
    assert x.item() == 2.0 and aux["steps"].item() == 3 and not x.requires_grad
    (slope, aux) = gs.grad(root, has_aux=True)(4.0)
    assert slope.item() == 0.25
    x, _ = custom_root(lambda x: x - 1, 0.0, lambda f, x: (1.0, 7), lambda g, y: y / g(1.0), has_aux=True)
    assert x.item() == 1.0


def test_conditions_that_are_compiled_checkpointed_or_modules():
    c = gs.tensor(2.0, requires_grad=True)
    plain = lambda x: gs.sin(x) ** 3 + x - c * gs.exp(-c)  # noqa: E731
    expected = None
    for f in (plain, gs.checkpoint(plain), gs.compile(plain), lambda x: gs.checkpoint(lambda x: plain(x))(x)):
        for _ in range(2):  # a compiled function is recorded, and played
            x = implicit(lambda: optimize.brentq(lambda x: f(gs.asarray(x)).item(), -3, 3, xtol=1e-14), f)()  # noqa: B023
            (slope,) = gs.autograd.grad(x, c)
        expected = slope if expected is None else expected
        np.testing.assert_allclose(slope, expected, rtol=1e-9)
    np.testing.assert_allclose(expected, np.exp(-2) * -1 / (3 * np.sin(x.item()) ** 2 * np.cos(x.item()) + 1), rtol=1e-9)
    gs.manual_seed(0)
    layer, start = gs.nn.Linear(3, 3), np.array([0.1, 0.2, 0.3])
    equilibrium = fixed_point(
        lambda x: lambda z: 0.5 * gs.tanh(layer(z)) + x, start, np.zeros(3), lambda a, b: abs(a - b).max(), 1e-13
    )
    equilibrium.sum().backward()

    def total(w):
        z = np.zeros(3)
        for _ in range(99):
            z = 0.5 * np.tanh(w @ z + layer.bias.detach().numpy()) + start
        return z.sum()

    np.testing.assert_allclose(layer.weight.grad, differences(total, layer.weight.detach().numpy()), rtol=1e-5)


def test_what_is_read_at_the_solution_alone_is_found():
    c, d = gs.tensor(2.0, requires_grad=True), gs.tensor(0.5, requires_grad=True)
    f = lambda x: x * c - 6.0 if x.item() < 1 else x * d - 1.0  # noqa: E731
    x = custom_root(f, 0.0, lambda f, x: 2.0, lambda g, y: y / g(gs.ones_like(y)))
    assert [slope.item() for slope in gs.autograd.grad(x, [c, d])] == [0.0, -4.0]


@pytest.mark.parametrize("rows", [0, 1], ids=["", "beside a row that outlives its vmap"])
def test_a_condition_that_has_changed_is_refused(rows):
    left = []
    gs.vmap(lambda row: (left.append(row), row)[1] if rows else row)(gs.ones(2))
    assert len(left) == rows and not is_mapped()
    a = gs.tensor(2.0, requires_grad=True)
    found = []
    for t in (1.0, 2.0):
        found.append(implicit(lambda a: (a * t).item(), lambda x, a: x - a * t)(a))  # noqa: B023
    (slope,) = gs.autograd.grad(found[1], a)
    assert slope.item() == 2.0
    with pytest.raises(RuntimeError, match="implicit: the condition gives another value at the solution .* bind it"):
        gs.autograd.grad(found[0], a)
    bound = [implicit(lambda a, t=t: (a * t).item(), lambda x, a, t=t: x - a * t)(a) for t in (1.0, 2.0)]
    assert gs.autograd.grad(bound[0] + bound[1], a)[0].item() == 3.0
    c = gs.tensor(2.0, requires_grad=True)
    x = implicit(lambda: 2.0, lambda x: x - c)()
    with gs.no_grad():
        c.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.backward()


def test_a_symmetric_solution_is_its_own_transposed_one():
    a = np.array([[3.0, 1.0], [1.0, 2.0]])
    b, seen = np.array([1.0, -2.0]), []

    def solve(matvec, b):
        matrix = np.stack([matvec(gs.asarray(row)).numpy() for row in np.eye(2)], 1)
        seen.append(matrix)
        x = np.linalg.solve(matrix, np.asarray(b))
        return (x, {"steps": 2}) if aux else x

    for aux in (False, True):
        def solution(b):
            found = custom_linear_solve(lambda x: gs.asarray(a) @ x, b, solve, symmetric=True, has_aux=aux)  # noqa: B023
            return found[0] if aux else found  # noqa: B023

        np.testing.assert_allclose(solution(b), np.linalg.solve(a, b))
        np.testing.assert_allclose(gs.jacrev(solution)(b), np.linalg.inv(a), rtol=1e-12)
        np.testing.assert_allclose(gs.jacfwd(solution)(b), np.linalg.inv(a), rtol=1e-12)
    assert seen and all(np.array_equal(matrix, a) for matrix in seen)


def test_a_transposed_solution_with_more_than_the_solution():
    a, b = np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0])

    def solve(matvec, b):
        return np.linalg.solve(np.stack([matvec(gs.asarray(row)).numpy() for row in np.eye(2)], 1), np.asarray(b)), 3

    found, aux = custom_linear_solve(lambda x: gs.asarray(a) @ x, b, solve, solve, has_aux=True)
    np.testing.assert_allclose(found, np.linalg.solve(a, b))
    assert aux == 3
    solution = lambda b: custom_linear_solve(lambda x: gs.asarray(a) @ x, b, solve, solve, has_aux=True)[0]  # noqa: E731
    np.testing.assert_allclose(gs.jacrev(solution)(b), np.linalg.inv(a), rtol=1e-12)


def test_a_solver_of_tangents_calls_with_numbers_and_other_dtypes():
    """The linear function takes what NumPy's solvers call it with, in the dtype of the unknown."""
    seen = []

    def tangent_solve(g, y):
        seen.append(g(np.ones((), np.float64)).dtype)
        return y / g(1.0)

    root = lambda a: gs.func.custom_root(lambda x: x**3 - a, np.float32(1), lambda f, x: np.cbrt(np.asarray(a)), tangent_solve)  # noqa: E731
    a = np.float32(8)
    found = gs.grad(root)(a)
    assert found.item() == pytest.approx(1 / 12, rel=1e-6) and found.dtype == np.float32 and seen == [np.float32] * len(seen) != []
    assert gs.jvp(root, (a,), (np.float32(1),))[1].item() == pytest.approx(1 / 12, rel=1e-6)


@pytest.mark.parametrize(("make", "error", "words"), [
    (lambda: implicit(lambda a: "x", lambda x, a: x)(1.0), TypeError, "must return real or complex arrays"),
    (lambda: implicit(lambda a: np.array(1), lambda x, a: x)(1.0), TypeError, "got int64"),
    (lambda: gs.jacrev(implicit(lambda a: np.ones(2), lambda x, a: x.sum() - a))(1.0), ValueError, "1 real numbers for 2 unknowns"),
    (lambda: gs.grad(implicit(lambda a: 1.0, lambda x, a: np.zeros(())))(1.0), TypeError, "must return tensors"),
    (lambda: implicit(lambda a: 1.0, lambda x, a: x, has_aux=True)(1.0), TypeError, "must return a pair"),
    (lambda: gs.grad(lambda b: custom_linear_solve(lambda x: 2 * x, b, lambda m, b: b / 2))(1.0), TypeError, "symmetric=True"),
    (lambda: gs.grad(lambda b: custom_linear_solve(lambda x: x[:1], b, lambda m, b: b).sum())(gs.ones(2)), TypeError, "match b"),
    (lambda: gs.vmap(lambda a: implicit(lambda b: a * 2, lambda x, b: x - 2 * a)(a))(gs.ones(2)), RuntimeError, "closes over a row"),
])  # fmt: skip
def test_what_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()
