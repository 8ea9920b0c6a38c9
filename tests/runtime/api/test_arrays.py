"""What programs say of arrays before they compute: array, shape, ndim, size, from_dlpack, is_tensor; and where they look for `grad`."""

import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each


@each("data", [3, 2.5, [1, 2], [[1.0], [2.0]], (True, False), np.arange(6).reshape(2, 3), np.float32(1), 1j, []], ids=repr)
def test_array_has_numpys_values_and_dtype(data):
    x = gs.array(data)
    assert isinstance(x, gs.Tensor) and x.dtype == np.array(data).dtype and np.array_equal(x, np.array(data))
    assert (gs.shape(data), gs.ndim(data), gs.size(data)) == (np.shape(data), np.ndim(data), np.size(data))
    assert (gs.shape(x), gs.ndim(x), gs.size(x)) == (np.shape(data), np.ndim(data), np.size(data))
    assert gs.is_tensor(x) and not gs.is_tensor(data)


def test_array_copies_unless_told_otherwise():
    data = np.arange(3.0)
    assert not np.shares_memory(gs.array(data).numpy(), data) and np.shares_memory(gs.array(data, copy=False).numpy(), data)
    assert gs.array(data, "float32").dtype == np.float32 and gs.array(data, requires_grad=True).is_leaf
    assert gs.size(np.ones((2, 3)), 1) == 3 and gs.size(np.ones((2, 3)), axis=-2) == 2


def test_array_of_tensors_keeps_their_history():
    x = gs.tensor(3.0, requires_grad=True)
    y = gs.array([[x, 1.0], [2, x * x]])
    y.sum().backward()
    assert y.tolist() == [[3.0, 1.0], [2.0, 9.0]] and x.grad.item() == 7.0
    z = gs.array(x)
    assert z is not x and z.requires_grad and not z.is_leaf
    assert gs.shape([x, x]) == (2,) and gs.ndim([[x]]) == 2


def test_from_dlpack_shares_memory():
    data = np.arange(3.0)
    x = gs.from_dlpack(data)
    x.mul_(2)
    assert data.tolist() == [0.0, 2.0, 4.0]
    assert not np.shares_memory(gs.from_dlpack(data, copy=True).numpy(), data) and gs.from_dlpack(x.detach(), device="cpu").tolist() == data.tolist()
    with pytest.raises(ValueError, match="device 'cpu', got 'cuda'"):
        gs.from_dlpack(data, device="cuda")


def test_what_func_has_is_in_the_main_namespace_and_imported_when_asked_for():
    assert set(gs._func) == set(gs.func.__all__) and all(getattr(gs, name) is getattr(gs.func, name) for name in gs.func.__all__)
    code = """
import sys
import gradspec as gs
assert "gradspec.func" not in sys.modules and "grad" in dir(gs)
from gradspec import grad, value_and_grad
assert grad is gs.func.grad and vars(gs)["hessian"] is gs.func.hessian
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_checkpoint_is_at_pytorchs_path():
    from gradspec.utils.checkpoint import checkpoint

    assert checkpoint is gs.autograd.checkpoint.checkpoint and gs.utils.checkpoint.__all__ == gs.autograd.checkpoint.__all__


@pytest.mark.parametrize("call", ["grad(y, x)", "value_and_grad(y)", "jacobian(y, x)", "hessian(y, x)"])
def test_what_has_been_computed_is_no_function(call):
    x = gs.tensor([1.0], requires_grad=True)
    y = (x * x).sum()
    with pytest.raises(TypeError, match=r"a function is needed, got a Tensor; .* gs\.autograd\.grad\(outputs, inputs\)"):
        eval(f"gs.{call}", {"gs": gs, "x": x, "y": y})


@pytest.mark.parametrize("point", [gs.tensor([1.0]), np.ones(2)])
@pytest.mark.parametrize("name", ["grad", "jacobian", "hessian", "jacfwd"])
def test_a_point_is_no_argnums(name, point):
    with pytest.raises(TypeError, match=rf"{name}: argnums must be an int .* of the result: {name}\(func\)\(x\)"):
        getattr(gs, name)(gs.sum, point)
