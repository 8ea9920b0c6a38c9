"""Tensors that a mapped function makes inside, and writes rows into: against the loop over the rows."""

import gc
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec.batching.batched import Turned

OUTSIDE = "because a tensor that is the same for all rows of the batch would get"
SHARED = "something else looks at its memory"


def rand(*shape):
    return gs.asarray(np.random.default_rng(3).normal(size=shape))


def is_the_loop(f, x, of=lambda f: f):
    """The values, the gradients of all rows by reverse mode inside and outside, and the tangents are those of the loop."""
    loop = lambda g: lambda x: gs.stack([g(x[i]) for i in range(x.shape[0])])  # noqa: E731
    weight = rand(*np.shape(f(x[0])))
    total = lambda g: lambda x: (g(x) * gs.cos(g(x).detach()) * weight).sum()  # noqa: E731
    pairs = [(gs.vmap(f), loop(f)), (gs.grad(total(gs.vmap(f))), gs.grad(total(loop(f)))),
             (gs.vmap(gs.grad(total(f))), loop(gs.grad(total(f)))),
             (gs.vmap(gs.jacfwd(f)), loop(gs.jacfwd(f))), (gs.vmap(gs.jacrev(f)), loop(gs.jacrev(f))),
             (gs.jacrev(gs.vmap(f)), gs.jacrev(loop(f))), (gs.jacfwd(gs.vmap(f)), gs.jacfwd(loop(f))),
             (lambda x: gs.jvp(gs.vmap(f), (x,), (gs.sin(x),))[1], lambda x: gs.jvp(loop(f), (x,), (gs.sin(x),))[1]),
             (gs.vmap(gs.hessian(total(f))), loop(gs.hessian(total(f))))]  # fmt: skip
    for mapped, looped in pairs:
        np.testing.assert_allclose(mapped(x).detach().numpy(), looped(x).detach().numpy(), rtol=1e-10, atol=1e-12)


def item(x):
    b = gs.zeros(3)
    b[0] = x[1] * x[1]
    return b * 2 + b.sum()


def added(x):
    b = gs.ones(3)
    b += x
    b *= gs.sin(x)
    return b


def methods(x):
    b = gs.ones(3)
    b.add_(x, alpha=2).mul_(x)
    c = gs.empty(3)
    c.copy_(b)
    return c - b * x


def mask(x):
    b = gs.ones((2, 3))
    b[gs.asarray([True, False])] = x
    b[:, gs.asarray([False, True, True])] = x[:2]
    return b * x


def by_loop(x):
    b = gs.ones(4)
    for i in range(3):
        b[i + 1] = b[i].clone() * x[i]
    return b


def own_place(x):
    b = gs.zeros(3)
    b[gs.argmax(x)] = 1.0
    b[gs.argsort(x)[:2]] += x[0]
    return b * x


def view_before(x):
    b = gs.zeros((2, 3))
    row, corner, turned = b[0], b[1, 2], b.mT
    assert float(b[0, 0]) == 0
    b[0, 1] = x[0]
    row += x * x
    corner.copy_(x[2])
    turned[0, 1] = x[1]
    return b.sum(axis=0) + row * turned[:, 0] + corner


def view_written(x):
    b = gs.arange(6.0).reshape(2, 3)
    b[0].copy_(x)
    b[1:].mul_(gs.cos(x))
    b[:, 1] = x[:2]
    return b.sum(axis=0)


def view_of_view(x):
    b = gs.zeros(8)
    c = b[1:7].reshape(2, 3)
    d = c[:, 1:]
    d[1] = x[:2]
    after = b[5:]
    after *= x
    return b[:6].reshape(2, 3).sum(axis=0) + c[1] + d.sum() + after


def filled(x):
    b = gs.zeros(3)
    b.fill_(x[0])
    c = gs.zeros((3, 3))
    c.fill_diagonal_(1.0)
    c[1].copy_(b)
    return c @ x


def no_rows_yet(x):
    b = gs.zeros(3)
    b[0] = 5.0
    b += 1
    if b[0] > 3:
        b[1:] = x[:2]
    return b * x


def no_grad(x):
    b = gs.ones(3)
    with gs.no_grad():
        b[1] = x[0]
    b[2] = x[2] * b[1]
    return b * x


def integers(x):
    b = gs.zeros(3, dtype=int)
    b[0] = gs.argmax(x)
    b += 1
    return x[b % 3] * b


def stored(x):
    held = {"b": gs.zeros(3)}
    alias = held["b"]
    alias.note = "mine"
    held["b"][0] = x[0]
    assert alias is held["b"] and alias.note == "mine"
    alias[1] = x[1]
    return held["b"] + x


