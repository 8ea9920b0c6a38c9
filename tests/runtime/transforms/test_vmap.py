"""vmap: a function of a row as a function of a batch; inside of transforms, and around them."""

import gc
import inspect
import itertools
import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function
from gradspec.core.tensor import TensorBase
from gradspec.transforms.batching.batched import Batched
from gradspec.transforms.batching.level_tensor import LevelTensor
from gradspec.utils.checkpoint import checkpoint
from tests.runtime.mapped_programs import run

RANDOM = np.random.default_rng(5)
W = gs.asarray(RANDOM.normal(size=(4, 3)))


def rand(*shape):
    return gs.asarray(RANDOM.normal(size=shape))


def f(x):
    return gs.tanh(W @ x).sum()


def g(x):
    return gs.tanh(W @ x)


def is_the_loop(function, *batches):
    """vmap against a call for each row."""
    found = gs.vmap(function)(*batches)
    rows = [function(*[batch[i] for batch in batches]) for i in range(batches[0].shape[0])]
    columns = zip(*rows, strict=True) if isinstance(found, tuple) else [rows]
    for one, column in zip(found if isinstance(found, tuple) else (found,), columns, strict=True):
        np.testing.assert_allclose(one.detach(), np.stack([row.detach() for row in column]), rtol=1e-10, atol=1e-12)


def test_random_functions_under_random_nests_of_transforms():
    refused, wrong = run(500, 100_000)
    assert wrong == []
    assert refused < 10  # for what docs/taylor.md lists, and nests that the loop refuses


