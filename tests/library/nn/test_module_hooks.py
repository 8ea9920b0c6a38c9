"""Hooks of modules in backward passes: random programs beside PyTorch and beside programs without hooks, and exact cases."""

import gc
import threading
import warnings
import weakref
from collections import namedtuple

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.modules import module as of_all
from tests.runtime import module_hook_programs as random_programs

SEEDS = 300


def checkpoint(function, *args):
    return gs.autograd.checkpoint.checkpoint(function, *args, use_reentrant=False)


def agree(one, other):
    """Rows of two logs, which have the same names and numbers that are near."""
    assert len(one) == len(other)
    for here, there in zip(one, other):
        assert [type(item) for item in here] == [type(item) for item in there]
        for mine, yours in zip(here, there):
            if isinstance(mine, np.ndarray):
                np.testing.assert_allclose(mine, yours, rtol=1e-9, atol=1e-12)
            else:
                assert mine == yours


def with_zeros(rows):
    """Gradients with zeros in place of missing ones, as behind a module with hooks."""
    return [tuple(np.zeros(3) if item is None else item for item in row) for row in rows]


class TestRandomPrograms:
    def test_the_log_is_pytorchs(self):
        pytest.importorskip("torch", reason="compares with PyTorch's hooks, and PyTorch is not installed")
        import torch
        from torch.utils.checkpoint import checkpoint as theirs

        for seed in range(SEEDS):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Full backward hook is firing")
                here = random_programs.run(gs, checkpoint, seed)
                there = random_programs.run(torch, lambda function, *args: theirs(function, *args, use_reentrant=False), seed)
            try:
                agree(here, there)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {random_programs.programs(seed)}") from error

    def test_hooks_that_only_look_change_no_gradient(self):
        called = 0
        for seed in range(SEEDS):
            if any("scaled" in hook for _, _, hook, _ in random_programs.programs(seed)[0]):
                continue
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Full backward hook is firing")
                log = random_programs.run(gs, checkpoint, seed)
                plain = random_programs.run(gs, checkpoint, seed, hooks=False)
            agree(with_zeros([row for row in log if row[0] == "pass"]), with_zeros(plain))
            called += len(log) - len(plain)
        assert called > 100


