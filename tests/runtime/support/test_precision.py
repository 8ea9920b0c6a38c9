"""What programs say of precision, layouts and determinism: what is so already says nothing, half precision is refused."""

import warnings

import pytest

import gradspec as gs


def test_a_block_that_is_not_enabled_changes_nothing():
    @gs.autocast("cpu", enabled=False)
    def product(x):
        """Named."""
        return x @ x

    x = gs.ones((2, 2), dtype=gs.float32)
    assert product(x).dtype == gs.float32 and product.__name__ == "product" and product.__doc__ == "Named."
    with gs.amp.autocast("cpu", gs.float16, enabled=False) as block, gs.autocast(gs.device("cpu"), enabled=False):
        assert isinstance(block, gs.autocast) and (x @ x).dtype == gs.float32 and not gs.is_autocast_enabled()
    with pytest.raises(ZeroDivisionError), gs.autocast("cpu", enabled=False):
        1 / 0  # noqa: B018


def test_half_precision_is_refused_and_another_device_is_none():
    with pytest.raises(RuntimeError, match="nothing is computed in half precision here; write enabled=False, or leave it out"):
        gs.autocast("cpu", dtype=gs.float16)
    with pytest.raises(RuntimeError, match="GradScaler: nothing is computed in half precision"):
        gs.amp.GradScaler("cpu")
    for make in (lambda: gs.autocast("cuda"), lambda: gs.amp.GradScaler(), lambda: gs.cuda.amp.autocast(), lambda: gs.cuda.amp.GradScaler()):
        with pytest.warns(UserWarning, match="is enabled for 'cuda', but there is no such device"):
            make()
    with warnings.catch_warnings(action="error"), gs.cuda.amp.autocast(enabled=gs.cuda.is_available()), gs.autocast("cuda", enabled=False):
        gs.amp.GradScaler(enabled=False)


def test_a_scale_is_1():
    scaler, w = gs.GradScaler("cpu", enabled=False), gs.ones(2, requires_grad=True)
    optimizer, loss = gs.optim.SGD([w], lr=0.5), (w * w).sum()
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and not scaler.is_enabled() and scaler.state_dict() == {}
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    assert scaler.step(optimizer) is None and w.tolist() == [0.0, 0.0]
    scaler.update()
    scaler.load_state_dict({})


def test_what_is_so_already():
    gs.set_float32_matmul_precision("high")
    assert gs.get_float32_matmul_precision() == "highest"
    with pytest.raises(ValueError, match="precision must be one of highest, high, medium, got 'low'"):
        gs.set_float32_matmul_precision("low")
    gs.use_deterministic_algorithms(True, warn_only=True)
    assert gs.are_deterministic_algorithms_enabled()
    x = gs.ones((2, 3), requires_grad=True)
    for layout in (gs.preserve_format, gs.contiguous_format, gs.channels_last, gs.channels_last_3d):
        assert gs.zeros_like(x, memory_format=layout).shape == (2, 3)
    with pytest.raises(TypeError, match="write nothing: a layout is NumPy's to choose"):
        gs.zeros_like(x, memory_format="mine")