TRANSFORMS = {
    "grad": gs.grad(f), "jacrev": gs.jacrev(g), "jacfwd": gs.jacfwd(g), "hessian": gs.hessian(f),
    "grad of grad": gs.grad(lambda x: gs.grad(f)(x).sum()), "jvp": lambda x: gs.jvp(g, (x,), (x,)),
    "jvp at a point outside": lambda v: gs.jvp(g, (gs.ones(3),), (v,)), "vjp": lambda x: gs.vjp(g, x)[1](gs.ones(4))[0],
    "vjp with cotangents of the rows": lambda x: gs.vjp(g, gs.ones(3))[1](g(x))[0], "hvp": lambda x: gs.jvp(gs.grad(f), (x,), (x,))[1],
    "hvp by name": lambda x: gs.hvp(f, x, x), "linearize": lambda x: gs.linearize(g, x)[1](x),
    "gradient by what is the same for all rows": lambda x: gs.grad(lambda w: gs.tanh(w @ x).sum())(W),
    "functional.jacobian": lambda x: gs.autograd.functional.jacobian(g, x),
    "functional.hvp": lambda x: gs.autograd.functional.hvp(f, x, gs.ones(3))[1],
    "grad of a checkpoint": gs.grad(lambda x: checkpoint(g, x, use_reentrant=False).sum()),
    "scan": lambda x: gs.scan(lambda c, a: (c * a, c + a), x[0], x)[1],
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_inside(name):
    is_the_loop(TRANSFORMS[name], rand(5, 3))


def test_transforms_around():
    x = rand(5, 3)
    np.testing.assert_allclose(gs.grad(lambda z: gs.vmap(f)(z).sum())(x), gs.stack([gs.grad(f)(row) for row in x]))
    whole = gs.jacrev(gs.vmap(g))(x).numpy()
    np.testing.assert_allclose(whole[range(5), :, range(5)], gs.stack([gs.jacrev(g)(row) for row in x]))
    assert not whole[0, :, 1:].any()
    np.testing.assert_allclose(gs.jvp(gs.vmap(g), (x,), (x,))[1], gs.stack([gs.jvp(g, (row,), (row,))[1] for row in x]))


def test_a_pullback_that_was_made_outside():
    pullback, v = gs.vjp(g, gs.ones(3))[1], rand(5, 4)
    np.testing.assert_allclose(gs.vmap(pullback)(v)[0], gs.stack([pullback(row)[0] for row in v]))
    (twice,) = gs.vmap(gs.vmap(pullback))(rand(2, 5, 4))
    assert twice.shape == (2, 5, 3)


def test_gradients_of_leaves_made_inside():
    def by_grad(x):
        x = x.detach().requires_grad_()
        return gs.autograd.grad((x**3).sum(), [x])[0]

    def by_backward(x):
        x = x.detach().requires_grad_()
        (x**3).sum().backward()
        return x.grad

    def by_rows(x):
        x = x.detach().requires_grad_()
        return gs.autograd.grad(x**3, [x], gs.eye(3), is_grads_batched=True)[0]

    for function in (by_grad, by_backward, by_rows):
        is_the_loop(function, rand(5, 3))


def test_backward_adds_up_the_gradients_of_a_leaf_outside():
    w, x = gs.ones(3, requires_grad=True), rand(5, 3)
    gs.vmap(lambda row: (w * row).sum())(x).sum().backward()
    np.testing.assert_allclose(w.grad, x.sum(axis=0))
    with pytest.raises(RuntimeError, match="would be the sum over the rows. Use gs.grad"):
        gs.vmap(lambda row: gs.autograd.grad((w * row).sum(), [w])[0])(x)


def test_writes():
    def function(x):
        y = gs.zeros_like(x)
        y[0] = x[1]
        y[1:] += x[:2]
        y *= 2
        y.exp_()
        return y

    is_the_loop(function, rand(5, 3))
    is_the_loop(gs.grad(lambda x: function(x).sum()), rand(5, 3))
    same = gs.zeros(3)
    with pytest.raises(RuntimeError, match="add_ is not possible, because a tensor that is the same for all rows"):
        gs.vmap(same.add_)(rand(5, 3))
    assert not same.numpy().any()


def test_indices_of_every_row_its_own():
    i, j = gs.asarray(RANDOM.integers(0, 3, (5, 4))), gs.asarray(RANDOM.integers(0, 2, (5, 4)))
    n = gs.asarray(RANDOM.integers(0, 2, 5))
    is_the_loop(lambda x, i: x[:, i] * 2, rand(5, 2, 3), i)
    is_the_loop(lambda x, j, i: x[j, :, i], rand(5, 2, 2, 3), j, i)
    is_the_loop(lambda x, n: x[n], rand(5, 2, 3), n)
    is_the_loop(lambda x, n: x[..., n, None], rand(5, 3, 2), n)
    is_the_loop(lambda i: W[:, i], i)
    is_the_loop(lambda i: W.T[i, [0, 1, 2, 3]], i)

    def put(x, j, i):
        x = x.clone()
        x[j, :, i] = gs.sin(x[0, :2, :2])
        return x

    is_the_loop(lambda x, j, i: put(x, j[:2], i[:2]), rand(5, 2, 2, 3), j, i)
    one = np.asarray([0, 1, 2]), np.asarray([1, 1, 0])
    is_the_loop(lambda x: x[one[0], :, one[1]], rand(5, 3, 2, 4))  # a slice between arrays: their axes come first


def test_random_numbers():
    x = rand(5, 3)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode: standard_normal"):
        gs.vmap(lambda x: x + gs.random.standard_normal(3))(x)
    same = gs.vmap(lambda x: gs.random.standard_normal(2), randomness="same")(x)
    assert same.shape == (5, 2) and (same == same[0]).all()
    different = gs.vmap(lambda x: gs.random.standard_normal(2), randomness="different")(x)
    assert different.shape == (5, 2) and len(set(different[:, 0].tolist())) == 5
    dropped = gs.vmap(lambda x: gs.nn.dropout(x, 0.5), randomness="same")(gs.ones((5, 50)))
    assert (dropped == dropped[0]).all() and 0 < (dropped == 0).sum() < 250
    dropped = gs.vmap(lambda x: gs.nn.dropout(x, 0.5), randomness="different")(gs.ones((5, 50)))
    assert not (dropped == dropped[0]).all()
    with pytest.raises(ValueError, match="Only allow randomness modes"):
        gs.vmap(f, randomness="often")


def test_an_operator_that_draws_nothing_is_not_refused():
    """A model with dropout, when it is evaluated, and layers whose probability is 0."""
    x = rand(5, 3, 4)
    asked = {name: drop for name, drop in vars(gs.nn.functional).items() if inspect.isroutine(drop) and draws_in_training(drop)}
    assert {"dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout", "rrelu"} <= set(asked)
    for name, drop in asked.items():
        wanted = gs.stack([drop(row, training=False) for row in x])
        np.testing.assert_array_equal(gs.vmap(lambda x: drop(x, training=False))(x), wanted)
        if name != "rrelu":
            np.testing.assert_array_equal(gs.vmap(lambda x: drop(x, 0.0, training=True))(x), x)


def draws_in_training(function):
    """Whether it is a function of one array that draws where it is told that a model is trained."""
    parameters = inspect.signature(function).parameters
    return {"training", "generator"} <= set(parameters) and [p.default for p in parameters.values()].count(inspect.Parameter.empty) == 1


def test_draws_into_what_all_rows_share_are_refused_but_where_all_draw_the_same():
    shared = gs.zeros(3)
    with pytest.raises(RuntimeError, match="normal_ is not possible, because a tensor that is the same for all rows"):
        gs.vmap(lambda x: shared.normal_() + x, randomness="different")(rand(5, 3))
    assert not shared.numpy().any()
    found = gs.vmap(lambda x: shared.normal_() + 0 * x, randomness="same")(rand(5, 3))
    np.testing.assert_allclose(found, np.broadcast_to(shared.numpy(), (5, 3)))


class Square(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 2 * x * tangent


class Scale(Function):
    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return Scale.apply(grad, w), (grad * x).sum()

    @staticmethod
    def vmap(info, in_dims, x, w):
        assert info.batch_size == 5 and info.randomness == "error"
        assert in_dims == (0, None)
        return Scale.apply(x, w), 0


def test_custom_functions():
    x = rand(5, 3)
    is_the_loop(lambda x: Square.apply(x), x)
    is_the_loop(gs.grad(lambda x: (Square.apply(x) * x).sum()), x)
    is_the_loop(gs.grad(gs.grad(lambda x: Square.apply(x) * x)), x[:, 0])
    is_the_loop(lambda x: gs.jvp(Square.apply, (x,), (x * x,))[1], x)
    np.testing.assert_allclose(gs.grad(lambda z: gs.vmap(lambda row: Square.apply(row).sum())(z).sum())(x), 2 * x)
    np.testing.assert_allclose(gs.vmap(gs.vmap(Square.apply))(rand(2, 3, 2)).shape, (2, 3, 2))
    two = gs.asarray(2.0)
    assert (gs.vmap(lambda row: Scale.apply(row, two))(x) == 2 * x).all()

    class Plain(Function):
        forward = staticmethod(lambda ctx, x: x)

    with pytest.raises(RuntimeError, match="You tried to vmap over Plain, but it does not have vmap support"):
        gs.vmap(Plain.apply)(x)


def test_rules_as_jax_writes_them():
    @gs.custom_vjp
    def by_gradient(x):
        return gs.sin(x)

    by_gradient.defvjp(lambda x: (gs.sin(x), x), lambda x, grad: (3 * grad * gs.cos(x),))

    @gs.custom_jvp
    def by_tangent(x):
        return gs.sin(x)

    @by_tangent.defjvp
    def rule(primals, tangents):
        return by_tangent(primals[0]), 5 * tangents[0] * gs.cos(primals[0])

    x = rand(5, 3)
    np.testing.assert_allclose(gs.vmap(gs.grad(lambda x: by_gradient(x).sum()))(x), 3 * gs.cos(x))
    np.testing.assert_allclose(gs.vmap(gs.grad(lambda x: by_tangent(x).sum()))(x), 5 * gs.cos(x))
    np.testing.assert_allclose(gs.vmap(lambda x: gs.jvp(by_tangent, (x,), (x,))[1])(x), 5 * x * gs.cos(x))


def test_hooks_see_gradients_of_rows():
    seen = []

    def function(x):
        x = x.detach().requires_grad_()
        x.register_hook(lambda grad: grad * gs.sin(x))
        x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.shape))
        (x * x).sum().backward()
        found = x.grad
        del x.grad
        assert x.grad is None
        return found

    is_the_loop(function, rand(5, 3))
    assert set(seen) == {(3,)} and len(seen) == 6  # once for the batch, and for each row of the loop


