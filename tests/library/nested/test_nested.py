"""gs.nested: each result is that of the loop over the items, each gradient too; PyTorch's names and phrases."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import nested
from gradspec.autograd import gradcheck, gradgradcheck
from gradspec.generated.op_info import OPS
from gradspec.nested import answers
from gradspec.support.dispatch import ops
from tests.asked import each

RANDOM = np.random.default_rng(0)
LENGTHS = [3, 1, 0, 4, 3]
FILLED = [3, 1, 2, 4, 3]  # for what an empty item has not


def items(lengths=LENGTHS, *shape):
    return [RANDOM.normal(size=(length, *shape)) for length in lengths]


def leaf(array):
    return gs.tensor(array, requires_grad=True)


def flat(found):
    """What came out, nested or not, as one dense array."""
    if isinstance(found, nested.NestedTensor):
        return found.values()
    return gs.concat(list(found), 0) if isinstance(found, (list, tuple)) else found


def holds_as_the_loop(function, loop, *lists):
    """Value, gradient and second derivatives of a function of nested tensors, and the loop's, which gives a list or an array."""
    offsets = [np.cumsum([0, *map(len, arrays)]) for arrays in lists]
    values = [np.concatenate(arrays) for arrays in lists]

    def whole(*values):
        return flat(function(*(nested.nested_tensor_from_jagged(v, o) for v, o in zip(values, offsets))))

    def by_items(*values):
        return flat(loop(*([v[a:b] for a, b in zip(o[:-1], o[1:])] for v, o in zip(values, offsets))))

    np.testing.assert_allclose(whole(*values).numpy(), by_items(*map(gs.asarray, values)).numpy(), rtol=1e-12, atol=1e-14)
    grads = [gs.func.grad(lambda *v, call=call: (call(*v) * np.arange(1, 1 + call(*v).size).reshape(call(*v).shape)).sum(),
                          argnums=tuple(range(len(values))))(*values) for call in (whole, by_items)]  # fmt: skip
    for found, expected in zip(*grads):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-11, atol=1e-13)
    assert gradcheck(whole, [leaf(v) for v in values], check_forward_ad=True)
    assert gradgradcheck(whole, [leaf(v) for v in values])


MATRIX, STACK = RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(5, 2, 3))
UNARY = {
    "exp": lambda x: x.exp(), "a method with a number": lambda x: x.clip(-0.5, 0.5), "np.sin": np.sin, "np.add": lambda x: np.add(x, 1.5),
    "negative": lambda x: -x, "abs": abs, "power": lambda x: x**3, "reflected": lambda x: 2.0 / (3.0 - x * x), "mod": lambda x: x % 1.5,
    "row": lambda x: x * RANDOM_ROW, "row on the left": lambda x: RANDOM_ROW * x, "map_values": lambda x: x * gs.tanh(x) if isinstance(x, gs.Tensor) else x * x.map_values(gs.tanh),
}  # fmt: skip
RANDOM_ROW = RANDOM.normal(size=2)


@each("name", UNARY)
def test_elementwise(name):
    function = UNARY[name]
    holds_as_the_loop(function, lambda xs: [function(x) for x in xs], items(LENGTHS, 2))


def test_elementwise_of_several():
    a, b, each_item = items(LENGTHS, 2), items(LENGTHS, 2), RANDOM.normal(size=(5, 1, 2))
    holds_as_the_loop(lambda a, b: a * b - b / (a * a + 1), lambda a, b: [x * y - y / (x * x + 1) for x, y in zip(a, b)], a, b)
    holds_as_the_loop(lambda a: each_item * a, lambda a: [x * y for x, y in zip(a, each_item)], a)
    holds_as_the_loop(lambda a: a * each_item[:1], lambda a: [x * each_item[0] for x in a], a)
    holds_as_the_loop(lambda a: a * each_item[0], lambda a: [x * each_item[0] for x in a], a)
    holds_as_the_loop(lambda a, b: a - a.mean(1, keepdims=True) * b, lambda a, b: [x - x.mean(0) * y for x, y in zip(a, b)],
                      items(FILLED, 2), items(FILLED, 2))  # fmt: skip
    compared = nested.nested_tensor(a) > nested.nested_tensor(b)
    assert compared.dtype == bool and all((c.numpy() == (x > y)).all() for c, x, y in zip(compared, a, b))


