"""Keywords of other libraries: each means the parameter of ours that stands for it, in functions and methods, or is refused."""

import inspect

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.op_info import OPS
from gradspec.support import error_hints, keywords
from gradspec.support.dispatch import ops
from tests.asked import each
from tests.ops.calls import NAMESPACES, array, flat, samples_of

X = np.arange(1.0, 7.0).reshape(2, 3) / 4
PUBLIC = [op for op in OPS if "function" in op.variants and not op.name.startswith("_")
          and getattr(NAMESPACES[op.namespace], op.name) is getattr(ops, op.name)]  # fmt: skip


def function_of(op):
    return getattr(NAMESPACES[op.namespace], op.name)


def parameters_of(op):
    """The parameters that a call may name: none of a function that takes ints or operands one by one."""
    parameters = inspect.signature(function_of(op)).parameters.values()
    return [p.name for p in parameters] if not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters) else []


def spellings():
    """Every operator with every keyword of another library that it takes, and what this means."""
    for op in PUBLIC:
        known = parameters_of(op)
        for theirs in keywords.RENAMED:
            ours = keywords.meant(theirs, known) if theirs not in known else None
            if ours is not None and any(name == ours for name, *_ in op.arguments):
                yield pytest.param(op, theirs, ours, id=f"{op.name}({theirs}=)")


def outcome(call):
    """What a call gives, or how it fails."""
    with np.errstate(all="ignore"):
        try:
            return [array(item) for item in flat(call())]
        except Exception as error:
            return type(error), str(error)


@each(("op", "theirs", "ours"), list(spellings()))
def test_a_keyword_of_another_library_is_the_parameter_that_it_means(op, theirs, ours):
    case = next(iter(samples_of(op)), None)
    if case is None:
        pytest.skip("no sample")
    unlike = keywords.UNLIKE.get(op.name)
    decided = unlike and unlike[0] or None

    def called(names, given):
        arguments = {name: value for name, value in case.arguments().items() if name in given}
        if theirs in keywords.CONVERTED:
            arguments[ours] = 1
        if decided and decided not in (ours, theirs):
            arguments[decided] = 1
        return function_of(op)(**{names.get(name, name): value for name, value in arguments.items()})

    every = set(parameters_of(op)) - {"out", "where", "initial", "requires_grad"}
    expected, found = outcome(lambda: called({}, every)), outcome(lambda: called({ours: theirs}, every))
    if unlike and not decided:
        assert found == (TypeError, f"{op.name}(): {unlike[1]}")
    elif isinstance(expected, tuple):
        assert found == expected
    else:
        assert isinstance(found, list) and all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(found, expected, strict=True)), found


def test_every_row_is_needed():
    known = [set(parameters_of(op)) for op in PUBLIC] + [{*inspect.signature(f).parameters} for f in (gs.linspace, gs.logspace, gs.tril_indices, gs.compile, gs.jacobian, gs.jacrev)]
    for theirs, meant in keywords.RENAMED.items():
        for ours, beside in meant:
            assert any(ours in names and (beside is None or beside in names) for names in known), f"no operator has {ours}, for {theirs}"
    assert len(keywords.UNLIKE) > 5 and keywords.UNLIKE.keys() <= {op.name for op in PUBLIC}


