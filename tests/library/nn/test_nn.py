"""gradspec.nn: PyTorch's paths to its functions, and parameters as one vector."""

import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad
from gradspec.nn.utils import parameters_to_vector, vector_to_parameters
from tests.asked import each


def test_functional_holds_the_functions_of_nn():
    import gradspec.nn.functional as F

    others = {"Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional", "init", "modules", "parameter", "utils", *gs.nn.modules.__all__}
    assert F is gs.nn.functional and set(F.__all__) == set(gs.nn.__all__) - others
    assert all(getattr(F, name) is getattr(gs.nn, name) for name in F.__all__)
    assert sorted(gs.nn.modules.__all__) == sorted(name for name in gs.nn.__all__ if name in vars(gs.nn.modules) and name[0].isupper())
    assert F.relu(gs.tensor([-1.0, 2.0])).tolist() == [0, 2]


def test_clipping_has_one_source():
    assert gs.nn.utils.clip_grad_norm_ is gs.clip_grad_norm_ and gs.nn.utils.clip_grad_value_ is gs.clip_grad_value_


def test_the_paths_are_there_at_once():
    code = "import gradspec as gs; print(gs.nn.functional.relu is gs.nn.relu, callable(gs.nn.utils.clip_grad_norm_))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert out.split() == ["True", "True"]


def test_there_and_back():
    p, q = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), gs.tensor(5.0, requires_grad=True)
    vector = parameters_to_vector([p, q])
    assert vector.tolist() == [1, 2, 3, 4, 5]
    assert [g.tolist() for g in grad(vector @ gs.tensor([1.0, 2, 3, 4, 5]), [p, q])] == [[[1, 2], [3, 4]], 5]
    before = p.detach().numpy()
    vector_to_parameters(vector * 2, (each for each in [p, q]))
    assert before.tolist() == [[2, 4], [6, 8]] and q.item() == 10
    assert p.is_leaf and p.requires_grad and q.grad_fn is None


def test_the_dtype_of_a_parameter_stays():
    p = gs.tensor(np.ones((2, 1), np.float32), requires_grad=True)
    vector_to_parameters(gs.tensor([3.0, 4.0]), [p])
    assert p.dtype == np.float32 and p.tolist() == [[3], [4]]