@each("name", ["sum", "mean", "prod", "amax", "amin", "max", "min"])
@each("axis", [None, 1, 2, -1, (1, 2), (2, 3), (1, -1)])
@each("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    xs = items(FILLED, 2, 3)
    operator = name if hasattr(np.ndarray, name) else name[1:]
    axes = axis if axis is None else tuple(one % 4 - 1 for one in ((axis,) if isinstance(axis, int) else axis))
    x = nested.nested_tensor(xs)
    found = getattr(x, name)(axis, keepdims)
    if axis is None:
        expected = getattr(np.concatenate(xs), operator)()
        assert found.shape == ((1,) * 4 if keepdims else ())
        np.testing.assert_allclose(found.numpy().item(), expected, rtol=1e-13)
        return
    expected = [getattr(item, operator)(axis=axes, keepdims=keepdims) for item in xs]
    if 0 in axes:
        assert isinstance(found, gs.Tensor)
        np.testing.assert_allclose(found.numpy(), np.stack(expected), rtol=1e-13)
    else:
        assert isinstance(found, nested.NestedTensor)
        np.testing.assert_allclose(found.values().numpy(), np.concatenate(expected), rtol=1e-13)


@each("name", ["sum", "mean", "prod", "amax"])
@each("axis", [None, 1, 2, (1, 2)])
def test_derivatives_of_reductions(name, axis):
    xs = items(FILLED, 2)
    call = lambda v: flat(getattr(nested.nested_tensor_from_jagged(v, lengths=FILLED), name)(axis))  # noqa: E731
    assert gradcheck(call, (leaf(np.concatenate(xs)),), check_forward_ad=True)
    assert gradgradcheck(call, (leaf(np.concatenate(xs)),))


def test_reductions_of_empty_items():
    x = nested.nested_tensor(items(LENGTHS, 2))
    assert x.sum(1)[2].tolist() == [0, 0] and x.prod(1)[2].tolist() == [1, 1] and np.isnan(x.mean(1)[2].numpy()).all()
    for name in ("max", "min"):
        with pytest.raises(ValueError, match=f"{name}: item 2 has no rows"):
            getattr(x, name)(1)


@each("axis", [1, 2, -1])
@each("name", ["softmax", "log_softmax"])
def test_softmax(name, axis):
    xs, own = items(LENGTHS, 2), (1 if axis == 1 else 2) - 1
    holds_as_the_loop(lambda x: getattr(x, name)(axis), lambda xs: [getattr(gs.nn, name)(x, own) for x in xs if len(x)], xs)
    far = nested.nested_tensor([[1000.0, 999.0], [-1000.0]])
    np.testing.assert_allclose(far.softmax(1).values().numpy(), [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 1], rtol=1e-13)


def test_products():
    a, b = items(LENGTHS, 2), items([2, 0, 1, 3, 5], 2)
    holds_as_the_loop(lambda a: a @ MATRIX, lambda a: [x @ MATRIX for x in a], a)
    holds_as_the_loop(lambda a: a @ MATRIX[:, 0], lambda a: [x @ MATRIX[:, 0] for x in a], a)
    holds_as_the_loop(lambda a: a @ STACK, lambda a: [x @ y for x, y in zip(a, STACK)], a)
    holds_as_the_loop(lambda a, b: a.mT @ b, lambda a, b: gs.stack([x.mT @ y for x, y in zip(a, b)]), a, items(LENGTHS, 3))
    found = nested.nested_tensor(a) @ nested.nested_tensor(b).mT
    assert found.shape == (5, 4, 5)
    for i, (x, y) in enumerate(zip(a, b)):
        expected = np.zeros((4, 5))
        expected[: len(x), : len(y)] = x @ y.T
        np.testing.assert_allclose(found[i].numpy(), expected, rtol=1e-13)


def test_functions_of_rows():
    weight, bias = RANDOM.normal(size=(3, 2)), RANDOM.normal(size=3)
    xs = items(LENGTHS, 2)
    holds_as_the_loop(lambda x: nested.linear(x, weight, bias), lambda xs: [gs.nn.linear(x, weight, bias) for x in xs], xs)
    holds_as_the_loop(lambda x: nested.layer_norm(x, (2,), bias[:2], bias[1:]),
                      lambda xs: [gs.nn.layer_norm(x, (2,), bias[:2], bias[1:]) for x in xs if len(x)], items(LENGTHS, 2))  # fmt: skip
    table = leaf(weight)
    places = nested.nested_tensor([[2, 0], [1], []], dtype=int)
    found = nested.embedding(places, table)
    assert found.shape == (3, None, 2) and found.values().tolist() == weight[[2, 0, 1]].tolist()
    found.sum().backward()
    assert table.grad.tolist() == np.ones((3, 2)).tolist()


@each("causal", [False, True])
@each("heads", [(), (2,)])
def test_attention(heads, causal):
    queries, keys = [3, 1, 2, 4], [3, 2, 2, 5]
    q, k, v = items(queries, *heads, 3), items(keys, *heads, 3), items(keys, *heads, 2)

    def loop(q, k, v):
        found = []
        for one in zip(q, k, v):
            y = gs.nn.scaled_dot_product_attention(*(gs.moveaxis(x, 0, -2) for x in one), is_causal=causal, scale=0.7)
            found.append(gs.moveaxis(y, -2, 0))
        return found

    holds_as_the_loop(lambda q, k, v: nested.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.7), loop, q, k, v)