def test_arrays_are_named_as_pytorch_orders_them():
    """`input`, `other`, `mat2` and their kin, in every overload that PyTorch lists of a function: each means the array at its place."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch's signatures, and PyTorch is not installed")
    listed = {}
    for schema in torch._C._jit_get_all_schemas():
        positional = [argument.name for argument in schema.arguments if not argument.kwarg_only]
        listed.setdefault(schema.name, []).append([name.replace("self", "input") for name in positional])
    tried, wrong = 0, []
    for op in PUBLIC:
        prefix = f"{op.namespace}_" if op.namespace in ("linalg", "special", "fft") else ""
        ours = [name for name, *_ in op.arguments]
        arrays = {name for name, kind, *_ in op.arguments if kind.startswith("Array")}
        for names in [names for name in (op.name, *op.aliases) for names in listed.get(f"aten::{prefix}{name}", [])]:
            for place, theirs in enumerate(names):
                found = keywords.meant(theirs, ours) if theirs not in ours else None
                if found in arrays and found not in names and "generator" not in ours:  # draws of PyTorch's take the shape first
                    tried += 1
                    wrong += [(op.name, theirs, found)] * (ours.index(found) != place)
    assert not wrong and tried > 500


# What PyTorch's schemas have and no program writes: overloads for sequences and text, inner variants, and results.
UNWRITTEN = {
    "append el", "cholesky_solve input2", "copy src", "divmod x", "divmod y", "elu input_scale", "elu scale", "group_norm cudnn_enabled",
    "insert el", "insert idx", "layer_norm cudnn_enable", "ldexp i", "log b", "max other", "min other", "mul l", "mul n",
    "partition separator", "random from", "random to", "select idx", "select list", "sort reverse", "split max", "split separator",
    "unfold dimension", "unfold size", "unfold step", "uniform from", "uniform to", "zeta other",
}  # fmt: skip


def test_every_keyword_of_pytorch_is_read_or_answered():
    """Of every function that both have: what PyTorch's signature names is a parameter here, means one, says nothing, or the error says
    what to write."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch's signatures, and PyTorch is not installed")
    listed = {}
    for schema in torch._C._jit_get_all_schemas():
        names = {argument.name for argument in schema.arguments if argument.alias_info is None or not argument.alias_info.is_write}
        listed.setdefault(schema.name, set()).update(names)
    tried, silent = 0, []
    for op in PUBLIC:
        prefix = f"{op.namespace}_" if op.namespace in ("linalg", "special", "fft") else ""
        known = parameters_of(op)
        for name in (op.name, *op.aliases) if known else ():
            for theirs in listed.get(f"aten::{prefix}{name}", set()) - {"self", "input"}:
                tried += 1
                if not (theirs in known or keywords.meant(theirs, known) or theirs in keywords.IDLE or error_hints.of_keyword(theirs, known)):
                    silent.append(f"{name} {theirs}")
    assert set(silent) == UNWRITTEN and tried > 900


