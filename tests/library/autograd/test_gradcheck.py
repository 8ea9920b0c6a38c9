"""gradcheck and gradgradcheck: what they find, what they say, and what they pass to the function."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, GradcheckError, forward_ad, gradcheck, gradgradcheck
from gradspec.support.errors import GradcheckError as SameError

RNG = np.random.default_rng(0)
FAST = pytest.mark.parametrize("fast_mode", [False, True])


def leaf(*shape, dtype=float):
    values = RNG.uniform(0.5, 1.5, shape) + (1j * RNG.uniform(0.5, 1.5, shape) if np.dtype(dtype).kind == "c" else 0)
    return gs.tensor(values.astype(dtype), requires_grad=True)


def wrong_by(factor, jvp_factor=1.0):
    """The square, with a gradient and a tangent that are wrong by these factors."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * gs.conj(x) * factor

        @staticmethod
        def jvp(ctx, x_t):
            (x,) = ctx.saved_tensors
            return 2 * x * x_t * jvp_factor

    return Square.apply


# What is right passes.


@FAST
@pytest.mark.parametrize("dtype", [float, complex])
def test_right_derivatives_pass(fast_mode, dtype):
    options = {"check_forward_ad": True, "check_grad_dtypes": True, "check_batched_grad": True, "fast_mode": fast_mode}
    x, w = leaf(2, 3, dtype=dtype), leaf(3, dtype=dtype)
    assert gradcheck(lambda x, w: gs.exp(x) * w, (x, w), **options)
    assert gradcheck(wrong_by(1.0), x, **options)
    assert gradcheck(lambda x, w: (x * w, x.sum(), gs.tensor([1.0])), (x, w), **options)
    assert gradgradcheck(lambda x, w: gs.exp(x) * w, (x, w), check_fwd_over_rev=True, fast_mode=fast_mode)


@FAST
def test_between_real_and_complex_numbers(fast_mode):
    options = {"check_forward_ad": True, "fast_mode": fast_mode}
    assert gradcheck(lambda z: (gs.real(z) * 2, gs.imag(z), gs.abs(z)), leaf(3, dtype=complex), **options)
    assert gradcheck(lambda x: x * 1j + x * x, leaf(3), **options)
    assert gradcheck(lambda z, x: z * x, (leaf(3, dtype=complex), leaf(3)), **options)


@FAST
def test_inputs_that_are_no_tensors_or_need_no_gradient(fast_mode):
    x, plain = leaf(3), gs.tensor([1.0, 2.0, 3.0])
    assert gradcheck(lambda x, n, plain: x**n * plain, (x, 3, plain), check_forward_ad=True, fast_mode=fast_mode)
    assert gradcheck(lambda x: (x * 2, gs.argmax(x), None, "text"), x, fast_mode=fast_mode)


def test_empty_inputs_and_outputs():
    assert gradcheck(lambda x: x * 2, leaf(0, 3), check_forward_ad=True)
    assert gradcheck(lambda x: x[:0], leaf(3), check_forward_ad=True)


# What is wrong is found.


@FAST
def test_a_wrong_gradient(fast_mode):
    text = r"(?s)Jacobian mismatch for output 0 with respect to input 0,\nnumerical:.*\nanalytical:"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(wrong_by(1.1), leaf(3), fast_mode=fast_mode)
    assert gradcheck(wrong_by(1.1), leaf(3), raise_exception=False, fast_mode=fast_mode) is False
    assert issubclass(GradcheckError, RuntimeError) and GradcheckError is SameError


@FAST
def test_the_output_and_the_input_are_named(fast_mode):
    wrong = wrong_by(1.1)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 1 with respect to input 2,"):
        gradcheck(lambda x, n, w: (x * w, wrong(w)), (leaf(3), 1, leaf(3)), fast_mode=fast_mode)


def test_parts_of_complex_numbers_are_named():
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex outputs only, Jacobian mismatch"):
        gradcheck(wrong_by(1.1), leaf(3, dtype=complex))
    text = "While considering the imaginary part of complex inputs only, Jacobian computed with forward mode mismatch"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(wrong_by(1.0, 1.1), leaf(3, dtype=complex), check_forward_ad=True)


@FAST
def test_a_wrong_tangent(fast_mode):
    wrong = wrong_by(1.0, 1.1)
    assert gradcheck(wrong, leaf(3), fast_mode=fast_mode)
    text = "Jacobian computed with forward mode mismatch for output 0 with respect to input 1,"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(lambda x, w: x * wrong(w), (leaf(3), leaf(3)), check_forward_ad=True, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
        gradcheck(wrong, leaf(3), check_forward_ad=True, check_backward_ad=False, fast_mode=fast_mode)


def test_a_wrong_second_derivative():
    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x.detach()

    assert gradcheck(Half.apply, leaf(3))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(Half.apply, leaf(3))
    assert gradgradcheck(Half.apply, leaf(3), raise_exception=False) is False


@FAST
def test_a_constant_that_is_none(fast_mode):
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, leaf(3), fast_mode=fast_mode)
    assert gradcheck(lambda x: x.detach() * 0, leaf(3), fast_mode=fast_mode)
    assert gradcheck(lambda x: gs.argmax(x), leaf(3), fast_mode=fast_mode)