FORMS = [item, added, methods, mask, by_loop, own_place, view_before, view_written, view_of_view, filled, no_rows_yet,
         no_grad, integers, stored]  # fmt: skip


@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_form(f):
    is_the_loop(f, rand(4, 3))


@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_form_inside_of_another_vmap(f):
    is_the_loop(gs.vmap(f), rand(2, 4, 3))
    is_the_loop(gs.vmap(f, chunk_size=2), rand(2, 4, 3))


def test_a_tensor_with_a_history():
    def f(w, x):
        b = w * w
        row = b[1:]
        with gs.no_grad():
            b[2] = x[2]
        b[0] = x[0]
        row *= x[:2]
        return gs.sin(b)

    w, x = rand(3), rand(4, 3)
    loop = lambda w: gs.stack([f(w, x[i]) for i in range(4)])  # noqa: E731
    mapped = lambda w: gs.vmap(lambda x: f(w, x))(x)  # noqa: E731
    for change in (lambda f: f, gs.jacrev, gs.jacfwd, lambda f: gs.hessian(lambda w: gs.cos(f(w)).sum())):
        np.testing.assert_allclose(change(mapped)(w).detach().numpy(), change(loop)(w).detach().numpy(), rtol=1e-10, atol=1e-12)


def test_rows_of_two_levels_are_written_to_one_tensor():
    def inner(first, x, y):
        b = gs.zeros(3)
        row = b[:2]
        for value in (x, y) if first else (y, x):
            b += value
            row *= value[1:]
        return b * row.sum()

    x, y = rand(2, 3), rand(4, 3) + 1
    for first in (True, False):
        found = gs.vmap(lambda x, f=first: gs.vmap(lambda y: inner(f, x, y))(y))(x)
        wanted = gs.stack([gs.stack([inner(first, a, b) for b in y]) for a in x])
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12)


def test_made_further_out():
    def outer(x):
        b = gs.zeros(3)

        def inner(y):
            b[0] = y[0]
            return b

        return gs.vmap(inner)(rand(4, 3))

    with pytest.raises(RuntimeError, match=OUTSIDE):
        gs.vmap(outer)(rand(2, 3))

    def of_the_outer_row(x):
        b = gs.zeros(3)

        def inner(y):
            b[0] = x[0]
            return b * y

        return gs.vmap(inner)(rand(4, 3))

    found = gs.vmap(of_the_outer_row)(rand(2, 3))
    np.testing.assert_allclose(found.numpy()[:, :, 0], np.outer(rand(2, 3).numpy()[:, 0], rand(4, 3).numpy()[:, 0]))


def outer_tensors():
    b, array = gs.zeros(3), np.zeros(3)
    yield lambda: b
    yield lambda: b[...]
    yield lambda: b[:]
    yield lambda: b.reshape(3)
    yield lambda: gs.ravel(b)
    yield lambda: b.detach()
    yield lambda: b.data
    yield lambda: gs.stop_gradient(b)
    yield lambda: gs.asarray(b)
    yield lambda: gs.asarray(array)
    yield lambda: gs.asarray(array[:])
    yield lambda: gs.from_dlpack(array)
    yield lambda: b.add_(0)
    yield lambda: gs.add(b, 0, out=b)
    yield lambda: b.contiguous()
    yield lambda: gs.atleast_1d(b)
    yield lambda: gs.broadcast_to(b, (3,))
    yield lambda: gs.split(b, [3])[0]
    yield lambda: gs.nn.Parameter(array)


@pytest.mark.parametrize("k", range(19))
def test_tensors_from_outside(k):
    make = list(outer_tensors())[k]

    def f(x):
        b = make()
        b[0] = x[0]
        return b

    before = make().detach().numpy().copy()
    with pytest.raises(RuntimeError, match=f"{OUTSIDE}|{SHARED}|leaf"):
        gs.vmap(f)(rand(4, 3))
    np.testing.assert_array_equal(make().detach().numpy(), before)


@pytest.mark.parametrize("look", [
    lambda b: b.numpy(), lambda b: b.detach(), lambda b: b.data, lambda b: memoryview(b.numpy()), lambda b: gs.split(b, 3),
    lambda b: b[::-1], lambda b: gs.unstack(b), lambda b: np.asarray(b)[1:],
    lambda b: b.numpy().__dlpack__(), lambda b: b.requires_grad_(), lambda b: gs.stop_gradient(b)])  # fmt: skip
