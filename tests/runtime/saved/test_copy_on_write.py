"""What nodes are given when a recorded write has changed what they saved: the value as it was."""


import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import graph
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_a_result_that_backward_needs_may_be_overwritten():
    a = leaf(1.0, 2.0)
    y = a / 2.0
    z = y * y
    y[0] = 0
    (z.sum() + y.sum()).backward()
    same(a.grad, [0.5, 1.0 + 0.5])


def test_a_value_may_be_added_to_in_place():
    a = leaf(0.3, -1.0)
    b = 1 / (gs.exp(-a) + 1)
    b += 1
    b.sum().backward()
    s = 1 / (1 + np.exp(-a.detach().numpy()))
    same(a.grad, s * (1 - s))


def test_a_recurrence_in_a_buffer():
    p = gs.tensor(2.0, requires_grad=True)
    y = gs.zeros((5,))
    y[0] = p
    for i in range(4):
        y[i + 1] = y[i] * p
    y.sum().backward()
    same(p.grad, 1 + 4 + 12 + 32 + 80)


def test_elements_swap_as_in_numpy():
    a = leaf(1.0, 2.0, 3.0) * 1
    a[0], a[2] = a[2], a[0]
    same(a, [3, 2, 1])


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_elements_of_any_size_swap_and_rows_are_views(dtype):
    """As in NumPy, where `rows[0]` shows what its memory holds and an element of a vector is a number."""
    for shape in ((3,), (3, 1), (3, 2)):
        for first, second in ((0, 1), (1, 2), (2, 0)):
            expected = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype) * (1j if "c" in dtype else 1)
            a = gs.tensor(expected.copy(), requires_grad=True) * 1
            a[first], a[second] = a[second], a[first]
            expected[first], expected[second] = expected[second], expected[first]
            same(a, expected)
            if len(shape) == 2:
                a[first, 0], a[second, 0] = a[second, 0], a[first, 0]
                expected[first, 0], expected[second, 0] = expected[second, 0], expected[first, 0]
                same(a, expected)


def test_the_gradient_of_a_swap():
    x = leaf(1.0, 2.0, 3.0)
    a = x * 1
    a[0], a[2] = a[2], a[0]
    (a * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    try:
        same(x.grad, [100.0, 10.0, 1.0])
    except AssertionError:
        same(a, [3, 2, 3])
        raise


def test_an_element_of_another_array_is_assigned_as_it_is():
    """A view with a name shows what its memory holds, as NumPy's do; only a write to that memory itself could have meant otherwise."""
    x = leaf(1.0, 2.0) * 1
    y = leaf(7.0, 8.0) * 1
    first = x[0]
    x[0] = 5.0
    y[1] = first
    same(y, [7, 5])
    with pytest.raises(RuntimeError, match="an element was assigned that has been overwritten since it was read"):
        x[1] = first


def test_rows_may_be_added_to():
    x = leaf(1.0, 2.0)
    buf = gs.zeros((3, 2))
    for i in range(3):
        buf[i] += x * i
    buf.sum().backward()
    same(x.grad, [3, 3])


PLACES = {
    "whole": lambda b: b, "start": lambda b: b[:1], "end": lambda b: b[1:], "row": lambda b: b[2], "column": lambda b: b[:, 1],
    "backwards": lambda b: b[::-1, ::-1], "steps": lambda b: b[1::2, ::2], "turned": lambda b: b.T[1:], "element": lambda b: b[1, 2],
}  # fmt: skip


@each("written", PLACES)
@each("saved", PLACES)
@each("before", [0, 1, 2])
def test_what_is_saved_of_a_buffer_is_what_its_place_held(saved, written, before):
    """Whatever view is saved and whatever view is written to, after so many writes before."""
    x = gs.tensor(np.arange(1.0, 13.0).reshape(3, 4), requires_grad=True)
    b = x * 1
    for _ in range(before):
        b.mul_(2)
    part = PLACES[saved](b)
    w = gs.tensor(np.full(part.shape, 0.5), requires_grad=True)
    expected = part.detach().numpy().copy()
    y = part * w
    for _ in range(2):
        PLACES[written](b).mul_(10)
    y.sum().backward()
    same(w.grad, expected)
    slope = np.zeros((3, 4))
    if saved == "element":
        slope[1, 2] = 0.5 * 2**before
    else:
        PLACES[saved](slope)[...] = 0.5 * 2**before
    same(x.grad, slope)


def test_columns_may_be_written_step_by_step():
    x = leaf(1.0, 2.0)
    f = gs.zeros((2, 2)) * 1
    f[:, 1] -= x
    f[:, 1] *= x
    f.sum().backward()
    same(x.grad, [-2, -4])


def test_a_write_that_raised_after_it_wrote_is_counted():
    x = leaf(0.5, 1.0)
    y = gs.exp(x)
    with gs.no_grad(), np.errstate(all="raise"):
        try:
            y.divide_(0.0)
        except FloatingPointError:
            pass
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.sum().backward()


def test_a_composite_that_gives_its_operands_memory_shares_the_version():
    w = leaf(1.0, 2.0)
    x = gs.tensor([3.0, 4.0])
    loss = (w * x).sum()
    gs.ravel(x).mul_(100.0)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        loss.backward()


def test_a_saved_leaf_is_the_very_object_and_a_saved_output_is_not():
    a = leaf(1.0, 2.0)
    b = gs.tensor([3.0, 4.0])
    y = a * b
    assert y.grad_fn._saved_b is b
    y = a * leaf(5.0, 6.0)
    assert y.grad_fn._saved_a is a
    z = gs.exp(a)
    s = z.grad_fn._saved_y
    assert s is not z and s.grad_fn is z.grad_fn
    same(s, z.detach().numpy())
    with gs.no_grad():
        z.add_(1)
    assert s._version == z._version


def test_what_saves_nothing_does_not_mind_a_write():
    a = leaf(1.0) * 1
    y = a + a
    with gs.no_grad():
        a.mul_(2)
    y.backward()


def test_an_in_place_result_is_saved_as_it_is_written():
    x = leaf(1.0)
    z = x * 1
    z.exp_()
    z.backward()
    same(x.grad, [np.e])


def test_the_result_of_an_in_place_operator_is_a_root():
    x = leaf(1.0, 2.0)
    y = leaf(3.0, 4.0)
    z = x * 1
    w = z.add_(y)
    w.backward(gs.ones((2,)))
    same(x.grad, [1, 1])


def test_a_saved_tensor_that_was_detached_is_refused():
    x = leaf(2.0) * 1
    y = x * x
    x.detach_()
    with pytest.raises(RuntimeError, match="Trying to use a saved tensor that has been detached"):
        y.backward()


def test_a_saved_output_may_be_detached():
    a = leaf(2.0)
    y = gs.exp(a)
    z = y * 2
    y.detach_()
    z.backward()
    same(a.grad, [2 * np.exp(2.0)])


def test_increment_version_of_an_inference_tensor():
    with gs.inference_mode():
        t = gs.ones((2,))
    graph.increment_version(t)


def test_data_keeps_the_counter():
    x = leaf(1.0, 2.0)
    xz = x[:]
    assert x._version == xz._version
    with gs.no_grad():
        x.add_(1)
    assert x._version == xz._version == 1
    x.data = gs.tensor([3.0, 4.0])
    assert x._version == 1
    assert xz._version == 1


def test_resize_counts_if_it_changes_the_shape():
    x = gs.ones((2, 3))
    v = x._version
    x.resize_((2, 3))
    assert x._version == v
    x.resize_((3, 2))
    assert x._version > v
