"""Every kind of rule that users write, inside of every transform.

All rules are those of one function, so each transform of it is held to the same transform of the plain function, whose derivatives
others test.
"""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function
from gradspec.autograd.checkpoint import CheckpointError
from tests.asked import each

W = gs.asarray([0.5, -1.5, 2.0])


def plain(x):
    return gs.sin(x) * W


def slope(x):
    return gs.cos(x) * W


by_jvp = gs.custom_jvp(plain)
by_jvp.defjvp(lambda primals, tangents: (by_jvp(*primals), slope(primals[0]) * tangents[0]))
by_jvps = gs.custom_jvp(plain)
by_jvps.defjvps(lambda x_t, ans, x: slope(x) * x_t)
by_vjp = gs.custom_vjp(plain)
by_vjp.defvjp(lambda x: (plain(x), x), lambda x, g: (g * slope(x),))
by_vmap = gs.func.custom_vmap(plain)
by_vmap.def_vmap(lambda axis_size, in_batched, x: (by_vmap(x), True))


def numbers(x):
    if isinstance(x, gs.Tensor):  # an assert of pytest's would have compile look at all that pytest holds
        raise TypeError("a primitive is called with arrays")
    return np.sin(x) * W.numpy()


def primitive(*rules):
    function = gs.func.primitive(lambda x: numbers(x))
    for define, *makers in rules:
        define(function, *makers)
    return function


PULL, PUSH = (gs.func.defvjp, lambda ans, x: lambda g: g * slope(x)), (gs.func.defjvp, lambda x_t, ans, x: x_t * slope(x))
PULL_ALL = gs.func.defvjp_argnums, lambda argnums, ans, args, kwargs: lambda g: tuple(g * slope(args[i]) for i in argnums)
PULL_ANY = gs.func.defvjp_argnum, lambda i, ans, args, kwargs: lambda g: g * slope(args[i])
PUSH_ALL = gs.func.defjvp_argnums, lambda argnums, gs_, ans, args, kwargs: sum(t * slope(args[i]) for i, t in zip(argnums, gs_))
PUSH_ANY = gs.func.defjvp_argnum, lambda i, t, ans, args, kwargs: t * slope(args[i])


