"""Tensor: its place in the graph, conversions, printing, copying."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


# Leaves.


def test_leaves_and_results():
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf and x.requires_grad and x.grad_fn is None and x.output_nr == 0
    assert not y.is_leaf and y.requires_grad and y.grad_fn is not None
    plain = gs.ones((2,)) * 2
    assert plain.is_leaf and not plain.requires_grad
    assert gs.unstack(leaf(1.0, 2.0))[1].output_nr == 1


def test_requires_grad_can_be_set_on_leaves():
    x = gs.ones((2,))
    assert x.requires_grad_() is x and x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad_(False).requires_grad
    y = leaf(1.0) * 2
    y.requires_grad = True
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = "yes"


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_integers_have_no_gradient(dtype):
    x = gs.ones((2,), dtype=dtype)
    for make in (
        x.requires_grad_,
        lambda: gs.tensor(x.numpy(), requires_grad=True),
        lambda: gs.zeros((2,), dtype=dtype, requires_grad=True),
    ):
        with pytest.raises(RuntimeError, match="floating point"):
            make()
    with pytest.raises(RuntimeError, match="floating point"):
        x.requires_grad = True
    assert not (leaf(1.0).astype(dtype)).requires_grad


def test_complex_tensors_have_gradients():
    z = gs.tensor([1 + 2j], requires_grad=True)
    gs.real(z * z.conj()).sum().backward()
    same(z.grad, [2 + 4j])


def test_data_setter():
    x = leaf(1.0)
    with pytest.raises(TypeError, match="data must be a Tensor"):
        x.data = None
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = gs.tensor([1, 2])
    assert x.is_leaf and x.requires_grad


# To and from NumPy.


def test_arrays_are_shared_both_ways():
    array = np.ones(3)
    x = gs.asarray(array)
    assert x.numpy() is array
    x.add_(1)
    assert array.tolist() == [2.0, 2.0, 2.0]
    copied = gs.tensor(array)
    copied.add_(1)
    assert array[0] == 2.0


def test_numpy_refuses_to_drop_a_gradient():
    x = leaf(1.0)
    for convert in (lambda: x.numpy(), lambda: (x * 2).numpy()):
        with pytest.raises(RuntimeError, match="Can't call numpy.*Use tensor.detach.*numpy.. instead"):
            convert()
    for convert in (lambda: np.asarray(x), lambda: np.array(x)):
        with pytest.raises(RuntimeError, match=r"Can't call numpy.* was asked for by `for convert in .*`, and it would lose the history"):
            convert()
    with gs.no_grad():
        assert x.numpy().tolist() == [1.0] == np.asarray(x).tolist()
    assert x.detach().numpy().tolist() == [1.0]


def test_numpy_functions_do_not_drop_the_graph():
    x = leaf(1.0, 2.0)
    assert np.exp(x).grad_fn.name() == "ExpBackward"
    y = np.ones(2) * x
    assert y.requires_grad and y.grad_fn.name() == "MultiplyBackward"
    y = np.float64(2.0) - x
    assert y.requires_grad
    same(y, [1.0, 0.0])


def test_asarray_keeps_the_graph():
    y = leaf(1.0) * 2
    assert gs.asarray(y) is y
    assert gs.asarray(y, dtype="float32").requires_grad and gs.asarray(y, copy=True).requires_grad


def test_numbers():
    x = gs.tensor(2.5)
    assert x.item() == 2.5 and float(x) == 2.5 and int(x) == 2 and complex(x) == 2.5 and bool(x)
    assert [1, 2, 3][gs.tensor(1)] == 2 and f"{x:.2f}" == "2.50"
    assert gs.tensor([[1, 2]]).tolist() == [[1, 2]] and gs.tensor(3).tolist() == 3
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to a number"):
        gs.ones((2,)).item()
    with pytest.raises(RuntimeError, match="truth value of a Tensor with 2 elements is ambiguous"):
        bool(gs.ones((2,)))
    with pytest.raises(TypeError, match="only integer tensors of one element"):
        [1][gs.tensor(0.0)]
    with pytest.raises(ValueError):
        int(gs.tensor(np.nan))
    with pytest.raises(OverflowError):
        int(gs.tensor(np.inf))


def test_iteration():
    x = leaf(1.0, 2.0)
    assert len(x) == 2 and [t.item() for t in x] == [1.0, 2.0]
    a, b = x
    (a * b).backward()
    same(x.grad, [2.0, 1.0])
    with pytest.raises(TypeError, match="0-d tensor"):
        len(gs.tensor(1.0))
    with pytest.raises(TypeError, match="0-d tensor"):
        iter(gs.tensor(1.0))


def test_default_dtype_is_float64():
    assert gs.tensor([1.0]).dtype == np.float64 and gs.tensor([1]).dtype == np.int64
    assert (gs.ones((2,), dtype="float32") * 2.0).dtype == np.float32


def test_what_is_no_tensor():
    for data in ("text", [object()], None, {}):
        with pytest.raises((TypeError, ValueError)):
            gs.tensor(data)


# Printing.


def test_repr():
    x = leaf(1.0)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2.], grad_fn=<MultiplyBackward>)"
    assert repr(gs.tensor([1.5], dtype="float32")) == "tensor([1.5], dtype=float32)"
    assert repr(gs.tensor([1, 2])) == "tensor([1, 2])" and repr(gs.tensor([True])) == "tensor([ True])"
    assert repr(gs.zeros((0, 3))) == "tensor([], shape=(0, 3))" and repr(gs.tensor(2.0)) == "tensor(2.)"
    assert repr(x.detach()) == "tensor([1.])"


# Copies.


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy] + [lambda t, p=p: pickle.loads(pickle.dumps(t, p)) for p in range(6)]
)
def test_copies_of_leaves(duplicate):
    x = leaf(1.0, 2.0)
    x.grad = gs.ones((2,))
    x.note = ["kept"]
    y = duplicate(x)
    assert type(y) is type(x) and y.requires_grad and y.note == ["kept"]
    same(y, [1.0, 2.0])
    same(y.grad, [1.0, 1.0])
    y.grad.add_(1)
    with gs.no_grad():
        y.add_(1)
    same(x, [1.0, 2.0])
    same(x.grad, [1.0, 1.0])


def test_graphs_are_not_copied():
    y = leaf(1.0) * 2
    for duplicate in (copy.deepcopy, pickle.dumps):
        with pytest.raises(RuntimeError, match="support the deepcopy protocol and pickle"):
            duplicate(y)


def test_clone_and_copy_keep_the_graph():
    x = leaf(1.0)
    for y in (x.clone(), x.copy(), x.astype("float64")):
        assert y.requires_grad and not np.shares_memory(y.detach().numpy(), x.detach().numpy())
        y.backward()
    same(x.grad, [3.0])


def test_user_attributes():
    x = leaf(1.0)
    x.name = "weight"
    assert x.name == "weight" and not hasattr(x * 2, "name")
    del x.name
    with pytest.raises(AttributeError, match="has no attribute 'name'"):
        _ = x.name
    with pytest.raises(AttributeError, match="attribute of its grad_fn"):
        _ = x._saved_x


@pytest.mark.parametrize(("name", "value", "number"), [("new_zeros", (), 0), ("new_ones", (), 1), ("new_full", (7.0,), 7)])
def test_new_arrays_take_the_dtype_of_an_old_one(name, value, number):
    x = gs.tensor(np.ones(3, np.float32), requires_grad=True)
    new = getattr(x, name)
    for y in (new((2, 1), *value), new([2, 1], *value), *(() if value else (new(2, 1), new(shape=(2, 1))))):
        assert y.tolist() == [[number], [number]] and y.dtype == np.float32 and not y.requires_grad
    assert new((2,), *value, dtype="int64").dtype == np.int64


def test_a_new_empty_array_and_a_new_tensor():
    x = gs.tensor(np.ones(3, np.float32), requires_grad=True)
    y = x.new_empty(2, 4)
    assert y.shape == (2, 4) and y.dtype == np.float32 and not y.requires_grad
    data = np.arange(2.0)
    z = x.new_tensor(data, requires_grad=True)
    data += 1
    assert z.tolist() == [0, 1] and z.dtype == np.float32 and z.requires_grad and z.is_leaf
    assert x.new_tensor([1.5], dtype="int64").tolist() == [1]
    with pytest.raises(RuntimeError, match="requires grad"):
        x.new_tensor(x)


@each("shape", ["abc", 1.5, (2, "a"), [1.5], None, {2}], ids=repr)
@each("name", ["resize_", "reshape", "view", "expand", "new_zeros", "new_ones", "new_empty", "tile"])
def test_what_is_no_shape_is_refused_by_name(name, shape):
    with pytest.raises(TypeError, match=name):
        getattr(gs.ones((2,)), name)(shape)
