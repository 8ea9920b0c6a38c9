"""Every function of func and functional in every place that a call may come from: it gives there what it gives at the top."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import func
from gradspec.autograd import Function, forward_ad, functional, grad
from gradspec.autograd.checkpoint import checkpoint
from tests.asked import each

POINT = np.array([0.3, 0.7])


def f(x):
    return (gs.sin(x) * x**2).sum() * gs.exp(x.sum())


def field(x):
    return gs.sin(x) * gs.exp(x.sum())


ONES = np.ones(2)
TRANSFORMS = {
    "grad": lambda x: func.grad(f)(x),
    "value_and_grad": lambda x: func.value_and_grad(f)(x)[1],
    "elementwise_grad": lambda x: func.elementwise_grad(field)(x),
    "vjp": lambda x: func.vjp(field, x)[1](ONES)[0],
    "jvp": lambda x: func.jvp(field, (x,), (ONES,))[1],
    "linearize": lambda x: func.linearize(field, x)[1](ONES),
    "jacrev": lambda x: func.jacrev(field)(x),
    "jacfwd": lambda x: func.jacfwd(field)(x),
    "hessian": lambda x: func.hessian(f)(x),
    "hvp": lambda x: func.hvp(f, (x,), (ONES,))[0],
    "jvp of grad": lambda x: func.jvp(func.grad(f), (x,), (ONES,))[1],
    "jacfwd of jacfwd": lambda x: func.jacfwd(func.jacfwd(field))(x),
    "jacrev of jacfwd": lambda x: func.jacrev(func.jacfwd(field))(x),
    "functional.vjp": lambda x: functional.vjp(field, x, gs.ones_like(x))[1],
    "functional.jvp": lambda x: functional.jvp(field, x, gs.ones_like(x))[1],
    "functional.jacobian": lambda x: functional.jacobian(field, x),
    "functional.jacobian forward": lambda x: functional.jacobian(field, x, strategy="forward-mode"),
    "functional.jacobian vectorize": lambda x: functional.jacobian(field, x, strategy="forward-mode", vectorize=True),
    "functional.hessian": lambda x: functional.hessian(f, x),
    "functional.hessian forward": lambda x: functional.hessian(f, x, outer_jacobian_strategy="forward-mode"),
    "functional.vhp": lambda x: functional.vhp(f, x, gs.ones_like(x))[1],
    "functional.hvp": lambda x: functional.hvp(f, x, gs.ones_like(x))[1],
}


def in_forward(call):
    found = []

    class Inside(Function):
        @staticmethod
        def forward(ctx, x):
            found.append(call(x))
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient

        @staticmethod
        def jvp(ctx, tangent):
            return tangent

    Inside.apply(gs.tensor(POINT, requires_grad=True))
    yield found.pop()
    Inside.apply(gs.tensor(POINT))
    yield found.pop()
    with forward_ad.dual_level():
        Inside.apply(forward_ad.make_dual(gs.tensor(POINT), gs.tensor(POINT)))
        yield found.pop()


def in_setup_context(call):
    found = []

    class Inside(Function):
        @staticmethod
        def forward(x):
            return x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            found.append(call(output))

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    Inside.apply(gs.tensor(POINT, requires_grad=True))
    yield found.pop()


def in_backward(call):
    found = []

    class Inside(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            found.append(call(ctx.saved_tensors[0]))
            return gradient

    x = gs.tensor(POINT, requires_grad=True)
    for recorded in (False, True):
        grad(Inside.apply(x).sum(), x, create_graph=recorded)
        yield found.pop()


def in_jvp(call):
    found = []

    class Inside(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * 1

        @staticmethod
        def jvp(ctx, tangent):
            found.append(call(ctx.saved_tensors[0]))
            return tangent

    with forward_ad.dual_level():
        Inside.apply(forward_ad.make_dual(gs.tensor(POINT), gs.tensor(POINT)))
        yield found.pop()


def in_hook(call):
    found = []
    x = gs.tensor(POINT, requires_grad=True)
    y = x * 1
    y.register_hook(lambda gradient: found.append(call(y.detach())))
    y.sum().backward()
    yield found.pop()
    x.register_post_accumulate_grad_hook(lambda leaf: found.append(call(leaf)))
    (x * 1).sum().backward()
    yield found.pop()


def in_saved_hook(call):
    found = []

    def pack(value):
        if not found:
            found.append(None)  # the call saves, too
            found[0] = call(gs.tensor(POINT))
        return value

    x = gs.tensor(POINT, requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        y = gs.sin(x)
    yield found.pop()
    y.sum().backward()


def in_checkpoint(call):
    for reentrant in (True, False):
        found = []
        x = gs.tensor(POINT, requires_grad=True)
        y = checkpoint(lambda v: (found.append(call(v.detach())), gs.sin(v) * v)[1], x, use_reentrant=reentrant)
        yield found[0]
        y.sum().backward()
        yield found[-1]


def in_modes(call):
    for mode in (gs.no_grad, gs.enable_grad, gs.autograd.detect_anomaly):
        with mode():
            yield call(gs.tensor(POINT))
            yield call(gs.tensor(POINT, requires_grad=True))


def in_level(call):
    with forward_ad.dual_level():
        yield call(gs.tensor(POINT))
        yield call(forward_ad.make_dual(gs.tensor(POINT), gs.tensor(POINT)))


def in_transform(call):
    found = []

    def through(x):
        found.append(call(x))
        return (x * x).sum()

    func.grad(through)(POINT)
    yield found.pop()
    func.jvp(through, (gs.tensor(POINT),), (ONES,))
    yield found.pop()
    func.jacfwd(through)(POINT)
    yield found.pop()


PLACES = {
    "forward": in_forward, "setup_context": in_setup_context, "backward": in_backward, "jvp": in_jvp, "hook": in_hook,
    "saved hook": in_saved_hook, "checkpoint": in_checkpoint, "modes": in_modes, "level": in_level, "transform": in_transform,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Anomaly")
@each("place", PLACES.values(), ids=PLACES)
@each("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_transform_gives_the_same_everywhere(transform, place):
    expected = transform(gs.tensor(POINT)).numpy()
    assert np.abs(expected).min() > 0.01
    for found in place(transform):
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("made", [lambda x: func.jvp(gs.sin, (x,), (gs.ones_like(x),))[1], lambda x: func.jacfwd(gs.sin)(x)])
def test_a_forward_that_differentiates_leaves_no_tangents_of_its_own(made):
    class Quiet(Function):
        @staticmethod
        def forward(ctx, x):
            return made(x)

        @staticmethod
        def jvp(ctx, tangent):
            return None if ctx.mute else tangent * 10

    for mute in (True, False):
        Quiet._backward_cls.mute = mute
        with forward_ad.dual_level():
            x = forward_ad.make_dual(gs.tensor(0.5), gs.tensor(1.0))
            value, tangent = forward_ad.unpack_dual(Quiet.apply(x))
            assert np.isclose(value.item(), np.cos(0.5)) and (tangent is None if mute else tangent.item() == 10)