class Aside(nn.Module):
    """Puts a value aside that no result depends on."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(gs.tensor([2.0]))

    def forward(self, x):
        self.aside = x * 3
        return x * x * self.weight


def listening(module):
    """The gradients that the backward hooks of a module get."""
    seen = []
    module.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append((grad_in[0].tolist(), grad_out[0].tolist())))
    return seen


class TestOncePerPass:
    def test_a_second_derivative_does_not_apply_the_hook_again(self):
        net = nn.Tanh()
        net.register_full_backward_hook(lambda module, grad_in, grad_out: (grad_in[0] * 10,))
        x = gs.tensor([0.5], requires_grad=True)
        (slope,) = gs.autograd.grad(net(x).sum(), x, create_graph=True)
        (second,) = gs.autograd.grad(slope.sum(), x)
        t = np.tanh(0.5)
        np.testing.assert_allclose(slope.detach().numpy(), [10 * (1 - t * t)])
        np.testing.assert_allclose(second.numpy(), [10 * -2 * t * (1 - t * t)])

    def test_a_gradient_penalty_calls_what_it_passes(self):
        net, called = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), []
        for place, layer in enumerate(net):
            layer.register_full_backward_hook(lambda module, grad_in, grad_out, place=place: called.append(place))
        x = gs.ones((1, 2), requires_grad=True)
        (slope,) = gs.autograd.grad(net(x).sum(), x, create_graph=True)
        assert called == [2, 1, 0]
        called.clear()
        (slope * slope).sum().backward()
        assert called == [0]  # the slope of tanh depends on the result of the first layer; no other result is passed

    def test_a_value_put_aside_calls_nothing_by_itself(self):
        net = Aside()
        seen = listening(net)
        x = gs.tensor([5.0], requires_grad=True)
        y = net(x)
        (grad,) = gs.autograd.grad(net.aside.sum(), x, retain_graph=True)
        assert grad.tolist() == [3.0] and seen == []
        y.backward(gs.tensor([7.0]), retain_graph=True)
        assert seen == [([140.0], [7.0])]
        (net.aside.sum() + y.sum()).backward(retain_graph=True)  # both routes: the sum of their gradients
        assert seen[1:] == [([23.0], [1.0])]
        net.aside.sum().backward()
        assert len(seen) == 2

    def test_a_pass_that_stops_at_the_weights_leaves_nothing_to_the_next(self):
        net = Aside()
        seen = listening(net)
        x = gs.tensor([5.0], requires_grad=True)
        y = net(x)
        gs.autograd.grad(y.sum(), net.weight, retain_graph=True)
        gs.autograd.grad(net.aside.sum(), x, retain_graph=True)
        assert seen == []
        gs.autograd.grad(y.sum(), x)
        assert seen == [([20.0], [1.0])]

    def test_a_pass_that_fails_leaves_nothing_to_the_next(self):
        class Fails(Aside):
            def forward(self, x):
                inner = x * 1
                self.handle = inner.register_hook(lambda grad: 1 / 0)
                self.aside = x * 3
                return inner * inner * self.weight

        net = Fails()
        seen = listening(net)
        x = gs.tensor([5.0], requires_grad=True)
        y = net(x)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                y.sum().backward(retain_graph=True)
        net.aside.sum().backward(retain_graph=True)
        assert seen == []
        net.handle.remove()
        y.sum().backward()
        assert seen == [([20.0], [1.0])]

    def test_passes_in_two_threads_over_one_graph(self):
        net = Aside()
        seen, lock = [], threading.Barrier(2)

        def hook(module, grad_in, grad_out):
            seen.append((grad_in[0].item(), grad_out[0].item()))

        net.register_full_backward_pre_hook(lambda module, grad_out: lock.wait(10) * 0 or None)
        net.register_full_backward_hook(hook)
        x = gs.tensor([5.0], requires_grad=True)
        y = net(x)
        threads = [
            threading.Thread(target=gs.autograd.grad, args=(y, x, gs.tensor([k])), kwargs={"retain_graph": True})
            for k in (1.0, 2.0)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seen) == [(20.0, 1.0), (40.0, 2.0)]

    def test_a_pass_inside_a_hook_over_the_same_graph(self):
        net, seen = Aside(), []
        x = gs.tensor([5.0], requires_grad=True)

        def before(module, grad_out):
            if len(seen) == 0 and grad_out[0].item() == 1.0:
                seen.append("inner")
                gs.autograd.grad(y, x, gs.tensor([2.0]), retain_graph=True)

        net.register_full_backward_pre_hook(before)
        net.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append((grad_in[0].item(), grad_out[0].item())))
        y = net(x)
        gs.autograd.grad(y, x, gs.tensor([1.0]), retain_graph=True)
        assert seen == ["inner", (40.0, 2.0), (20.0, 1.0)]

    def test_the_gradients_of_a_pass_die_with_it(self):
        net = Aside()
        kept = []
        net.register_full_backward_pre_hook(lambda module, grad_out: kept.append(weakref.ref(grad_out[0])))
        net.register_full_backward_hook(lambda module, grad_in, grad_out: None)
        x = gs.tensor([5.0], requires_grad=True)
        y = net(x)
        gs.autograd.grad(y.sum(), net.weight, retain_graph=True)
        gs.autograd.grad(y.sum(), x, retain_graph=True)
        gc.collect()
        assert [ref() for ref in kept] == [None, None]


class TestTheModuleIsLeftAlone:
    def test_results_keep_their_type(self):
        point = namedtuple("point", "x y")

        class Point(nn.Module):
            def forward(self, a):
                return point(a * 2, a * 3)

        net = Point()
        seen = []
        net.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(grad_out))
        found = net(gs.ones(1, requires_grad=True))
        assert type(found) is point
        found.y.backward()
        assert [type(grad) for grad in seen[0]] == [type(None), gs.Tensor]

    def test_results_of_operators_keep_their_type(self):
        class Largest(nn.Module):
            def forward(self, a):
                return gs.topk(a, 1)

        net = Largest()
        plain = type(net(gs.ones(3, requires_grad=True)))
        net.register_full_backward_hook(lambda module, grad_in, grad_out: None)
        assert type(net(gs.ones(3, requires_grad=True))) is plain

    def test_arguments_that_need_no_gradient_need_none_inside(self):
        asked = []

        class Asks(nn.Module):
            def forward(self, a, b, n, c):
                asked.append((a.requires_grad, b.requires_grad, n.requires_grad, c.requires_grad, n.dtype))
                return a * b + c

        net, seen = Asks(), []
        net.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(grad_in))
        free, fixed = gs.ones(2, requires_grad=True), gs.ones(2)
        net(free, fixed, gs.arange(2), free).sum().backward()
        assert asked == [(True, False, False, True, np.dtype("int64"))]
        assert [grad.tolist() for grad in seen[0]] == [[1, 1], [0, 0], [0, 0], [1, 1]]
        assert [grad.dtype.kind for grad in seen[0]] == ["f", "f", "i", "f"] and fixed.grad is None

    def test_results_that_need_no_gradient_need_none(self):
        class Two(nn.Module):
            def forward(self, a, b):
                return a * 2, b * 2

        net = Two()
        net.register_full_backward_hook(lambda module, grad_in, grad_out: None)
        first, second = net(gs.ones(2, requires_grad=True), gs.ones(2))
        assert first.requires_grad and not second.requires_grad and second.is_leaf

    @pytest.mark.parametrize("result", [lambda y: {"y": y}, lambda y: [y], lambda y: None])
    def test_a_result_that_is_no_tensor_warns_and_calls_nothing(self, result):
        class Other(nn.Module):
            def forward(self, x):
                self.y = x * 2
                return result(self.y)

        net = Other()
        seen = listening(net)
        with pytest.warns(UserWarning, match="should be a Tensor or a tuple of Tensors") as said:
            net(gs.ones(1, requires_grad=True))
        assert said[0].filename == __file__
        net.y.sum().backward()
        assert seen == []

    def test_a_forward_hook_sees_the_arguments_of_the_forward(self):
        class Double(nn.Module):
            def forward(self, x):
                return x * 2

        net = Double()
        seen = listening(net)
        net.register_forward_hook(lambda module, args, result: result + args[0] * 10)
        x = gs.ones(1, requires_grad=True)
        net(x).backward()
        assert seen == [([12.0], [1.0])] and x.grad.tolist() == [12.0]

    def test_writes_to_what_passes_are_refused(self):
        class Writes(nn.Module):
            def forward(self, x):
                x += 1
                return x

        net = Writes()
        net.register_full_backward_hook(lambda module, grad_in, grad_out: None)
        with pytest.raises(RuntimeError, match="Output 0 of BackwardHookFunction is a view and is being modified inplace"):
            net(gs.ones(1, requires_grad=True) * 1)


class TestHooksThatFail:
    @pytest.mark.parametrize("kind, words", [("register_full_backward_hook", "invalid number of grad_input"),
                                             ("register_full_backward_pre_hook", "invalid number of grad_output")])  # fmt: skip
    @pytest.mark.parametrize("returned", [(), (1, 2)])
    def test_a_wrong_number_of_gradients(self, kind, words, returned):
        net = nn.Sigmoid()
        getattr(net, kind)(lambda *args: returned)
        with pytest.raises(RuntimeError, match=f"{words}, got {len(returned)}, but expected 1"):
            net(gs.ones(2, requires_grad=True)).sum().backward()

    def test_lists_and_single_gradients_are_taken(self):
        for returned in (lambda grads: [grads[0] * 2], lambda grads: grads[0] * 2):
            net = nn.Identity()
            net.register_full_backward_hook(lambda module, grad_in, grad_out: returned(grad_in))
            net.register_full_backward_pre_hook(lambda module, grad_out: returned(grad_out))
            x = gs.ones(3, requires_grad=True)
            net(x).sum().backward()
            assert x.grad.tolist() == [4.0] * 3

    def test_a_hook_that_is_always_called_does_not_hide_the_error_of_the_forward(self):
        class Fails(nn.Module):
            def forward(self, x):
                raise ValueError("forward")

        def fails(module, args, result):
            raise KeyError("hook")

        net, called = Fails(), []
        net.register_forward_hook(fails, always_call=True)
        net.register_forward_hook(lambda module, args, kwargs, result: called.append(kwargs), always_call=True, with_kwargs=True)
        with pytest.warns(UserWarning, match="silenced.*hook"), pytest.raises(ValueError, match="forward"):
            net(gs.ones(1))
        assert called == [{}]


class TestHooksOfAllModules:
    def test_their_dictionaries_are_never_replaced(self):
        from gradspec.nn.modules.hooks import EVERYWHERE, REGISTRATIONS

        before = [id(group) for group in (*EVERYWHERE, *REGISTRATIONS)]
        added = [register(lambda *args: None) for register in (
            of_all.register_module_forward_pre_hook, of_all.register_module_forward_hook,
            of_all.register_module_full_backward_hook, of_all.register_module_full_backward_pre_hook,
            of_all.register_module_buffer_registration_hook, of_all.register_module_parameter_registration_hook,
            of_all.register_module_module_registration_hook)]  # fmt: skip
        assert [len(group) for group in (*EVERYWHERE, *REGISTRATIONS)] == [1] * 7
        for handle in added:
            handle.remove()
        assert not any((*EVERYWHERE, *REGISTRATIONS)) and before == [id(group) for group in (*EVERYWHERE, *REGISTRATIONS)]

    def test_every_way_to_take_something_up_calls_the_hooks(self):
        seen = []

        def says(kind, returns):
            def hook(module, name, value):
                seen.append((kind, name))
                return returns(value)

            return hook

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(gs.ones(2))
                self.register_parameter("none", None)
                self.none = nn.Parameter(gs.ones(1))
                self.none = None
                self.register_buffer("kept", gs.zeros(1))
                self.kept = gs.ones(1)
                self.other = nn.Buffer(gs.ones(1))
                self.child = nn.Identity()
                self.add_module("late", nn.Identity())
                self.child = None

        with (of_all.register_module_parameter_registration_hook(says("parameter", lambda value: None)),
              of_all.register_module_buffer_registration_hook(says("buffer", lambda value: value * 5)),
              of_all.register_module_module_registration_hook(says("module", lambda value: value and nn.Tanh()))):  # fmt: skip
            net = Net()
        assert seen == [("parameter", "weight"), ("parameter", "none"), ("parameter", "none"), ("parameter", "none"),
                        ("buffer", "kept"), ("buffer", "kept"), ("buffer", "other"),
                        ("module", "child"), ("module", "late"), ("module", "child")]  # fmt: skip
        assert net.kept.tolist() == [5.0] and net.other.tolist() == [5.0] and isinstance(net.late, nn.Tanh) and net.child is None
        net.kept = gs.ones(1)
        assert len(seen) == 10


@pytest.mark.filterwarnings("ignore:Using a non-full")
def test_former_names_of_backward_hooks(monkeypatch):
    """PyTorch's of one operator: `register_backward_hook` of a module and `register_module_backward_hook` of all; every global hook is here."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch, and PyTorch is not installed")
    seen = []
    monkeypatch.setattr(torch.nn.modules.module, "_global_is_full_backward_hook", None)  # of the first hook in the process
    for library, tensor in ((torch, lambda v: torch.tensor(v, dtype=torch.float64)), (gs, gs.tensor)):
        for register in (lambda net, hook: net.register_backward_hook(hook),
                         lambda net, hook, library=library: library.nn.modules.module.register_module_backward_hook(hook)):  # fmt: skip
            net, calls = library.nn.Tanh(), []
            handle = register(net, lambda module, a, b, calls=calls: calls.append((type(module).__name__, a[0].tolist(), b[0].tolist())))
            x = tensor([0.5, -1.0]).requires_grad_()
            net(x).sum().backward()
            handle.remove()
            net(x).sum().backward()
            assert len(calls) == 1
            seen.append(calls[0])
    assert seen[0] == seen[1] and seen[2] == seen[3] and seen[0][0] == seen[2][0] and seen[0][2] == seen[2][2]
    np.testing.assert_allclose(seen[2][1], seen[0][1], rtol=1e-15)
    everywhere = {name for name in dir(torch.nn.modules.module) if name.startswith("register_module_")}
    assert everywhere <= set(dir(gs.nn.modules.module))