def test_attention_of_items_without_keys_or_queries():
    q, k = nested.nested_tensor(items([2, 0, 1], 3)), nested.nested_tensor(items([0, 2, 1], 3))
    q.requires_grad_()
    y = nested.scaled_dot_product_attention(q, k, k)
    assert y.lengths().tolist() == [2, 0, 1] and y[0].tolist() == [[0.0] * 3] * 2 and not y.isnan().values().numpy().any()
    y.sum().backward()
    assert np.isfinite(q.grad.values().numpy()).all()


# Functions of gradspec.


FUNCTIONS = {
    "exp": lambda x: gs.exp(x), "where": lambda x: gs.where(x > 0, x, 0.5 * x), "by keyword": lambda x: gs.softmax(x, dim=-1),
    "layer_norm": lambda x: gs.nn.layer_norm(x, (2,), ROW, ROW), "rms_norm": lambda x: gs.nn.functional.rms_norm(x, (2,), ROW),
    "linear": lambda x: gs.nn.functional.linear(x, MATRIX.T), "matmul": lambda x: gs.matmul(x, MATRIX), "normalize": lambda x: gs.nn.normalize(x, axis=-1),
    "cat": lambda x: gs.cat([x, x * x], -1), "stack": lambda x: gs.stack([x, x * x], -1), "chunk": lambda x: gs.chunk(x, 2, -1)[1],
    "dropout": lambda x: gs.nn.dropout(x, 0.5, training=False), "a method": lambda x: x.cumsum(-1), "an axis counted from the front": lambda x: gs.flip(x, x.ndim - 1),
}  # fmt: skip
ROW = RANDOM.normal(size=2)


@each("name", FUNCTIONS)
def test_functions(name):
    function = FUNCTIONS[name]
    holds_as_the_loop(function, lambda xs: [function(x) for x in xs], items(LENGTHS, 2))


def test_functions_along_the_ragged_axis():
    holds_as_the_loop(lambda x: gs.softmax(x, 1), lambda xs: [gs.softmax(x, 0) for x in xs], items(LENGTHS, 2))
    holds_as_the_loop(lambda x: gs.mean(x, axis=1), lambda xs: gs.stack([gs.mean(x, axis=0) for x in xs]), items(FILLED, 2))
    holds_as_the_loop(lambda x: gs.std(x)[None], lambda xs: gs.std(gs.concat(xs, 0))[None], items(FILLED, 2))
    x = nested.nested_tensor(items(LENGTHS, 2))
    assert [part.lengths().tolist() for part in gs.chunk(x, 2)] == [LENGTHS[:3], LENGTHS[3:]]
    assert [item.shape for item in gs.unbind(x)] == [(length, 2) for length in LENGTHS]


