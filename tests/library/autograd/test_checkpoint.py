"""Checkpointing: gradients as without it, what is kept, what runs again and when, and what is refused."""

import contextlib
import gc
import os
import threading
import warnings
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, backward, forward_ad, grad, graph
from gradspec.autograd.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)
from gradspec.support.generator import as_generator

A = np.linspace(0.2, 1.1, 4)


def leaf(value=A):
    return gs.tensor(value, requires_grad=True)


def same(tensor, expected, rtol=1e-12):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=rtol)


def keep_inputs(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=False, **kwargs)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def smooth(x):
    return gs.exp(gs.sin(x)) * x


def slope(x):
    return np.exp(np.sin(x)) * (np.cos(x) * x + 1)


# Gradients.


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_gradients_are_those_without(use_reentrant):
    x, function = leaf(), Counted(smooth)
    y = checkpoint(function, x, use_reentrant=use_reentrant)
    same(y, smooth(gs.tensor(A)).numpy())
    assert function.calls == 1
    y.sum().backward()
    same(x.grad, slope(A))
    assert function.calls == 2


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_several_inputs_and_outputs_and_what_is_closed_over(use_reentrant):
    x, w, closed = leaf(), leaf(2 * A), leaf(3 * A)

    def function(x, number, w, text, nothing):
        assert (number, text, nothing) == (2.5, "text", None)
        return x * w * number, "text", gs.sin(w) * closed

    y, text, z = checkpoint(function, x, 2.5, w, "text", None, use_reentrant=use_reentrant)
    assert text == "text"
    (y + z * 2).sum().backward()
    same(x.grad, 2.5 * 2 * A)
    same(w.grad, 2.5 * A + 2 * np.cos(2 * A) * 3 * A)
    same(closed.grad, 2 * np.sin(2 * A))


def test_keywords_dictionaries_and_nests():
    x, w = leaf(), leaf(2 * A)

    def function(named, *, several, flag):
        assert flag == "on" and type(several) is list and type(several[1]) is tuple
        return {"y": named["x"] * several[0], "z": [gs.sin(several[1][0]), several[1][1]]}

    found = keep_inputs(function, {"x": x}, several=[w, (x, 7)], flag="on")
    assert found["z"][1] == 7
    (found["y"] + found["z"][0]).sum().backward()
    same(x.grad, 2 * A + np.cos(A))
    same(w.grad, A)


def test_a_container_that_is_changed_after_the_call_does_not_matter():
    x = leaf()
    values = [x]
    y = keep_inputs(lambda values: gs.exp(values[0]), values)
    values[0] = None
    y.sum().backward()
    same(x.grad, np.exp(A))


def test_a_random_nest_of_checkpoints():
    """Random programs, recorded as they are and with random parts of them checkpointed, to the second derivative."""
    rng = np.random.default_rng(0)
    functions = [gs.sin, lambda v: gs.exp(gs.sin(v)), lambda v: v * v, lambda v: v * 0.5 + 1, lambda v: gs.tanh(v) / v]

    def program(steps, depth):
        def run(x):
            for step in steps:
                if isinstance(step, tuple):
                    inner, early = program(step[1], depth + 1), step[0]
                    x = inner(x) if early is None else keep_inputs(inner, x, early_stop=early)
                else:
                    x = functions[step](x)
            return x

        return run

    def steps(depth):
        for _ in range(rng.integers(1, 5)):
            if depth < 3 and rng.random() < 0.4:
                yield ([None, True, False][rng.integers(3)], list(steps(depth + 1)))
            else:
                yield int(rng.integers(5))

    def without(steps):
        return [(None, without(step[1])) if isinstance(step, tuple) else step for step in steps]

    for _ in range(60):
        chosen = list(steps(0))
        for retain in (False, True):
            results = []
            for shape in (chosen, without(chosen)):
                x = leaf()
                y = program(shape, 0)(x).sum()
                first, second = [], []
                for _ in range(1 + retain):
                    (first,) = grad(y, x, create_graph=True, retain_graph=True)
                    if first.requires_grad:
                        (second,) = grad(first.sum(), x, retain_graph=True)
                y.backward()
                results.append([first, second, x.grad])
            for one, other in zip(*results):
                same(one, other.detach().numpy(), rtol=1e-9) if isinstance(one, gs.Tensor) else None


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_nothing_is_recorded_without_grad_mode(use_reentrant):
    function = Counted(smooth)
    with gs.no_grad():
        y = checkpoint(function, leaf(), use_reentrant=use_reentrant)
    assert not y.requires_grad and function.calls == 1


