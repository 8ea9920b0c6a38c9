"""Function: both styles, what is saved and marked, undefined gradients, forward mode, once_differentiable."""

import gc
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import (
    Function,
    GradientEdge,
    Node,
    backward,
    forward_ad,
    grad,
    once_differentiable,
    saved_tensors_hooks,
)
from gradspec.engine.function_node import FunctionNode


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


class Scale(Function):
    """x * k, with k a Python number."""

    @staticmethod
    def forward(ctx, x, k=3.0):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k, None


class Cube(Function):
    """The other style: no ctx in forward."""

    @staticmethod
    def forward(x, n=3):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.n * x ** (ctx.n - 1), None

    @staticmethod
    def jvp(ctx, x_t, n_t):
        assert n_t is None
        (x,) = ctx.saved_tensors
        return x_t * ctx.n * x ** (ctx.n - 1)


class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, None, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, nothing, b = ctx.saved_tensors
        assert nothing is None
        return grad * b, grad * a


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


# Two styles.


def test_forward_with_ctx():
    x = leaf(1.0, 2.0)
    y = Scale.apply(x, 5.0)
    assert y.grad_fn.name() == "ScaleBackward" and "grad_fn=<ScaleBackward>" in repr(y)
    y.sum().backward()
    same(x.grad, [5.0, 5.0])


def test_setup_context_with_default_and_keyword_arguments():
    x = leaf(2.0)
    same(grad(Cube.apply(x), x)[0], [12.0])
    same(grad(Cube.apply(x, n=2), x)[0], [4.0])


def test_setup_context_with_classmethods():
    class Square(Function):
        @classmethod
        def forward(cls, x):
            return x * x

        @classmethod
        def setup_context(cls, ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @classmethod
        def backward(cls, ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf(3.0)
    same(grad(Square.apply(x), x)[0], [6.0])


def test_vjp_is_another_name_for_backward():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def vjp(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf(3.0)
    same(grad(Square.apply(x), x)[0], [6.0])


def test_missing_and_double_methods():
    class Nothing(Function):
        pass

    class OnlyForward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    class Both(OnlyForward):
        @staticmethod
        def backward(ctx, grad):
            return grad

        @staticmethod
        def vjp(ctx, grad):
            return grad

    x = leaf(1.0)
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Nothing.apply(x)
    with pytest.raises(NotImplementedError, match="must implement either the backward"):
        OnlyForward.apply(x).backward()
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(x).backward()
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="must implement the jvp function"):
        OnlyForward.apply(forward_ad.make_dual(x, gs.tensor([1.0])))


def test_instances_are_refused():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Scale()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf(1.0))


def test_arguments_that_forward_takes_by_keyword_only_are_not_dropped():
    class Scaled(Cube):
        @staticmethod
        def forward(x, n=3, *, scale=1.0):
            return x**n * scale

    x = gs.ones(2, requires_grad=True)
    assert Scaled.apply(x, n=2).tolist() == [1.0, 1.0]
    for call in (lambda x: Scaled.apply(x, scale=3.0), gs.vmap(lambda x: Scaled.apply(x, 2, scale=x))):
        with pytest.raises(NotImplementedError, match="Scaled.apply: kwarg-only Tensor args, .* not passed on: scale; let forward"):
            call(x)


def test_keywords_need_setup_context():
    with pytest.raises(TypeError, match="keyword arguments only where setup_context is defined, got k"):
        Scale.apply(leaf(1.0), k=2.0)


# Arguments and outputs.


def test_other_arguments_and_outputs_pass_through():
    class Mixed(Function):
        @staticmethod
        def forward(ctx, text, x, numbers):
            return None, x * 2, text, x * 3, numbers

        @staticmethod
        def backward(ctx, *grads):
            assert [g is None for g in grads] == [True, False, True, False, True]
            return None, grads[1] * 2 + grads[3] * 3, None

    x = leaf(1.0)
    nothing, a, text, b, numbers = Mixed.apply("text", x, [1, 2])
    assert nothing is None and text == "text" and numbers == [1, 2]
    assert (a.output_nr, b.output_nr) == (1, 3)
    assert len(a.grad_fn.next_functions) == 1  # tensors only
    (a + b).sum().backward()
    same(x.grad, [5.0])


def test_no_tensor_argument():
    class Constant(Function):
        @staticmethod
        def forward(ctx, n):
            return gs.ones((n,))

    y = Constant.apply(3)
    assert y.shape == (3,) and not y.requires_grad and y.grad_fn is None


def test_under_no_grad_nothing_is_recorded():
    x = leaf(1.0)
    with gs.no_grad():
        y = Product.apply(x, x)
        z = Identity.apply(x)
    assert not y.requires_grad and not z.requires_grad and x.requires_grad and z is not x


def test_forward_runs_without_recording():
    modes = []

    class InPlaceInside(Function):
        @staticmethod
        def forward(ctx, x):
            modes.append(gs.is_grad_enabled())
            y = x.clone()
            y.mul_(2)
            return y

        @staticmethod
        def backward(ctx, grad):
            modes.append(gs.is_grad_enabled())
            return grad * 2

    x = leaf(1.0)
    y = InPlaceInside.apply(x)
    assert y.grad_fn.name() == "InPlaceInsideBackward" and gs.is_grad_enabled()
    grad(y, x)
    grad(InPlaceInside.apply(x), x, create_graph=True)
    assert modes == [False, False, False, True] and gs.is_grad_enabled()


def test_grad_mode_is_restored_after_a_failing_forward():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            raise ValueError("inside forward")

    with pytest.raises(ValueError, match="inside forward"):
        Fails.apply(leaf(1.0))
    assert gs.is_grad_enabled()


def test_needs_input_grad_is_right_per_input():
    seen = []

    class Needs(Function):
        @staticmethod
        def forward(ctx, a, k, b):
            seen.append(ctx.needs_input_grad)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.needs_input_grad)
            return None, None, grad

    b = leaf(1.0)
    Needs.apply(gs.tensor([2.0]), 3, b).backward()
    assert seen == [(False, False, True)] * 2


