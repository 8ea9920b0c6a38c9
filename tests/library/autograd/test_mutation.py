"""allow_mutation_on_saved_tensors: what is copied, when, and for how long."""

import gc

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad
from gradspec.autograd.graph import allow_mutation_on_saved_tensors

A = np.linspace(0.5, 1.5, 6).reshape(2, 3)


@pytest.fixture(autouse=True)
def no_collector():
    gc.disable()
    yield
    gc.enable()


def leaf():
    return gs.tensor(A, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


WRITES = {
    "unrecorded": lambda b: _unrecorded(b),
    "data": lambda b: b.data.mul_(3),
    "detached": lambda b: b.detach().mul_(3),
    "out": lambda b: gs.multiply(b.data, 3.0, out=b.data),
    "view": lambda b: b.data[:1].fill_(9.0),
    "setitem": lambda b: b.data.__setitem__((0, 1), 9.0),
    "transposed view": lambda b: b.data.T[1:].add_(1.0),
}


def _unrecorded(b):
    with gs.no_grad():
        b.sin_()


@pytest.mark.parametrize("name", WRITES)
def test_a_write_after_the_save(name):
    a = leaf()
    with allow_mutation_on_saved_tensors() as ctx:
        b = a * 1
        out = (b**2).sum()
        assert len(ctx.cloned) == 0 and len(ctx.tid_to_weakhandle) == 1
        WRITES[name](b)
        assert len(ctx.cloned) == 1
        out.backward()
        assert len(ctx.cloned) == 0 and len(ctx.tid_to_weakhandle) == 0
    same(a.grad, 2 * A)


def test_a_recorded_write():
    a = leaf()
    with allow_mutation_on_saved_tensors():
        b = a * 1
        out = (b**2).sum()
        b.sin_()
        (out + b.sum()).backward()
    same(a.grad, 2 * A + np.cos(A))


def test_a_saved_output():
    a = leaf()
    with allow_mutation_on_saved_tensors():
        b = gs.exp(a)
        b.data.zero_()
        b.backward(np.ones(A.shape))
    same(a.grad, np.exp(A))


def test_a_saved_view_and_a_write_to_its_base():
    a = leaf()
    with allow_mutation_on_saved_tensors() as ctx:
        b = a * 1
        c = b[:1]
        out = (c**2).sum()
        b.data.mul_(2)
        assert len(ctx.cloned) == 1
        out.backward()
    same(a.grad, [2 * A[0], 0 * A[0]])


def test_derivatives_of_derivatives():
    a = leaf()
    with allow_mutation_on_saved_tensors():
        b = a * 1
        out = (b**3).sum()
        b.data.sin_()
        (first,) = grad(out, a, create_graph=True)
        (second,) = grad(first.sum(), a)
    same(first, 3 * A**2)
    same(second, 6 * A)


def test_what_is_saved_no_more_is_not_copied():
    with allow_mutation_on_saved_tensors() as ctx:
        a = leaf() * 1
        out = (a**2).sum()
        assert len(ctx.tid_to_weakhandle) == 1
        out.backward()
        assert len(ctx.tid_to_weakhandle) == 0
        a.data.sin_()
        assert len(ctx.cloned) == 0
        out = (a**2).sum()
        a.data.sin_()
        assert len(ctx.cloned) == 1
        del out
        assert len(ctx.cloned) == 0 and ctx.places == {}


def test_one_copy_for_all_that_save_the_same():
    with allow_mutation_on_saved_tensors() as ctx:
        a = leaf() * 1
        b, c = a**2, a**2
        a.data.sin_()
        assert len(ctx.cloned) == 1
        del b, c
        assert len(ctx.cloned) == 0


def test_a_copy_for_each_version():
    with allow_mutation_on_saved_tensors() as ctx:
        a = leaf() * 1
        b = a**2
        a.data.sin_()
        c = a**2
        a.data.sin_()
        a.data.sin_()
        assert len(ctx.cloned) == 2
        same(b.grad_fn._saved_a, A)
        same(c.grad_fn._saved_a, np.sin(A))
        del b
        assert len(ctx.cloned) == 1
        del c
        assert len(ctx.cloned) == 0


def test_backward_outside_of_the_context():
    with allow_mutation_on_saved_tensors():
        out = (leaf() ** 2).sum()
    text = (
        "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded"
    )
    with pytest.raises(AssertionError, match=text):
        out.backward()
    with allow_mutation_on_saved_tensors(), pytest.raises(AssertionError, match=text):
        out.backward()


def test_contexts_cannot_be_nested():
    with allow_mutation_on_saved_tensors():
        with pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"):
            allow_mutation_on_saved_tensors().__enter__()
        a = leaf()
        out = (a**2).sum()
        out.backward()
    with allow_mutation_on_saved_tensors():
        pass


def test_outside_writes_are_refused_again():
    with allow_mutation_on_saved_tensors():
        pass
    b = gs.exp(leaf())
    with gs.no_grad():
        b.sin_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.sum().backward()
