"""Values of the middle that a custom forward keeps: a derivative through one is refused, and no other is."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad, gradcheck, gradgradcheck

REFUSED = "neither an input nor an output and has no history there: return it from forward as an output, or recompute it"
CONSTANT = gs.tensor([1.5, -0.5])

WAYS = {
    "save_for_backward": (lambda ctx, m: ctx.save_for_backward(None, m), lambda ctx: ctx.saved_tensors[1]),
    "an attribute": (lambda ctx, m: setattr(ctx, "m", m), lambda ctx: ctx.m),
    "a list": (lambda ctx, m: setattr(ctx, "m", [1, m]), lambda ctx: ctx.m[1]),
    "a dictionary": (lambda ctx, m: setattr(ctx, "m", {"a": (m,)}), lambda ctx: ctx.m["a"][0]),
}

# From x by something with a slope: a second derivative through it would be a silent zero.
MOVES = {
    "operators": lambda x: gs.sin(x) * 2 + 1,
    "an alias": lambda x: x.detach(),
    "a view": lambda x: x[:],
    "a view of a value": lambda x: (x * 2)[None][0],
    "data": lambda x: x.data * 1,
    "a write": lambda x: gs.zeros(2).add_(x),
    "a write to a view": lambda x: _written(x),
    "out": lambda x: gs.multiply(x, x, out=gs.zeros(2)),
    "set_": lambda x: gs.zeros(2).set_(x * 2),
    "a list of operands": lambda x: gs.stack([x, CONSTANT])[0],
    "numpy": lambda x: gs.tensor(np.sin(x.numpy()) * 2),
    "memory of numpy": lambda x: gs.from_numpy(x.numpy()),
    "an operand of numpy": lambda x: CONSTANT * np.sin(x.numpy()),
    "a number": lambda x: CONSTANT * float(x.sum()),
    "a number in every place": lambda x: gs.full((2,), float(x.sum())),
    "another Function": lambda x: _Twice.apply(x),
    "a gradient": lambda x: _gradient(x),
}

# From no input, or without a slope.
CONSTANTS = {
    "from outside": lambda x: CONSTANT,
    "of those": lambda x: gs.sin(CONSTANT) * 2,
    "ones": lambda x: gs.ones(2) * 3,
    "like x": lambda x: gs.ones_like(x),
    "numbers": lambda x: gs.tensor([1.0, 2.0]),
    "a mask": lambda x: (x > 0.5).astype(gs.float64),
    "a choice": lambda x: gs.where(x > 0.5, CONSTANT, 2.0),
    "steps": lambda x: gs.floor(x) + 0.5,
    "a place": lambda x: gs.argmax(x).astype(gs.float64) * CONSTANT,
}


def _written(x):
    m = gs.zeros(2)
    m[0] = x[0]
    m[1:].add_(x[1:])
    return m


def _gradient(x):
    with gs.enable_grad():
        inside = x.detach().requires_grad_()
        gs.sin(inside).sum().backward()
    return inside.grad


class _Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return gs.from_numpy(2 * x.numpy())

    @staticmethod
    def backward(ctx, g):
        return 2 * g


def keeping(way, middle, base=Function):
    """x**3 / 3 + x . stopped(middle), as a Function whose backward reads the middle."""
    keep, kept = WAYS[way]

    class Keeps(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            m = middle(x)
            keep(ctx, m)
            ctx.x = x
            return x**3 / 3 + x * m

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.x**2 + kept(ctx))

    return Keeps


def twice(cls, at=(0.3, 0.9)):
    x = gs.tensor(at, requires_grad=True)
    (gx,) = grad(cls.apply(x).sum(), x, create_graph=True)
    return grad(gx.sum(), x)[0].tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MOVES)
def test_no_derivative_is_taken_through_a_value_of_the_middle(name, way):
    cls = keeping(way, MOVES[name])
    for _ in range(2):  # the second call knows the class
        with pytest.raises(RuntimeError, match=REFUSED):
            twice(cls)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_is_no_such_value(name, way):
    cls = keeping(way, CONSTANTS[name])
    for _ in range(2):
        assert twice(cls) == pytest.approx([0.6, 1.8])


@pytest.mark.parametrize("way", WAYS)
def test_a_pass_that_needs_no_such_derivative_goes_on(way):
    cls, x = keeping(way, MOVES["operators"]), gs.tensor([0.3, 0.9], requires_grad=True)
    slope = [0.3**2 + 2 * np.sin(0.3) + 1, 0.9**2 + 2 * np.sin(0.9) + 1]
    cls.apply(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(slope)
    seed = gs.tensor([1.0, 1.0], requires_grad=True)
    (gx,) = grad(cls.apply(x), x, seed, create_graph=True)
    assert gx.tolist() == pytest.approx(slope)
    assert grad(gx.sum(), seed, retain_graph=True)[0].tolist() == pytest.approx(slope)
    (by_seed,) = grad(gx.sum(), seed, create_graph=True)  # and so on from there: the trick by which vjp gives jvp
    with pytest.raises(RuntimeError, match=REFUSED):
        grad(by_seed.sum(), x)


@pytest.mark.parametrize("way", WAYS)
def test_every_transform_refuses(way):
    cls = keeping(way, MOVES["operators"])

    def f(x):
        return cls.apply(x).sum()

    x = gs.tensor([0.3, 0.9])
    assert gs.grad(f)(x).tolist() == pytest.approx([0.3**2 + 2 * np.sin(0.3) + 1, 0.9**2 + 2 * np.sin(0.9) + 1])
    for transform in (gs.hessian, lambda f: gs.jacrev(gs.grad(f)), lambda f: gs.vmap(gs.jacrev(gs.grad(f)))):
        with pytest.raises(RuntimeError, match=REFUSED):
            transform(f)(x if transform is gs.hessian else gs.stack([x, x]))
    with pytest.raises(RuntimeError, match=REFUSED):
        gradgradcheck(cls.apply, x.clone().requires_grad_())
    rows = gs.vmap(gs.grad(f))(gs.stack([x, x + 1]))
    assert rows[0].tolist() == pytest.approx(gs.grad(f)(x).tolist())


@pytest.mark.parametrize("way", WAYS)
def test_every_transform_takes_constants(way):
    cls = keeping(way, CONSTANTS["a mask"])

    def f(x):
        return cls.apply(x).sum()

    x = gs.tensor([0.3, 0.9])
    assert gs.hessian(f)(x).tolist() == [pytest.approx([0.6, 0]), pytest.approx([0, 1.8])]
    assert gs.vmap(gs.jacrev(gs.grad(f)))(x[None])[0].tolist() == [pytest.approx([0.6, 0]), pytest.approx([0, 1.8])]
    assert gradgradcheck(cls.apply, x.clone().requires_grad_())


@pytest.mark.parametrize("way", WAYS)
def test_tangents_that_meet_such_a_value(way):
    keep, kept = WAYS[way]

    class Square(Function):  # (2 x)**2, by the middle
        @staticmethod
        def forward(ctx, x):
            m = x * 2
            keep(ctx, m)
            ctx.save_for_forward(m)
            return m**2

        @staticmethod
        def backward(ctx, g):
            return 4 * kept(ctx) * g

        @staticmethod
        def jvp(ctx, t):
            return 4 * ctx.saved_tensors[0] * t

    class Recomputed(Square):
        @staticmethod
        def forward(ctx, x):
            keep(ctx, x * 2)
            ctx.save_for_forward(x)
            return (x * 2) ** 2

        @staticmethod
        def jvp(ctx, t):
            return 8 * ctx.saved_tensors[0] * t

    x = gs.tensor(3.0)
    for cls in (Square, Recomputed):
        assert gs.jacfwd(cls.apply)(x).item() == gs.grad(cls.apply)(x).item() == 24
        with pytest.raises(RuntimeError, match=REFUSED):
            gs.jacfwd(gs.grad(cls.apply))(x)
    for outer in (gs.jacfwd, gs.grad):
        with pytest.raises(RuntimeError, match=REFUSED):
            outer(gs.jacfwd(Square.apply))(x)
        assert outer(gs.jacfwd(Recomputed.apply))(x).item() == 8


def test_inputs_and_outputs_that_are_kept_have_their_history():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x, scale):
            y, m = gs.exp(x * scale), x * 2
            ctx.save_for_backward(x, y, m)
            ctx.scale = scale
            return y, m

        @staticmethod
        def backward(ctx, g, g_middle):
            x, y, m = ctx.saved_tensors
            return g * y * ctx.scale + 2 * g_middle, g * y * m / 2

    x, scale = gs.tensor([0.3, 0.9], requires_grad=True), gs.tensor(0.7, requires_grad=True)
    assert gradcheck(Exp.apply, (x, scale)) and gradgradcheck(Exp.apply, (x, scale))


@pytest.mark.parametrize("separate", [False, True])
def test_only_the_inputs_that_a_value_comes_from_are_refused(separate):
    def keep(ctx, inputs):
        x, w, _ = inputs
        ctx.save_for_backward(x, w, w * 2, gs.argmax(x))

    class Product(Function):  # x w**2
        if separate:
            @staticmethod
            def forward(x, w, fixed):
                return x * w**2 + fixed

            @staticmethod
            def setup_context(ctx, inputs, output):
                keep(ctx, inputs)
        else:
            @staticmethod
            def forward(ctx, x, w, fixed):
                keep(ctx, (x, w, fixed))
                return x * w**2 + fixed

        @staticmethod
        def backward(ctx, g):
            x, w, double, place = ctx.saved_tensors
            assert place.dtype.kind == "i"
            return g * double**2 / 4, g * x * double, None

    x, w = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([3.0, 4.0], requires_grad=True)
    for _ in range(2):
        gx, gw = grad(Product.apply(x, w, gs.ones(2)).sum(), (x, w), create_graph=True)
        assert grad(gw.sum(), x, retain_graph=True)[0].tolist() == [6, 8]  # through x alone
        for first in (gx, gw):
            with pytest.raises(RuntimeError, match=REFUSED):
                grad(first.sum(), w, retain_graph=True)
        y = Product.apply(x, w.detach(), gs.ones(2))  # nothing is differentiated by w
        (gx,) = grad(y.sum(), x, create_graph=True)
        assert not gx.requires_grad


def test_detach_says_that_a_constant_is_meant():
    cls = keeping("an attribute", MOVES["operators"])

    class Stopped(cls):
        @staticmethod
        def backward(ctx, g):
            return g * (ctx.x**2 + ctx.m.detach())

    assert twice(Stopped) == pytest.approx([0.6, 1.8])


def test_once_differentiable_refuses_whatever_a_pass_is_asked_for():
    class Once(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x * 2)
            return x**2

        @staticmethod
        @gs.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[1]

    def f(x):
        return Once.apply(x).sum()

    x, seed = gs.tensor([0.3, 0.9], requires_grad=True), gs.tensor([1.0, 2.0], requires_grad=True)
    (gx,) = grad(Once.apply(x), x, seed, create_graph=True)
    assert gx.tolist() == pytest.approx([0.6, 3.6])
    for target in (x, seed):
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad(gx.sum(), target, retain_graph=True, allow_unused=True)
    for transform in (gs.hessian, lambda f: gs.jacrev(gs.grad(f)), lambda f: gs.vmap(gs.jacrev(gs.grad(f)))):
        with pytest.raises(RuntimeError, match="once_differentiable"):
            transform(f)(gs.ones(2) if transform is gs.hessian else gs.ones(3, 2))
    assert gs.vmap(gs.grad(f))(gs.ones(3, 2)).tolist() == [[2, 2]] * 3


def test_an_output_that_is_marked_stays_a_constant():
    class Marked(Function):
        @staticmethod
        def forward(ctx, x):
            sign = x / abs(x)
            ctx.mark_non_differentiable(sign)
            ctx.save_for_backward(x, sign)
            return x**2 * sign, sign

        @staticmethod
        def backward(ctx, g, _):
            x, sign = ctx.saved_tensors
            return 2 * g * x * sign

    x = gs.tensor([-2.0, 3.0], requires_grad=True)
    (gx,) = grad(Marked.apply(x)[0].sum(), x, create_graph=True)
    assert grad(gx.sum(), x)[0].tolist() == [-2, 2]


def test_a_class_that_begins_to_keep_such_values():
    class Later(Function):
        keeps = False

        @staticmethod
        def forward(ctx, x):
            ctx.m = x * 2 if Later.keeps else x
            return x**2

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.m if Later.keeps else 2 * ctx.m)

    x = gs.tensor(3.0, requires_grad=True)
    (gx,) = grad(Later.apply(x), x, create_graph=True)
    assert grad(gx, x)[0].item() == 2
    Later.keeps = True
    for _ in range(2):
        (gx,) = grad(Later.apply(x), x, create_graph=True)
        with pytest.raises(RuntimeError, match=REFUSED):
            grad(gx, x)


@pytest.mark.parametrize("way", WAYS)
def test_the_value_dies_with_the_graph(way):
    found = []

    def middle(x):
        m = x * 2
        found.append(weakref.ref(m.numpy()))
        return m

    cls, x = keeping(way, middle), gs.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        (gx,) = grad(cls.apply(x).sum(), x, create_graph=True)
        del gx
    gc.collect()
    assert len(found) == 2 and [one() for one in found] == [None, None]


def test_a_compiled_function_refuses_too():
    cls = keeping("save_for_backward", MOVES["operators"])
    cls.pure = True
    x = gs.tensor([0.3, 0.9], requires_grad=True)

    @gs.compile
    def slope(x):
        return grad(cls.apply(x).sum(), x, create_graph=True)[0]

    for _ in range(3):
        gx = slope(x)
        assert gx.tolist() == pytest.approx([0.3**2 + 2 * np.sin(0.3) + 1, 0.9**2 + 2 * np.sin(0.9) + 1])
        with pytest.raises(RuntimeError, match=REFUSED):
            grad(gx.sum(), x)


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in Error")
def test_anomaly_mode_names_the_line_of_the_function():
    cls, x = keeping("save_for_backward", MOVES["operators"]), gs.tensor([0.3, 0.9], requires_grad=True)
    with gs.autograd.detect_anomaly(), pytest.warns(UserWarning, match=r"was induced by Keeps(?s:.*)cls\.apply"):
        (gx,) = grad(cls.apply(x).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match=REFUSED):
            grad(gx.sum(), x)


def test_threads_refuse_by_themselves():
    moved, fixed = keeping("an attribute", MOVES["operators"]), keeping("an attribute", CONSTANTS["a mask"])

    def work(number):
        if number % 2:
            with pytest.raises(RuntimeError, match=REFUSED):
                twice(moved)
        else:
            assert twice(fixed) == pytest.approx([0.6, 1.8])
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_a_forward_that_is_heard_by_others_is_followed():
    class Heard(gs.autograd.Listener):
        count = 0

        def end(self, event):
            self.count += event.kind == "operator"

    cls = keeping("an attribute", MOVES["operators"])
    with Heard() as heard, pytest.raises(RuntimeError, match=REFUSED):
        twice(cls)
    assert heard.count > 3


def test_a_value_counts_as_moved_where_following_failed(monkeypatch):
    cls = keeping("an attribute", CONSTANTS["a mask"])
    calls = []

    def fails(array):
        calls.append(array)
        if len(calls) > 1:  # the first is of the input
            raise TypeError("no weak reference")
        return weakref.ref(array)

    monkeypatch.setattr("gradspec.autograd.follower.ref", fails)
    with pytest.warns(RuntimeWarning, match="Follower.* raised TypeError"), pytest.raises(RuntimeError, match=REFUSED):
        twice(cls)