def test_input_returned_as_is_is_a_new_output():
    x = leaf(1.0) * 1
    seen = []
    y = Identity.apply(x)
    assert y is not x and y.grad_fn.name() == "IdentityBackward" and x.grad_fn.name() == "MultiplyBackward"
    y.register_hook(lambda g: seen.append(("y", g.item())))
    x.register_hook(lambda g: seen.append(("x", g.item())))
    (y * 10 + x).sum().backward()
    assert seen == [("y", 10.0), ("x", 21.0)]


@pytest.mark.parametrize("transform", [gs.func.grad, lambda f: lambda x: grad(f(x), x, create_graph=True)[0]])
@pytest.mark.parametrize("number", [0, 1])
def test_input_returned_as_is_may_be_saved_under_either_name(transform, number):
    """PyTorch refuses it beside setup_context.  The gradient 2 s * s with s = 2 x has the derivative 16 x."""

    class Scaled(Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward((inputs[0], output)[number])

        @staticmethod
        def backward(ctx, g):
            (s,) = ctx.saved_tensors
            return g * s * s

    slope = transform(lambda x: Scaled.apply(x * 2))
    x = gs.tensor(3.0, requires_grad=True)
    assert slope(x).item() == 72 and transform(slope)(x).item() == 48


def test_same_output_twice_is_one_object():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, first, second):
            return 2 * first + 2 * second

    x = leaf(1.0)
    a, b = Twice.apply(x)
    assert a is b
    same(grad(a + b, x)[0], [4.0])


def test_view_made_in_forward_refuses_a_recorded_write():
    class Head(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, grad):
            return gs.concat([grad, gs.zeros((1,))])

    x = leaf(1.0, 2.0)
    y = Head.apply(x * 1)
    assert y.grad_fn.name() == "HeadBackward"
    with pytest.raises(RuntimeError, match="view"):
        y.mul_(2)
    same(grad(y, x)[0], [1.0, 0.0])


# What backward returns.


def returning(value):
    class Returns(Function):
        @staticmethod
        def forward(ctx, a, b, k):
            return a * b

        @staticmethod
        def backward(ctx, grad):
            return value

    return Returns