def test_results_are_as_many_as_pytorch_gives():
    """For `f(x)[0]` is the first result in one library and the first row in the other; what differs says so where a keyword tells."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch's signatures, and PyTorch is not installed")
    listed = {}
    for schema in torch._C._jit_get_all_schemas():
        returned = [str(one.type) for one in schema.returns]
        if returned and set(returned) == {"Tensor"}:
            listed.setdefault(schema.name, set()).add(len(returned))
    tried, others = 0, set()
    for op in PUBLIC:
        prefix = f"{op.namespace}_" if op.namespace in ("linalg", "special", "fft") else ""
        counts = {count for name in (op.name, *op.aliases) for count in listed.get(f"aten::{prefix}{name}", ())}
        if counts and not any(kind.endswith("[]") for _, kind in op.outputs):
            tried += 1
            others |= {op.name} if len(op.outputs) not in counts else set()
    assert others - keywords.UNLIKE.keys() == {f"adaptive_max_pool{n}d" for n in (1, 2, 3)} and tried > 400  # those of F give one


METHODS = [
    (lambda x: x.sum(dim=0), lambda x: x.sum(axis=0)), (lambda x: x.mean(1, keepdim=True), lambda x: x.mean(1, keepdims=True)),
    (lambda x: x.softmax(dim=-1), lambda x: x.softmax(-1)), (lambda x: x.unsqueeze(dim=1), lambda x: x.unsqueeze(1)),
    (lambda x: x[:1].squeeze(dim=0), lambda x: x[0]), (lambda x: x.flip(dims=(0,)), lambda x: x.flip(0)),
    (lambda x: x.permute(dims=(1, 0)), lambda x: x.permute(1, 0)), (lambda x: x.reshape(size=(3, 2)), lambda x: x.reshape(3, 2)),
    (lambda x: x.swapaxes(dim0=0, dim1=1), lambda x: x.T), (lambda x: x.diagonal(dim1=0, dim2=1), lambda x: x.diagonal()),
    (lambda x: x.flatten(start_dim=0, end_dim=1), lambda x: x.flatten()), (lambda x: x.var(dim=0, unbiased=False), lambda x: x.var(0)),
    (lambda x: x.std(unbiased=True, keepdim=True), lambda x: x.std(keepdims=True, correction=1)),
    (lambda x: x.std(ddof=1), lambda x: x.std(correction=1)), (lambda x: x.mul(other=x), lambda x: x * x),
    (lambda x: x.amax(dim=1), lambda x: x.max(axis=1)), (lambda x: x.argmax(dim=1, keepdim=True), lambda x: x.argmax(1, keepdims=True)),
    (lambda x: x.index_select(dim=1, index=[0, 2]), lambda x: x[:, [0, 2]]), (lambda x: x.norm(p=1, dim=1), lambda x: x.norm(1, 1)),
    (lambda x: x.repeat_interleave(2, dim=1), lambda x: x.repeat(2, axis=1)), (lambda x: gs.cat([x, x], dim=1), lambda x: gs.concat([x, x], 1)),
    (lambda x: gs.stack(tensors=[x, x], dim=-1), lambda x: gs.stack([x, x], -1)), (lambda x: gs.tile(x, dims=(2, 1)), lambda x: gs.tile(x, (2, 1))),
    (lambda x: gs.nn.functional.log_softmax(input=x, dim=1), lambda x: gs.nn.log_softmax(x, 1)),
    (lambda x: x.gather(1, [[0], [1]], sparse_grad=True), lambda x: x.gather(1, [[0], [1]])),
    (lambda x: gs.gather(x, dim=1, index=[[0], [1]], sparse_grad=False), lambda x: x.gather(1, [[0], [1]])),
    (lambda x: gs.nn.functional.relu(x, inplace=False), lambda x: gs.relu(x)), (lambda x: gs.zeros(2, 3, device="cpu"), lambda x: gs.zeros(2, 3)),
    (lambda x: gs.zeros(size=(2,), device=None), lambda x: gs.zeros(2)), (lambda x: gs.arange(0, end=3, device="cpu"), lambda x: gs.arange(3)),
    (lambda x: gs.linspace(0, end=1, steps=5), lambda x: gs.linspace(0, 1, 5)), (lambda x: gs.clip(x, a_min=0.5, a_max=1), lambda x: gs.clip(x, 0.5, 1)),
    (lambda x: gs.tensor(X, device="cpu", pin_memory=False), lambda x: gs.tensor(X)),
    (lambda x: gs.as_tensor(X, device="cpu"), lambda x: gs.tensor(X)), (lambda x: x.topk(1, sorted=False)[0], lambda x: x.topk(1)[0]),
    (lambda x: x.scatter(1, [[0], [1]], value=2.0), lambda x: x.scatter(1, [[0], [1]], 2.0)),
    (lambda x: gs.heaviside(x, values=gs.tensor(0.5)), lambda x: gs.heaviside(x, 0.5)), (lambda x: x.lerp(end=x, weight=0.5), lambda x: x.lerp(x, 0.5)),
    (lambda x: gs.float_power(x, exponent=2), lambda x: gs.float_power(x, 2)), (lambda x: gs.unique_consecutive(x, dim=0), lambda x: x),
    (lambda x: gs.tril_indices(row=2, col=3)[0], lambda x: gs.tril_indices(2, m=3)[0]), (lambda x: gs.compile(lambda a: a, fullgraph=True)(x), lambda x: x),
    (lambda x: gs.hsplit(x, indices=[1])[0], lambda x: gs.hsplit(x, [1])[0]),
    (lambda x: x[None].transpose(dim0=0, dim1=2), lambda x: x[None].swapaxes(0, 2)),
]  # fmt: skip


@each(("theirs", "ours"), METHODS)
def test_functions_and_methods_are_read_alike(theirs, ours):
    x = gs.tensor(X, requires_grad=True)
    found, expected = theirs(x), ours(x)
    assert found.dtype == expected.dtype and found.requires_grad == expected.requires_grad
    assert np.array_equal(found.detach(), expected.detach())


def test_alpha_multiplies_what_is_added():
    """In functions, methods, in place and into `out=`, of every operator whose entry says so; gradients go to the factor too."""
    x, b, alpha = (gs.tensor(value, requires_grad=True) for value in (X, X[::-1] - 1, -1.5))
    calls = {"add": {"b": b}, "subtract": {"other": b}, "index_add": {"dim": 0, "indices": [1, 0], "source": b}}
    found = {op.name for op in PUBLIC if "alpha" in parameters_of(op) and not any(name == "alpha" for name, *_ in op.arguments)}
    assert found == calls.keys()
    for name, given in calls.items():
        *_, last = given
        scaled = {**given, last: alpha * b}
        wanted = getattr(gs, name)(x, **scaled)
        slopes = gs.autograd.grad(wanted.square().sum(), (x, b, alpha))
        for value in (getattr(gs, name)(x, **given, alpha=alpha), getattr(x, name)(**given, alpha=alpha),
                      getattr(x.clone(), f"{name}_")(**given, alpha=alpha)):  # fmt: skip
            assert np.array_equal(value.detach(), wanted.detach())
            assert all(map(np.array_equal, gs.autograd.grad(value.square().sum(), (x, b, alpha)), slopes))
    out = gs.zeros(2, 3)
    assert np.array_equal(gs.sub(gs.tensor(X), X, alpha=3, out=out), -2 * X) and np.array_equal(out, -2 * X)
    single = gs.ones(2, dtype=gs.float32)
    assert single.add_(1, alpha=0.25).dtype == gs.add(single, 2, alpha=0.5).dtype == gs.float32 and single.tolist() == [1.25, 1.25]
    assert np.array_equal(gs.vmap(lambda row, other: gs.add(row, other, alpha=2))(X, X), 3 * X)
    with pytest.raises(TypeError, match=r"'alpha'; write alpha \* b for the second argument b"):
        gs.multiply(x, b, alpha=2)


def test_a_dtype_is_that_of_what_goes_in():
    x = gs.tensor(X, requires_grad=True)
    for name in ("softmax", "log_softmax", "softmin"):
        function = getattr(gs.nn.functional, name)
        found = function(x, dim=-1, dtype=gs.float32)
        assert found.dtype == gs.float32 and np.array_equal(found.detach(), function(x.detach().astype("float32"), -1))
        assert gs.autograd.grad(found.square().sum(), x)[0].dtype == gs.float64
    assert x.softmax(0, dtype=gs.float32).dtype == x.log_softmax(0, dtype=gs.float32).dtype == x.norm(dtype=gs.float32).dtype == gs.float32
    for name in ("norm", "vector_norm", "matrix_norm"):
        assert getattr(gs.linalg, name)(x, dtype=gs.float32).dtype == gs.float32
    assert {op.name for op in PUBLIC if "dtype" in parameters_of(op) and not any(name == "dtype" for name, *_ in op.arguments)} > {
        "softmax", "log_softmax", "softmin", "norm", "vector_norm", "matrix_norm", "array_norm"}  # fmt: skip


def test_a_tensor_in_the_place_of_an_axis_is_the_second_of_two():
    x, b = (gs.tensor(value, requires_grad=True) for value in (X, X[::-1] + 0.25))
    for name, pair in (("max", gs.maximum), ("min", gs.minimum)):
        wanted = pair(x, b)
        for found in (getattr(gs, name)(x, b), getattr(x, name)(b), getattr(gs, name)(x, gs.tensor(0.5))):
            assert found.shape == x.shape
        assert np.array_equal(getattr(gs, name)(x, b).detach(), wanted.detach())
        slopes = [gs.autograd.grad(value.square().sum(), (x, b)) for value in (getattr(x, name)(b), wanted)]
        assert all(map(np.array_equal, *slopes))
        assert getattr(gs, name)(x, 1).shape == (2,) and getattr(np, name)(x, axis=0).shape == (3,)
    assert np.array_equal(gs.vmap(gs.max)(x.detach(), b.detach()), np.maximum(X, X[::-1] + 0.25))


def test_activations_write_into_what_they_are_given():
    found = {op.name for op in PUBLIC if "inplace" in parameters_of(op)}
    assert {"relu", "relu6", "elu", "selu", "celu", "leaky_relu", "hardtanh", "hardsigmoid", "hardswish", "silu", "mish", "threshold"} <= found
    assert all(op.namespace == "nn" and "inplace" in op.variants for op in PUBLIC if op.name in found)
    for op in PUBLIC:
        if op.name in found:
            rest = {"threshold": (0.5, 2.0)}.get(op.name, ())
            start = X if op.name == "log1mexp" else X - 1
            x, base = gs.tensor(start, requires_grad=True), gs.tensor(start, requires_grad=True)
            inner = x * 1
            function = function_of(op)
            written = function(inner, *rest, inplace=True)
            assert written is inner and np.array_equal(inner.detach(), function(base * 1, *rest, inplace=False).detach()), op.name
            by_place = [one for one in inspect.signature(function).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
            assert by_place[-1].name == "inplace", op.name
            defaults = [one.default for one in by_place[1 + len(rest) : -1]]
            other = gs.tensor(start)
            assert function(other, *rest, *defaults, True) is other and np.array_equal(other, inner.detach()), op.name
            slopes = gs.autograd.grad(written.sum(), x)[0], gs.autograd.grad(function(base, *rest).sum(), base)[0]
            np.testing.assert_allclose(*slopes, rtol=1e-12, err_msg=op.name)
    with pytest.raises(TypeError, match="unexpected keyword argument 'inplace'; write the name with a final underscore"):
        gs.nn.functional.dropout(x, inplace=True)


def test_what_is_made_like_a_tensor_may_be_a_leaf():
    """`requires_grad=` of every function that takes the shape and dtype of an array and none of its numbers."""
    x = gs.tensor(X, requires_grad=True)
    made = [gs.zeros_like, gs.ones_like, gs.empty_like, gs.rand_like, gs.randn_like, lambda x, **keys: gs.full_like(x, 2, **keys),
            *(lambda x, name=name, **keys: getattr(x, name)(2, 3, **keys) for name in ("new_zeros", "new_ones", "new_empty")),
            lambda x, **keys: x.new_full((2, 3), 0.5, **keys), lambda x, **keys: gs.zeros_like(x, order="C", **keys)]  # fmt: skip
    for make in made:
        leaf = make(x, dtype=gs.float32, device="cpu", requires_grad=True)
        assert leaf.is_leaf and leaf.requires_grad and leaf.dtype == gs.float32 and leaf.shape == (2, 3) and not make(x).requires_grad
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype can require gradients"):
        gs.randint_like(x, 3, dtype=gs.int64, requires_grad=True)


REFUSED = [
    (lambda x: x.sum(axis=0, dim=1), r"sum\(\) got multiple values for keyword argument 'axis'"),
    (lambda x: x.sum(dim=0, axis=1), r"sum\(\) got multiple values for keyword argument 'axis'"),
    (lambda x: x.sum(0, dim=1), r"sum\(\) got multiple values for keyword argument 'axis'"),
    (lambda x: gs.sum(x, input=x), r"sum\(\) got multiple values for keyword argument 'x'"),
    (lambda x: gs.arange(0, 3, end=3), r"arange\(\) got multiple values for (keyword )?argument 'stop'"),
    (lambda x: x.flip(dims=0, axis=0), r"flip\(\) got multiple values for keyword argument 'axis'"),
    (lambda x: x.sum(dim=0, foo=1), "unexpected keyword argument 'foo'; its arguments are x, axis"),
    (lambda x: x.max(dim=1), r"max\(\): PyTorch's also returns indices; write amax\(axis=\) and argmax\(axis=\)"),
    (lambda x: gs.sort(x, dim=1), r"sort\(\): PyTorch's also returns indices; write sort"),
    (lambda x: x.std(dim=1), r"std\(\): PyTorch's default is 1, NumPy's and gradspec's is 0; write correction=1 or correction=0"),
    (lambda x: x.split(2, dim=1), r"split\(\): PyTorch's takes the length of a part"),
    (lambda x: x.std(unbiased="a"), "invalid literal|int"), (lambda x: gs.linalg.lu(x, pivot=False), "'pivot'; write nothing: rows are always exchanged"),
    (lambda x: x.repeat(2, 1), r"write x\.tile\(2, 1\), or x\.repeat\(2, axis=1\)"),
    (lambda x: x.repeat(1, 2, 1), r"write x\.tile\(1, 2, 1\)$"),
    (lambda x: x.transpose(0, 1), r"changes nothing in NumPy and exchanges two axes in PyTorch; write x\.T or"),
    (lambda x: x.transpose(-2, -1), r"changes nothing in NumPy"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_means_something_else_or_comes_twice_is_refused(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call(gs.asarray(X))


def test_transposes_are_numpys_and_two_axes_of_more_change_places():
    x = np.arange(24.0).reshape(2, 3, 4)
    t = gs.tensor(x)
    for axes in [(), (None,), (2, 0, 1), ((0, 2, 1),), ([1, 0, 2],)]:
        assert np.array_equal(t.transpose(*axes), x.transpose(*axes))
    for pair in [(0, 1), (1, 2), (-1, -2), (0, -1), (1, 1)]:
        assert np.array_equal(t.transpose(*pair), x.swapaxes(*pair)) and np.shares_memory(t.transpose(*pair).numpy(), t.numpy())
    assert np.array_equal(gs.tensor(X).transpose(1, 0), X.T) and np.array_equal(gs.tensor(X).transpose((0, 1)), X)
    assert np.array_equal(gs.tensor(x).transpose_(1, 2), x.swapaxes(1, 2)) and np.array_equal(gs.tensor(X).transpose_(), X.T)
    with pytest.raises(IndexError, match="axes 0 and 3 of a tensor of 3 axes"):
        t.transpose(0, 3)


def test_a_value_is_let_go_where_the_call_fails():
    import sys

    x, kept = gs.asarray(X), object()
    before = sys.getrefcount(kept)
    for call in (lambda: x.sum(dim=kept, axis=1), lambda: x.sum(dim=kept, foo=1), lambda: x.max(dim=kept), lambda: x.sum(keepdim=kept, dim=kept)):
        with pytest.raises(TypeError):
            call()
    assert sys.getrefcount(kept) == before


@each(("call", "text"), [
    (lambda x: x.divide(x, rounding_mode="floor"), "write div"), (lambda x: x.split(split_size=1), "PyTorch's takes the length of a part"),
    (lambda x: gs.transpose(x, dim0=0, dim1=1), "write swapaxes"), (lambda x: gs.searchsorted(x[0], x, right=True), "write side='right'"),
    (lambda x: x.scatter(1, [[0], [1]], x, reduce="add"), "write scatter_add"), (lambda x: gs.einsum(equation="i", operands=[x]), "equation as the first"),
    (lambda x: gs.compile(lambda a: a, static_argnums=1), "write gs.jit"), (lambda x: gs.vmap(lambda a: a, axis_name="i"), "in the place of psum"),
    (lambda x: gs.grad(lambda a: a, holomorphic=True), "write gs.jvp"), (lambda x: gs.compile(lambda a: a, dynamic=True), "each shape has its own"),
    (lambda x: gs.triu_indices(3, 3, 1), r"write triu_indices\(3, m=3\), with k="), (lambda x: gs.tril_indices(2, 2), "rows and columns in PyTorch"),
])  # fmt: skip
def test_what_means_something_else_is_answered(call, text):
    with pytest.raises(TypeError, match=text):
        call(gs.tensor(X))


def test_triangles_by_place_are_numpys():
    for args in ((1, 1), (3, 1), (3, -2), (3, 0, 4), (2, 1, 5)):
        for name in ("tril_indices", "triu_indices"):
            found, expected = getattr(gs, name)(*args), getattr(np, name)(*args)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert np.array_equal(gs.triu_indices(3, k=3), np.triu_indices(3, 3))


def test_a_truth_value_is_keepdims_by_position_alone():
    """PyTorch's x.sum(0, True); a keyword of that place is refused, in each function that has it."""
    tried = 0
    for op in PUBLIC:
        function = function_of(op)
        for name in {"dtype", "out"} & set(parameters_of(op)):
            tried += 1
            for value in (True, False):
                with pytest.raises(TypeError, match=f"argument '{name}' must not be a truth value" + "; write keepdims=" * ("keepdims" in parameters_of(op))):
                    function(**{name: value})
    assert tried > 100
    x = gs.ones((2, 3))
    assert x.sum(0, True).shape == gs.sum(x, 0, True).shape == x.max(0, True).shape == (1, 3)
    for call in (lambda: x.sum(dtype=True), lambda: x.sum(0, dtype=True), lambda: x.max(axis=0, out=False), lambda: x.std(dtype=True, ddof=1)):
        with pytest.raises(TypeError, match="must not be a truth value; write keepdims="):
            call()