def test_grad_and_inputs_work_without_reentrance():
    x, w = leaf(), leaf()
    y = keep_inputs(lambda x, w: gs.exp(x) * gs.sin(w), x, w)
    same(grad(y.sum(), x, retain_graph=True)[0], np.exp(A) * np.sin(A))
    backward(y.sum(), inputs=[w])
    same(w.grad, np.exp(A) * np.cos(A))
    assert x.grad is None


def test_forward_mode_passes_through():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(A), gs.tensor(2 * A))
        same(forward_ad.unpack_dual(keep_inputs(smooth, dual)).tangent, slope(A) * 2 * A)
        x = leaf()
        dual = forward_ad.make_dual(x, gs.tensor(2 * A))
        (first,) = grad(keep_inputs(lambda x: gs.exp(x) * x, dual).sum(), dual)
        same(forward_ad.unpack_dual(first).tangent, np.exp(A) * (2 + A) * 2 * A)


def test_in_place_writes_inside():
    x = leaf()

    def function(x):
        y = x * 2
        y += 1
        y.exp_()
        return y * x

    keep_inputs(function, x).sum().backward()
    expected = leaf()
    function(expected).sum().backward()
    same(x.grad, expected.grad.numpy())


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_write_over_what_the_second_run_saved(early_stop):
    """The value as it was saved, also where the function writes over it later on."""
    x = leaf()

    def function(x):
        y = x * 1
        z = gs.sin(y)
        with gs.no_grad():
            y.fill_(100.0)
        return z * gs.exp(x)

    keep_inputs(function, x, early_stop=early_stop).sum().backward()
    same(x.grad, (np.cos(A) + np.sin(A)) * np.exp(A))