ONE = gs.tensor([[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    "value, message",
    [
        ((ONE, ONE), r"function ReturnsBackward returned an incorrect number of gradients \(expected 3, got 2\)"),
        ((ONE, ONE, None, ONE), r"returned an incorrect number of gradients \(expected 3, got 4\)"),
        ((ONE, ONE, ONE), "returned a gradient different than None at position 3"),
        ((ONE, "text", None), r"expected Variable or None \(got str\)"),
        (
            (ONE, gs.ones((10,)), None),
            r"Function ReturnsBackward returned an invalid gradient at index 1 - got \[10\] but expected "
            r"shape compatible with \[2, 2\]",
        ),
    ],
)
def test_wrong_gradients(value, message):
    a, b = gs.ones((2, 2), requires_grad=True), gs.ones((2, 2), requires_grad=True)
    with pytest.raises(RuntimeError, match=message):
        returning(value).apply(a, b, 1).sum().backward()


def test_extra_none_is_accepted():
    a, b = gs.ones((2, 2), requires_grad=True), gs.ones((2, 2), requires_grad=True)
    returning((ONE, None, None, None, None)).apply(a, b, 1).sum().backward()
    same(a.grad, ONE.numpy())
    assert b.grad is None


def test_gradients_are_summed_and_cast_to_the_input():
    a, b = gs.ones((2, 2), requires_grad=True), gs.ones((2, 2), requires_grad=True)
    returning((gs.ones((3, 2, 2), dtype="float32"), gs.ones((2, 2), dtype="complex128"), None)).apply(
        a, b, 1
    ).sum().backward()
    same(a.grad, np.full((2, 2), 3.0))
    assert a.grad.dtype == np.float64 and b.grad.dtype == np.float64


def test_a_returned_saved_tensor_is_not_stolen():
    class Leak(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0], None

    x, w = leaf(1.0), gs.tensor([7.0])
    for _ in range(3):
        Leak.apply(x, w).backward()
    same(x.grad, [21.0])
    same(w, [7.0])


# Undefined gradients.


def test_none_everywhere_leaves_grad_none():
    class Stops(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None

    x = leaf(1.0)
    Stops.apply(x.exp()).exp().backward()
    assert x.grad is None
    assert grad(Stops.apply(x.exp()), x, allow_unused=True) == (None,)


@pytest.mark.parametrize("materialize", [True, False])
def test_missing_gradients_are_zeros_unless_switched_off(materialize):
    class Pair(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x[:1] * 3

        @staticmethod
        def backward(ctx, first, second):
            if materialize:
                same(second, [0.0])
            else:
                assert second is None
            return first * 2

    x = leaf(1.0, 2.0)
    Pair.apply(x)[0].sum().backward()
    same(x.grad, [2.0, 2.0])


def test_a_custom_function_receives_undefined_gradients():
    class Stops(Identity):
        @staticmethod
        def backward(ctx, grad):
            return None

    seen = []

    class Sees(Identity):
        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.tolist())
            return grad

    x = leaf(1.0)
    Stops.apply(Sees.apply(x)).backward()
    assert seen == [[0.0]]
    same(x.grad, [0.0])


def test_non_differentiable_outputs():
    class Split(Function):
        @staticmethod
        def forward(ctx, x, keep):
            sign, y = x.sign(), x * 2
            ctx.mark_non_differentiable(sign)
            ctx._materialize_non_diff_grads = keep
            return y, sign, x.astype("int64")

        @staticmethod
        def backward(ctx, grad, sign_grad, int_grad):
            if ctx._materialize_non_diff_grads:
                same(sign_grad, [0.0])
                assert int_grad.tolist() == [0]
            else:
                assert sign_grad is None and int_grad is None
            return grad * 2, None

    for keep in (True, False):
        x = leaf(-1.0)
        y, sign, integer = Split.apply(x, keep)
        assert y.requires_grad and not sign.requires_grad and not integer.requires_grad
        y.backward()
        same(x.grad, [2.0])


# Saved tensors.


def test_saved_inputs_come_back_as_the_same_objects():
    class Keeps(Product):
        @staticmethod
        def backward(ctx, grad):
            seen.extend(ctx.saved_tensors)
            return Product.backward(ctx, grad)

    seen = []
    a, b = leaf(1.0), leaf(2.0)
    Keeps.apply(a, b).backward()
    assert seen[0] is a and seen[2] is b


def test_saved_output_keeps_its_node_without_a_cycle():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y, x * 1

        @staticmethod
        def backward(ctx, grad, _):
            (y,) = ctx.saved_tensors
            assert y.grad_fn is ctx and y.output_nr == 0
            return grad * y

    x = leaf(0.5)
    y, _ = Exp.apply(x)
    (g,) = grad(y, x, create_graph=True)
    same(grad(g, x)[0], np.exp([0.5]))
    died = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y, _, g
        assert died() is None
    finally:
        gc.enable()


def test_version_check():
    a, b = leaf(1.0) * 1, leaf(2.0)
    y = Product.apply(a, b)
    with gs.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


def test_a_recorded_write_leaves_what_was_saved():
    a, b = leaf(3.0) * 1, leaf(2.0)
    y = Product.apply(a, b)
    a.add_(1)
    y.backward()
    same(b.grad, [3.0])


def test_freed_after_backward():
    a, b = leaf(1.0), leaf(2.0)
    y = Product.apply(a, b)
    y.backward(retain_graph=True)
    assert y.grad_fn.saved_tensors[0] is a  # the ctx stays usable
    y.backward()
    same(a.grad, [4.0])
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
        y.backward()


def test_nothing_saved_can_run_twice():
    x = leaf(1.0)
    y = Scale.apply(x)
    y.backward()
    y.backward()
    same(x.grad, [6.0])


def test_saved_tensor_hooks_see_what_functions_save():
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t.numpy() * 10, lambda a: gs.tensor(a)):
        a, b = leaf(1.0), leaf(2.0)
        y = Product.apply(a, b)
    y.backward()
    assert len(packed) == 2
    same(a.grad, [20.0])


def test_hooks_on_raw_saved_tensors():
    a, b = leaf(1.0), leaf(2.0)
    y = Product.apply(a, b)
    y.grad_fn._raw_saved_tensors[2].register_hooks(lambda t: t.item(), lambda v: gs.tensor([v + 5]))
    y.backward()
    same(a.grad, [7.0])


def test_only_tensors_can_be_saved():
    class SavesNumber(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 1

    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"):
        SavesNumber.apply(leaf(1.0))


def test_saved_variables_is_deprecated():
    y = Product.apply(leaf(1.0), leaf(2.0))
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        assert len(y.grad_fn.saved_variables) == 3


# The node.


def test_ctx_is_the_node():
    class Keep(Scale):
        @staticmethod
        def forward(ctx, x):
            ctx.note = "kept"
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx)
            return grad

    seen = []
    x = leaf(1.0)
    y = Keep.apply(x)
    y.backward()
    assert seen[0] is y.grad_fn and isinstance(y.grad_fn, Node) and y.grad_fn.note == "kept"
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = y.grad_fn.absent
    assert y.grad_fn.next_functions[0][0].variable is x


def test_node_hooks_and_edges():
    seen = []
    x = leaf(1.0)
    y = Scale.apply(x)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].item(), outputs[0].item())))
    same(grad(y, GradientEdge(y.grad_fn, 0), retain_graph=True)[0], [1.0])
    y.backward()
    same(x.grad, [6.0])
    assert seen == [(6.0, 2.0)]


