"""autograd.functional: values, forms, modes, strict mode, and PyTorch's results where it is installed."""

import collections
import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, forward_ad, functional, grad
from gradspec.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from tests.asked import each

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3,)), RNG.normal(size=(2, 3))
MODES = ("forward-mode", "reverse-mode", None)


def cubic(x):
    return (x[1:] * x[:-1] ** 2).sum()


def cubic_hessian(x):
    n = len(x)
    found = np.zeros((n, n))
    for i in range(n - 1):
        found[i, i] += 2 * x[i + 1]
        found[i, i + 1] += 2 * x[i]
        found[i + 1, i] += 2 * x[i]
    return found


def pair(a, b):
    return a * b, (a**3).sum()


def same(found, expected, **options):
    assert type(found) is gs.Tensor
    np.testing.assert_allclose(found.detach().numpy(), expected, **{"rtol": 1e-10, "atol": 1e-12, **options})


class Cubed(Function):
    """Notes in which mode it is differentiated."""

    seen = []

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2

    @staticmethod
    def jvp(ctx, x_t):
        Cubed.seen.append("jvp")
        (x,) = ctx.saved_tensors
        return 3 * x**2 * x_t


# Values.


@pytest.mark.parametrize("strategy", MODES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_jacobian_of_several_outputs_by_several_inputs(strategy, create_graph):
    (by_a, by_b), (cubes_a, cubes_b) = jacobian(pair, (A, B), create_graph=create_graph, strategy=strategy)
    eye = np.eye(3)
    same(by_a, B[:, :, None] * eye)
    same(by_b, A[:, None, None] * eye[:, None, :] * np.eye(2)[:, None, :, None])
    same(cubes_a, 3 * A**2)
    same(cubes_b, np.zeros((2, 3)))


@each("strategy", MODES)
@each("create_graph", [False, True])
@each("vectorize", [False, True])
def test_hessian(strategy, create_graph, vectorize):
    options = {"create_graph": create_graph, "vectorize": vectorize}
    found = hessian(cubic, A, outer_jacobian_strategy=strategy, **options)
    same(found, cubic_hessian(A))


@pytest.mark.parametrize("strategy", MODES)
def test_hessian_of_several_inputs_has_mixed_blocks(strategy):
    (aa, ab), (ba, bb) = hessian(lambda a, b: (a**2 * b).sum(), (A, B), outer_jacobian_strategy=strategy)
    same(aa, np.diag(2 * B.sum(axis=0)))
    same(ab, 2 * A[:, None, None] * np.eye(3)[:, None, :] * np.ones((1, 2, 1)))
    same(ba, ab.numpy().transpose(1, 2, 0))
    same(bb, np.zeros((2, 3, 2, 3)))


@pytest.mark.parametrize("create_graph", [False, True])
def test_products(create_graph):
    v = np.array([1.0, -2.0, 0.5])
    for product in (hvp, vhp):
        output, found = product(cubic, A, v, create_graph=create_graph)
        same(found, cubic_hessian(A) @ v)
        same(output, (A[1:] * A[:-1] ** 2).sum())
    (outputs, sums), (pushed, pushed_sums) = jvp(pair, (A, B), (v, B), create_graph=create_graph)
    same(outputs, A * B)
    same(sums, (A**3).sum())
    same(pushed, v * B + A * B)
    same(pushed_sums, (3 * A**2 * v).sum())
    _, (by_a, by_b) = vjp(pair, (A, B), (B, 2.0 * np.ones(())), create_graph=create_graph)
    same(by_a, (B * B).sum(axis=0) + 6 * A**2)
    same(by_b, A * B)


def test_v_may_be_left_out_beside_a_single_element():
    same(vjp(cubic, A)[1], vjp(cubic, A, np.ones(()))[1].numpy())
    for one in (jvp, hvp, vhp):
        same(one(lambda x: (x**3).sum(), np.array([2.0]))[1], one(lambda x: (x**3).sum(), np.array([2.0]), np.ones(1))[1].numpy())


def test_a_hessian_may_come_from_any_shape_of_one_element():
    same(hessian(lambda x: cubic(x).reshape((1, 1, 1)), A), cubic_hessian(A))


def test_empty_inputs_and_outputs():
    for strategy in MODES:
        for create_graph in (False, True):
            options = {"strategy": strategy, "create_graph": create_graph}
            assert jacobian(lambda x: x[:0], A, **options).shape == (0, 3)
            assert jacobian(lambda x: gs.concat([x, gs.ones((2,))]), np.zeros(0), **options).shape == (2, 0)
        assert hessian(lambda x: (x * x).sum(), np.zeros((0, 2)), outer_jacobian_strategy=strategy).shape == (0, 2, 0, 2)


@pytest.mark.parametrize("times, modes", [(4, [False]), (5, [False, True, True, True])])
def test_forward_mode_is_taken_where_it_takes_less(times, modes):
    """Rows go many at once; columns do not where the function looks at tangents itself."""
    calls = []

    def tall(x):
        calls.append(forward_ad.unpack_dual(x).tangent is not None)
        return gs.concat([x**i for i in range(times)])

    jacobian(tall, A)
    assert calls == modes
    calls.clear()
    jacobian(lambda x: tall(x).sum(), A)
    assert calls == [False]


def test_one_call_of_the_function_for_rows_and_one_for_products():
    calls = []

    def counted(x):
        calls.append(x)
        return (x**3).sum()

    for one in (vjp, vhp, hvp, lambda f, x, v: jacobian(f, x), lambda f, x, v: jvp(f, x, A)):
        calls.clear()
        one(counted, A, np.ones(()) if one is vjp else A)
        assert len(calls) == 1


def test_complex_numbers():
    z = np.array([1 + 2j, -0.5j])
    holomorphic = jacobian(lambda z: z**2, z, strategy="forward-mode")
    same(holomorphic, np.diag(2 * z))
    same(jacobian(lambda z: z**2, z), np.diag(2 * z).conj())
    same(jacobian(lambda z: gs.stack([gs.real(z), gs.imag(z)]), z).sum(axis=0), np.eye(2) * (1 + 1j))


# Forms.


def test_nests_of_tuples_lists_and_dictionaries():
    inputs = ({"w": A, "b": [B, (A,)]}, gs.tensor(2.0))

    def function(params, scale):
        assert list(params) == ["w", "b"] and type(params["b"]) is list and type(params["b"][1]) is tuple
        return [params["w"] * scale, {"sum": (params["b"][0] * params["b"][1][0]).sum()}]

    outputs, found = vjp(function, inputs, [A, {"sum": np.ones(())}])
    assert type(outputs) is list and list(outputs[1]) == ["sum"]
    params, scale = found
    same(params["w"], 2 * A)
    same(params["b"][0], np.broadcast_to(A, (2, 3)))
    same(params["b"][1][0], B.sum(axis=0))
    same(scale, (A * A).sum())

    _, pushed = jvp(function, inputs, inputs)
    same(pushed[0], 4 * A)
    same(pushed[1]["sum"], 2 * (B * A).sum())

    for strategy in MODES:
        rows = jacobian(function, inputs, strategy=strategy)
        same(rows[0][0]["w"], 2 * np.eye(3))
        same(rows[1]["sum"][0]["b"][1][0], B.sum(axis=0))
        same(rows[1]["sum"][1], 0)

    blocks = hessian(lambda params, scale: function(params, scale)[1]["sum"] * scale, inputs)
    same(blocks[0]["b"][0][0]["b"][1][0], 2 * np.broadcast_to(np.eye(3)[None], (2, 3, 3)))
    same(blocks[1][0]["b"][0], np.broadcast_to(A, (2, 3)))


def test_a_list_and_a_dictionary_are_one_argument_and_a_tuple_is_several():
    same(vjp(lambda xs: xs[0] * xs[1].sum(), [A, A], A)[1][0], A * A.sum())
    same(vjp(lambda named: named["x"].sum(), {"x": A})[1]["x"], np.ones(3))
    same(vjp(lambda x, y: (x * y).sum(), (A, A))[1][1], A)
    (found,) = vjp(lambda x: x.sum(), (A,))[1]
    same(found, np.ones(3))


def test_special_containers_are_kept():
    Point = collections.namedtuple("Point", ["x", "y"])
    ordered = collections.OrderedDict(b=A, a=A)
    found = vjp(lambda named: named["b"].sum(), ordered)[1]
    assert type(found) is collections.OrderedDict and list(found) == ["b", "a"]
    outputs, pushed = jvp(lambda x: Point(x, x * x), A, A)
    assert type(outputs) is Point and type(pushed) is Point
    same(pushed.y, 2 * A * A)


def test_results_are_tensors_without_a_graph():
    x = gs.tensor(A, requires_grad=True)
    results = [*vjp(cubic, x), *jvp(cubic, x, x), jacobian(cubic, x), hessian(cubic, x), *hvp(cubic, x, x), *vhp(cubic, x, x)]
    assert not any(result.requires_grad for result in results)
    assert x.grad is None and x.is_leaf
    assert vjp(lambda x: x, x, A)[0]._is_view() is False


def test_an_error_of_the_function_comes_through():
    def wrong(x):
        raise RuntimeError("my own")

    for one in EVERY:
        with pytest.raises(RuntimeError, match="my own"):
            one(wrong, A, *arguments(one))


def test_what_would_lose_a_tangent_is_refused():
    def through_numpy(x):
        return gs.asarray(np.sin(x.numpy())) * x

    for one in (jvp, vjp):
        with pytest.raises(RuntimeError, match="Can't call numpy"):
            one(through_numpy, A, A)
    for strategy in MODES:
        with pytest.raises(RuntimeError, match="Can't call numpy"):
            jacobian(lambda x: through_numpy(gs.concat([x, x])), A, strategy=strategy)


def test_inputs_are_never_written_to():
    x = gs.tensor(A)

    def writes(x):
        x.mul_(2)
        return x * x

    same(jvp(writes, x, x)[1], 8 * A * A)
    same(jacobian(writes, x, strategy="forward-mode"), np.diag(8 * A))
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"):
        vjp(writes, x, x)
    same(x, A)


def test_inputs_are_not_marked():
    x = gs.tensor(A)
    jacobian(lambda x: x * 2, x)
    assert not x.requires_grad


# Recorded results.


@pytest.mark.parametrize("one", [vjp, jvp, hvp, vhp])
@pytest.mark.parametrize("outside", [gs.enable_grad, gs.no_grad])
def test_create_graph_gives_derivatives_of_products(one, outside):
    x = gs.tensor(A, requires_grad=True)
    v = gs.tensor(np.ones(()) if one is vjp else B[0], requires_grad=True)
    with outside():
        _, found = one(lambda x: (x**4).sum(), x, v, create_graph=True)
    assert found.requires_grad
    by_x, by_v = grad(found.sum(), [x, v])
    ones = np.ones(3)
    expected = {
        vjp: (12 * A**2, (4 * A**3).sum()),
        jvp: (12 * A**2 * B[0], 4 * A**3),
        hvp: (24 * A * B[0], 12 * A**2 * ones),
        vhp: (24 * A * B[0], 12 * A**2 * ones),
    }[one]
    same(by_x, expected[0])
    same(by_v, expected[1])


@pytest.mark.parametrize("strategy", MODES)
def test_create_graph_gives_derivatives_of_matrices(strategy):
    x = gs.tensor(A, requires_grad=True)
    with gs.no_grad():
        rows = jacobian(lambda x: gs.concat([x**3, x]), x, create_graph=True, strategy=strategy)
        blocks = hessian(lambda x: (x**4).sum(), x, create_graph=True, outer_jacobian_strategy=strategy)
    same(grad(rows.sum(), x)[0], 6 * A)
    same(grad(blocks.sum(), x)[0], 24 * A)


@pytest.mark.parametrize("strategy", MODES)
def test_functions_of_functions(strategy):
    """A Hessian as the Jacobian of a Jacobian, and products inside of products."""

    def slope(x):
        return jacobian(cubic, x, create_graph=True, strategy=strategy)

    same(jacobian(slope, A, strategy=strategy), cubic_hessian(A))
    same(jvp(slope, A, A)[1], cubic_hessian(A) @ A)
    same(jvp(lambda x: jvp(cubic, x, A, create_graph=True)[1], A, A)[1], A @ cubic_hessian(A) @ A)
    same(vjp(lambda x: jvp(cubic, x, A, create_graph=True)[1], A)[1], cubic_hessian(A) @ A)


def test_tangents_of_an_outer_level_pass_through():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(A), gs.tensor(B[0]))
        for strategy in MODES:
            found = jacobian(cubic, dual, create_graph=True, strategy=strategy)
            same(forward_ad.unpack_dual(found).tangent, cubic_hessian(A) @ B[0])


