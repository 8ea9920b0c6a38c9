"""Grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode, as blocks and as decorators."""

import asyncio
import threading
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from gradspec.autograd import forward_ad, saved_tensors_hooks


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_blocks_restore_the_mode():
    assert is_grad_enabled()
    with no_grad():
        assert not is_grad_enabled()
        with enable_grad():
            assert is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with pytest.raises(ValueError), no_grad():
        raise ValueError
    assert is_grad_enabled()


def test_one_object_may_be_entered_repeatedly():
    mode = no_grad()
    with mode:
        with mode:
            assert not is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_nothing_is_recorded_under_no_grad():
    x = leaf(1.0)
    with no_grad():
        y = x * x
        z = gs.ones((1,), requires_grad=True)
    assert not y.requires_grad and y.is_leaf and z.requires_grad


@pytest.mark.parametrize("decorator", [no_grad, no_grad()])
def test_decorators_with_and_without_parentheses(decorator):
    @decorator
    def function(a, *, b):
        """Documented."""
        return is_grad_enabled(), a, b

    assert function(1, b=2) == (False, 1, 2) and is_grad_enabled()
    assert function.__name__ == "function" and function.__doc__ == "Documented."


def test_set_grad_enabled_acts_at_once():
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    assert is_grad_enabled()
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_restores_the_mode():
    @set_grad_enabled(False)
    def function():
        return is_grad_enabled()

    assert is_grad_enabled() and not function() and is_grad_enabled()


def test_generators_switch_at_each_step():
    @no_grad()
    def generator():
        try:
            received = yield is_grad_enabled()
            assert received == "sent" and not is_grad_enabled()
            try:
                yield is_grad_enabled()
            except KeyError:
                yield is_grad_enabled()
        finally:
            closed.append(is_grad_enabled())
        return "value"

    closed = []
    steps = generator()
    assert next(steps) is False and is_grad_enabled()
    with enable_grad():
        assert steps.send("sent") is False and is_grad_enabled()
    assert steps.throw(KeyError()) is False and is_grad_enabled()
    steps.close()
    assert closed == [False] and is_grad_enabled()


def test_generators_return_their_value():
    @enable_grad()
    def generator():
        yield is_grad_enabled()
        return 7

    def outer():
        return (yield from generator())

    with no_grad():
        steps = outer()
        assert next(steps) is True and not is_grad_enabled()
        with pytest.raises(StopIteration) as stop:
            next(steps)
    assert stop.value.value == 7


def test_coroutines():
    @no_grad()
    async def coroutine():
        before = is_grad_enabled()
        await asyncio.sleep(0)
        return before, is_grad_enabled()

    async def main():
        task = asyncio.ensure_future(coroutine())
        await asyncio.sleep(0)
        assert is_grad_enabled()
        return await task

    assert asyncio.run(main()) == (False, False) and is_grad_enabled()
    assert coroutine.__name__ == "coroutine"


def test_classes_warn_and_apply_to_init():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @no_grad()
        class Model:
            def __init__(self):
                self.init = is_grad_enabled()

            def call(self):
                return is_grad_enabled()

    model = Model()
    assert isinstance(model, Model) and model.init is False and model.call() is True


def test_the_mode_belongs_to_a_thread():
    modes = []
    with no_grad():
        thread = threading.Thread(target=lambda: modes.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert modes == [True]


# inference_mode.


def test_inference_mode_blocks_and_decorators():
    assert not gs.is_inference_mode_enabled()
    with inference_mode():
        assert gs.is_inference_mode_enabled() and not is_grad_enabled()
        with inference_mode(False):
            assert not gs.is_inference_mode_enabled()
    assert not gs.is_inference_mode_enabled() and is_grad_enabled()

    @inference_mode
    def bare():
        return gs.is_inference_mode_enabled()

    @inference_mode()
    def called():
        return gs.is_inference_mode_enabled()

    assert bare() and called() and not gs.is_inference_mode_enabled()


def test_inference_tensors_have_no_version():
    x = leaf(2.0)
    with inference_mode():
        y = gs.tensor([1.0])
        z = x * x
    assert not z.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
        _ = y._version


def test_normal_tensors_stay_normal_in_inference_mode():
    h = leaf(2.0) * 1
    y = h * h
    with inference_mode():
        h.add_(1)
    assert h._version == 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


class Hook:
    """A hook that can be referred to weakly."""

    def __call__(self, value):
        return value


def test_what_a_thread_holds_ends_with_it():
    """Hooks and dual levels that a thread never left are not left to the next thread, nor kept alive."""
    seen = []

    def forgetful():
        hook = Hook()
        seen.append(weakref.ref(hook))
        saved_tensors_hooks(hook, hook).__enter__()
        forward_ad.enter_dual_level()

    def later():
        x = gs.tensor([2.0], requires_grad=True)
        (x * x).backward()
        seen.append(x.grad.item())
        with pytest.raises(RuntimeError, match="no level is open"):
            forward_ad.exit_dual_level()
        seen.append(forward_ad.enter_dual_level())

    for function in (forgetful, later, later):
        thread = threading.Thread(target=function)
        thread.start()
        thread.join()
    assert seen[0]() is None
    assert seen[1:] == [4.0, 0, 4.0, 0]