@FAST
def test_a_backward_that_differs_from_call_to_call(fast_mode):
    noise = iter(1e-7 * np.arange(10_000))

    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * (2 + next(noise))

    with pytest.raises(GradcheckError, match="Backward is not reentrant, i.e., running backward with same input and grad_output"):
        gradcheck(Noisy.apply, leaf(2), fast_mode=fast_mode)
    assert gradcheck(Noisy.apply, leaf(2), nondet_tol=1e-3, atol=1e-2, fast_mode=fast_mode)


def test_a_gradient_that_is_not_multiplied_by_what_arrives():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, grad):
            return gs.ones(grad.shape)

    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(Constant.apply, leaf(1))


def test_fast_mode_says_where_slow_mode_might_pass():
    slopes = 1000.0 * np.resize([1.0, -1.0], 50)

    class Skewed(Function):
        """Every element is wrong by less than it may be, but the sum of large terms of both signs is not."""

        @staticmethod
        def forward(ctx, x):
            return (x * slopes).sum()

        @staticmethod
        def backward(ctx, grad):
            return grad * (slopes + 0.5)

    assert gradcheck(Skewed.apply, leaf(50))
    text = "Fast gradcheck failed but element-wise differences are small. This means that the test might've passed in slow_mode!"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(Skewed.apply, leaf(50), fast_mode=True)


# Undefined gradients and tangents.