def test_unneeded_functions_do_not_run():
    class Fails(Identity):
        @staticmethod
        def backward(ctx, grad):
            raise ValueError("not asked for")

    a, b = leaf(1.0), leaf(2.0)
    y = Fails.apply(a) * b
    same(grad(y, b, retain_graph=True)[0], [1.0])
    with pytest.raises(ValueError, match="not asked for"):
        grad(y, a)


def test_double_backward_through_a_function():
    x = leaf(2.0)
    (g,) = grad(Cube.apply(x), x, create_graph=True)
    same(g, [12.0])
    same(grad(g, x)[0], [12.0])


# mark_dirty.


class Double_(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_dirty_input_is_returned_with_a_new_history():
    x = leaf(1.0)
    y = x * 3
    version = y._version
    z = Double_.apply(y)
    assert z is y and y.grad_fn.name() == "Double_Backward" and y._version > version
    z.backward()
    same(x.grad, [6.0])


def test_dirty_leaf_that_requires_grad():
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        Double_.apply(leaf(1.0))


def test_dirty_input_must_be_returned():
    class Forgets(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 1

    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        Forgets.apply(leaf(1.0) * 1)


def test_dirty_view_with_several_outputs():
    class Pair_(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.mul_(2)
            ctx.mark_dirty(x)
            return x, y.clone()

    with pytest.raises(RuntimeError, match="your Function modifies inplace an input that is a view of another Tensor"):
        Pair_.apply((leaf(1.0, 2.0) * 1)[:1])


def test_dirty_non_input_warns():
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match="not an input of the forward was given to mark_dirty"):
        Odd.apply(leaf(1.0) * 1)


def test_dirty_view_that_is_no_input_is_refused():
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()[...]
            ctx.mark_dirty(y)
            return y

    with pytest.raises(RuntimeError, match="^OddBackward: mark_dirty received a tensor that was not an input. It is a view"):
        Odd.apply(leaf(1.0) * 1)


@pytest.mark.parametrize("mark", ["save_for_backward", "save_for_forward", "mark_dirty", "mark_non_differentiable"])
def test_an_error_after_the_forward_leaves_no_circle(mark):
    made = []

    class Marked(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.mul_(2) if mark == "mark_dirty" else x * 2
            ctx.save_for_backward(gs.ones(3), y)
            getattr(ctx, mark)(y)
            made.append(weakref.ref(y))
            return y

    def refuse(tensor):
        raise ValueError("no")

    def call():
        with saved_tensors_hooks(refuse, lambda packed: packed), pytest.raises(ValueError, match="no"):
            Marked.apply(leaf(1.0) * 1)

    gc.collect()
    gc.disable()
    try:
        call()
        assert made[0]() is None
    finally:
        gc.enable()


# Saved tensors that are let go at their first access.


class OnceRead(Function):
    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        alive = weakref.ref(x)
        del x
        assert alive() is None
        return grad


def test_saved_tensors_can_be_let_go_at_the_first_access():
    x = leaf(2.0)
    y = OnceRead.apply(x * 1)
    y.backward(gs.tensor([3.0]))
    same(x.grad, [3.0])
    assert not Function.clear_saved_tensors_on_access


def test_saved_tensors_that_were_let_go_are_read_once():
    class Twice(OnceRead):
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * ctx.saved_tensors[0]

    with pytest.raises(RuntimeError, match="^TwiceBackward: .* can only be accessed once"):
        Twice.apply(leaf(2.0)).sum().backward()
    y = OnceRead.apply(leaf(2.0) * 1)
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.sum().backward()
    assert y.grad_fn._raw_saved_tensors == ()


# Forward mode.


def test_jvp_gets_none_for_other_arguments_and_zeros_for_missing_tangents():
    class Affine(Function):
        @staticmethod
        def forward(ctx, x, w, k):
            ctx.save_for_backward(x, w)
            ctx.save_for_forward(x, w)
            return x * w * k

        @staticmethod
        def jvp(ctx, x_t, w_t, k_t):
            assert k_t is None and w_t.tolist() == [0.0]
            x, w = ctx.saved_tensors
            return (x_t * w + x * w_t) * 2.0

    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        y = Affine.apply(x, gs.tensor([5.0]), 2.0)
        same(forward_ad.unpack_dual(y).tangent, [10.0])


@pytest.mark.parametrize("materialize", [True, False])
def test_jvp_gets_none_for_integer_tensors(materialize):
    seen = []

    class Take(Function):
        @staticmethod
        def forward(ctx, x, index, mask, other):
            ctx.set_materialize_grads(materialize)
            return x * 1

        @staticmethod
        def jvp(ctx, x_t, index_t, mask_t, other_t):
            seen.append((index_t, mask_t, other_t))
            return x_t * 1

    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        y = Take.apply(x, gs.tensor([0]), gs.tensor([True]), gs.tensor([5.0]))
        same(forward_ad.unpack_dual(y).tangent, [1.0])
    ((index_t, mask_t, other_t),) = seen
    assert index_t is None and mask_t is None and (other_t is None) is not materialize


def test_saved_for_backward_is_not_shown_in_jvp():
    class Peek(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def jvp(ctx, x_t):
            assert ctx.saved_tensors == ()
            return x_t * 1

    with forward_ad.dual_level():
        y = Peek.apply(forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0])))
        same(forward_ad.unpack_dual(y).tangent, [1.0])


def test_jvp_results_are_counted_and_checked():
    def with_jvp(result):
        class Checked(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1, x.astype("int64")

            @staticmethod
            def jvp(ctx, x_t):
                return result

        return Checked

    one = gs.tensor([1.0])
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0]), one)
        with pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 2 but got 1\)"):
            with_jvp(one).apply(x)
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            with_jvp((one, one)).apply(x)
        with pytest.raises(RuntimeError, match=r"tangent of shape \(2,\) for output 0"):
            with_jvp((gs.ones((2,)), None)).apply(x)
        y, _ = with_jvp((None, None)).apply(x)
        assert forward_ad.unpack_dual(y).tangent is None


