"""In-place operators and `out=`: where they write, what they keep of the old value, and which name an error calls them by."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.support.dispatch import ops
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


@pytest.mark.parametrize("call", [
    lambda x: x.add_("text"),
    lambda x: gs.add(x, "text"),
    lambda x: x.lerp_(x, object()),
    lambda x: gs.lerp(x, x, object()),
    lambda x: x.masked_fill_(x > 0, "text"),
    lambda x: x.fill_("text"),
    lambda x: x.elu_(gs.tensor(1.0, requires_grad=True)),
], ids=["add_", "add", "lerp_", "lerp", "masked_fill_", "fill_", "elu_"])  # fmt: skip
def test_errors_of_operands_name_the_operator_that_was_called(call, request):
    name = request.node.callspec.id
    with pytest.raises(TypeError, match=rf"^{name}: argument '"):
        call(gs.ones((2,)))


def test_the_target_has_to_be_a_tensor():
    with pytest.raises(TypeError, match=r"^fill_: the first argument is written to and must be a Tensor, got list"):
        ops.fill_([1.0], 2.0)
    with pytest.raises(TypeError, match=r"^add: the first argument is written to and must be a Tensor, got ndarray"):
        gs.add(1.0, 2.0, out=np.zeros(()))


def test_a_dtype_that_is_not_claimed_is_refused_in_place_too():
    z = gs.tensor([1j])
    with pytest.raises(TypeError, match=r"^atan2_: argument 'a' is of dtype complex128"):
        z.atan2_(1.0)
    with pytest.raises(TypeError, match=r"^elu_: argument 'x' is of dtype complex128"):
        z.elu_()
    same(z, [1j])


# A small plain result goes through an array of its own; everything else through NumPy's `out=`.

ARRAYS = {
    "plain": lambda: np.linspace(0.25, 2.0, 8),
    "float32": lambda: np.linspace(0.25, 2.0, 8).astype(np.float32),
    "reversed": lambda: np.linspace(0.25, 2.0, 8)[::-1],
    "fortran": lambda: np.asfortranarray(np.linspace(0.25, 2.0, 8).reshape(2, 4)),
    "0-d": lambda: np.array(0.75),
    "empty": lambda: np.zeros((0, 3)),
    "large": lambda: np.linspace(0.25, 2.0, 5000),
    "complex": lambda: np.linspace(0.25, 2.0, 8) * (1 + 1j),
}


@each("kind", ARRAYS)
@each("name", ["tanh", "negative", "log", "conj"])
def test_unary_ufuncs_in_place(name, kind):
    x = gs.tensor(ARRAYS[kind]())
    memory, expected = x.numpy(), getattr(np, name)(ARRAYS[kind]())
    assert getattr(x, f"{name}_")() is x and x.numpy() is memory and x._version == 1
    np.testing.assert_allclose(memory, expected, rtol=1e-6 if kind == "float32" else 1e-15)


@each(("left", "right"), [*itertools.product(ARRAYS, [2, 0.5, True, "same", "0-d"])])
def test_binary_ufuncs_in_place(left, right):
    array = ARRAYS[left]()
    other = ARRAYS[right]() if right == "0-d" else ARRAYS[left]()[...] * 2 if right == "same" else right
    expected = array.copy()
    np.subtract(expected, other, out=expected)
    x = gs.tensor(array)
    memory = x.numpy()
    x.subtract_(gs.tensor(other) if isinstance(other, np.ndarray) else other)
    assert x.numpy() is memory and x._version == 1
    np.testing.assert_array_equal(memory, expected)


def test_operands_that_overlap_the_target():
    x = gs.tensor(np.arange(8.0))
    x[1:].add_(x[:-1])
    same(x, [0, 1, 3, 5, 7, 9, 11, 13])
    y = gs.tensor(np.arange(4.0))
    y.multiply_(y)
    same(y, [0, 1, 4, 9])
    out = gs.tensor(np.arange(6.0))
    gs.add(out[:-1], 1.0, out=out[1:])
    same(out, [0, 1, 2, 3, 4, 5])


def test_warnings_are_numpys_in_place_too():
    x = gs.tensor([0.0, 1.0])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        x.log_()
    same(x, [-np.inf, 0.0])
    y = gs.tensor([0.0, 1.0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        y.log_()


def test_a_result_of_another_dtype_is_refused_and_changes_nothing():
    x = gs.tensor([1, 2])
    with pytest.raises(TypeError, match="^divide_: .*same_kind"):
        x.divide_(2)
    same(x, [1, 2])
    y = gs.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="^multiply_: "):
        y.multiply_(1j)
    same(y, [1, 2])


def test_a_shape_that_does_not_fit_is_refused_and_changes_nothing():
    x = gs.ones((3,))
    with pytest.raises(ValueError, match="^add_: "):
        x.add_(gs.ones((2, 3)))
    with pytest.raises(RuntimeError, match=r"^lerp_: output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        x.lerp_(gs.ones((2, 3)), 0.5)
    for write in (lambda: x.clip_(gs.ones((2, 3))), lambda: x.masked_fill_(np.ones((2, 3), bool), 0)):
        with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
            write()
    assert x._version == 0
    same(x, [1.0, 1.0, 1.0])


# The value that is written over.


@each("needs_a", [True, False])
@each("needs_b", [True, False])
@each("name", ["multiply", "pow", "divide", "atan2", "add", "copysign", "hypot"])
def test_gradients_of_whatever_reads_the_old_value(name, needs_a, needs_b):
    a, b = (gs.tensor(np.array(v), requires_grad=n) for v, n in (([0.5, 2.0], needs_a), ([1.5, 0.7], needs_b)))
    target = a * 1
    getattr(target, f"{name}_")(b)
    expected = getattr(gs, name)(a, b)
    same(target, expected.detach().numpy())
    assert target.requires_grad == (needs_a or needs_b)
    wanted = [v for v in (a, b) if v.requires_grad]
    if wanted:
        for one, other in zip(grad(target.sum(), wanted), grad(expected.sum(), wanted)):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-14)


@pytest.mark.parametrize("name", ["multiply", "divide", "add"])
def test_tangents_of_whatever_reads_the_old_value(name):
    a, b = gs.tensor([0.5, 2.0]), gs.tensor([1.5, 0.7])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(b, gs.tensor([1.0, 3.0]))
        target = a.copy()
        getattr(target, f"{name}_")(dual)
        found, wanted = (forward_ad.unpack_dual(y).tangent for y in (target, getattr(gs, name)(a, dual)))
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-14)


def test_no_copy_is_made_where_nothing_reads_the_old_value():
    """exp reads its output: the tensor that the operator ran on shares the memory that was written."""
    x = leaf(0.5, 1.0) * 1
    memory = x.detach().numpy()
    x.exp_()
    assert x.detach().numpy() is memory
    same(x.grad_fn._saved_y, memory)


# `out=`.


@pytest.mark.parametrize("name", ["less", "isnan", "all"])
def test_operators_without_a_gradient_take_out_of_anything(name):
    x = leaf(1.0, 2.0)
    arguments = (x, 2.0) if name == "less" else (x,)
    expected = getattr(gs, name)(*arguments)
    out = gs.empty(expected.shape, dtype=bool)
    with forward_ad.dual_level():
        assert getattr(gs, name)(*arguments, out=out) is out
    same(out, expected.numpy())


@pytest.mark.parametrize("name", ["tanh", "reciprocal", "sum"])
def test_out_is_refused_in_forward_mode(name):
    out = gs.zeros(() if name == "sum" else (2,))
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match=f"^{name}: an out= function cannot be used in forward mode"):
        getattr(gs, name)(gs.ones((2,)), out=out)


@pytest.mark.parametrize("name", ["tanh", "add", "sum", "cumsum", "matmul", "less"])
def test_what_out_overwrites_is_not_kept(name):
    """Such a write is not recorded: a node that needs the old value refuses."""
    arguments = {"add": (gs.ones((2, 2)), 1.0), "less": (gs.ones((2, 2)), 1.0), "sum": (gs.ones((2, 2, 2)), 0),
                 "cumsum": (gs.ones((2, 2)), 0), "matmul": (gs.ones((2, 2)), gs.ones((2, 2)))}.get(name, (gs.ones((2, 2)),))  # fmt: skip
    factor = gs.ones((2, 2), dtype=bool if name == "less" else float)
    y = leaf(1.0, 2.0) * factor
    before = factor._version
    assert getattr(gs, name)(*arguments, out=factor) is factor and factor._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_out_may_be_larger_than_the_operands_of_a_ufunc():
    out = gs.zeros((2, 3))
    gs.add(gs.ones((3,)), 1.0, out=out)
    same(out, np.full((2, 3), 2.0))


# What is written overlaps what is read.

OVERLAPS = {
    "steps along one axis": lambda a: (a.reshape((6,)), (slice(None, None, 2),), a[0]),
    "backwards": lambda a: (a.reshape((6,)), (slice(None),), a.reshape((6,))[::-1]),
    "a mask": lambda a: (a, (np.array([[False, False, True], [False, True, True]]),), a[0]),
    "repeated rows": lambda a: (a, ([1, 0],), a[:1]),
    "shifted": lambda a: (a.reshape((6,)), (slice(1, None),), a.reshape((6,))[:-1]),
}


@each("overlap", OVERLAPS.values(), ids=OVERLAPS)
@each("recorded", [False, True])
def test_a_write_reads_all_before_it_writes(overlap, recorded):
    """NumPy itself reads what it has just written in some of these."""
    expected = np.arange(6.0).reshape(2, 3)
    target, index, value = overlap(expected)
    target[index] = value.copy()
    x = gs.tensor(np.arange(6.0).reshape(2, 3), requires_grad=recorded) * 1
    target, index, value = overlap(x)
    target[index] = value
    same(x, expected)
    y = gs.tensor(np.arange(6.0))
    y[1:].copy_(y[:-1])
    same(y, [0.0, 0.0, 1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("call", [lambda x, out: gs.exp(x, out=out), lambda x, out: gs.multiply(x, x, out=out),
                                  lambda x, out: gs.sum(x, 0, out=out)], ids=["unary", "binary", "other"])  # fmt: skip
def test_out_names_the_derivative_before_the_inference_tensor(call):
    with gs.inference_mode():
        out = gs.ones((2,))
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        call(gs.ones((2, 2) if "sum" in call.__code__.co_names else (2,)), out)
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic differentiation"):
        call(gs.ones((2, 2) if "sum" in call.__code__.co_names else (2,), requires_grad=True), out)


def test_a_view_that_a_custom_forward_takes_is_its_own_whether_or_not_it_is_recorded():
    class IdOneOutput(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad

    for value, whose in ((leaf(1.0), "Output 0 of IdOneOutput is a view"), (gs.tensor([1.0]), "A tensor is a view")):
        view = IdOneOutput.apply(value * 1)
        with pytest.raises(RuntimeError, match=f"{whose} and is being modified inplace. This view was created inside a custom Fun"):
            view += leaf(2.0)
    with gs.no_grad():
        view = IdOneOutput.apply(gs.tensor([1.0]))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view += leaf(2.0)


def test_a_value_of_another_dtype_is_cast_as_it_is_written():
    for recorded in (False, True):
        target = gs.ones(3, dtype="float32")
        target.mul_(gs.tensor([0.5, 0.25, 2.0], requires_grad=recorded))
        assert target.dtype == np.float32
        np.testing.assert_array_equal(target.detach().numpy(), [0.5, 0.25, 2.0])