# Of a batch what of the tensor that stands for it: what does not look at the values, the graph or the gradient.
SAFE = {"__new__", "__getattribute__", "__setattr__", "__getattr__", "__array_priority__", "_is_view"}


def test_all_that_a_tensor_has_of_the_graph_is_that_of_the_batch():
    own = {name for name in vars(TensorBase) if not name.startswith("__pyx")}
    assert own - vars(Batched).keys() - vars(LevelTensor).keys() == SAFE


# The axes of arguments and of results.


def test_axes():
    x, y = rand(3, 5, 2), rand(5, 2)
    one = gs.vmap(lambda x, y: x @ y, in_dims=(1, 0), out_dims=1)(x, y)
    np.testing.assert_allclose(one, np.einsum("abc,bc->ab", x, y))
    np.testing.assert_allclose(gs.vmap(lambda x, y: x @ y, in_axes=(-2, 0), out_axes=-1)(x, y), one)
    nest = gs.vmap(lambda d, s: {"sum": d["a"] + d["b"][0], "s": s}, in_dims=({"a": 0, "b": (None,)}, None), out_dims={"sum": 0, "s": None})
    found = nest({"a": y, "b": (gs.ones(2),)}, 3.0)
    np.testing.assert_allclose(found["sum"], y + 1)
    assert found["s"] == 3.0
    assert gs.vmap(lambda x: (x, 1.0))(y)[1].tolist() == [1.0] * 5
    assert gs.vmap(lambda x: (x, "name"), out_dims=(0, None))(y)[1] == gs.vmap(lambda x: "name", out_dims=None)(y) == "name"
    np.testing.assert_allclose(gs.vmap(f, chunk_size=2)(rand(5, 3) * 0 + 1), gs.vmap(f)(gs.ones((5, 3))))
    np.testing.assert_allclose(gs.vmap(gs.dot)(y.numpy(), y.numpy()), (y * y).sum(axis=1))
    assert gs.vmap(lambda n: gs.ones(2), in_dims=None, axis_size=4)(0).shape == (4, 2)