def test_view_outputs_need_view_tangents():
    class Bad(Identity):
        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 1

    class Good(Identity):
        @staticmethod
        def jvp(ctx, x_t):
            return x_t[...]

    class Other(Identity):
        @staticmethod
        def jvp(ctx, x_t):
            return gs.ones((1,))[...]

    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        with pytest.raises(
            RuntimeError, match="returning a view .or an input as-is. but the jvp is not returning a view"
        ):
            Bad.apply(x)
        with pytest.raises(RuntimeError, match="of the (given|same base as the given) grad input"):
            Other.apply(x)
        same(forward_ad.unpack_dual(Good.apply(x)).tangent, [1.0])


def test_dirty_inputs_need_an_inplace_tangent():
    class Good_(Double_):
        @staticmethod
        def jvp(ctx, x_t):
            return x_t.mul_(2)

    class Bad_(Double_):
        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2

    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        assert Good_.apply(x) is x
        same(forward_ad.unpack_dual(x).tangent, [2.0])
        with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
            Bad_.apply(forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0])))


def test_a_tangent_of_a_dirty_input_is_written_to_and_returned():
    def with_jvp(function):
        class Written_(Double_):
            @staticmethod
            def jvp(ctx, x_t):
                return function(x_t)

        return Written_

    cases = {
        "not modifying the forward mode gradients inplace": [lambda t: t, lambda t: None, lambda t: t * 2],
        "not returning the forward mode gradients as-is": [lambda t: t.mul_(2) * 1, lambda t: t.mul_(2) and None],
    }
    with forward_ad.dual_level():
        for message, functions in cases.items():
            for function in functions:
                with pytest.raises(RuntimeError, match=f"An inplace custom Function is {message}"):
                    with_jvp(function).apply(forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0])))


