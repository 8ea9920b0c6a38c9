"""What users of torch.func ask of transforms: checks of arguments, with the words that they search for, and options."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function
from tests.asked import each

X, V = gs.asarray([0.3, -0.7, 1.1]), gs.asarray([1.0, 0.5, -2.0])
JACOBIANS = {"jacrev": gs.jacrev, "jacfwd": gs.jacfwd}


def two(x, y):
    return (gs.sin(x), x + y), (x + 2, (x * y).sum())


@each("name", JACOBIANS)
def test_jacobians_in_chunks(name):
    jacobian, x, y = JACOBIANS[name], gs.asarray(np.linspace(-1, 1, 10).reshape(5, 2)), gs.asarray([[0.5, -2.0]])
    expected = gs.tree_util.tree_leaves(jacobian(two, (0, 1))(x, y))
    for chunk_size in (1, 2, 3, 7, 10, 1000):
        found = gs.tree_util.tree_leaves(jacobian(two, (0, 1), chunk_size=chunk_size)(x, y))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    nested = gs.vmap(jacobian(jacobian(lambda x: gs.sin(x) * x[0], chunk_size=2), chunk_size=2))(x)
    np.testing.assert_allclose(nested, gs.vmap(jacobian(jacobian(lambda x: gs.sin(x) * x[0])))(x))
    for chunk_size in (0, -2):
        with pytest.raises(ValueError, match=f"{name}: `chunk_size` should be greater than 0."):
            jacobian(two, chunk_size=chunk_size)


def test_strict_tangents():
    f = lambda x: (x, V)  # noqa: E731
    assert not gs.jvp(f, (X,), (V,))[1][1].numpy().any()
    with pytest.raises(RuntimeError, match="output 1 of the user-provided function is independent of the inputs.* strict mode"):
        gs.jvp(f, (X,), (V,), strict=True)
    np.testing.assert_allclose(gs.jvp(gs.sin, (X,), (V,), strict=True)[1], gs.cos(X) * V)


CHECKS = {
    "a position beyond": (lambda t: t(gs.sin, argnums=2)(X), "only 1 positional inputs"),
    "a position before": (lambda t: t(gs.multiply, argnums=-3)(X, X), "but only 2 positional inputs"),
    "a float": (lambda t: t(gs.sin, argnums=0.0)(X), "must be int or Tuple"),
    "a float among ints": (lambda t: t(gs.multiply, argnums=(1, 0.0))(X, X), "must be int"),
    "none": (lambda t: t(gs.sin, argnums=())(X), "must be non-empty"),
    "one twice": (lambda t: t(gs.multiply, argnums=(0, -2))(X, X), "must be unique"),
    "no pair": (lambda t: t(lambda x: [x, x], has_aux=True)(X), r"output of function f should be a tuple: \(output, aux\)"),
    "three": (lambda t: t(lambda x: (x, x, x), has_aux=True)(X), "should be a tuple.* it returned a tuple of 3"),
    "no output": (lambda t: t(lambda x: None)(X), "Expected f to be a function that has non-empty output"),
    "an empty one": (lambda t: t(lambda x: ())(X), "Expected f to be a function that has non-empty output"),
    "a number": (lambda t: t(lambda x: 12.2)(X), r"expected f\(\*primals\) to return only tensors, got type <class 'float'>"),
    "a string in a nest": (lambda t: t(lambda x: {"a": [x, "abc"]})(X), r"to return only tensors.* at \['a'\]\[1\]"),
}  # fmt: skip
TRANSFORMS = {
    "grad": gs.grad, "value_and_grad": gs.value_and_grad, **JACOBIANS,
    "vjp": lambda f, has_aux=False: lambda *x: gs.vjp(f, *x, has_aux=has_aux),
    "jvp": lambda f, has_aux=False: lambda *x: gs.jvp(f, x, x, has_aux=has_aux),
}  # fmt: skip


@each("case", CHECKS)
def test_checks_of_arguments(case):
    call, message = CHECKS[case]
    for name, transform in TRANSFORMS.items():
        if name in ("vjp", "jvp") and case in list(CHECKS)[:6]:  # argnums
            continue
        with pytest.raises(RuntimeError, match=message):
            call(transform)


@each("call, message", [
    (lambda: gs.jvp(gs.sin, (X,), (X, X)), "same python structure"), (lambda: gs.jvp(gs.sin, (X,), X), "same python structure"),
    (lambda: gs.jvp(gs.sin, (), ()), "at least one Tensor"), (lambda: gs.vjp(gs.sin), "at least one Tensor"),
])  # fmt: skip
def test_checks_of_tangents(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


class Pair(Function):
    """What its rule for batches is given and gives is said by each test."""

    rule = None

    @staticmethod
    def forward(x, y=None):
        return x * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @classmethod
    def vmap(cls, info, in_dims, *args):
        return Pair.rule(info, tuple(d for d, a in zip(in_dims, args) if a is not None), *[arg for arg in args if arg is not None])


ROWS = gs.stack([X, V])


def test_a_rule_for_batches_is_given_nests():
    seen = []
    Pair.rule = lambda info, in_dims, x, ys: (seen.append(in_dims) or (x, ys[0]), (0, 0))
    first, second = gs.vmap(lambda x: Pair.apply(x, [x * 2, X]))(ROWS)
    assert seen == [(0, [0, None])]
    np.testing.assert_array_equal(first, ROWS)
    np.testing.assert_array_equal(second, ROWS * 2)


@each("dims, given", [(1, (1,)), (-1, (2,)), (0, (0,)), ((2,), (2,))])
def test_a_rule_for_batches_is_told_where_the_callers_batch_lies(dims, given):
    seen = []
    Pair.rule = lambda info, in_dims, x: (seen.append((in_dims, x.shape)) or x * 2, in_dims[0])
    whole = gs.asarray(np.random.default_rng(0).normal(size=(2, 3, 4)))
    found = gs.vmap(Pair.apply, in_dims=dims)(whole)
    assert seen == [(given, (2, 3, 4))]
    np.testing.assert_array_equal(found, 2 * np.moveaxis(whole.numpy(), given[0], 0))
    Pair.rule = lambda info, in_dims, x: (seen.append((in_dims, x.shape)) or x * 2, in_dims[0])
    found = gs.vmap(lambda x: Pair.apply(x + 0), in_dims=dims)(whole)  # what was computed has its batch in front
    assert seen[1] == ((0,), np.moveaxis(whole.numpy(), given[0], 0).shape)
    np.testing.assert_array_equal(found, 2 * np.moveaxis(whole.numpy(), given[0], 0))


@each("dims", [(0, None), (1, None), (2, 0), (None, 1), (1, 1)])
def test_a_rule_for_batches_of_several_arguments_and_of_a_vmap_inside_of_another(dims):
    Pair.rule = lambda info, in_dims, x, y: (
        sum(v if dim is None else gs.moveaxis(v, dim, 0) for v, dim in zip((x, y), in_dims)), 0)
    rng = np.random.default_rng(1)
    args = [rng.normal(size=(4, 4, 4) if dim is not None else (4, 4)) for dim in dims]
    row = lambda i: [a if dim is None else a.take(i, dim) for a, dim in zip(args, dims)]  # noqa: E731
    expected = np.stack([sum(row(i)) for i in range(4)])
    np.testing.assert_allclose(gs.vmap(Pair.apply, in_dims=dims)(*map(gs.asarray, args)), expected)
    found = gs.vmap(gs.vmap(Pair.apply, in_dims=(0, 1)), in_dims=dims)(*map(gs.asarray, args))
    rows = [row(i) for i in range(4)]
    np.testing.assert_allclose(found, np.stack([[x[j] + y[:, j] for j in range(4)] for x, y in rows]))


@each("function, shape", [
    (lambda x: gs.scipy.ndimage.spline_filter1d(x, 3), (5, 6, 4)), (lambda x: gs.scipy.linalg.expm(x), (3, 3, 3)),
    (lambda x: gs.scipy.fft.dct(x, 2), (5, 6, 4)), (lambda x: gs.scipy.signal.lfilter([1.0, 0.5], [1.0, -0.3], x), (5, 6, 4)),
    (lambda x: gs.scipy.signal.lfilter([1.0], 1.0 + 0.1 * x[0], x[1]), (5, 5, 5)),
])  # fmt: skip
@each("dim", [0, 1, 2, -1])
def test_the_librarys_own_rules_for_batches_take_them_along_any_axis(function, shape, dim):
    x = np.random.default_rng(2).normal(size=shape)
    found = gs.vmap(function, in_dims=dim)(gs.asarray(x))
    np.testing.assert_allclose(found, np.stack([function(gs.asarray(row)).numpy() for row in np.moveaxis(x, dim, 0)]), rtol=1e-10, atol=1e-12)


def test_a_rule_for_batches_may_give_what_all_rows_share():
    Pair.rule = lambda info, in_dims, x: (gs.zeros(3), None)
    np.testing.assert_array_equal(gs.vmap(Pair.apply)(ROWS), gs.zeros((2, 3)))
    Pair.rule = lambda info, in_dims, x: ([x, gs.zeros(3)], [0, None])
    found = gs.vmap(Pair.apply)(ROWS)
    assert type(found) is list and not found[1].numpy().any()


def test_a_rule_for_batches_is_outside_of_the_vmap_that_it_is_for():
    Pair.rule = lambda info, in_dims, x: (x + gs.random.standard_normal(x.shape), 0)
    found = gs.vmap(Pair.apply)(ROWS)  # randomness is "error", and nothing is drawn inside
    assert len(set((found - ROWS).ravel().tolist())) == 6


@each("rule, message", [
    (lambda info, in_dims, x: x, "to have two returns"), (lambda info, in_dims, x: (x, x, 0, 0), "to have two returns"),
    (lambda info, in_dims, x: (x, (None,)), "returned an incompatible"), (lambda info, in_dims, x: ([x], (0,)), "returned an incompatible"),
    (lambda info, in_dims, x: ((x, x), (0,)), "returned an incompatible"),
])  # fmt: skip
def test_rules_for_batches_that_do_not_fit(rule, message):
    Pair.rule = rule
    with pytest.raises(RuntimeError, match=message):
        gs.vmap(Pair.apply)(ROWS)