def test_every_operator_of_one_array():
    """Along the last axis, and where there is no axis as it is: what the loop over the items gives."""
    arrays = [0.2 + 0.5 * RANDOM.random((length, 3, 3)) for length in FILLED]
    x, asked = nested.nested_tensor(arrays), 0
    for op in OPS:
        function, axes = getattr(ops, op.name), [name for name, type_, *_ in op.arguments if name == "axis"]
        needed = [name for name, _, *default in op.arguments[1:] if not default and name != "axis"]
        if op.name.startswith("_") or not op.arguments or op.arguments[0][1] != "Array" or needed or not answers.takes(op.name):
            continue
        if op.name == "empty_like" or op.name.endswith("_") or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        if not axes and any(name.startswith(("axis", "axes")) for name, *_ in op.arguments):
            continue  # of several axes
        axis = {"axis": -1} if axes else {}
        try:
            with np.errstate(all="ignore"):
                wanted = [function(gs.asarray(array), **axis) for array in arrays]
        except (TypeError, ValueError, RuntimeError, NotImplementedError):  # of integers, of one size
            continue
        with np.errstate(all="ignore"):
            found = function(x, **axis)
        asked += 1
        for i, part in enumerate(found if isinstance(found, (list, tuple)) else [found]):
            expected = [one[i] if isinstance(found, (list, tuple)) else one for one in wanted]
            assert isinstance(part, nested.NestedTensor), op.name
            np.testing.assert_allclose(part.values().numpy(), np.concatenate([one.numpy() for one in expected]), rtol=1e-12, err_msg=op.name)
    assert asked > 150


def test_modules_take_nested_tensors():
    gs.random.manual_seed(0)
    net = gs.nn.Sequential(gs.nn.Linear(2, 8), gs.nn.GELU(), gs.nn.LayerNorm(8), gs.nn.Dropout(0.5), gs.nn.Linear(8, 3), gs.nn.Softmax(-1)).eval()
    xs = [item.astype(np.float32) for item in items(LENGTHS, 2)]
    found = net(nested.nested_tensor(xs))
    np.testing.assert_allclose(found.values().detach().numpy(), net(gs.asarray(np.concatenate(xs))).detach().numpy(), rtol=1e-6)
    dropped = gs.nn.dropout(nested.nested_tensor([np.ones((100, 3)), np.ones((50, 3))]), 0.5).values().numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0} and 0.3 < (dropped > 0).mean() < 0.7 and (dropped[0] != dropped).any()


# There and back.


@each("shape", [(), (2,), (2, 3)])
def test_padding_there_and_back(shape):
    xs = items(LENGTHS, *shape)
    x = nested.as_nested_tensor([leaf(item) for item in xs])
    padded = x.to_padded_tensor(-1.5)
    assert padded.shape == (5, 4, *shape)
    for row, item in zip(padded, xs):
        np.testing.assert_array_equal(row.detach().numpy()[: len(item)], item)
        assert (row.detach().numpy()[len(item) :] == -1.5).all()
    back = nested.narrow(padded, 1, 0, LENGTHS)
    np.testing.assert_array_equal(back.values().detach().numpy(), np.concatenate(xs))
    larger = nested.to_padded_tensor(x, 0.0, (6, 7, *(size + 1 for size in shape)))
    assert larger.shape == (6, 7, *(size + 1 for size in shape)) and larger.sum().item() == pytest.approx(np.concatenate(xs).sum())
    holds_as_the_loop(lambda x: nested.narrow(x.to_padded_tensor(2.0) * 3, 1, 0, LENGTHS), lambda xs: [3 * item for item in xs], xs)
    with pytest.raises(RuntimeError, match="Truncation is not supported"):
        x.to_padded_tensor(0.0, (5, 3, *shape))