def test_a_dirty_input_without_a_tangent_gets_what_jvp_returns():
    class Scale_(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.mark_dirty(x)
            ctx.save_for_forward(gs.tensor([3.0]))
            return x.mul_(w)

        @staticmethod
        def jvp(ctx, x_t, w_t):
            assert x_t.tolist() == [0.0]
            return ctx.saved_tensors[0] * w_t

    with forward_ad.dual_level():
        x, w = gs.tensor([3.0]), forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
        assert Scale_.apply(x, w) is x
        same(forward_ad.unpack_dual(x).tangent, [3.0])


def test_view_outputs_need_a_tangent_of_the_same_base():
    def with_jvp(function):
        class First(Function):
            @staticmethod
            def forward(ctx, x):
                return x[:1]

            @staticmethod
            def jvp(ctx, x_t):
                return function(x_t)

        return First

    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([3.0, 4.0]), gs.tensor([1.0, 2.0]))
        with pytest.raises(RuntimeError, match="the jvp is not returning a view.$"):
            with_jvp(lambda t: t[:1] * 1).apply(x)
        with pytest.raises(RuntimeError, match="not returning a view of the (given|same base as the given) grad input"):
            with_jvp(lambda t: (t * 1)[:1]).apply(x)
        same(forward_ad.unpack_dual(with_jvp(lambda t: t[:1]).apply(x)).tangent, [1.0])