def without_materializing(backward):
    class Undefined(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2, x_t * 3

    Undefined.backward = staticmethod(backward)
    return lambda x: sum(Undefined.apply(x))  # either both outputs have a gradient or none has


def careful(ctx, one, other):
    return None if one is None or other is None else one * 2 + other * 3


@FAST
def test_a_backward_that_cannot_take_none(fast_mode):
    assert gradcheck(without_materializing(careful), leaf(3), fast_mode=fast_mode)
    careless = without_materializing(lambda ctx, one, other: one * 2 + other * 3)
    with (
        pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient support checking feature"),
        pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"),
    ):
        gradcheck(careless, leaf(3), fast_mode=fast_mode)
    with pytest.warns(UserWarning, match="Backwards compatibility"):
        assert gradcheck(careless, leaf(3), raise_exception=False, fast_mode=fast_mode) is False
    assert gradcheck(careless, leaf(3), check_undefined_grad=False, fast_mode=fast_mode)


@FAST
def test_a_backward_of_one_output_that_cannot_take_none(fast_mode):
    class Careless(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if grad is None:
                raise RuntimeError("grad is undefined")
            return grad * 2

    with (
        pytest.warns(UserWarning, match="Backwards compatibility"),
        pytest.raises(GradcheckError, match=r"handle undefined output grads: .*RuntimeError\('grad is undefined'\)"),
    ):
        gradcheck(Careless.apply, leaf(3), fast_mode=fast_mode)


@FAST
def test_a_hook_that_cannot_take_none(fast_mode):
    def function(x):
        y = x * 1

        def hook(gradient):
            if gradient is None:
                raise RuntimeError("the gradient is undefined")

        y.register_hook(hook)
        return y

    text = "Expected backward function to handle undefined output grads: .*the gradient is undefined"
    with pytest.warns(UserWarning, match="Backwards compatibility"), pytest.raises(GradcheckError, match=text):
        gradcheck(function, leaf(3), fast_mode=fast_mode)
    assert gradcheck(function, leaf(3), check_undefined_grad=False, fast_mode=fast_mode)


@FAST
def test_a_backward_that_makes_something_of_nothing(fast_mode):
    def made_up(ctx, one, other):
        return gs.ones((3,)) if one is None else careful(ctx, one, other)

    with (
        pytest.warns(UserWarning, match="Backwards compatibility"),
        pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero when all output grads are"),
    ):
        gradcheck(without_materializing(made_up), leaf(3), fast_mode=fast_mode)


@FAST
def test_warnings_are_of_the_line_that_calls(fast_mode):
    careless = without_materializing(lambda ctx, one, other: one * 2 + other * 3)
    made_up = without_materializing(lambda ctx, one, other: gs.ones((3,)) if one is None else careful(ctx, one, other))
    for function, x in ((careless, leaf(3)), (made_up, leaf(3)), (gs.sin, leaf(3, dtype=np.float32))):
        with pytest.warns(UserWarning) as record:
            gradcheck(function, x, raise_exception=False, fast_mode=fast_mode)
        assert [warning.filename for warning in record] == [__file__]


class Tangents(Function):
    """Notes the tangents that its jvp gets."""

    seen: list = []
    answer_to_none = 0.0

    @staticmethod
    def forward(ctx, x, w):
        ctx.set_materialize_grads(False)
        return x + w

    @staticmethod
    def jvp(ctx, x_t, w_t):
        Tangents.seen.append((None if x_t is None else x_t.tolist(), None if w_t is None else w_t.tolist()))
        assert ctx.needs_input_grad == (False, False) and not any(t is not None and t.requires_grad for t in (x_t, w_t))
        if x_t is None:
            return w_t + Tangents.answer_to_none
        return x_t if w_t is None else x_t + w_t


FORWARD_ONLY = {"check_forward_ad": True, "check_backward_ad": False}


def test_the_other_inputs_have_zeros_for_tangents(monkeypatch):
    monkeypatch.setattr(Tangents, "seen", [])
    assert gradcheck(Tangents.apply, (leaf(1), leaf(1)), check_undefined_grad=False, **FORWARD_ONLY)
    assert Tangents.seen == [([1.0], [0.0]), ([0.0], [1.0])]


@FAST
def test_undefined_tangents_count_as_zeros(monkeypatch, fast_mode):
    monkeypatch.setattr(Tangents, "seen", [])
    assert gradcheck(Tangents.apply, (leaf(2), leaf(2)), fast_mode=fast_mode, **FORWARD_ONLY)
    assert {(x is None, w is None) for x, w in Tangents.seen} == {(False, False), (True, False), (False, True)}
    monkeypatch.setattr(Tangents, "answer_to_none", 1.0)
    text = "Mismatch in tangent values for output with index 0 when input 0 has an undefined tangent value"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(Tangents.apply, (leaf(2), leaf(2)), fast_mode=fast_mode, **FORWARD_ONLY)
    assert gradcheck(Tangents.apply, (leaf(2), leaf(2)), check_undefined_grad=False, fast_mode=fast_mode, **FORWARD_ONLY)


def test_inputs_that_are_not_checked_have_no_tangent():
    seen = []

    def function(x, plain):
        seen.append(forward_ad.unpack_dual(plain).tangent)
        return x * plain

    assert gradcheck(function, (leaf(2), gs.tensor([1.0, 2.0])), **FORWARD_ONLY)
    assert set(seen) == {None}


# dtypes and shapes.


def test_dtypes_of_gradients():
    class Single(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2.0

    assert gradcheck(Single.apply, leaf(2), check_grad_dtypes=True, check_forward_ad=True)


def test_single_precision_warns():
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision floating point or complex"):
        gradcheck(lambda x: x * 2, leaf(2, dtype=np.float32), eps=1e-2, atol=1e-2, rtol=1e-2)
    with pytest.warns(UserWarning, match="Input #1 requires gradient") as caught:
        gradcheck(lambda n, x: x * n, (3, leaf(2, dtype=np.float32)), eps=1e-2, atol=1e-2, rtol=1e-2)
    assert caught[0].filename == __file__


def test_outputs_that_change_shape_or_dtype():
    def shape(x):
        return x[: 2 if x.detach().numpy()[0] > 1 else 3] * 1

    def dtype(x):
        return gs.astype(x, gs.float32 if x.detach().numpy()[0] > 1 else gs.float64)

    for function, what in ((shape, "shape"), (dtype, "dtype")):
        x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
        with pytest.raises(AssertionError, match=f"return outputs with the same {what} when inputs are perturbed on index"):
            gradcheck(function, x)
        assert x.tolist() == [1.0, 2.0, 3.0]


# What is refused.


def test_at_least_one_mode():
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_backward_ad to be True"):
        gradcheck(lambda x: x, leaf(2), check_backward_ad=False)
    with pytest.raises(AssertionError, match="Setting check_batched_grad=True requires check_backward_ad to be True"):
        gradcheck(lambda x: x, leaf(2), check_batched_grad=True, **FORWARD_ONLY)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(lambda x: x, leaf(2), check_batched_forward_grad=True)


@pytest.mark.parametrize("raise_exception", [False, True])
def test_inputs_that_cannot_be_checked(raise_exception):
    options = {"raise_exception": raise_exception}
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, gs.tensor([1.0]), **options)
    wide = gs.asarray(np.broadcast_to(np.ones(1), (3,)), requires_grad=True)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0."):
        gradcheck(lambda x: x * 2, wide, **options)
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(RuntimeError, match="The 0th input is read-only."):
        gradcheck(lambda x: x * 2, gs.asarray(fixed, requires_grad=True), **options)


@pytest.mark.parametrize("shape, strides", [((1, 3), (0, 8)), ((3, 1), (8, 0)), ((0, 3), (8, 0)), ((1, 1), (0, 0))])
def test_a_stride_of_0_by_which_nobody_steps(shape, strides):
    """An axis of one element may have any stride, and so may one of an array without elements."""
    memory = np.lib.stride_tricks.as_strided(np.full(3, 0.5), shape, strides)
    x = gs.asarray(memory, requires_grad=True)
    assert x.strides == strides
    assert gradcheck(lambda x: x * x, x)


def test_a_stride_of_0_of_any_input_is_refused():
    memory = np.lib.stride_tricks.as_strided(np.full(3, 0.5), (3, 2), (8, 0))
    with pytest.raises(RuntimeError, match="The 1th input has a dimension with stride 0."):
        gradcheck(lambda x, y: x * y, (leaf(3, 2), gs.asarray(memory, requires_grad=True)))


def test_errors_of_the_function_are_not_those_of_the_check():
    def boom(x):
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        gradcheck(boom, leaf(2), raise_exception=False)


# gradgradcheck.


@FAST
def test_an_output_of_several_without_a_gradient(fast_mode):
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, one, other):
            return (0 if one is None else one * 2) + (0 if other is None else other * 3)

    with pytest.warns(UserWarning, match="Backwards compatibility"):
        text = "Expected backward function to handle undefined output grads"
        with pytest.raises(GradcheckError, match=text):  # 0 is no gradient
            gradcheck(Two.apply, leaf(3), fast_mode=fast_mode)


def test_cotangents_may_be_given():
    seen = []

    def function(x):
        y = x * x
        y.register_hook(lambda g: seen.append(g.detach().numpy().copy()))
        return y

    cotangent = gs.tensor([2.0, 3.0], requires_grad=True)
    assert gradgradcheck(function, leaf(2), cotangent)
    assert any(np.array_equal(value, [2.0, 3.0]) for value in seen)
    seen.clear()
    assert gradgradcheck(function, leaf(2, 3), gen_non_contig_grad_outputs=True)
    assert gradgradcheck(function, leaf(2), check_undefined_grad=False, check_fwd_over_rev=True, check_rev_over_rev=False)


@pytest.mark.parametrize("options, message", [
    ({}, "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"),
    ({"check_fwd_over_rev": True}, "Setting check_undefined_grad=True requires check_rev_over_rev to be True"),
    ({"check_fwd_over_rev": True, "check_undefined_grad": False, "check_batched_grad": True},
     "Setting check_batched_grad=True requires check_rev_over_rev to be True"),
])  # fmt: skip
def test_what_gradgradcheck_refuses(options, message):
    with pytest.raises(AssertionError, match=message):
        gradgradcheck(gs.sin, leaf(2), check_rev_over_rev=False, **options)


@FAST
def test_the_modes_of_gradgradcheck(fast_mode):
    """The gradient's value is right, and its derivative wrong in one mode, which is seen in that mode only."""
    def cube(slope):
        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.save_for_forward(x)
                return x * x * x / 3

            @staticmethod
            def backward(ctx, grad):
                return grad * slope(ctx.saved_tensors[0])

            @staticmethod
            def jvp(ctx, x_t):
                (x,) = ctx.saved_tensors
                return x_t * x * x

        return Cube.apply

    only_forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False, "fast_mode": fast_mode}
    for slope, right, wrong in ((wrong_by(2.0), only_forward, {"fast_mode": fast_mode}),
                                (wrong_by(1.0, 2.0), {"fast_mode": fast_mode}, only_forward)):  # fmt: skip
        assert gradgradcheck(cube(slope), leaf(3), **right)
        with pytest.raises(GradcheckError):
            gradgradcheck(cube(slope), leaf(3), **wrong)


@pytest.mark.parametrize("dtype", [float, complex])
def test_cotangents_that_are_not_contiguous(dtype):
    seen = set()

    def function(x):
        y = x * x
        y.register_hook(lambda g: seen.add(g.strides))
        return y

    size = np.dtype(dtype).itemsize
    for wanted, strides in ((True, (6 * size, 2 * size)), (False, (3 * size, size))):
        seen.clear()
        assert gradgradcheck(function, leaf(2, 3, dtype=dtype), gen_non_contig_grad_outputs=wanted)
        assert strides in seen
    assert gradgradcheck(lambda x: (x * x).sum(), leaf(2), gen_non_contig_grad_outputs=True)


def test_inputs_are_as_they_were():
    x = leaf(2, 3)
    before, strides = x.detach().numpy().copy(), x.strides
    assert gradcheck(lambda x: gs.exp(x), x, check_forward_ad=True) and gradgradcheck(lambda x: gs.exp(x), x)
    np.testing.assert_array_equal(x.detach().numpy(), before)
    assert x.strides == strides and x.grad is None and x.requires_grad