def test_memory_that_something_looks_at(look):
    def f(x):
        b = gs.zeros(3)
        there = look(b)
        b[0] = x[0]
        return b, there

    def gone(x):
        b = gs.zeros(3)
        there = look(b)
        del there
        b[0] = x[0]
        return b

    with pytest.raises(RuntimeError, match=SHARED):
        gs.vmap(f)(rand(4, 3))
    if getattr(look(gs.zeros(3)), "requires_grad", False):
        return
    np.testing.assert_allclose(gs.vmap(gone)(rand(4, 3)).numpy()[:, 0], rand(4, 3).numpy()[:, 0])


def test_a_tensor_of_an_earlier_call():
    kept = []

    def f(x):
        kept.append(gs.zeros(3))
        kept[0][0] = x[0]
        return kept[0] * x

    gs.vmap(f)(rand(4, 3))
    with pytest.raises(RuntimeError, match="when that vmap had ended|" + OUTSIDE):
        gs.vmap(f)(rand(4, 3))
    kept[:] = [None]

    def g(x):
        if kept[0] is None:
            kept[0] = gs.zeros(3)
        else:
            kept[0][0] = x[0]
        return kept[0] * x

    gs.vmap(g)(rand(4, 3))
    with pytest.raises(RuntimeError, match=OUTSIDE):
        gs.vmap(g)(rand(4, 3))
    assert not kept[0].numpy().any()


def test_what_a_node_has_saved():
    def f(x):
        b = gs.ones(3)
        y = x * b
        b[0] = x[0]
        return y.sum()

    def g(x):
        b = gs.ones(3)
        y = (gs.sin(x) * b).sum()
        (there,) = gs.autograd.grad(y, x)
        b[0] = x[0]
        return there * b

    x = rand(4, 3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation|" + SHARED):
        gs.vmap(gs.grad(f))(x)
    mapped = gs.vmap(g)(x.requires_grad_()).detach().numpy()
    np.testing.assert_allclose(mapped, gs.stack([g(row) for row in x]).detach().numpy())


def test_numbers_of_it():
    def before(x):
        b = gs.arange(3.0)
        assert float(b[1]) == 1 and b.sum().item() == 3 and b.tolist() == [0, 1, 2] and "tensor" in repr(b).lower()
        b[0] = x[0]
        return b

    gs.vmap(before)(rand(4, 3))
    looks = [lambda b: float(b[0]), lambda b: b.numpy(), lambda b: np.asarray(b), lambda b: b.tolist(), lambda b: bool(b[0] > 0),
             lambda b: b[0].item(), pickle.dumps, lambda b: b.__dlpack__(), lambda b: np.sin(b).numpy(), lambda b: [*b][0].item(),
             lambda b: np.add(np.ones(3), b).numpy(), lambda b: memoryview(b), lambda b: int(b[0])]  # fmt: skip
    for look in looks:

        def after(x, look=look):
            b = gs.arange(3.0)
            b[0] = x[0]
            assert type(b) is Turned
            look(b)
            return b

        with pytest.raises((RuntimeError, TypeError)):
            gs.vmap(after)(rand(4, 3))


def test_out():
    def f(x):
        b = gs.full(3, 2.0)
        gs.multiply(x, gs.arange(3.0), out=b)
        return b + x

    x = rand(4, 3)
    np.testing.assert_allclose(gs.vmap(f)(x).numpy(), x.numpy() * np.arange(3.0) + x.numpy())


def test_draws():
    def f(x):
        b = gs.zeros(1000)
        b.normal_()
        return b

    found = gs.vmap(f, randomness="different")(rand(2, 3)).numpy()
    assert abs(np.corrcoef(found)[0, 1]) < 0.2


def test_a_recording_looks_at_memory():
    gc.collect()  # no row of another test is left
    with pytest.raises(RuntimeError, match=SHARED):
        gs.compile(gs.vmap(item))(rand(4, 3))

    def begun_with_a_batch(x):
        b = gs.zeros_like(x)
        b[0] = x[1]
        return b

    x = rand(4, 3)
    np.testing.assert_allclose(gs.compile(gs.vmap(begun_with_a_batch))(x).numpy(), gs.vmap(begun_with_a_batch)(x).numpy())


def test_nothing_is_left_behind():
    def count():
        gc.collect()
        return sum(type(one).__name__ in ("Turned", "Batched", "Level", "Mapping") for one in gc.get_objects())

    gs.vmap(view_before)(rand(4, 3))
    before = count()
    for _ in range(19):
        gs.vmap(view_before)(rand(4, 3))
    assert count() == before
