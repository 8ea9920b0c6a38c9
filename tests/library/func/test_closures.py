"""Closures: what a function reads without being given it is found, and later calls read something else."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from gradspec.autograd.flat_derivatives import push
from gradspec.func.closures import Watch, closed_over, with_closed


def test_what_is_read_is_found_once_and_in_order():
    a, b, c = (gs.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    data, other = gs.ones(2), gs.tensor(1.0, requires_grad=True)
    derived = b * 2
    converted, closed = gs.func.closure_convert(
        lambda x, y: gs.stack([derived, x]).sum() + data * a * y + gs.concat([c[None], c[None]]), 1.0, a
    )
    assert [tensor is other for tensor, other in zip(closed, (derived, a, c), strict=True)] == [True] * 3
    found = converted(1.0, 5.0, 10.0 * gs.ones(()), gs.tensor(20.0), gs.tensor(30.0))
    assert found.tolist() == [10 + 1 + 20 * 5 + 30] * 2
    assert not other.grad_fn


def test_arguments_and_what_is_computed_inside_are_not_closed_over():
    w, c = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor(3.0, requires_grad=True)
    gradient = gs.grad(lambda x: (x**3).sum() * c)
    _, closed = closed_over(lambda x: gradient(x) * 2 + gs.jvp(gs.sin, (x,), (x,))[1] + gs.vmap(lambda r: r * c)(x), w)
    assert len(closed) == 1 and closed[0] is c


def test_what_is_returned_as_it_was_read():
    c = gs.tensor(3.0, requires_grad=True)
    converted, closed = gs.func.closure_convert(lambda x: {"x": x, "c": c}, 1.0)
    other = gs.tensor(4.0)
    assert closed == [c] and converted(1.0, other)["c"] is other


def test_a_function_that_differentiates_by_what_it_closes_over():
    c = gs.tensor(3.0, requires_grad=True)
    f = lambda x: gs.autograd.grad(c**2 * x, c, create_graph=True)[0]  # noqa: E731
    x = gs.tensor(2.0, requires_grad=True)
    converted, closed = gs.func.closure_convert(f, x)
    assert closed == [c]
    assert converted(x, gs.tensor(5.0, requires_grad=True)).item() == 20.0
    assert gs.grad(converted, 1)(x, 5.0).item() == 4.0


def by_backward(x, c):
    leaf = gs.tensor(1.5, requires_grad=True)
    gs.autograd.backward(c**2 * leaf * x, inputs=[leaf])
    return leaf.grad


def by_other_gradient(x, c):
    y = gs.tensor(1.5, requires_grad=True)
    return gs.autograd.grad(gs.sin(y * 2.0), y)[0] * c * x


def by_dual(x, c):
    with forward_ad.dual_level(), forward_ad._set_fwd_grad_enabled(True):  # what is looked for is looked for without tangents
        dual = forward_ad.make_dual(c, x * 1.0)
        return forward_ad.unpack_dual(dual**2 * x).tangent


def by_other_dual(x, c):
    with forward_ad.dual_level(), forward_ad._set_fwd_grad_enabled(True):
        return forward_ad.unpack_dual(forward_ad.make_dual(x, c) * 2.0).tangent


def by_push(x, c):
    return push(lambda duals: [duals[0] ** 2 * c], [c], [gs.stack([x, 2.0 * x])], 2)[1][0][1]


WITHIN = (by_backward, by_other_gradient, by_dual, by_other_dual, by_push)


@pytest.mark.parametrize("f", WITHIN)
def test_passes_inside_read_what_stands_in_its_place(f):
    c, x = gs.tensor(3.0, requires_grad=True), gs.tensor(2.0)
    converted, closed = gs.func.closure_convert(lambda x: f(x, c) + 10 * c, x)
    assert len(closed) == 1 and closed[0] is c
    for value in (3.0, 5.0):
        expected = f(x, gs.tensor(value, requires_grad=True)).item() + 10 * value
        assert converted(x, gs.tensor(value, requires_grad=True)).item() == pytest.approx(expected, rel=1e-14)


def test_gradients_inside_of_rows():
    c, rows = gs.tensor(3.0, requires_grad=True), np.array([0.5, 1.0, 2.0])

    def f(x):
        y = (x * 1.0).detach().requires_grad_()
        return gs.autograd.grad(gs.sin(y * x), y)[0] * c

    converted, closed = gs.func.closure_convert(f, gs.tensor(1.0))
    assert closed == [c]
    found = gs.vmap(lambda x: converted(x, gs.tensor(5.0, requires_grad=True)))(rows)
    np.testing.assert_allclose(found.detach(), 5 * rows * np.cos(rows * rows), rtol=1e-14)


def test_calls_of_several_functions_close_over_each_tensor_once():
    watch, c, d = Watch(), gs.tensor(3.0, requires_grad=True), gs.tensor([4.0], requires_grad=True)
    assert watch(lambda x: c * x, 2.0).item() == 6 and watch(lambda x: c * x * d, 2.0).item() == 24
    assert len(watch.closed) == 2 and watch.closed[0] is c and watch.closed[1] is d


def test_tangents_and_custom_functions():
    cube = gs.custom_vjp(lambda x: x**3)
    cube.defjvp = None
    cube.defvjp(lambda x: (x**3, x), lambda x, g: (g * 3 * x * x,))

    def inner(c):
        converted, closed = gs.func.closure_convert(lambda x: x * c**2, 1.0)
        assert len(closed) == 1
        return gs.jvp(converted, (2.0, closed[0].detach()), (0.0, 1.0))[1]

    assert gs.jvp(inner, (3.0,), (1.0,))[0].item() == 12.0
    c = gs.tensor(2.0, requires_grad=True)
    converted, closed = gs.func.closure_convert(lambda x: cube(c) * x, 1.0)
    assert closed == [c] and gs.grad(converted, 1)(1.0, 5.0).item() == 75.0


def test_rows_of_a_vmap():
    def f(c):
        def g(x):
            y = x * c
            return gs.exp(y) + y

        converted, closed = gs.func.closure_convert(g, 2.0)
        assert len(closed) == 1 and closed[0] is c
        return converted(2.0, c + 1)

    c = np.array([0.5, 0.25])
    np.testing.assert_allclose(gs.vmap(f)(c), np.exp(2 * c + 2) + 2 * c + 2)


def test_inside_of_each_other():
    a, b = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)

    def outer(x):
        converted, closed = gs.func.closure_convert(lambda y: y * a * b, x)
        assert len(closed) == 2
        return converted(x, closed[0], gs.tensor(7.0)) + a

    converted, closed = gs.func.closure_convert(outer, 1.0)
    assert closed == [a]  # b is read, but the result depends on the 7 in its place
    assert converted(1.0, gs.tensor(10.0, requires_grad=True)).item() == 80.0


def test_what_a_checkpoint_or_an_unused_branch_reads_is_no_parameter():
    a, b = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)

    def f(x):
        unused = a * x
        return gs.checkpoint(lambda x: gs.sin(x) * b)(x) + 0 * unused.detach()

    _, closed = gs.func.closure_convert(f, 1.0)
    assert closed == [b]


def test_two_that_change_places():
    a, b = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)
    converted, closed = gs.func.closure_convert(lambda x: x * a - b, 1.0)
    assert closed == [a, b] and converted(1.0, b, a).item() == 1.0
    assert [slope.item() for slope in gs.autograd.grad(converted(2.0, b, a), [a, b])] == [-1.0, 2.0]


def test_levels_that_close_inside_take_nothing_with_them():
    a, b = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)
    f = lambda x: gs.vmap(lambda row: row * a)(x).sum() + b  # noqa: E731
    converted, closed = gs.func.closure_convert(f, gs.ones(2))
    assert len(closed) == 2
    assert converted(gs.ones(2), gs.tensor(5.0), gs.tensor(6.0)).item() == 16.0
    assert (a * b).item() == 6.0


def ways():
    """Calls that read a matrix, by names: all methods that need no arguments, and what else programs do with tensors."""
    for name in dir(gs.Tensor):
        if not name.startswith("_") and not name.endswith("_"):
            yield name, lambda t, name=name: getattr(t, name)() if callable(getattr(t, name)) else getattr(t, name)
    yield from {
        "add": lambda t: 1 + t, "matmul": lambda t: np.eye(2) @ t, "sum": sum, "iter": lambda t: list(t)[0], "getitem": lambda t: t[0],
        "mask": lambda t: t[np.array([True, False])], "slice": lambda t: t[:, ::-1], "numpy": np.sin, "numpy.add": lambda t: np.add(t, 1),
        "numpy.concatenate": lambda t: np.concatenate([t, t]), "numpy.where": lambda t: np.where(t > 1, t, 0.0),
        "numpy.einsum": lambda t: np.einsum("ij->i", t), "numpy.linalg": np.linalg.norm, "stack": lambda t: gs.stack([t, t]),
        "asarray": lambda t: gs.asarray(t, dtype=float) + 0, "block": lambda t: gs.block([[t]]), "linear": lambda t: gs.nn.functional.linear(t, t),
        "setitem": lambda t: (lambda z: (z.__setitem__(0, t[0]), z)[1])(gs.zeros((2, 2)) * t.sum()),
        "in place": lambda t: gs.zeros((2, 2)).add_(t), "scan": lambda t: gs.scan(lambda a, b: (a + b, a), 0 * t[0], t)[0],
        "cond": lambda t: gs.cond(True, lambda z: z * 2, lambda z: z, t), "vmap": lambda t: gs.vmap(lambda row: row * 2)(t),
        "grad": lambda t: gs.grad(lambda z: (z**3).sum())(t), "jvp": lambda t: gs.jvp(lambda z: z**3, (t,), (t,))[1],
        "hessian": lambda t: gs.hessian(lambda z: (z**3).sum())(t), "linearize": lambda t: gs.linearize(lambda z: z**3, t)[1](t),
        "jet": lambda t: gs.func.jet(lambda z: z**3, (t,), ([t],))[1][0], "checkpoint": lambda t: gs.checkpoint(lambda z: gs.sin(z) * z)(t),
        "autograd.grad": lambda t: gs.autograd.grad((t**3).sum(), t, create_graph=True)[0] if t.requires_grad else 3 * t**2,
        "implicit": lambda t: gs.implicit(lambda t: np.cbrt(t.numpy()), lambda x, t: x**3 - t)(t),
        "fixed_point": lambda t: gs.func.fixed_point(lambda a: lambda x: gs.cos(x) * 0.3 + a, t, t * 0, lambda a, b: abs(a - b).max(), 1e-13),
        "root": lambda t: gs.scipy.optimize.root(lambda x: x**3 - t.sum(), [1.0]).x,
        "spline": lambda t: gs.scipy.interpolate.CubicSpline([0.0, 1.0], t)(0.3),
    }.items()  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of methods outside of their domains
def test_whatever_reads_a_tensor_is_seen_and_reads_another():
    c, other = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), gs.tensor([[5.0, 6.0], [7.0, 9.0]], requires_grad=True)
    first = lambda value: value[0] if isinstance(value, (tuple, list)) else value  # noqa: E731
    asked, wrong = 0, []
    for name, way in ways():
        try:
            value, expected = first(way(c)), first(way(other))
        except (TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError, IndexError, ImportError):
            continue  # a method that wants arguments, or a square of another kind
        if not isinstance(value, gs.Tensor) or not value.requires_grad or name == "requires_grad":
            continue
        asked += 1
        f = lambda x, way=way: first(way(c))  # noqa: E731
        _, closed = closed_over(f, 1.0)
        if [tensor is c for tensor in closed] != [True]:
            wrong.append(f"{name}: found {len(closed)}")
        elif not np.allclose(with_closed(f, closed)(1.0, other).detach(), expected.detach(), rtol=1e-9, equal_nan=True):
            wrong.append(f"{name}: reads the old one")
    assert not wrong and asked > 150, (asked, wrong)


def test_an_error_inside_leaves_nothing_behind():
    c = gs.tensor(2.0, requires_grad=True)

    def fail(x):
        raise KeyError(x * c)

    with pytest.raises(KeyError):
        closed_over(fail, 1.0)
    with pytest.raises(KeyError):
        with_closed(fail, [c])(1.0, gs.tensor(3.0))
    assert (c * 1).item() == 2.0
    assert gs.vmap(lambda x: x * c)(gs.ones(2)).tolist() == [2.0, 2.0]
