"""clip_grad: common norms, limits, what is left alone, PyTorch's numbers where torch is installed."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.api.clip_grad import clip_grad_norm_, clip_grad_value_


def parameters(*grads, dtype=np.float64):
    result = []
    for grad in grads:
        parameter = gs.tensor(np.zeros(np.shape(grad), dtype), requires_grad=True)
        parameter.grad = gs.tensor(np.array(grad, dtype))
        result.append(parameter)
    return result


def test_norm_of_all_gradients_together():
    p, q = parameters([3.0], [[4.0]])
    grads = p.grad, q.grad
    total = clip_grad_norm_([p, q], max_norm=1.0)
    assert total.shape == () and total.item() == 5.0
    assert p.grad is grads[0] and q.grad is grads[1]  # written in place
    np.testing.assert_allclose([p.grad.item(), q.grad.item()], [0.6, 0.8], rtol=1e-6)


def test_small_gradients_are_left_alone():
    (p,) = parameters([0.3, 0.4])
    assert clip_grad_norm_(p, max_norm=1.0).item() == 0.5
    np.testing.assert_array_equal(p.grad.numpy(), [0.3, 0.4])


@pytest.mark.parametrize("norm_type, expected", [(1.0, 7.0), (float("inf"), 4.0), (3.0, 91 ** (1 / 3))])
def test_other_norms(norm_type, expected):
    ps = parameters([3.0], [-4.0])
    assert clip_grad_norm_(ps, 1e9, norm_type).item() == pytest.approx(expected)


def test_parameters_without_gradient_do_not_count():
    p, q = parameters([3.0], [4.0])
    q.grad = None
    assert clip_grad_norm_([p, q], 1.0).item() == 3.0 and q.grad is None
    q.grad = p.grad = None
    assert clip_grad_norm_([p, q], 1.0).item() == 0.0


def test_generator_and_float32():
    ps = parameters([3.0], [4.0], dtype=np.float32)
    assert clip_grad_norm_((p for p in ps), 1.0).dtype == np.float32
    assert ps[0].grad.dtype == np.float32


def test_gradients_of_several_dtypes():
    p, q = parameters([3.0], dtype=np.float32)[0], parameters([4j], dtype=np.complex128)[0]
    assert clip_grad_norm_([p, q], max_norm=1.0).item() == 5.0
    assert p.grad.dtype == np.float32 and q.grad.dtype == np.complex128
    np.testing.assert_allclose([p.grad.item(), q.grad.item()], [0.6, 0.8j], rtol=1e-6)


def test_nonfinite():
    ps = parameters([3.0], [np.nan])
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped"):
        clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    assert ps[0].grad.item() == 3.0
    assert np.isnan(clip_grad_norm_(ps, 1.0).item()) and np.isnan(ps[0].grad.item())


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 2.5, float("inf")])
def test_same_as_torch(norm_type):
    torch = pytest.importorskip("torch", reason="compares with PyTorch's clip_grad_norm_, and torch is not installed")
    rng = np.random.default_rng(0)
    grads = [rng.normal(size=shape) for shape in ((3, 4), (5,), ())]
    ours, theirs = parameters(*grads), []
    for grad in grads:
        theirs.append(torch.zeros(grad.shape if hasattr(grad, "shape") else (), dtype=torch.float64))
        theirs[-1].grad = torch.tensor(grad)
    total = torch.nn.utils.clip_grad_norm_(theirs, 0.7, norm_type)
    assert clip_grad_norm_(ours, 0.7, norm_type).item() == pytest.approx(total.item())
    for p, q in zip(ours, theirs):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy())


def test_value():
    ps = parameters([-3.0, 0.25], 7.0)
    grad = ps[0].grad
    clip_grad_value_(ps, 0.5)
    assert ps[0].grad is grad
    np.testing.assert_array_equal(grad.numpy(), [-0.5, 0.25])
    assert ps[1].grad.item() == 0.5


def test_limits_must_not_be_negative():
    with pytest.raises(ValueError, match="max_norm must be 0 or more, got -1"):
        clip_grad_norm_(parameters([1.0]), -1)
    with pytest.raises(ValueError, match="clip_value must be 0 or more, got -1"):
        clip_grad_value_(parameters([1.0]), -1)


def test_a_norm_that_is_known():
    """The two halves of `clip_grad_norm_`, for gradients that lie on several machines, are it."""
    for seed, (norm_type, most) in enumerate([(2.0, 0.5), (np.inf, 0.1), (1.0, 100.0)]):
        rng = np.random.default_rng(seed)
        both = [[gs.ones(shape, dtype=dtype).requires_grad_() for shape, dtype in (((2, 3), "float64"), ((4,), "float32"), ((2,), "complex128"))] for _ in range(2)]
        for one, other in zip(*both):
            one.grad = gs.asarray(rng.normal(size=one.shape).astype(one.dtype) * (1 + 1j if one.dtype.kind == "c" else 1)).astype(one.dtype)
            other.grad = one.grad.clone()
        total = gs.nn.utils.get_total_norm([p.grad for p in both[0]], norm_type)
        gs.nn.utils.clip_grads_with_norm_(both[0], most, total)
        assert gs.clip_grad_norm_(both[1], most, norm_type) == total
        assert all((one.grad == other.grad).all() for one, other in zip(*both))
        wanted = np.linalg.norm(np.concatenate([np.asarray(p.grad).ravel() for p in both[0]]), norm_type)
        assert wanted <= most * (1 + 1e-6) and (most < 100 or wanted > 1)
    assert gs.nn.utils.get_total_norm([]) == 0 and gs.nn.utils.get_total_norm(gs.asarray([3.0, 4.0])) == 5
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        gs.nn.utils.get_total_norm(gs.asarray([np.nan]), error_if_nonfinite=True)
    with pytest.raises(ValueError, match="max_norm must be 0 or more"):
        gs.nn.utils.clip_grads_with_norm_([], -1, gs.asarray(1.0))
