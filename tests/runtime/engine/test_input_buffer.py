"""InputBuffer: what a gradient looks like when it arrives, and how several become one."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def giving(value):
    """x * 1 whose backward returns `value`."""

    class Gives(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return value

    return Gives.apply


def arriving(x, value, **options):
    """The gradient of `x` when `value` was sent to it."""
    return grad(giving(value)(x).sum(), x, **options)[0]


RECORDING = [{}, {"create_graph": True}]


@each("options", RECORDING)
@each(
    "shape, sent",
    [((2, 3), (4, 2, 3)), ((2, 1), (2, 3)), ((1, 3), (5, 2, 3)), ((), (2, 3)), ((2, 1), (2, 0)), ((1, 1), (2, 3))],
)
def test_broadcast_gradients_are_summed_to_the_shape(shape, sent, options):
    value = gs.tensor(np.arange(float(np.prod(sent))).reshape(sent))
    result = arriving(gs.ones(shape, requires_grad=True), value, **options)
    assert result.shape == shape
    extra = tuple(range(len(sent) - len(shape)))
    expected = value.numpy().sum(axis=extra)
    expected = expected.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)
    same(result, expected)


@pytest.mark.parametrize("options", RECORDING)
@pytest.mark.parametrize("sent", [(3,), (2, 2), (3, 2), (2, 3, 1)])
def test_other_shapes_are_refused(sent, options):
    with pytest.raises(
        RuntimeError,
        match="Function GivesBackward returned an invalid gradient at index 0 - got .* but expected "
        r"shape compatible with \[2, 3\]",
    ):
        arriving(gs.ones((2, 3), requires_grad=True), gs.ones(sent), **options)


@pytest.mark.parametrize("options", RECORDING)
def test_dtypes_are_cast_and_complex_becomes_real(options):
    x = gs.ones((2,), dtype="float32", requires_grad=True)
    assert arriving(x, gs.ones((2,)), **options).dtype == np.float32
    result = arriving(x, gs.tensor([1 + 2j, 3 + 4j]), **options)
    assert result.dtype == np.float32
    same(result, [1.0, 3.0])
    z = gs.ones((2,), dtype="complex128", requires_grad=True)
    assert grad(giving(gs.ones((2,)))(z), z, gs.ones((2,), dtype="complex128"), **options)[0].dtype == np.complex128
    assert arriving(gs.ones((2,), requires_grad=True), gs.tensor([1, 2]), **options).dtype == np.float64
    y = gs.tanh(x)
    both = giving(gs.ones((2,)))(y).sum() + giving(gs.ones((2,)))(y).sum()
    (total,) = grad(both, x, **options)
    assert total.dtype == np.float32
    np.testing.assert_allclose(total.detach().numpy(), 2 / np.cosh(1.0) ** 2, rtol=1e-6)


@pytest.mark.parametrize("options", RECORDING)
def test_outputs_in_a_list_that_nobody_uses_give_zeros(options):
    x = leaf(1.0, 2.0, 3.0)
    for sections, used, expected in ((1, 0, [2.0, 4.0, 6.0]), ([1], 1, [0.0, 4.0, 6.0])):
        parts = gs.split(x, sections)
        (got,) = grad((parts[used] * parts[used]).sum(), x, **options)
        same(got, expected)
    (got,) = grad((gs.broadcast_arrays(x)[0] * x).sum(), x, **options)
    same(got, [2.0, 4.0, 6.0])
    one, other = gs.broadcast_arrays(x, leaf(1.0))
    (got,) = grad(one.sum(), x, **options)
    same(got, [1.0, 1.0, 1.0])


def test_several_gradients_become_their_sum_and_stay_intact():
    value = gs.ones((3,))
    gives = giving(value)
    x = leaf(1.0, 2.0, 3.0)
    h = x * 1
    (gives(h).sum() + gives(h).sum() + gives(h).sum()).backward()
    same(x.grad, [3.0] * 3)
    same(value, [1.0] * 3)


@pytest.mark.parametrize("kind", ["read-only", "expanded", "view"])
def test_gradients_that_are_not_owned_are_not_written_to(kind):
    owner = np.ones(6)
    array = owner[:3]
    if kind == "read-only":
        array = np.ones(3)
        array.flags.writeable = False
    elif kind == "expanded":
        array = np.broadcast_to(owner[:1], (3,))
    value = gs.asarray(array)
    x = leaf(1.0, 2.0, 3.0)
    h = x * 1
    (giving(value)(h).sum() + giving(gs.ones((3,)))(h).sum() + giving(value)(h).sum()).backward()
    same(x.grad, [3.0] * 3)
    np.testing.assert_array_equal(owner, 1.0)
    np.testing.assert_array_equal(array, 1.0)


def test_a_gradient_kept_by_a_hook_is_not_written_to():
    kept = []
    x = leaf(1.0)
    h = x * 1
    a, b, c = h * 2, h * 3, h * 5
    a.register_hook(kept.append)
    h.register_hook(kept.append)
    (a + b + c).backward()
    x.grad.mul_(100)
    assert [g.item() for g in kept] == [1.0, 10.0]


def test_undefined_and_defined_gradients_add_up():
    class Stops(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None

    x = leaf(2.0)
    h = x * 1
    (Stops.apply(h) + h * 3).backward()
    same(x.grad, [3.0])