@pytest.mark.parametrize(("call", "message"), [
    (lambda x: gs.vmap(f)(), "got no inputs"), (lambda x: gs.vmap(f, in_dims=(0, 0))(x), "in_dims is not compatible with the structure"),
    (lambda x: gs.vmap(f, in_dims="a")(x), "expected `in_dims` to be int or a"), (lambda x: gs.vmap(f)(3.0), "We cannot vmap over non-Tensor"),
    (lambda x: gs.vmap(f, in_dims=2)(x), "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2"),
    (lambda x: gs.vmap(gs.add)(x, x[:2]), "same size in the mapped dimension, got sizes"),
    (lambda x: gs.vmap(f, in_dims=None)(x), "at least one Tensor has to be mapped over"),
    (lambda x: gs.vmap(lambda x: "a")(x), "must only return Tensors"), (lambda x: gs.vmap(f, out_dims=(0, 0))(x), "out_dims is not compatible"),
    (lambda x: gs.vmap(f, out_dims=None)(x), "can not return a BatchedTensor when out_dim is None"),
    (lambda x: gs.vmap(lambda d: d[0], in_dims=([0, (0, 0)],))([x, x]), "in_dims is not compatible with the structure of `inputs`. in_dims has "
     "structure ([0, (0, 0)],) but inputs has structure [[*, *]]"),
    (lambda x: gs.vmap(lambda x: {"a": x, "b": (x,)}, out_dims={"a": 0})(x), "out_dims has structure {'a': 0} but outputs has structure "
     "{'a': *, 'b': (*,)}"),
    (lambda x: gs.vmap("f")(x), "the first argument must be a function, got str"),
    (lambda x: gs.vmap(f, in_dims=(True,))(x), "Got in_dim=True for an input but in_dim must be either an integer"),
    (lambda x: gs.vmap(f, out_dims=0.5)(x), "out_dims must be an int, None or a python collection of ints"),
    (lambda x: gs.vmap(f, out_dims=True)(x), "that fits the outputs, got True"),
    (lambda x: gs.vmap(f, chunk_size=0)(x), "chunk_size should be None or greater than 0"), (lambda x: gs.vmap(f)(x[:0]), "has no rows"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(rand(5, 3))
    assert message in str(caught.value)


def test_places_of_the_batch_axis_in_the_result():
    x = rand(5, 3)
    for dim in (-2, -1, 0, 1, (1,), [0]):
        expected = x if dim in (-2, 0, [0]) else x.T
        np.testing.assert_array_equal(gs.vmap(lambda row: 2 * row, out_dims=dim)(x), 2 * expected)
        np.testing.assert_array_equal(gs.vmap(lambda row: x[0], out_dims=dim)(x).shape, expected.shape)
    for dim in (-3, 2):
        with pytest.raises(IndexError, match=f"an output has 2 axes with the batch axis, got out_dim {dim}"):
            gs.vmap(lambda row: row, out_dims=dim)(x)


# What a row has not.


ASKS = {
    "bool": bool, "float": float, "int": int, "item": lambda x: x.item(), "tolist": lambda x: x.tolist(), "numpy": lambda x: x.numpy(),
    "asarray": np.asarray, "index": lambda x: range(4)[x.astype(int)],
}  # fmt: skip


@pytest.mark.parametrize("name", ASKS)
def test_a_single_number_is_refused(name):
    with pytest.raises(RuntimeError, match="inside of vmap a tensor represents all rows of a batch"):
        gs.vmap(ASKS[name])(rand(5))


def test_shapes_that_depend_on_values_are_refused():
    with pytest.raises(RuntimeError, match="a mask of booleans picks another number of elements"):
        gs.vmap(lambda x: x[x > 0])(rand(5, 3))
    with pytest.raises(RuntimeError, match="differs between rows"):
        gs.vmap(gs.nonzero)(gs.asarray([[0, 1], [1, 1]]))
    with pytest.raises(RuntimeError, match="as_strided looks at memory"):
        gs.vmap(lambda x: gs.as_strided(x, (2,), (1,)))(rand(5, 3))


def test_a_tensor_that_leaves_is_refused_where_it_is_used():
    kept = []
    gs.vmap(lambda x: kept.append(x) or x)(rand(5, 3))
    with pytest.raises(RuntimeError, match="was used after that vmap had ended"):
        gs.exp(kept[0])
    kept.clear()
    assert gs.exp(gs.zeros(2)).tolist() == [1, 1]


def test_an_error_inside_closes_the_level():
    def failing(x):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        gs.vmap(failing)(rand(5, 3))
    is_the_loop(f, rand(5, 3))


def test_nothing_is_left_behind():
    def count():
        gc.collect()
        return sum(type(one).__name__ in ("Batched", "Level", "Mapping") for one in gc.get_objects())

    gs.vmap(gs.grad(f))(rand(5, 3))
    before = count()
    for _ in range(20):
        gs.vmap(gs.grad(lambda x: gs.vmap(f)(x[None]).sum()))(rand(5, 3))
    assert count() <= before


def test_threads_have_levels_of_their_own():
    x, results = rand(5, 3), []

    def work():
        for _ in range(20):
            results.append(gs.vmap(gs.grad(f))(x).numpy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80 and all((one == results[0]).all() for one in results)


# With what else there is.


def test_listeners_hear_of_operators_on_whole_batches():
    seen = []

    class Names(gs.autograd.Listener):
        def begin(self, event):
            seen.append((event.name, event.inputs[0].shape))

    x = rand(5, 3)
    with Names():
        gs.vmap(gs.exp)(x)
    assert ("exp", (5, 3)) in seen


def test_trace_and_replay():
    function, x = gs.vmap(gs.grad(f)), rand(5, 3)
    expected = function(x).numpy()
    assert (gs.trace(function, x).run(x).numpy() == expected).all()
    compiled = gs.compile(function)
    for _ in range(3):
        assert (compiled(x).numpy() == expected).all()
    assert not any(signature.reason for signature in compiled.signatures)
    y = x * 2
    np.testing.assert_allclose(compiled(y), function(y), rtol=1e-14)
    inside = gs.compile(lambda x: gs.sin(x).sum())
    np.testing.assert_allclose(gs.vmap(inside)(x), gs.sin(x).sum(axis=1))


def test_modes_and_dtypes():
    x = rand(5, 3)
    for context, dtype in itertools.product([gs.no_grad, gs.inference_mode, gs.enable_grad], [np.float32, np.float64, np.complex128]):
        with context():
            found = gs.vmap(lambda x: (x * x).sum())(x.astype(dtype))
        assert found.dtype == dtype and found.shape == (5,)
    assert gs.vmap(lambda x: gs.asarray(x.ndim + x.size + len(x)))(x).tolist() == [7] * 5