def test_narrow_of_stretches():
    padded = RANDOM.normal(size=(3, 5, 2))
    found = nested.narrow(leaf(padded), 1, [1, 0, 4], [3, 0, 1])
    np.testing.assert_array_equal(found.values().detach().numpy(), np.concatenate([padded[0, 1:4], padded[2, 4:]]))
    assert found.requires_grad and nested.narrow(padded, 1, 1, 2).lengths().tolist() == [2, 2, 2]


def test_masked_select():
    x, mask = leaf(RANDOM.normal(size=(2, 4))), np.array([[True, False, True, True], [False] * 4])
    found = nested.masked_select(x, mask)
    assert found.lengths().tolist() == [3, 0]
    found.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), mask)


def test_jagged_as_pytorch():
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    values, offsets = RANDOM.normal(size=(6, 2)), np.array([0, 2, 3, 6])
    ours = nested.nested_tensor_from_jagged(leaf(values), offsets)
    theirs = torch.nested.nested_tensor_from_jagged(torch.tensor(values, requires_grad=True), torch.tensor(offsets))
    assert [item.shape for item in ours.unbind()] == [tuple(item.shape) for item in theirs.unbind()]
    np.testing.assert_array_equal(ours.to_padded_tensor(7.0).detach().numpy(), theirs.to_padded_tensor(7.0).detach().numpy()[:, :3])
    np.testing.assert_allclose(ours.sum(1).detach().numpy(), theirs.sum(1).detach().numpy())
    np.testing.assert_allclose(ours.softmax(2).values().detach().numpy(), torch.softmax(theirs, 2).values().detach().numpy())
    assert (ours.offsets().numpy() == theirs.offsets().numpy()).all() and ours.is_nested and theirs.is_nested


@pytest.mark.parametrize("library", ["gradspec", "torch"])
def test_the_layout_as_it_is_typed(library):
    library = pytest.importorskip(library)
    items = [library.ones((2, 3)), library.ones((1, 3))]
    for made in (library.nested.nested_tensor, library.nested.as_nested_tensor):
        assert made(items, layout=library.jagged, device="cpu").values().shape == (3, 3)
    nt = library.nested.nested_tensor(items, layout=library.jagged, requires_grad=True, device="cpu")
    nt.values().sum().backward()
    assert [(row == 1).all().item() for row in nt.grad.unbind()] == [True, True]


def test_another_layout_is_refused():
    for made in (nested.nested_tensor, nested.as_nested_tensor):
        with pytest.raises(ValueError, match="layout is 'strided', but nested tensors only have the layout 'jagged'"):
            made([np.ones(2)], layout="strided")