@pytest.mark.parametrize("vec", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_a_vector_that_does_not_fit_changes_nothing(vec):
    p = gs.tensor([0.0, 0.0])
    with pytest.raises(ValueError, match="the parameters have 2 elements"):
        vector_to_parameters(gs.tensor(vec), [p])
    assert p.tolist() == [0, 0]


def test_no_parameters():
    with pytest.raises(ValueError, match="no parameters"):
        parameters_to_vector([])


class TestRunningStatistics:
    def test_they_move_towards_the_batch_and_record_nothing(self):
        rng = np.random.default_rng(0)
        x = gs.tensor(rng.normal(size=(4, 3, 5)), requires_grad=True)
        mean, var = gs.zeros(3), gs.ones(3)
        before = mean._version
        y = gs.nn.batch_norm(x, mean, var, training=True, momentum=0.25)
        rows = x.detach().numpy().swapaxes(0, 1).reshape(3, -1)
        np.testing.assert_allclose(mean.numpy(), 0.25 * rows.mean(1))
        np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * rows.var(1, ddof=1))
        assert not mean.requires_grad and not var.requires_grad and mean._version > before
        weights = gs.tensor(rng.normal(size=(4, 3, 5)))
        (found,) = grad((y * weights).sum(), x)
        (wanted,) = grad((gs.nn.batch_norm(x, training=True) * weights).sum(), x)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())

    def test_evaluation_takes_them_and_leaves_them(self):
        mean, var = gs.tensor([1.0]), gs.tensor([4.0])
        assert gs.nn.batch_norm([[3.0], [5.0]], mean, var, eps=0.0).tolist() == [[1], [2]]
        assert mean.tolist() == [1] and var.tolist() == [4]

    def test_arrays_and_either_alone(self):
        mean, var = np.zeros(1, np.float32), np.ones(1)
        gs.nn.functional.batch_norm([[1.0], [5.0]], mean, None, None, None, True, 1.0)
        gs.nn.functional.batch_norm([[1.0], [5.0]], None, var, None, None, True, 1.0)
        assert mean.tolist() == [3] and mean.dtype == np.float32 and var.tolist() == [8]

    def test_what_cannot_be_written_to(self):
        with pytest.raises(TypeError, match="running_mean is written to"):
            gs.nn.batch_norm([[1.0], [5.0]], [0.0], training=True)
        with pytest.raises(ValueError, match="more than 1 value per channel"):
            gs.nn.batch_norm([[1.0]], None, gs.ones(1), training=True)

    @each("name", ["batch_norm", "instance_norm"])
    @each("refused", [
        np.zeros(3), np.zeros((1, 2)), np.zeros(2, int), np.zeros(2, complex), gs.zeros(3), "read-only", "inference", [0.0, 0.0],
    ])  # fmt: skip
    def test_neither_moves_where_one_is_refused(self, name, refused):
        if isinstance(refused, str) and refused == "read-only":
            refused = np.zeros(2)
            refused.flags.writeable = False
        elif isinstance(refused, str):
            with gs.inference_mode():
                refused = gs.zeros(2)
        x = np.arange(12.0).reshape(2, 2, 3)
        kept = np.ones(2)
        flag = {"training": True} if name == "batch_norm" else {}
        for buffers in ((kept, refused), (refused, kept)):
            with pytest.raises((TypeError, ValueError, RuntimeError), match=f"{name}: running_"):
                getattr(gs.nn, name)(x, *buffers, **flag)
        with pytest.raises(TypeError):
            getattr(gs.nn, name)(x, kept, kept.copy(), momentum=None, **flag)
        assert kept.tolist() == [1, 1]

    @pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
    def test_statistics_that_are_needed(self, name):
        flag = {"training": False} if name == "batch_norm" else {"use_input_stats": False}
        for buffers in ((None, None), ([0.0], None), (None, [1.0])):
            with pytest.raises(ValueError, match="running_mean and running_var are needed"):
                getattr(gs.nn, name)([[[1.0]]], *buffers, **flag)
        with pytest.raises(ValueError, match="a batch axis and a channel axis"):
            getattr(gs.nn, name)([1.0])

    @pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
    def test_an_empty_batch_moves_nothing(self, name):
        mean, var = gs.zeros(2), gs.ones(2)
        flag = {"training": True} if name == "batch_norm" else {}
        assert getattr(gs.nn, name)(np.zeros((0, 2, 3)), mean, var, **flag).shape == (0, 2, 3)
        assert mean.tolist() == [0, 0] and var.tolist() == [1, 1]

    def test_of_each_example(self):
        rng = np.random.default_rng(1)
        x = rng.normal(size=(4, 3, 5, 2)).astype(np.float32)
        mean, var = gs.tensor(rng.normal(size=3)), gs.tensor(rng.uniform(1, 2, size=3))
        before = mean.numpy().copy(), var.numpy().copy()
        y = gs.nn.instance_norm(x, mean, var, momentum=0.25, eps=0.0)
        wide = x.astype(float)
        centred = wide - wide.mean((2, 3), keepdims=True)
        np.testing.assert_allclose(y.numpy(), centred / np.sqrt((centred**2).mean((2, 3), keepdims=True)), rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(mean.numpy(), 0.75 * before[0] + 0.25 * wide.mean((0, 2, 3)), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(var.numpy(), 0.75 * before[1] + 0.25 * wide.var((2, 3), ddof=1).mean(0), rtol=1e-6)
        y = gs.nn.functional.instance_norm(x, mean, var, [1.0, 2.0, 3.0], [0.5, 0.0, 0.0], False, 0.25, 0.0)
        lying = (1, 3, 1, 1)
        wanted = (wide - mean.numpy().reshape(lying)) / np.sqrt(var.numpy()).reshape(lying)
        wanted = wanted * np.array([1.0, 2.0, 3.0]).reshape(lying) + np.array([0.5, 0.0, 0.0]).reshape(lying)
        np.testing.assert_allclose(y.numpy(), wanted, rtol=2e-5, atol=2e-6)
        with pytest.raises(ValueError, match="more than 1 value per channel"):
            gs.nn.instance_norm([[[1.0]]], None, gs.ones(1))

    def test_a_change_of_what_backward_needs_is_noticed(self):
        x, mean, var = gs.tensor([[1.0], [5.0]], requires_grad=True), gs.zeros(1), gs.ones(1)
        y = gs.nn.batch_norm(x, mean, var)
        weight = gs.tensor([2.0], requires_grad=True)
        z = var * weight  # saves var
        gs.nn.batch_norm(x, mean, var, training=True)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