def test_a_ctx_that_the_user_keeps_stays_usable():
    kept = []

    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            kept.append(ctx)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf(3.0)
    y = Keep.apply(x)
    y.backward(retain_graph=True)
    assert kept[0].saved_tensors[0] is x
    y.backward()
    same(x.grad, [12.0])


def test_a_view_that_apply_returns_under_no_grad():
    base = leaf(1.0, 2.0) * 1
    with gs.no_grad():
        view = Identity.apply(base[:1])
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.mul_(leaf(2.0))


def test_saved_tensors_keep_their_output_number():
    class Second(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 1, x * 2
            ctx.save_for_backward(b)
            return a, b

        @staticmethod
        def backward(ctx, a_grad, b_grad):
            (b,) = ctx.saved_tensors
            assert b.output_nr == 1 and b.grad_fn is ctx
            return a_grad + 2 * b_grad

    x = leaf(3.0)
    (g,) = grad(Second.apply(x)[1], x)
    same(g, [2.0])


def test_nested_levels_and_mixed_modes():
    def derivative(f, x):
        with forward_ad.dual_level():
            y = f(forward_ad.make_dual(x, gs.ones_like(x)))
            return forward_ad.unpack_dual(y).tangent

    x = gs.tensor([2.0])
    same(derivative(lambda a: derivative(Cube.apply, a), x), [12.0])  # forward over forward
    w = leaf(2.0)
    same(grad(derivative(Cube.apply, w), w)[0], [12.0])  # reverse over forward
    with forward_ad.dual_level():  # forward over reverse
        v = forward_ad.make_dual(leaf(2.0), gs.tensor([1.0]))
        (g,) = grad(Cube.apply(v), v)
        same(forward_ad.unpack_dual(g).tangent, [12.0])


# once_differentiable.


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        seen.append(gs.is_grad_enabled())
        return 2 * grad * ctx.saved_tensors[0]


seen = []


def test_once_differentiable():
    x = leaf(3.0)
    same(grad(Once.apply(x), x)[0], [6.0])
    (g,) = grad(Once.apply(x), x, create_graph=True)
    same(g, [6.0])
    assert g.requires_grad and g.grad_fn.name() == "Error"
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"
    ):
        g.backward()
    assert seen == [False, False]


# Lifetime.


def test_cycle_through_ctx_is_collected():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = y = x * 1
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad

    for run in (False, True):
        y = Keeps.apply(leaf(1.0)).exp()
        died = weakref.ref(y.grad_fn)
        held = weakref.ref(y.grad_fn.next_functions[0][0])
        if run:
            y.backward()
        del y
        assert died() is None
        gc.collect()
        assert held() is None


def test_a_user_attribute_that_holds_the_result_is_collected():
    x = leaf(1.0)
    y = Scale.apply(x)
    z = y.exp().sin()
    y.grad_fn.result = z
    died = weakref.ref(z)
    del y, z
    gc.collect()
    assert died() is None


def test_long_chains_of_functions_do_not_recurse():
    x = y = leaf(1.0)
    for _ in range(150_000):
        y = Scale.apply(y, 1.0)
    backward(y)
    same(x.grad, [1.0])
    del y


def test_grad_inside_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with gs.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * ctx.x
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            return grad(ctx.y, ctx.x, g)[0]

    x = leaf(3.0)
    Inner.apply(x).backward()
    same(x.grad, [6.0])


# What a user notes on `ctx` is the user's.