def test_jagged_with_holes():
    values = leaf(np.arange(6.0))
    found = nested.nested_tensor_from_jagged(values, [0, 3, 6], lengths=[2, 3])
    assert found.tolist() == [[0.0, 1.0], [3.0, 4.0, 5.0]]
    assert nested.nested_tensor_from_jagged(values, [1, 3, 5]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert nested.nested_tensor_from_jagged(values, lengths=[4, 2]).lengths().tolist() == [4, 2]
    assert nested.nested_tensor_from_jagged(values, [0, 3, 6]).values() is values


def test_parts():
    xs = items(LENGTHS, 2)
    x = nested.nested_tensor(xs, requires_grad=True)
    assert len(x) == 5 and x.shape == (5, None, 2) and x.size(0) == 5 and x.size(-1) == 2 and x.ndim == 3
    assert [len(item) for item in x] == LENGTHS and x[-1].shape == (3, 2)
    np.testing.assert_array_equal(x[[3, 0]].values().detach().numpy(), np.concatenate([xs[3], xs[0]]))
    np.testing.assert_array_equal(x[1:4].values().detach().numpy(), np.concatenate(xs[1:4]))
    assert len(x[np.array([True, False, True, False, False])]) == 2
    x[3].sum().backward()
    assert [item.numpy().sum() for item in x.grad] == [0, 0, 0, 8, 0]
    assert x.values().is_leaf and x.detach().requires_grad is False and x.astype(np.float32).dtype == np.float32
    assert repr(x) == "NestedTensor(shape=(5, None, 2), lengths=[3, 1, 0, 4, 3], dtype=float64, requires_grad=True)"
    copied = x.clone()
    assert copied.requires_grad and copied.values() is not x.values()
    assert nested.as_nested_tensor(x) is x


def test_a_vmap_over_items():
    a, b = items(FILLED, 2), items([2, 1, 1, 3, 2], 2)

    def function(x, y, w):
        return (x @ y.mT).sum(axis=1) * w

    holds_as_the_loop(lambda a, b: nested.vmap(function)(a, b, 2.0), lambda a, b: [function(x, y, 2.0) for x, y in zip(a, b)], a, b)
    holds_as_the_loop(lambda a: nested.vmap(lambda x: x.sum(axis=0), nested_out=False)(a), lambda a: gs.stack([x.sum(axis=0) for x in a]), a)
    called = []
    nested.vmap(lambda x: called.append(x.shape) or x)(nested.nested_tensor(items([3, 1, 3, 3], 2)))
    assert sorted(called) == [(1, 2), (3, 2)]


def test_a_nested_tensor_inside_of_a_vmap_of_its_values():
    values = RANDOM.normal(size=(3, 6, 2))
    found = gs.vmap(lambda v: nested.nested_tensor_from_jagged(v, [0, 2, 6]).softmax(1).amax(1))(values)
    rows = [nested.nested_tensor_from_jagged(v, [0, 2, 6]).softmax(1).amax(1).numpy() for v in values]
    np.testing.assert_allclose(found.numpy(), rows, rtol=1e-12)


X = nested.nested_tensor(items(LENGTHS, 2))
REFUSED = {
    "an empty list": (lambda: nested.nested_tensor([]), ValueError, "empty tensor list"),
    "no list": (lambda: nested.as_nested_tensor(3.0), TypeError, "Expected a list of tensors"),
    "numbers": (lambda: nested.nested_tensor([1.0, 2.0]), RuntimeError, "jagged layout only represents shapes"),
    "another axis that differs": (lambda: nested.nested_tensor([np.ones((2, 2)), np.ones((2, 3))]), RuntimeError, "only represents shapes"),
    "neither offsets nor lengths": (lambda: nested.nested_tensor_from_jagged([1.0]), RuntimeError, "At least one of offsets or lengths"),
    "offsets that fall": (lambda: nested.nested_tensor_from_jagged(np.ones(3), [0, 2, 1]), ValueError, "offsets must rise"),
    "offsets beyond": (lambda: nested.nested_tensor_from_jagged(np.ones(3), [0, 4]), ValueError, "inside of 3 rows"),
    "lengths that do not fit": (lambda: nested.nested_tensor_from_jagged(np.ones(3), [0, 1, 3], [2, 1]), ValueError, "do not fit"),
    "offsets that are no integers": (lambda: nested.nested_tensor_from_jagged(np.ones(3), [0.0, 3.0]), TypeError, "integers"),
    "a number in place of values": (lambda: nested.nested_tensor_from_jagged(1.0, [0]), ValueError, "at least one axis"),
    "other lengths": (lambda: X + X[::-1], RuntimeError, "cannot call binary pointwise function add with inputs of shapes"),
    "a padded operand": (lambda: X * np.ones((5, 4, 2)), RuntimeError, "of length 1 along the ragged axis"),
    "the size of the ragged axis": (lambda: X.size(1), RuntimeError, "irregular and does not have a size"),
    "a sum across items": (lambda: X.sum(0), RuntimeError, "across its items"),
    "an axis": (lambda: X.sum(3), IndexError, "axis 3"),
    "unbind along another axis": (lambda: X.unbind(1), RuntimeError, "axis 0 alone"),
    "an index of two": (lambda: X[0, 1], TypeError, "indexed by items alone"),
    "an item beyond": (lambda: X[5], IndexError, "out of range"),
    "another attribute": (lambda: X.reshape, AttributeError, "write nt.map_values"),
    "a function of no nested tensors": (lambda: gs.reshape(X, (-1,)), TypeError, "takes no nested tensors; write nt.map_values"),
    "a loss, whose mean would be that of a row": (lambda: gs.nn.mse_loss(X, X), TypeError, "takes no nested tensors"),
    "an axis across items": (lambda: gs.cat([X, X], 0), TypeError, "an axis that all items share, 2 or more"),
    "the ragged axis": (lambda: gs.cumsum(X, 1), TypeError, "an axis that all items share, 2 or more"),
    "no axis": (lambda: gs.cumsum(X), TypeError, "an axis that all items share, 2 or more"),
    "joined with a dense array": (lambda: gs.cat([X, np.ones((11, 2))], -1), TypeError, "holds nothing else"),
    "joined with other lengths": (lambda: gs.cat([X, X[::-1]], -1), RuntimeError, "of different lengths"),
    "a nested out=": (lambda: gs.exp(X, out=X), TypeError, "where no array is taken"),
    "a nested number": (lambda: gs.nn.elu(X, X), TypeError, "where no array is taken"),
    "rms_norm over the ragged axis": (lambda: gs.nn.rms_norm(X, (3, 2)), RuntimeError, "rms_norm.*over the ragged dimension"),
    "an ndarray of it": (lambda: np.asarray(X), TypeError, "to_padded_tensor"),
    "a truth value": (lambda: bool(X), RuntimeError, "Boolean value"),
    "a reduction of a ufunc": (lambda: np.add.reduce(X), TypeError, "only as plain calls"),
    "a function that changes the rows": (lambda: X.map_values(lambda v: v[:2]), ValueError, "of 11 rows"),
    "a product of two": (lambda: X @ X, TypeError, "write a @ b.mT"),
    "a product of other items": (lambda: X.mT @ X[::-1], RuntimeError, "different lengths"),
    "a product of other numbers of items": (lambda: X @ X[:2].mT, RuntimeError, "have no products"),
    "a product with what is not nested": (lambda: X.mT @ np.ones((5, 3, 2)), TypeError, "ragged along the same axis"),
    "too many axes of a factor": (lambda: X @ np.ones((4, 2, 3)), RuntimeError, "a matrix for each item"),
    "a transposed vector": (lambda: nested.nested_tensor([[1.0]]).mT, RuntimeError, "no matrices"),
    "layer_norm over the ragged axis": (lambda: nested.layer_norm(X, (3, 2)), RuntimeError, "normalizing over the ragged dimension"),
    "a mask of attention": (lambda: nested.scaled_dot_product_attention(X, X, X, np.ones((5, 1, 1))), ValueError, "Mask must not be set"),
    "attention of dense arrays": (lambda: nested.scaled_dot_product_attention(X, X, np.ones((5, 4, 2))), TypeError, "all be nested"),
    "attention of other values": (lambda: nested.scaled_dot_product_attention(X, X, X[::-1]), ValueError, "of one length"),
    "attention of vectors": (lambda: nested.scaled_dot_product_attention(*[nested.nested_tensor([[1.0]])] * 3), ValueError, "items are"),
    "narrow along another axis": (lambda: nested.narrow(np.ones((2, 3)), 0, 0, 1), RuntimeError, "axis 1"),
    "narrow beyond": (lambda: nested.narrow(np.ones((2, 3)), 1, 1, [1, 3]), ValueError, "leave the 3 rows"),
    "a mask of numbers": (lambda: nested.masked_select(np.ones((2, 3)), np.ones((2, 3))), TypeError, "BoolTensor"),
    "rows of more axes": (lambda: nested.masked_select(np.ones(3), np.ones(3, bool)), RuntimeError, "rows of elements"),
    "a vmap of nothing nested": (lambda: nested.vmap(gs.exp)(1.0), ValueError, "expected nested tensors"),
}  # fmt: skip


@each("name", REFUSED)
def test_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()