def test_argnum_and_argnums_are_one():
    """HIPS autograd's word and JAX's, in each function that has either."""

    def f(a, b):
        return (a * b * b).sum()

    found = 0
    for name in gs.func.__all__:
        function = getattr(gs.func, name)
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        words = {"argnum", "argnums"} & set(parameters)
        if inspect.isclass(function) or list(parameters)[:1] != ["func"] or not words or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            continue
        found += 1
        by_one, by_other = function(f, argnum=1), function(f, argnums=1)
        assert by_one.__name__ == by_other.__name__ == "f", name
        if name not in ("make_vjp", "make_jvp", "make_hvp", "grad_and_aux", "holomorphic_grad") and "product" not in name:
            given = (np.array([1.0, 2.0]), np.array([3.0, 4.0]))
            results = [flat(made(*given)) for made in (by_one, by_other, function(f, 1))]
            for parts in zip(*results, strict=True):
                one, other, direct = (part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in parts)
                np.testing.assert_array_equal(one, direct)
                np.testing.assert_array_equal(other, direct)
    assert found > 12
    with pytest.raises(TypeError, match="multiple values|not both"):
        gs.jacobian(f, argnum=1, argnums=1)


def test_an_argument_whose_default_is_disputed_has_to_be_given():
    for function in (gs.std_mean, gs.var_mean):
        with pytest.raises(TypeError, match="PyTorch's default is 1, that of NumPy's std and var is 0; write correction=1 or correction=0"):
            function(gs.tensor([1.0, 2.0, 4.0]))