@pytest.mark.filterwarnings("ignore:Anomaly")
def test_notes_under_the_names_of_methods_are_in_nobodys_way():
    names = [name for name in dir(FunctionNode) if not name.startswith("__") and callable(getattr(FunctionNode, name))]
    assert {"name", "register_hook"} <= set(names)

    class Noted(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            for name in (*names, "saves", "_forward_cls"):
                setattr(ctx, name, f"the user's {name}")
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert all(getattr(ctx, name) == f"the user's {name}" for name in names)
            return grad * ctx.saved_tensors[0]

    x = leaf(1.0)
    y = Noted.apply(x)
    assert repr(y) == "tensor([2.], grad_fn=<NotedBackward>)" and repr(y.grad_fn).startswith("<NotedBackward at")
    assert "NotedBackward" in gs.autograd.graph.make_dot(y).source
    y.register_hook(lambda grad: grad * 3)
    gs.autograd.graph.register_multi_grad_hook([y], lambda grads: None)
    assert grad(y, x, retain_graph=True, create_graph=True)[0].tolist() == [3.0]
    with gs.autograd.detect_anomaly():
        Noted.apply(x).backward()
    y.backward()
    with pytest.raises(RuntimeError, match="NotedBackward no longer has"):
        y.backward()


# Pure views: the forward says that its output is a view of its input and nothing else.


class FirstTwo(Function):
    """x[:2], as a view or as a copy."""

    calls = 0

    @staticmethod
    def forward(ctx, x, pure, view):
        ctx._is_pure_view = pure
        assert ctx._is_pure_view is pure
        return x[:2] if view else x[:2].clone()

    @staticmethod
    def backward(ctx, grad):
        FirstTwo.calls += 1
        return gs.concat([grad, gs.zeros((1,), dtype=grad.dtype)]), None, None


class WithSum(Function):
    """A view of the first input, and a sum."""

    @staticmethod
    def forward(ctx, a, b, pure):
        ctx._is_pure_view = pure
        return a[:], a + b

    @staticmethod
    def backward(ctx, first, second):
        return first + second, second, None


class OfTemporary(Function):
    """A view of what the forward has made."""

    @staticmethod
    def forward(ctx, x):
        ctx._is_pure_view = True
        return (x * 2)[:2]

    @staticmethod
    def backward(ctx, grad):
        return gs.concat([grad * 2, gs.zeros((1,))])


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("view", [True, False])
@pytest.mark.parametrize("pure", [True, False])
def test_a_write_to_a_pure_view_goes_its_steps_and_not_through_its_backward(pure, view, dtype):
    x = gs.tensor(np.array([1, 2, 3], dtype), requires_grad=True)
    base = x.clone()
    y = FirstTwo.apply(base, pure, view)
    if view and not pure:
        with pytest.raises(RuntimeError, match="Output 0 of FirstTwo is a view .* was created inside a custom Function"):
            y *= 5
        return
    FirstTwo.calls = 0
    y *= 5
    (g,) = grad(gs.real((y * gs.tensor([1.0, 10.0])).sum()), x, retain_graph=True)
    same(g, [5, 50, 0])
    assert FirstTwo.calls == (not view)
    (g,) = grad(gs.real(base.sum()), x)
    same(g, [5, 5, 1] if view else [1, 1, 1])
    assert FirstTwo.calls == (not view)


def test_a_pure_view_that_nobody_writes_to_has_its_backward():
    x, FirstTwo.calls = leaf(1, 2, 3), 0
    FirstTwo.apply(x, True, True).sum().backward()
    same(x.grad, [1, 1, 0])
    assert FirstTwo.calls == 1


def test_views_of_a_pure_view_are_written_to_as_well_but_not_one_of_several():
    x = leaf(1, 2, 3)
    base = x.clone()
    y = FirstTwo.apply(base, True, True)
    y[:1].mul_(7)
    same(grad(base.sum(), x, retain_graph=True)[0], [7, 1, 1])
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        y.unbind()[0].mul_(2)


def test_a_pure_view_has_one_input_and_one_output():
    with pytest.raises(RuntimeError, match="can only have one input Tensor and one output Tensor. Open an issue if you need to support more. WithSum has 2 and 2"):
        WithSum.apply(leaf(1, 2), leaf(3, 4), True)


def test_a_view_among_several_outputs_is_one_of_several():
    view, _ = WithSum.apply(leaf(1, 2).clone(), leaf(3, 4), False)
    with pytest.raises(RuntimeError, match="Output 0 of WithSum is a view .* output of a function that returns multiple"):
        view += 1


def test_a_pure_view_of_a_temporary_is_one_of_a_leaf():
    y = OfTemporary.apply(leaf(1, 2, 3))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        y += 1