class ByContext(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return plain(x)

    @staticmethod
    def backward(ctx, g):
        return g * slope(*ctx.saved_tensors)

    @staticmethod
    def jvp(ctx, x_t):
        return x_t * slope(*ctx.saved_tensors)


class BySetup(Function):
    @staticmethod
    def forward(x):
        return plain(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def vjp(ctx, g):
        return g * slope(*ctx.saved_tensors)

    @staticmethod
    def jvp(ctx, x_t):
        return x_t * slope(*ctx.saved_tensors)

    @staticmethod
    def vmap(info, in_dims, x):
        return BySetup.apply(gs.moveaxis(x, in_dims[0], 0)), 0


class Pulled(ByContext):
    pure = True
    jvp = Function.jvp


RULES = {
    "custom_jvp": by_jvp, "custom_jvp.defjvps": by_jvps, "custom_vjp": by_vjp, "custom_vmap": by_vmap,
    "sequential_vmap": gs.func.sequential_vmap(plain), "primitive": primitive(PULL, PUSH), "defvjp alone": primitive(PULL),
    "defjvp alone": primitive(PUSH), "argnums": primitive(PULL_ALL, PUSH_ALL), "argnum": primitive(PULL_ANY, PUSH_ANY),
    "defjvp_argnums alone": primitive(PUSH_ALL), "Function with ctx": ByContext.apply, "Function with setup_context": BySetup.apply,
    "Function without jvp": Pulled.apply, "checkpoint": gs.checkpoint(plain),
    "checkpoint of a rule": gs.checkpoint(lambda x: by_vjp(x)), "stop_gradient": lambda x: plain(x) + gs.stop_gradient(x) - x.detach(),
}  # fmt: skip


def total(f):
    return lambda x: (f(x) * gs.exp(x)).sum()


X, V = gs.asarray([0.3, -0.7, 1.1]), gs.asarray([1.0, 0.5, -2.0])
ROWS = gs.stack([X, V, X * V, X - V])
TRANSFORMS = {
    "value": lambda f: f(X),
    "grad": lambda f: gs.grad(total(f))(X),
    "value_and_grad": lambda f: gs.value_and_grad(total(f))(X),
    "vjp": lambda f: gs.vjp(f, X)[1](V)[0],
    "jvp": lambda f: gs.jvp(f, (X,), (V,))[1],
    "linearize": lambda f: gs.linearize(f, X)[1](V),
    "jacrev": lambda f: gs.jacrev(f)(X),
    "jacfwd": lambda f: gs.jacfwd(f)(X),
    "hessian": lambda f: gs.hessian(total(f))(X),
    "hvp": lambda f: gs.hvp(total(f), X, V),
    "jacrev of jacrev": lambda f: gs.jacrev(gs.jacrev(f))(X),
    "jacfwd of jacrev": lambda f: gs.jacfwd(gs.jacrev(f))(X),
    "jacrev of jacfwd": lambda f: gs.jacrev(gs.jacfwd(f))(X),
    "jvp of jvp": lambda f: gs.jvp(lambda x: gs.jvp(f, (x,), (V,))[1], (X,), (V,))[1],
    "grad of grad of grad": lambda f: gs.grad(lambda x: gs.grad(lambda x: gs.grad(total(f))(x).sum())(x).sum())(X),
    "vmap": lambda f: gs.vmap(f)(ROWS),
    "vmap along another axis": lambda f: gs.vmap(f, in_axes=1, out_axes=1)(ROWS.T),
    "vmap of vmap": lambda f: gs.vmap(gs.vmap(f))(ROWS.reshape(2, 2, 3)),
    "vmap of grad": lambda f: gs.vmap(gs.grad(total(f)))(ROWS),
    "grad of vmap": lambda f: gs.grad(lambda x: gs.vmap(total(f))(x).sum())(ROWS),
    "vmap of jvp": lambda f: gs.vmap(lambda x: gs.jvp(f, (x,), (V,))[1])(ROWS),
    "jvp of vmap": lambda f: gs.jvp(gs.vmap(f), (ROWS,), (ROWS,))[1],
    "vmap of jacrev": lambda f: gs.vmap(gs.jacrev(f))(ROWS),
    "vmap of jacfwd": lambda f: gs.vmap(gs.jacfwd(f))(ROWS),
    "vmap of hessian": lambda f: gs.vmap(gs.hessian(total(f)))(ROWS),
    "jacrev of vmap": lambda f: gs.jacrev(gs.vmap(f))(ROWS),
    "checkpoint": lambda f: gs.grad(lambda x: gs.checkpoint(total(f))(x))(X),
    "vmap of checkpoint": lambda f: gs.vmap(gs.grad(gs.checkpoint(total(f))))(ROWS),
    "scan": lambda f: gs.grad(lambda x: gs.scan(lambda c, _: (f(c), c), x, gs.zeros(3))[1].sum())(X),
    "cond": lambda f: gs.grad(lambda x: gs.cond(True, f, gs.cos, x).sum())(X),
    "backward": lambda f: backward(f),
    "dual level": lambda f: dual(f),
}
COMPILED = {
    "compile": lambda f: f, "compile of grad": lambda f: gs.grad(total(f)),
    "compile of jvp": lambda f: lambda x: gs.jvp(f, (x,), (V,))[1], "compile of jacrev": gs.jacrev, "compile of jacfwd": gs.jacfwd,
    "compile of hessian": lambda f: gs.hessian(total(f)), "compile of vmap": lambda f: lambda x: gs.vmap(f)(gs.stack([x, V])),
    "compile of vmap of grad": lambda f: lambda x: gs.vmap(gs.grad(total(f)))(gs.stack([x, V])),
}  # fmt: skip
# A dual level needs a jvp, where gs.jvp goes backward twice; the second run of a checkpoint has no tangents of a level that is over.
REFUSED: dict[tuple[str, str], type[Exception]] = {
    **{("dual level", rule): NotImplementedError for rule in ("custom_vjp", "defvjp alone", "Function without jvp", "checkpoint of a rule")},
    ("jacrev of jacfwd", "checkpoint"): CheckpointError,
}  # fmt: skip


def backward(f):
    x = X.clone().requires_grad_()
    total(f)(x).backward()
    return x.grad


def dual(f):
    with gs.autograd.forward_ad.dual_level():
        return gs.autograd.forward_ad.unpack_dual(f(gs.autograd.forward_ad.make_dual(X, V))).tangent


def close(found, expected):
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    else:
        np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-10, atol=1e-12)


@each("rule", RULES)
def test_rules_inside_of_transforms(rule):
    for name, transform in TRANSFORMS.items():
        if (name, rule) in REFUSED:
            with pytest.raises(REFUSED[name, rule]):
                transform(RULES[rule])
            continue
        try:
            close(transform(RULES[rule]), transform(plain))
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error


@each("rule", RULES)
@pytest.mark.filterwarnings("ignore:compile")
def test_rules_inside_of_compiled_functions(rule):
    for name, transform in COMPILED.items():
        compiled, reference = gs.compile(transform(RULES[rule])), transform(plain)
        for x in (X, V, X * V, -X):
            try:
                close(compiled(x), reference(x))
            except Exception as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error


# What the table does not ask.


def test_a_primitive_takes_and_gives_nests():
    @gs.func.primitive
    def sum_and_product(pair, scale=1.0):
        return {"sum": scale * (pair["a"] + pair["b"]), "product": pair["a"] * pair["b"]}

    gs.func.defvjp(sum_and_product, lambda ans, pair, scale=1.0: lambda g: {
        "a": scale * g["sum"] + g["product"] * pair["b"], "b": scale * g["sum"] + g["product"] * pair["a"]})  # fmt: skip
    f = lambda pair: sum_and_product(pair, scale=3.0)["sum"] * gs.sin(sum_and_product(pair)["product"])  # noqa: E731
    g = lambda pair: 3 * (pair["a"] + pair["b"]) * gs.sin(pair["a"] * pair["b"])  # noqa: E731
    at = {"a": 2.0, "b": 0.5}
    for transform in (gs.grad, lambda f: gs.grad(lambda p: gs.grad(f)(p)["a"])):
        for key in at:
            np.testing.assert_allclose(transform(f)(at)[key], transform(g)(at)[key])


def test_same_and_def_linear():
    scaled = gs.func.primitive(lambda x, y: 2 * x + 0 * y)
    gs.func.defjvp(scaled, "same", None)
    assert gs.jvp(lambda x: scaled(x, 1.0), (3.0,), (5.0,))[1].item() == 10
    doubled = gs.func.primitive(lambda x: 2 * x)
    gs.func.def_linear(doubled)
    assert gs.jvp(doubled, (3.0,), (5.0,))[1].item() == 10
    twice = gs.custom_jvp(lambda x: 2 * x)
    twice.defjvp(lambda primals, tangents: (twice(*primals), twice(*tangents)))
    for function in (doubled, twice, lambda x: scaled(x, 1.0)):
        with pytest.raises(NotImplementedError, match="calls the function itself on a tangent, which says nothing of a backward"):
            gs.grad(function)(3.0)
    gs.func.defvjp(doubled, lambda ans, x: lambda g: doubled(g))
    assert gs.grad(doubled)(3.0).item() == 2


def test_a_primitive_is_called_at_each_replay_and_never_with_tensors():
    seen = []
    function = gs.func.primitive(lambda x: seen.append(type(x)) or np.sin(x))
    gs.func.defvjp(function, lambda ans, x: lambda g: g * gs.cos(x))
    gradient = gs.compile(gs.value_and_grad(lambda x: function(x).sum()), strict=True)
    for number in range(4):
        value, found = gradient(X * number)
        np.testing.assert_allclose(value, np.sin(X * number).sum())
        np.testing.assert_allclose(found, np.cos(X * number))
    assert len(seen) == 4 and set(seen) == {np.ndarray}


def test_what_a_primitive_returns_shares_no_memory_with_what_it_was_given():
    x = gs.ones(3)
    y = gs.func.primitive(lambda x: x)(x)
    y += 1
    assert x.tolist() == [1, 1, 1]


def test_the_rule_for_batches_is_what_is_used():
    seen = []
    f = gs.func.custom_vmap(lambda pair, y: (pair["a"] * y, y))

    @f.def_vmap
    def rule(axis_size, in_batched, pair, y):
        seen.append((axis_size, in_batched, pair["a"].shape, y.shape))
        return (pair["a"] * 7, y), (True, False)

    found = gs.vmap(lambda a, y: f({"a": a}, y), in_axes=(1, None), out_axes=(0, None))(ROWS.T, X)
    np.testing.assert_allclose(found[0], 7 * ROWS)
    assert found[1] is X and seen == [(4, [{"a": True}, False], (4, 3), (3,))]
    assert f({"a": X}, y=2.0)[0].tolist() == (X * 2).tolist()
    drawn = gs.func.custom_vmap(lambda x: x)
    drawn.def_vmap(lambda size, which, x: (gs.random.standard_normal(x.shape), True))
    assert gs.vmap(drawn)(ROWS).shape == ROWS.shape  # a rule is outside of the vmap that it is for


def test_a_method_has_a_rule_for_batches():
    class Scale:
        by = 3.0

        @gs.func.custom_vmap
        def times(self, x):
            return self.by * x

    @Scale.times.def_vmap
    def rule(size, which, scale, x):
        return -scale.by * x, which[1]

    assert isinstance(Scale.times, gs.func.custom_vmap)
    np.testing.assert_allclose(Scale().times(X), 3 * X)
    np.testing.assert_allclose(gs.vmap(Scale().times)(ROWS), -3 * ROWS)


@each("rule, message", [
    (None, "No batching rule defined for custom_vmap function f using def_vmap"), (lambda n, b, x: x, "must return a pair"),
    (lambda n, b, x: (x, (True, True)), "structure of output value and output batching specification must match"),
    (lambda n, b, x: (x[0], True), "is said to be a batch of 4 rows"),
])  # fmt: skip
def test_rules_for_batches_that_do_not_fit(rule, message):
    @gs.func.custom_vmap
    def f(x):
        return x

    if rule is not None:
        f.def_vmap(rule)
    with pytest.raises((AttributeError, TypeError, ValueError), match=message):
        gs.vmap(f)(ROWS)


def test_stop_gradient_of_nests():
    x = gs.ones(3, requires_grad=True)
    found = gs.stop_gradient({"x": x * 2, "n": [3, None]})
    assert not found["x"].requires_grad and found["n"] == [3, None]
    np.testing.assert_allclose(gs.jvp(lambda x: x * gs.stop_gradient(x), (X,), (V,))[1], X * V)
    np.testing.assert_allclose(gs.hessian(lambda x: (x**2 * gs.stop_gradient(x)).sum())(X), np.diag(2 * X))


def test_checkpoint_keeps_the_arguments_alone():
    held = gs.autograd.graph.saved_tensors_hooks
    sizes = []

    def run(f):
        sizes.clear()
        with held(lambda x: sizes.append(x.size) or x, lambda x: x):
            return gs.grad(lambda x: f(x, times=2.0).sum())(gs.ones(10) / 3)

    def f(x, times):
        for _ in range(20):
            x = gs.sin(x) * times
        return x

    expected, many = run(f), sum(sizes)
    np.testing.assert_allclose(run(gs.checkpoint(f)), expected)
    assert sum(sizes) < many / 10
    calls = []
    gs.grad(gs.checkpoint(policy=None)(lambda x: calls.append(1) or gs.sin(x)))(1.0)
    assert len(calls) == 2
    with pytest.raises(TypeError, match="there are no policies"):
        gs.checkpoint(f, policy=lambda: True)
    with pytest.raises(TypeError, match="a function is needed"):
        gs.checkpoint(3)


def test_a_pass_that_finds_that_no_vmap_is_open_any_more_leaves_no_trace_of_it():
    """A row that outlives its vmap keeps the question open, until it goes: an operator inside of a pass finds that out."""
    kept = []
    gs.vmap(lambda x: kept.append(x) or x)(ROWS)
    x = gs.ones(3, requires_grad=True)
    y = gs.sin(x)
    y.register_hook(lambda g: kept.clear() or g * gs.ones(3))
    y.sum().backward()
    np.testing.assert_allclose(gs.grad(lambda x: gs.sin(x).sum())(X), np.cos(X))


def by_itself(residual):
    """exp, whose forward calls the function itself, as those of JAX's users do."""

    @gs.custom_vjp
    def exp(x, times=1.0):
        return gs.exp(x) * times

    def forward(x, times):
        y = exp(x, times)
        return y, residual(exp, x, y, times)

    exp.defvjp(forward, lambda kept, g: (kept * g, None))
    return exp


RESIDUALS = {
    "the result": lambda exp, x, y, times: y,
    "computed apart": lambda exp, x, y, times: gs.exp(x) * times,
    "a further call": lambda exp, x, y, times: exp(x, times=times),
}


@each("name", RESIDUALS)
def test_a_forward_may_call_the_function_itself(name):
    exp, x = by_itself(RESIDUALS[name]), np.array([0.3, -0.7])
    np.testing.assert_allclose(exp(x), np.exp(x))
    derivative = lambda x: exp(x, 2.0)  # noqa: E731
    for _ in range(3):
        derivative = (lambda f: lambda x: gs.grad(lambda x: f(x).sum())(x))(derivative)
        np.testing.assert_allclose(derivative(x), 2 * np.exp(x))
        np.testing.assert_allclose(gs.vmap(derivative)(np.stack([x, x])), 2 * np.exp([x, x]))
    np.testing.assert_allclose(gs.grad(lambda x: gs.vmap(exp)(x).sum())(x), np.exp(x))
    for transform in (gs.jacrev, gs.jacfwd):
        np.testing.assert_allclose(transform(transform(exp))(x)[0, 0], [np.exp(x[0]), 0])
    np.testing.assert_allclose(gs.jvp(exp, (x,), (x,))[1], np.exp(x) * x)
    y = gs.tensor(x, requires_grad=True)
    exp(gs.sin(y)).sum().backward()
    np.testing.assert_allclose(y.grad, np.exp(np.sin(x)) * np.cos(x))


def test_a_forward_that_fails_leaves_the_function_as_it_was():
    exp = by_itself(lambda exp, x, y, times: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            gs.grad(exp)(1.0)