def test_a_function_may_differentiate_inside():
    calls = []

    def force(x):
        calls.append(None)
        assert x.requires_grad  # as with PyTorch
        return grad((x**4).sum(), x, create_graph=True)[0]

    for strategy in MODES:
        same(jacobian(force, A, strategy=strategy), np.diag(12 * A**2))
    calls.clear()
    same(jvp(force, A, A)[1], 12 * A**3)
    assert len(calls) == 2  # forward mode tries without a graph first
    calls.clear()
    jacobian(force, A, strategy="forward-mode")
    assert len(calls) == 2
    same(hessian(lambda x: force(x).sum(), A), np.diag(24 * A))


# Custom Functions.


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


def test_custom_functions_without_a_jvp():
    assert jacobian(lambda x: gs.concat([Cube.apply(x), x]), A).shape == (6, 3)
    same(jacobian(lambda x: gs.concat([Cube.apply(x), x]), A)[:3], np.diag(3 * A**2))
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        jacobian(Cube.apply, A, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        hessian(lambda x: Cube.apply(x).sum(), A, outer_jacobian_strategy="forward-mode")
    for create_graph in (False, True):
        (first, second), (one, other) = jvp(lambda x: (Cube.apply(x), gs.ones((2,))), A, B[0], create_graph=create_graph)
        same(first, A**3)
        same(one, 3 * A**2 * B[0])
        same(second, 1)
        same(other, np.zeros(2))
        same(hvp(lambda x: Cube.apply(x).sum(), A, B[0], create_graph=create_graph)[1], 6 * A * B[0])
        same(hessian(lambda x: Cube.apply(x).sum(), A, create_graph=create_graph), np.diag(6 * A))


# What is refused.


def test_what_is_no_tensor():
    for one in (vjp, jvp, jacobian, hessian, vhp, hvp):
        name = one.__name__
        with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor .* index 1 has type"):
            one(pair, (A, 2))
        with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor .* the given inputs has type"):
            one(cubic, "x")
        with pytest.raises(TypeError, match=f"outputs of the user-provided function given to {name} must be either a Tensor"):
            one(lambda x: (x, None), np.ones(1))
        with pytest.raises(TypeError, match=r"outputs .* index 'a'\]\[0 has type <class 'numpy.ndarray'>"):
            one(lambda x: {"a": [x.detach().numpy()]}, np.ones(1))
    with pytest.raises(TypeError, match="The v given to jvp must be either a Tensor"):
        jvp(cubic, A, 1.0)


@pytest.mark.parametrize("options, forward", [({}, True), ({"strict": True}, False), ({"create_graph": True}, False)])
def test_hvp_goes_forward_over_reverse_where_nothing_is_recorded(options, forward):
    Cubed.seen.clear()
    output, found = hvp(lambda x: Cubed.apply(x).sum(), A, B[0], **options)
    same(found, 6 * A * B[0])
    same(output, (A**3).sum())
    assert bool(Cubed.seen) is forward
    assert found.requires_grad is output.requires_grad is ("create_graph" in options)


def test_hvp_of_what_is_constant_or_linear():
    for function in (lambda x: gs.tensor(1.0), lambda x: x.sum(), lambda x: x.detach().sum()):
        same(hvp(function, A, B[0])[1], np.zeros(3))


@pytest.mark.parametrize("one", [jvp, hvp, vhp])
def test_v_is_checked_against_the_inputs(one):
    def function(a, b=0.0):
        return (a * b).sum()

    with pytest.raises(RuntimeError, match="The vector v can only be None if the input to the user-provided function is a"):
        one(function, A)
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor."):
        one(function, A, (A, A))
    with pytest.raises(RuntimeError, match=r"^v has invalid size: should be torch.Size\(\[3\]\) but got torch.Size\(\[2\]\)."):
        one(function, A, A[:2])
    with pytest.raises(RuntimeError, match=r"Entry 1 in v has invalid size: should be torch.Size\(\[2, 3\]\) but got torch.Size\(\[3\]\)."):
        one(function, (A, B), (A, A))
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 3."):
        one(function, (A, B), (A, B, B))
    with pytest.raises(RuntimeError, match=r"v has a different structure. Expected pytree structure .* got them at \['a'\], \['b'\]"):
        one(function, (A, B), {"a": A, "b": B})


def test_v_is_checked_against_the_outputs():
    with pytest.raises(RuntimeError, match="The vector v can only be None if the user-provided function returns a single"):
        vjp(lambda x: x, A)
    with pytest.raises(RuntimeError, match="The vector v can only be None if the user-provided function returns a single"):
        vjp(lambda x: (x.sum(),), A)
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor."):
        vjp(lambda x: x, A, (A, A))
    with pytest.raises(RuntimeError, match=r"v has invalid size: should be torch.Size\(\[3\]\)"):
        vjp(lambda x: x, A, A[:2])


@pytest.mark.parametrize("one", [hessian, hvp, vhp])
def test_second_derivatives_want_a_single_output_of_one_element(one):
    v = () if one is hessian else (A,)
    with pytest.raises(RuntimeError, match=f"The function given to {one.__name__} should return a single Tensor"):
        one(lambda x: (x.sum(), x.sum()), A, *v)
    with pytest.raises(RuntimeError, match=f"returned by the function given to {one.__name__} should contain a single element"):
        one(lambda x: x, A, *v)


def test_unknown_strategies():
    with pytest.raises(ValueError, match="Expected strategy to be either"):
        jacobian(cubic, A, strategy="sideways")
    with pytest.raises(ValueError, match="Expected strategy to be either"):
        hessian(cubic, A, outer_jacobian_strategy="sideways")


# Strict mode.


def arguments(one):
    return {vjp: (np.ones(()),), jvp: (A,), hvp: (A,), vhp: (A,)}.get(one, ())


EVERY = (vjp, jvp, jacobian, hessian, vhp, hvp)


@pytest.mark.parametrize("one", EVERY)
def test_strict_refuses_an_output_that_has_no_graph(one):
    def function(x):
        return x.detach().sum()

    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients."):
        one(function, A, *arguments(one), strict=True)
    found = one(function, A, *arguments(one))
    assert not np.any((found[-1] if isinstance(found, tuple) else found).numpy())


@pytest.mark.parametrize("one", EVERY)
def test_strict_refuses_an_output_of_another_graph(one):
    other = gs.tensor(A, requires_grad=True)

    def function(x):
        return (other**3).sum()

    text = {
        jacobian: "Output 0 of the user-provided function is independent of input 0. This is not allowed in strict mode.",
        hessian: "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0",
    }.get(one, "The output of the user-provided function is independent of input 0. This is not allowed in strict mode.")
    with pytest.raises(RuntimeError, match=text):
        one(function, A, *arguments(one), strict=True)
    found = one(function, A, *arguments(one))
    assert not np.any((found[-1] if isinstance(found, tuple) else found).numpy())


@pytest.mark.parametrize("one", [hessian, vhp, hvp])
def test_strict_refuses_a_linear_function(one):
    with pytest.raises(RuntimeError, match="found that the jacobian of the user-provided function with respect to input 0 is"):
        one(lambda x: (3 * x).sum(), A, *arguments(one), strict=True)
    found = one(lambda x: (3 * x).sum(), A, *arguments(one))
    assert not np.any((found[-1] if isinstance(found, tuple) else found).numpy())


def test_strict_refuses_a_jacobian_that_depends_on_another_input_alone():
    def function(a, b):
        return (a * a + b).sum()

    with pytest.raises(RuntimeError, match="with respect to input 1 is independent of the input"):
        hessian(function, (A, A), strict=True)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function is independent of input 1."):
        hessian(lambda a, b: (a * a).sum() + (b * b).sum(), (A, A), strict=True)


@pytest.mark.parametrize("one", [vjp, jvp, jacobian])
def test_strict_refuses_a_constant_jacobian_with_create_graph(one):
    x = gs.tensor(A, requires_grad=True)
    text = r"jacobian of the user-provided function is independent of input 0. .* in strict mode when create_graph=True."
    with pytest.raises(RuntimeError, match=text):
        one(lambda x: x.sum(), x, *arguments(one), create_graph=True, strict=True)
    one(lambda x: x.sum(), x, *arguments(one), create_graph=True)


@pytest.mark.parametrize("one", [vhp, hvp, hessian])
def test_strict_refuses_a_constant_hessian_with_create_graph(one):
    x = gs.tensor(A, requires_grad=True)
    text = r"(hessian|jacobian) of the user-provided function is independent of input 0. .* strict mode when create_graph=True."
    with pytest.raises(RuntimeError, match=text):
        one(lambda x: (x * x).sum(), x, *arguments(one), create_graph=True, strict=True)


@each(("one", "create_graph"), list(itertools.product(EVERY, [False, True])))
def test_strict_lets_pass_what_depends(one, create_graph):
    options = {"create_graph": create_graph, "strict": True}
    found = one(lambda x: (x**4).sum(), A, *arguments(one), **options)
    plain = one(lambda x: (x**4).sum(), A, *arguments(one))
    for value, expected in zip(found, plain) if isinstance(found, tuple) else [(found, plain)]:
        same(value, expected.numpy())


@each("create_graph", [False, True])
def test_strict_together_with_vectorize(create_graph):
    """PyTorch refuses the two together; a batch of rows has the values of single rows."""
    x, options = gs.tensor([1.0, 2.0]), {"strict": True, "vectorize": True, "create_graph": create_graph}
    same(jacobian(lambda x: x**3, x, **options), [[3, 0], [0, 12]])
    same(hessian(lambda x: (x**3).sum(), x, **options), [[6, 0], [0, 12]])
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        jacobian(lambda x: x.detach() * 1, x, **options)
    with pytest.raises(RuntimeError, match="is independent of the input"):
        hessian(lambda x: x.sum(), x, **options)


# PyTorch.


def programs(xp, one_axis):
    """Functions of a (3,) and b (2, 3), in the words of both libraries."""
    total = {one_axis: 0}
    return {
        "product": lambda a, b: a * b,
        "several": lambda a, b: (xp.exp(a) * b, (a * a).sum(), b),
        "scalar": lambda a, b: (xp.sin(a) * b**2).sum(),
        "norm": lambda a, b: xp.sqrt((a * a).sum() + (b * b).sum()),
        "reduced": lambda a, b: (xp.tanh(b * a)).sum(**total) / (1 + a * a),
        "views": lambda a, b: (b[:, 1:] * a[:-1], b.T @ b),
        "one input only": lambda a, b: (a**3).sum(),
        "rows of exponentials": lambda a, b: xp.exp(b).sum(**{one_axis: 1}),
        "a sum of exponentials": lambda a, b: 2 * xp.exp(b) + 3 * a,
        "cubes and squares": lambda a, b: (2 * a**3 + 3 * b**2).sum(),
        "cubes of rows": lambda a, b: (b**3).sum(**{one_axis: 1}) * a[:2],
    }


@each("name", programs(np, "axis"))
def test_as_pytorch(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch's results, and torch is not installed")
    theirs, ours = programs(torch, "dim")[name], programs(gs, "axis")[name]
    point = [gs.tensor(A), gs.tensor(B)]
    torch_point = tuple(torch.tensor(value) for value in (A, B))

    def compare(found, expected):
        if isinstance(expected, tuple):
            assert type(found) is tuple and len(found) == len(expected)
            for one, other in zip(found, expected):
                compare(one, other)
        else:
            same(found, expected.detach().numpy())

    reference = torch.autograd.functional
    vector = (gs.tensor(A), gs.tensor(B))
    compare(jvp(ours, tuple(point), vector), reference.jvp(theirs, torch_point, torch_point))
    outputs = theirs(*torch_point)
    compare(vjp(ours, tuple(point), _as_ours(outputs)), reference.vjp(theirs, torch_point, outputs))
    for strategy in MODES:
        compare(jacobian(ours, tuple(point), strategy=strategy), reference.jacobian(theirs, torch_point))
    if isinstance(outputs, torch.Tensor) and outputs.numel() == 1:
        compare(hvp(ours, tuple(point), vector), reference.hvp(theirs, torch_point, torch_point))
        compare(vhp(ours, tuple(point), vector), reference.vhp(theirs, torch_point, torch_point))
        for strategy in MODES:
            compare(hessian(ours, tuple(point), outer_jacobian_strategy=strategy), reference.hessian(theirs, torch_point))


def _as_ours(nest):
    return tuple(map(_as_ours, nest)) if isinstance(nest, tuple) else gs.tensor(nest.numpy())


def test_the_module_shows_its_functions():
    assert set(functional.__all__) == {one.__name__ for one in EVERY}