def test_an_input_that_was_written_to_is_refused():
    x = leaf() * 1
    y = keep_inputs(smooth, x)
    with gs.no_grad():
        x.fill_(0.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_recorded_write_to_an_input_after_the_call():
    base = leaf()
    x = base * 1
    y = keep_inputs(smooth, x)
    x.mul_(2)
    (y + x).sum().backward()
    same(base.grad, slope(A) + 2)


# Which runs, and when.


def test_once_for_each_backward_pass():
    x, function = leaf(), Counted(smooth)
    y = keep_inputs(function, x).sum()
    for expected in (2, 3, 4):
        y.backward(retain_graph=True)
        assert function.calls == expected
    grad(y, x)
    assert function.calls == 5


def test_early_stop():
    reached = []

    def function(x):
        y = gs.exp(x)
        reached.append("middle")
        z = y + 1
        reached.append("end")
        return z

    for early_stop, expected in ((True, ["middle"]), (False, ["middle", "end"])):
        y = keep_inputs(lambda x: function(gs.sin(x) * 1.5), leaf(), early_stop=early_stop)
        reached.clear()
        y.sum().backward()
        assert reached == (expected if not early_stop else [])


def test_early_stop_is_chosen_when_the_forward_runs():
    calls = []

    def function(x):
        y = gs.exp(gs.sin(x))
        calls.append("end")
        return y

    with set_checkpoint_early_stop(False):
        y = keep_inputs(function, leaf())
        with set_checkpoint_early_stop(True):
            z = keep_inputs(function, leaf(), early_stop=False)
    calls.clear()
    z.sum().backward()
    assert calls == []
    y.sum().backward()
    assert calls == ["end"]
    keep_inputs(function, leaf()).sum().backward()
    assert calls == ["end", "end"]  # the forward's


def pieces(calls, inner=lambda f, x: f(x)):
    """A function that returns all steps of a chain; some may be a region of their own."""

    def chain(x):
        calls.append("chain")
        values = [x]
        for i, f in enumerate([gs.sin, gs.exp, lambda v: v * v, gs.cos, gs.tanh, gs.square]):
            values.append(inner(f, values[-1]) if i % 2 else f(values[-1]))
        return values[1:]

    return chain


@pytest.mark.parametrize("cuts", [(), (3,), (1, 4), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("retain", [True, False])
@pytest.mark.parametrize("nested", [True, False])
def test_passes_of_a_group_share_one_second_run(cuts, retain, nested):
    calls, inner = [], (lambda f, x: keep_inputs(f, x)) if nested else (lambda f, x: f(x))
    x = leaf()
    expected = grad(pieces([])(x)[-1].sum(), x)[0].numpy()
    for grouped in (True, False):
        calls.clear()
        values = keep_inputs(pieces(calls, inner), x)
        with GraphExecGroup() if grouped else contextlib.nullcontext():
            found, at = gs.ones(A.shape), 5
            for cut in (*reversed(cuts), None):
                (found,) = grad(values[at], x if cut is None else values[cut], found, retain_graph=retain)
                at = cut
        same(found, expected)
        assert calls == ["chain"] * (2 if grouped else 2 + len(cuts))


def test_a_group_is_the_threads_and_ends_with_its_block():
    calls, x = [], leaf()
    y = keep_inputs(pieces(calls), x)[-1].sum()
    with pytest.raises(RuntimeError, match="cannot be nested"), GraphExecGroup(), GraphExecGroup():
        pass
    with GraphExecGroup() as group:
        y.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="two backward calls that overlap.* leave it in between"):
            y.backward(retain_graph=True)
        other = []
        thread = threading.Thread(target=lambda: other.append(grad(y, x, retain_graph=True)))  # another thread is in no group
        thread.start()
        thread.join()
        assert len(other) == 1 and calls == ["chain"] * 3
        alive = weakref.ref(next(iter(group._runs.values())))
    assert alive() is None  # what it kept goes with the block, and not with the object
    with group:
        y.backward(retain_graph=True)
    y.backward()
    assert calls == ["chain"] * 5
    same(x.grad, 3 * other[0][0].numpy())


@pytest.mark.parametrize(("setting", "debug", "listed"), [(True, False, True), (False, True, False), (None, True, True), (None, False, False)])
def test_whether_errors_list_what_was_saved_is_chosen_when_the_forward_runs(setting, debug, listed):
    calls = []

    def function(x):
        calls.append(x)
        return gs.sin(x if len(calls) == 1 else gs.concat([x, x]))[:1]

    with set_checkpoint_debug_enabled(setting):
        y = keep_inputs(function, leaf(), debug=debug)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    assert ("You are seeing this error because you passed `debug=True` to checkpoint" in str(caught.value)) is listed
    assert ("saved during recomputation:" in str(caught.value)) is listed


def test_early_stop_passes_through_the_users_handlers():
    def function(x):
        try:
            return gs.exp(gs.sin(x)) * 1
        except Exception:  # noqa: BLE001
            raise AssertionError("met the signal that stops the second run") from None

    keep_inputs(function, leaf()).sum().backward()


def test_inner_checkpoints_run_as_often_as_pytorchs():
    x, inner = leaf(), Counted(lambda x: gs.exp(gs.sin(x)))
    outer = Counted(lambda x: keep_inputs(inner, gs.sin(x)) * x)
    y = keep_inputs(outer, x).sum()
    y.backward()
    assert outer.calls == 2 and inner.calls == 3


def test_saved_values_can_be_read_again_and_again_outside_of_backward():
    x, function = leaf(), Counted(lambda x: gs.sin(x * 2))
    y = keep_inputs(function, x)
    for expected in (2, 3):
        same(y.grad_fn._saved_x, 2 * A)
        assert function.calls == expected
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_x


def test_a_value_is_unpacked_once_in_a_pass():
    class Greedy(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            for _ in range(2):
                (_,) = ctx.saved_tensors
            return grad

    y = keep_inputs(Greedy.apply, leaf() * 1)
    with pytest.raises(CheckpointError, match="Unpack is being triggered for a tensor that was already unpacked once."):
        y.sum().backward()


def test_hooks_of_leaves_and_of_what_is_inside_run_once():
    x, calls = leaf(), []
    x.register_hook(lambda g: calls.append("leaf"))

    def function(x):
        h = gs.exp(x)
        h.register_hook(lambda g: calls.append("inside"))
        return gs.sin(h)

    keep_inputs(function, x, early_stop=False).sum().backward()
    assert calls == ["inside", "leaf"]


def test_saved_inputs_are_the_tensors_that_were_passed():
    x, plain, seen = leaf(), gs.tensor(A), []

    def function(x, plain):
        seen.append((x, plain))
        return gs.exp(x * plain)

    keep_inputs(function, x, plain).sum().backward()
    assert all(a is x and b is plain for a, b in seen) and len(seen) == 2


def test_differentiating_inside():
    for early_stop in (False, True):
        x = leaf()

        def function(x):
            y = gs.exp(x)
            (first,) = grad(y.sum(), x, create_graph=True)
            return gs.sin(first) * y

        keep_inputs(function, x, early_stop=early_stop).sum().backward()
        e = np.exp(A)
        same(x.grad, np.cos(e) * e * e + np.sin(e) * e)


def test_threads():
    x, results = leaf(), []

    def work():
        y = keep_inputs(lambda x: keep_inputs(smooth, x) * 2, x)
        results.append(grad(y.sum(), x)[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        same(result, 2 * slope(A))


# What is kept.


class Held:
    """Counts what pack hooks of an outer block see: what the graph holds."""

    def __init__(self):
        self.sizes = []

    def hooks(self):
        def pack(tensor):
            self.sizes.append(tensor.size)
            return tensor

        return graph.saved_tensors_hooks(pack, lambda tensor: tensor)


def test_only_inputs_are_kept():
    held = Held()
    with held.hooks():
        keep_inputs(lambda x, w: gs.exp(gs.sin(gs.exp(x) * w)), leaf(), leaf())
    assert held.sizes == [4, 4]


def test_intermediate_values_die_with_the_call():
    seen = []

    def function(x):
        h = gs.exp(x)
        seen.append(weakref.ref(h.numpy() if not h.requires_grad else h.detach().numpy()))
        return gs.sin(h)

    gc.disable()
    try:
        y = keep_inputs(function, leaf())
        assert seen[0]() is None
        y.sum().backward(retain_graph=True)
        assert seen[1]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("run", ["not", "backward", "partly", "fails"])
def test_inputs_are_freed_by_their_count_of_references(run):
    gc.disable()
    try:
        plain = gs.tensor(A)
        held = weakref.ref(plain)
        x, w = leaf(), leaf()
        y = keep_inputs(lambda x, plain: keep_inputs(lambda x: gs.exp(x) * plain, x) * gs.sin(x) * w, x, plain)
        del plain
        assert held() is not None
        if run == "backward":
            y.sum().backward()
        elif run == "partly":
            grad(y.sum(), w, retain_graph=True)
        elif run == "fails":

            def boom(_):
                raise ValueError("boom")

            handle = x.register_hook(boom)
            with contextlib.suppress(ValueError):
                y.sum().backward()
            handle.remove()
        del y
        assert held() is None
    finally:
        gc.enable()


def test_checkpoints_and_the_disk(tmp_path):
    def on_disk(x):
        with graph.save_to_disk(str(tmp_path)):
            return smooth(x)

    x = leaf()
    with graph.save_to_disk(str(tmp_path)):
        y = keep_inputs(smooth, x)
    assert len(os.listdir(tmp_path)) == 1  # the input
    y.sum().backward()
    same(x.grad, slope(A))
    assert os.listdir(tmp_path) == []

    x = leaf()
    y = keep_inputs(on_disk, x)
    assert len(os.listdir(tmp_path)) == 4  # the innermost hooks hold what is saved
    y.sum().backward()
    same(x.grad, slope(A))
    assert os.listdir(tmp_path) == []


# Random numbers.


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("source", ["default", "argument"])
def test_random_numbers_are_the_same_in_both_runs(use_reentrant, source):
    generator = None if source == "default" else np.random.default_rng(3)
    drawn = []

    def function(x, generator):
        noise = gs.nn.dropout(gs.ones((40,)), 0.5, generator=generator)
        drawn.append(noise.tolist())
        return gs.exp(x * noise[:4])

    x = leaf()
    y = checkpoint(function, x, generator, use_reentrant=use_reentrant)
    source = generator if generator is not None else as_generator(None, "", "")
    after = source.bit_generator.state
    y.sum().backward()
    assert drawn[0] == drawn[1]
    assert source.bit_generator.state == after  # the second run leaves no trace
    drawn.clear()
    checkpoint(function, x, generator, use_reentrant=use_reentrant, preserve_rng_state=False).sum().backward()
    assert drawn[0] != drawn[1]


# Second runs that differ.


def changing(first, second):
    calls = []

    def function(x):
        calls.append(None)
        return (first if len(calls) == 1 else second)(x)

    return function


def test_other_shapes_are_refused():
    function = changing(lambda x: gs.exp(x).sum() * 1, lambda x: gs.exp(x[:2]).sum() * 1)
    text = r"Recomputed values for the following tensors have different metadata .*position 0:\nsaved metadata: {'shape': \[4\]"
    with pytest.raises(CheckpointError, match=f"(?s){text}"):
        keep_inputs(function, leaf()).backward()


def test_other_dtypes_are_refused():
    function = changing(lambda x: gs.exp(x), lambda x: gs.exp(gs.astype(x, gs.float32)))
    with pytest.raises(CheckpointError, match=r"recomputed metadata: {'shape': \[4\], 'dtype': float32}"):
        keep_inputs(function, leaf()).sum().backward()


def test_fewer_tensors_are_refused():
    function = changing(lambda x: gs.exp(gs.sin(x)), lambda x: gs.sin(x))
    text = r"A different number of tensors was saved .*during forward: 2\n.*during recomputation: 1"
    with pytest.raises(CheckpointError, match=f"(?s){text}"):
        keep_inputs(function, leaf()).sum().backward()


def test_more_tensors_are_refused_where_the_second_run_does_not_stop():
    def function():
        return changing(lambda x: gs.sin(x), lambda x: gs.exp(gs.sin(x)))

    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation than during the original"):
        keep_inputs(function(), leaf(), early_stop=False).sum().backward()
    keep_inputs(function(), leaf()).sum().backward()


def test_the_check_can_be_left_out():
    function = changing(lambda x: gs.exp(x).sum() * 1, lambda x: gs.exp(x[:1]).sum() * 1)
    keep_inputs(function, leaf(), determinism_check="none").backward()
    with pytest.raises(ValueError, match=r"determinism_check should be one of \['default', 'none'\] but got maybe"):
        keep_inputs(smooth, leaf(), determinism_check="maybe")


def test_debug_lists_what_was_saved():
    function = changing(lambda x: gs.exp(gs.sin(x)), lambda x: gs.sin(x))
    with pytest.raises(CheckpointError, match=r"(?s)saved during forward:.*\[4\].*float64.*saved during recomputation:"):
        keep_inputs(function, leaf(), debug=True).sum().backward()


def test_errors_of_the_function_keep_their_type():
    def boom(x):
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        keep_inputs(boom, leaf())
    y = keep_inputs(changing(smooth, boom), leaf())
    with pytest.raises(ValueError, match="boom"):
        y.sum().backward()
    z = gs.exp(leaf())  # no hooks are left behind
    assert z.grad_fn._saved_y.shape == (4,)


def test_contexts_for_both_runs():
    entered = []

    @contextlib.contextmanager
    def context(name):
        entered.append(name)
        yield
        entered.append(f"end of {name}")

    y = keep_inputs(smooth, leaf(), context_fn=lambda: (context("first"), context("second")))
    assert entered == ["first", "end of first"]
    y.sum().backward()
    assert entered[2] == "second"


# With reentrance.


def test_the_choice_should_be_explicit():
    x = leaf()
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly") as caught:
        checkpoint(smooth, x).sum().backward()
    assert caught[0].filename == __file__
    same(x.grad, slope(A))
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly") as caught:
        checkpoint_sequential([gs.sin], 1, x)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keep_inputs(smooth, x)
        checkpoint(smooth, x, use_reentrant=True)


def test_reentrance_is_incompatible_with_grad_and_inputs():
    x = leaf()
    for act in (lambda y: grad(y, x), lambda y: y.backward(inputs=[x])):
        with pytest.raises(RuntimeError, match="torch.utils.checkpoint is incompatible with .grad"):
            act(checkpoint(smooth, x, use_reentrant=True).sum())
        x.grad = None
        checkpoint(smooth, x, use_reentrant=True).sum().backward()  # nothing is left behind
        same(x.grad, slope(A))


def test_reentrance_wants_something_to_differentiate():
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = checkpoint(smooth, gs.tensor(A), use_reentrant=True)
    assert not y.requires_grad
    y = checkpoint(lambda x: x.detach() * 2, leaf(), use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_reentrance_in_reentrance():
    x, inner = leaf(), Counted(smooth)
    y = checkpoint(lambda x: checkpoint(inner, gs.sin(x), use_reentrant=True) * x, x, use_reentrant=True)
    y.sum().backward()
    expected = leaf()
    (smooth(gs.sin(expected)) * expected).sum().backward()
    same(x.grad, expected.grad.numpy())
    assert inner.calls == 3


def test_reentrance_takes_no_keywords():
    with pytest.raises(ValueError, match="Unexpected keyword arguments: w"):
        checkpoint(smooth, leaf(), use_reentrant=True, w=1)
    with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported when use_reentrant=False"):
        checkpoint(smooth, leaf(), use_reentrant=True, debug=True)


# In sequence.


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequences(use_reentrant, segments):
    functions = [Counted(f) for f in (gs.sin, gs.exp, gs.tanh, lambda x: x * x, gs.sqrt)]
    x, expected = leaf(), leaf()
    y = z = None
    y = checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant)
    z = expected
    for function in functions:
        z = function.function(z)
    same(y, z.detach().numpy())
    y.sum().backward()
    z.sum().backward()
    same(x.grad, expected.grad.numpy())
    last = len(functions) - len(functions) // segments * (segments - 1)
    assert all(f.calls == 1 for f in functions[-last:])


def test_sequences_keep_less():
    held, plain = Held(), Held()
    functions = [gs.exp, gs.sin] * 8
    with held.hooks():
        checkpoint_sequential(functions, 4, leaf(), use_reentrant=False)
    with plain.hooks():
        checkpoint_sequential(functions, 1, leaf(), use_reentrant=False)
    assert len(held.sizes) == 3 + 4 and len(plain.sizes) == 16


def test_sequences_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="Unexpected keyword arguments: debug"):
        checkpoint_sequential([gs.sin], 1, leaf(), use_reentrant=False, debug=True)
    with pytest.raises(ValueError, match="segments must be between 1 and 1, got 2"):
        checkpoint_sequential([gs.sin], 2, leaf(), use_reentrant=False)


# PyTorch.


def test_second_runs_as_pytorchs():
    """How often each function runs, in nests with and without early stop."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch, and torch is not installed")
    from torch.utils.checkpoint import checkpoint as theirs

    def counts(call, lib, x, early_stop, shape):
        calls = {}

        def function(name, inner):
            def run(x):
                calls[name] = calls.get(name, 0) + 1
                y = lib.sin(x)
                for part in inner:
                    y = call(part, y, use_reentrant=False, early_stop=early_stop) * y
                return lib.exp(y)

            return run

        def build(shape, name):
            return function(name, [build(part, f"{name}.{i}") for i, part in enumerate(shape)])

        y = call(build(shape, "f"), x, use_reentrant=False, early_stop=early_stop).sum()
        y.backward(retain_graph=True)
        y.backward()
        return calls

    for shape in ((), ((),), ((), ()), (((),),), (((), ()), ((),))):
        for early_stop in (False, True):
            ours = counts(checkpoint, gs, leaf(), early_stop, shape)
            assert ours == counts(theirs, torch, torch.tensor(A, requires_grad=True), early_stop, shape)


def test_reverse_over_forward_mode_says_why_it_cannot_be():
    def region(x):
        return checkpoint(lambda v: (gs.tanh(v) * v).sum(), x, use_reentrant=False)

    def plain(x):
        return (gs.tanh(x) * x).sum()

    with pytest.raises(CheckpointError, match=r"inside 1 dual level\(s\), .* when 0 are open: the recomputation has no tangents"):
        gs.func.jacrev(gs.func.jacfwd(region))(np.ones(2))
    expected = gs.func.hessian(plain)(np.ones(2)).numpy()
    for outer, inner in (("jacfwd", "jacrev"), ("jacfwd", "jacfwd"), ("jacrev", "jacrev")):
        found = getattr(gs.func, outer)(getattr(gs.func, inner)(region))(np.ones(2))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


CONSTANT = gs.tensor([3.0, 4.0])
AROUND = {
    "nothing": lambda f, x: f(x),
    "a checkpoint": lambda f, x: checkpoint(f, x, use_reentrant=False),
    "one that runs to its end": lambda f, x: checkpoint(f, x, use_reentrant=False, early_stop=False),
    "two": lambda f, x: checkpoint(lambda x: checkpoint(f, x, use_reentrant=False), x, use_reentrant=False),
    "a later part": lambda f, x: checkpoint(lambda x: gs.sin(f(gs.exp(x))), x, use_reentrant=False),
    "reentrance": lambda f, x: checkpoint(f, x, use_reentrant=True),
    "hooks": lambda f, x: under(graph.saved_tensors_hooks(lambda t: t, lambda t: t), f, x),
    "writes that are allowed": lambda f, x: f(x),
}


def under(block, f, x):
    with block:
        return f(x)


@pytest.mark.parametrize("around", AROUND)
def test_a_constant_that_is_saved_comes_back_as_itself(around):
    found = []

    class Saves(Function):
        @staticmethod
        def forward(ctx, x, constant):
            ctx.save_for_backward(x, constant)
            return x * constant

        @staticmethod
        def backward(ctx, g):
            found.append(ctx.saved_tensors[1])
            return g * found[-1], None

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with graph.allow_mutation_on_saved_tensors() if around.startswith("writes") else contextlib.nullcontext():
        AROUND[around](lambda x: Saves.apply(x, CONSTANT), x).sum().backward()
    assert found and all(one is CONSTANT for one in found)
