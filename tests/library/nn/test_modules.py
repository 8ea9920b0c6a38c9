"""Modules: what they hold and how they are walked, their state, hooks, containers, copies; PyTorch's where it is installed."""

import copy
import functools
import io
import pickle
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn import Module, Parameter
from tests.asked import each

TORCH = "compares with PyTorch's modules, and PyTorch is not installed"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.norm = nn.Linear(2, 3), nn.BatchNorm1d(3)
        self.out = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias=False))
        self.scale = Parameter(gs.ones(1))
        self.register_buffer("offset", gs.zeros(1))
        self.register_buffer("cache", gs.zeros(2), persistent=False)
        self.name = "net"

    def forward(self, x):
        return self.out(self.norm(self.hidden(x))) * self.scale + self.offset


KEYS = ["scale", "offset", "hidden.weight", "hidden.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
        "norm.num_batches_tracked", "out.1.weight"]  # fmt: skip


class TestWhatAModuleHolds:
    def test_parameters_buffers_and_children_by_name(self):
        net = Net()
        names = [name for name, _ in net.named_parameters()]
        assert names == ["scale", "hidden.weight", "hidden.bias", "norm.weight", "norm.bias", "out.1.weight"]
        assert [name for name, _ in net.named_buffers()][:2] == ["offset", "cache"]
        assert [name for name, _ in net.named_children()] == ["hidden", "norm", "out"]
        assert [name for name, _ in net.named_modules()] == ["", "hidden", "norm", "out", "out.0", "out.1"]
        assert len(list(net.parameters(recurse=False))) == 1 and list(net.modules())[0] is net
        assert [name for name, _ in net.named_parameters("a.b")][0] == "a.b.scale"
        assert all(type(value) is Parameter and value.is_leaf and value.requires_grad for value in net.parameters())

    def test_what_is_shared_comes_once(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        net[1].weight = net[0].weight
        assert len(list(net.parameters())) == 3 and len(list(net.named_parameters(remove_duplicate=False))) == 4
        assert len(net.state_dict()) == 4
        twice = nn.Sequential(layer := nn.Linear(2, 2), layer)
        assert len(list(twice.modules())) == 2 and len(list(twice.named_modules(remove_duplicate=False))) == 3
        assert len(list(twice.children())) == 1

    def test_an_attribute_that_is_assigned_anew_moves(self):
        net = Module()
        net.x = 1
        net.x = Parameter(gs.ones(1))
        assert list(net._parameters) == ["x"] and "x" not in vars(net)
        net.x = None
        assert net.x is None and list(net.state_dict()) == []
        net.x = Parameter(gs.ones(1))
        net.x = nn.ReLU()
        assert list(net._modules) == ["x"] and not net._parameters
        net.y = nn.Buffer(gs.ones(2), persistent=False)
        assert list(net._buffers) == ["y"] and "y" not in net.state_dict() and type(net.y) is nn.Buffer
        net.y = gs.zeros(3)
        assert net.y.shape == (3,)
        del net.y, net.x
        assert not hasattr(net, "y") and not net._modules
        with pytest.raises(AttributeError, match="'Module' object has no attribute 'y'"):
            net.y  # noqa: B018

    WRONG = [
        (lambda net: setattr(net, "scale", gs.ones(1)), TypeError, r"cannot assign 'Tensor' as parameter 'scale' \(nn.Parameter or None"),
        (lambda net: setattr(net, "out", 3), TypeError, "cannot assign 'int' as child module 'out'"),
        (lambda net: setattr(net, "offset", 3), TypeError, "cannot assign 'int' as buffer 'offset'"),
        (lambda net: net.register_parameter("a", gs.ones(1)), TypeError, "cannot assign 'Tensor' object to parameter 'a'"),
        (lambda net: net.register_parameter("a.b", None), KeyError, "parameter name can.+t contain"),
        (lambda net: net.register_parameter("", None), KeyError, "name can.+t be empty string"),
        (lambda net: net.register_parameter("name", None), KeyError, "attribute 'name' already exists"),
        (lambda net: net.register_buffer(3, None), TypeError, "buffer name should be a string. Got int"),
        (lambda net: net.register_buffer("a", 3), TypeError, "cannot assign 'int' object to buffer 'a'"),
        (lambda net: net.add_module("a", 3), TypeError, "int is not a Module subclass"),
        (lambda net: net.add_module("scale", nn.ReLU()), KeyError, "attribute 'scale' already exists"),
        (lambda net: net.get_submodule("out.7"), AttributeError, "Sequential has no attribute `7`"),
        (lambda net: net.get_submodule("name"), AttributeError, "`name` is not an nn.Module"),
        (lambda net: net.get_parameter("offset"), AttributeError, "`offset` is not an nn.Parameter"),
        (lambda net: net.get_buffer("scale"), AttributeError, "`scale` is not a buffer"),
        (lambda net: net.train(1), ValueError, "training mode is expected to be boolean"),
        (lambda net: Module()(1), NotImplementedError, 'missing the required "forward" function'),
        (lambda net: net.to("cuda"), ValueError, "every tensor is in memory"),
        (lambda net: net.cuda(), ValueError, "every tensor is in memory"),
        (lambda net: net.to(int), TypeError, "only accepts floating point or complex"),
        (lambda net: nn.Linear(2, 3, device="cuda"), ValueError, "every tensor is in memory"),
        (lambda net: nn.ReLU(dim=3), TypeError, "ReLU: .*'dim'; its arguments are inplace"),
        (lambda net: nn.Dropout(2.0), ValueError, "dropout probability has to be between 0 and 1, but got 2.0"),
        (lambda net: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
        (lambda net: net.load_state_dict(3), TypeError, "Expected state_dict to be dict-like"),
        (lambda net: nn.BatchNorm2d(3)(gs.ones((2, 3))), ValueError, r"expected 4D input \(got 2D input\)"),
    ]

    @each(("call", "error", "words"), WRONG)
    def test_what_does_not_fit_is_refused_in_pytorchs_words(self, call, error, words):
        net = Net()
        with pytest.raises(error, match=words):
            call(net)
        assert list(net.state_dict()) == KEYS

    def test_nothing_is_assigned_before_init(self):
        class Early(Module):
            def __init__(self, value):
                self.x = value

        for value, kind in ((Parameter(gs.ones(1)), "parameters"), (nn.ReLU(), "module"), (nn.Buffer(gs.ones(1)), "buffers")):
            with pytest.raises(AttributeError, match=f"cannot assign {kind} before Module.__init__"):
                Early(value)

    def test_paths(self):
        net = Net()
        assert net.get_submodule("out.1") is net.out[1] and net.get_submodule("") is net
        assert net.get_parameter("out.1.weight") is net.out[1].weight and net.get_buffer("norm.running_mean") is net.norm.running_mean
        net.set_submodule("out.0", nn.Tanh())
        assert isinstance(net.out[0], nn.Tanh)
        assert {"scale", "offset", "hidden", "forward"} <= set(dir(net))


class TestWhatAModuleDoes:
    def test_a_training_step(self):
        gs.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        x = gs.randn(64, 2)
        y = (x[:, :1] * x[:, 1:]).detach()
        optimizer, loss_of, losses = gs.optim.Adam(net.parameters(), lr=0.03), nn.MSELoss(), []
        for _ in range(150):
            optimizer.zero_grad()
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < 0.05 * losses[0]

    def test_modes_reach_all_modules(self):
        net = Net()
        assert net.train(False) is net and not any(module.training for module in net.modules())
        assert net.train().norm.training and not net.eval().out[1].training
        net.requires_grad_(False)
        assert not any(value.requires_grad for value in net.parameters())

    def test_apply_is_called_of_children_first(self):
        seen = []
        net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
        assert net.apply(lambda module: seen.append(type(module).__name__)) is net
        assert seen == ["Linear", "ReLU", "Sequential", "Sequential"]

    def test_zero_grad(self):
        net = nn.Linear(2, 1)
        net(gs.ones((3, 2))).sum().backward()
        held = net.weight.grad
        net.zero_grad(set_to_none=False)
        assert net.weight.grad is held and held.tolist() == [[0, 0]]
        net.zero_grad()
        assert net.weight.grad is None and net.bias.grad is None

    def test_dtypes(self):
        net = Net()
        weight, optimizer = net.hidden.weight, gs.optim.SGD(net.parameters(), lr=1.0)
        assert weight.dtype == np.float64 and nn.Linear(2, 2, dtype=gs.float32).weight.dtype == np.float32
        net(gs.randn(4, 2)).sum().backward()
        assert net.float() is net and net.hidden.weight is weight and weight.dtype == weight.grad.dtype == np.float32
        assert net.norm.running_mean.dtype == np.float32 and net.norm.num_batches_tracked.dtype == np.int64
        assert net(gs.randn(4, 2).float()).dtype == np.float32
        optimizer.step()
        assert net.to("cpu").to(gs.float64).hidden.bias.dtype == np.float64 and net.half().scale.dtype == np.float16
        assert net.double().scale.dtype == np.float64 and net.to(gs.ones(1, dtype=np.float32)).scale.dtype == np.float32
        net.to(dtype=np.complex128)
        assert net.scale.dtype == np.complex128 and net.norm.num_batches_tracked.dtype == np.int64
        assert net.cpu() is net and net.share_memory() is net
        assert net.type(np.float64).norm.num_batches_tracked.dtype == np.float64

    def test_copies_and_pickles_are_whole(self):
        net = Net()
        net.hidden.register_forward_hook(hooked)
        net(gs.randn(4, 2)).sum().backward()
        for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            assert repr(other) == repr(net) and other.hidden.weight is not net.hidden.weight
            assert type(other.scale) is Parameter and other.scale.requires_grad and other.scale.grad.tolist() == net.scale.grad.tolist()
            other.eval(), net.eval()
            x = gs.randn(4, 2)
            np.testing.assert_array_equal(other(x).detach().numpy(), net(x).detach().numpy())
            with gs.no_grad():
                other.scale.fill_(5)
            assert net.scale.item() == 1
        tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        tied[1].weight = tied[0].weight
        other = copy.deepcopy(tied)
        assert other[1].weight is other[0].weight

    def test_a_module_is_printed_as_a_tree_with_counts(self):
        assert repr(Net()) == """\
Net(
  (hidden): Linear(in_features=2, out_features=3, bias=True)  # 9 parameters
  (norm): BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)  # 6 parameters
  (out): Sequential(
    (0): ReLU()
    (1): Linear(in_features=3, out_features=1, bias=False)  # 3 parameters
  )  # 3 parameters
)  # 19 parameters"""
        assert repr(nn.PReLU()) == "PReLU(num_parameters=1)  # 1 parameter"
        assert repr(nn.Linear(100, 100)).endswith("  # 10,100 parameters")
        assert repr(Module()) == "Module()"

    def test_a_parameter_and_its_print(self):
        data = np.zeros(2)
        value = Parameter(data)
        assert repr(value) == "Parameter containing:\ntensor([0., 0.], requires_grad=True)"
        assert isinstance(value, gs.Tensor) and type(value * 2) is gs.Tensor and type(value.detach()) is gs.Tensor
        with gs.no_grad():
            value += 1
        assert data.tolist() == [1, 1] and Parameter().shape == (0,)
        assert not Parameter(gs.ones(1, requires_grad=True) * 2, False).requires_grad
        with pytest.raises(RuntimeError, match="nly Tensors of floating point and complex dtype can require gradients"):
            Parameter([1, 2])


def test_an_attribute_error_inside_a_property_is_the_one_that_is_raised():
    class Net(nn.Module):
        @property
        def inner(self):
            return gs.no_such_function(self.weight)

        @functools.cached_property
        def cached(self):
            return self.absent

    net = Net()
    with pytest.raises(AttributeError, match="'gradspec' has no attribute 'no_such_function'"):
        net.inner  # noqa: B018
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'absent'"):
        net.cached  # noqa: B018
    assert not hasattr(net, "inner") and not hasattr(net, "mro")


def hooked(module, args, result):
    return None


class TestState:
    def test_keys_and_memory(self):
        net = Net()
        state = net.state_dict()
        assert list(state) == KEYS and state._metadata["norm"] == {"version": 2}
        assert not any(value.requires_grad for value in state.values()) and net.state_dict(keep_vars=True)["scale"] is net.scale
        with gs.no_grad():
            net.scale.fill_(7)
        assert state["scale"].item() == 7

    def test_there_and_back(self):
        net, other = Net(), Net()
        weight = other.hidden.weight
        keys = other.load_state_dict(net.state_dict())
        assert keys == ([], []) and repr(keys) == "<All keys matched successfully>" and other.hidden.weight is weight
        x = gs.randn(3, 2)
        np.testing.assert_array_equal(net(x).detach().numpy(), other(x).detach().numpy())
        other.load_state_dict({key: value.numpy().astype(np.float32) for key, value in net.state_dict().items()})
        assert weight.dtype == np.float64

    def test_what_does_not_fit_is_named_in_pytorchs_words(self):
        net, state = Net(), Net().state_dict()
        before = net.hidden.weight.detach().clone()
        del state["scale"], state["norm.running_var"]
        state |= {"out.1.bias": gs.ones(1), "new": gs.ones(1), "hidden.bias": gs.ones(4)}
        with pytest.raises(RuntimeError) as caught:
            net.load_state_dict(state)
        assert str(caught.value) == (
            "Error(s) in loading state_dict for Net:\n\t"
            'Missing key(s) in state_dict: "scale", "norm.running_var". \n\t'
            'Unexpected key(s) in state_dict: "new", "out.1.bias". \n\t'
            "size mismatch for hidden.bias: copying a param with shape (4,) from checkpoint, the shape in current model is (3,).")  # fmt: skip
        state["hidden.bias"] = gs.ones(3)
        keys = net.load_state_dict(state, strict=False)
        assert keys.missing_keys == ["scale", "norm.running_var"] and keys.unexpected_keys == ["new", "out.1.bias"]
        assert net.hidden.bias.tolist() == [1, 1, 1] and not np.array_equal(before.numpy(), net.hidden.weight.detach().numpy())

    def test_assign_takes_the_tensors_themselves(self):
        net, weight = nn.Linear(2, 1), gs.ones((1, 2), dtype=np.float32)
        net.load_state_dict({"weight": weight, "bias": gs.zeros(1)}, assign=True)
        assert net.weight.dtype == np.float32 and type(net.weight) is Parameter and net.weight.requires_grad
        assert np.shares_memory(net.weight.detach().numpy(), weight.numpy())

    def test_state_beside_parameters(self):
        class Counted(nn.Linear):
            calls = 3

            def get_extra_state(self):
                return self.calls

            def set_extra_state(self, state):
                self.calls = state + 1

        net = nn.Sequential(Counted(1, 1))
        assert list(net.state_dict()) == ["0.weight", "0.bias", "0._extra_state"]
        net.load_state_dict(net.state_dict())
        assert net[0].calls == 4
        with pytest.raises(RuntimeError, match="_extra_state"):
            nn.Sequential(nn.Linear(1, 1)).load_state_dict(net.state_dict())

    def test_hooks_of_states(self):
        net, seen = nn.Sequential(nn.Linear(1, 1)), []
        net.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append(("pre", prefix)))
        net[0].register_state_dict_post_hook(lambda module, state, prefix, local: state.update({prefix + "more": 1}))
        state = net.state_dict()
        assert state["0.more"] == 1 and seen == [("pre", "")]
        net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: state.pop(prefix + "more"))
        handle = net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.append("said"))
        with pytest.raises(RuntimeError, match='Missing key.*"said"'):
            net.load_state_dict(state)
        handle.remove()
        net.load_state_dict(state)

    @pytest.mark.parametrize("library", ["gradspec", "torch"])
    def test_hooks_of_states_by_their_private_names(self, library):
        """Programs call these for the two things that the public names refuse: another state, and a hook without the module."""
        other = pytest.importorskip(library).nn
        linear, seen = other.Linear(1, 1), []
        outer = other.Sequential(linear)
        handle = linear._register_state_dict_hook(lambda module, state, prefix, local: {prefix + "only": module})
        assert list(linear.state_dict()) == ["only"] and list(outer.state_dict()) == ["0.weight", "0.bias"]
        handle.remove()
        state = linear.state_dict()
        linear._register_load_state_dict_pre_hook(lambda *args: seen.append(len(args)))
        linear._register_load_state_dict_pre_hook(lambda *args: seen.append(len(args)), with_module=True)
        copy.deepcopy(linear).load_state_dict(state)
        assert seen == [7, 8]

    @pytest.mark.parametrize("library", ["gradspec", "torch"])
    def test_a_hook_of_a_state_returns_nothing(self, library):
        linear = pytest.importorskip(library).nn.Linear(1, 1)
        linear.register_state_dict_post_hook(lambda module, state, prefix, local: {"only": 1})
        with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
            linear.state_dict()

    def test_files(self, tmp_path):
        net, other = Net(), Net()
        gs.save(tmp_path / "net.npz", net.state_dict())
        other.load_state_dict(gs.load(tmp_path / "net.npz"))
        for (key, value), mine in zip(net.state_dict().items(), other.state_dict().values()):
            np.testing.assert_array_equal(value.numpy(), mine.numpy(), err_msg=key)

    def test_an_older_batch_norm(self):
        net = nn.BatchNorm1d(2)
        state = dict(net.state_dict())
        del state["num_batches_tracked"]
        assert net.load_state_dict(state).missing_keys == []


class TestHooks:
    def test_forward_hooks_in_their_order(self):
        net, said = nn.Linear(1, 1), []
        net.register_forward_pre_hook(lambda module, args: said.append("a") or (args[0] * 2,))
        net.register_forward_pre_hook(lambda module, args, kwargs: said.append("b"), prepend=True, with_kwargs=True)
        net.register_forward_hook(lambda module, args, result: said.append("c") or result + 1)
        handle = net.register_forward_hook(lambda module, args, kwargs, result: said.append(kwargs), with_kwargs=True)
        y = net(gs.ones((1, 1)))
        assert said == ["b", "a", "c", {}] and np.isclose(y.item(), (2 * net.weight + net.bias + 1).item())
        handle.remove()
        net(gs.ones((1, 1)))
        assert said[4:] == ["b", "a", "c"]
        with net.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True):
            with pytest.raises(RuntimeError, match="must return None or a tuple of"):
                net(gs.ones((1, 1)))

    def test_a_hook_that_is_always_called(self):
        class Fails(Module):
            def forward(self, x):
                raise ValueError("no")

        net, said = Fails(), []
        net.register_forward_hook(lambda module, args, result: said.append(result), always_call=True)
        net.register_forward_hook(lambda module, args, result: said.append("never"))
        with pytest.raises(ValueError, match="no"):
            net(1)
        assert said == [None]

    def test_backward_hooks_see_and_change_gradients(self):
        net, said = nn.Linear(2, 1), []
        net.register_full_backward_hook(lambda module, grad_in, grad_out: said.append((grad_in[0].tolist(), grad_out[0].tolist())))
        net.register_full_backward_hook(lambda module, grad_in, grad_out: (grad_in[0] * 10,))
        net.register_full_backward_pre_hook(lambda module, grad_out: (grad_out[0] * 2,))
        x = gs.ones((1, 2), requires_grad=True)
        net(x).sum().backward()
        weight = net.weight.detach()
        np.testing.assert_allclose(said[0][0], 2 * weight.numpy())
        assert said[0][1] == [[2.0]] and net.weight.grad.tolist() == [[2.0, 2.0]]
        np.testing.assert_allclose(x.grad.numpy(), 20 * weight.numpy())

    def test_a_backward_hook_where_no_input_requires_grad(self):
        net, said = nn.Linear(2, 1), []
        handle = net.register_full_backward_hook(lambda module, grad_in, grad_out: said.append((grad_in, grad_out[0].tolist())))
        with pytest.warns(UserWarning, match="no inputs of Linear require gradients") as warned:
            net(gs.ones((1, 2))).sum().backward()
        assert warned[0].filename == __file__ and said == [((None,), [[1.0]])]
        handle.remove()
        net.register_full_backward_hook(lambda module, grad_in, grad_out: (gs.ones((1, 2)),))
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="where no input requires gradient"):
            net(gs.ones((1, 2))).sum().backward()

    def test_backward_hooks_of_several_inputs_and_results(self):
        class Both(Module):
            def forward(self, a, n, b):
                return a * b, n, a + b

        net, said = Both(), []
        net.register_full_backward_hook(lambda module, grad_in, grad_out: said.extend([grad_in, grad_out]))
        a, b = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0, requires_grad=True)
        product, _, _ = net(a, "n", b)
        product.backward()
        assert [None if grad is None else grad.item() for grad in said[0]] == [3.0, None, 2.0]
        assert said[1][0].item() == 1.0 and said[1][1] is None and a.grad.item() == 3.0

    def test_backward_hooks_under_higher_derivatives(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        x = gs.randn(4, 2, requires_grad=True)

        def second():
            (grad,) = gs.autograd.grad(net(x).sum(), x, create_graph=True)
            return gs.autograd.grad((grad * grad).sum(), list(net.parameters()), allow_unused=True)

        plain = second()
        net[1].register_full_backward_hook(lambda module, grad_in, grad_out: None)
        for one, other in zip(plain, second()):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one.numpy(), other.numpy())

    def test_hooks_of_all_modules(self):
        from gradspec.nn.modules import module as of_all

        said = []
        handles = [of_all.register_module_forward_pre_hook(lambda module, args: said.append(("pre", type(module).__name__))),
                   of_all.register_module_forward_hook(lambda module, args, result: said.append(("post", type(module).__name__))),
                   of_all.register_module_full_backward_hook(lambda module, a, b: said.append(("back", type(module).__name__)))]  # fmt: skip
        net = nn.Sequential(nn.Tanh())
        x = gs.ones(1, requires_grad=True)
        net(x).sum().backward()
        for handle in handles:
            handle.remove()
        net(x)
        assert said == [("pre", "Sequential"), ("pre", "Tanh"), ("post", "Tanh"), ("post", "Sequential"), ("back", "Tanh"), ("back", "Sequential")]


class TestContainers:
    def test_sequential(self):
        net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
        assert len(net) == 3 and net[-1] is net[2] and isinstance(net[1:], nn.Sequential) and len(net[1:]) == 2
        net[1] = nn.Tanh()
        del net[0]
        assert [type(module).__name__ for module in net] == ["Tanh", "Linear"] and list(net.state_dict()) == ["1.weight", "1.bias"]
        net.append(nn.ReLU()).insert(0, nn.Linear(2, 2)).extend([nn.GELU()])
        assert [type(module).__name__ for module in net] == ["Linear", "Tanh", "Linear", "ReLU", "GELU"]
        assert type(net.pop(-1)) is nn.GELU and len(net + nn.Sequential(nn.ReLU())) == 5
        named = nn.Sequential({"a": nn.Linear(1, 1), "b": nn.ReLU()})
        assert list(named.state_dict()) == ["a.weight", "a.bias"] and named.a is named[0] and isinstance(named[:1].a, nn.Linear)
        assert len(2 * nn.Sequential(nn.ReLU())) == 2
        with pytest.raises(IndexError, match="index 5 is out of range"):
            net[5]

    def test_lists(self):
        layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
        assert len(layers) == 3 and [name for name, _ in layers.named_children()] == ["0", "1", "2"]
        assert repr(layers) == "ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)  # 2 parameters\n)  # 6 parameters"
        layers += [nn.ReLU()]
        del layers[1]
        assert [type(module).__name__ for module in layers] == ["Linear", "Linear", "ReLU"] and len(layers[:2]) == 2
        with pytest.raises(NotImplementedError, match="forward"):
            layers(1)
        values = nn.ParameterList([gs.ones(2), Parameter(gs.zeros(1)), "text"])
        assert [type(value) for value in values] == [Parameter, Parameter, str] and list(values.state_dict()) == ["0", "1"]
        values.append(gs.ones(3))
        values[0] = Parameter(gs.ones(4))
        assert len(values) == 4 and values[-1].shape == (3,) and len(values[1:]) == 3 and len(list(values.parameters())) == 3
        assert "(0): Parameter containing: [float64 of shape (4,)]" in repr(values)

    def test_dictionaries(self):
        layers = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})
        layers["c"] = nn.Tanh()
        assert list(layers) == list(layers.keys()) == ["a", "b", "c"] and "b" in layers and type(layers.pop("b")) is nn.ReLU
        layers.update([("d", nn.GELU())])
        assert [name for name, _ in layers.items()] == ["a", "c", "d"] and len(list(layers.values())) == 3
        del layers["c"]
        assert list(layers.state_dict()) == ["a.weight", "a.bias"]
        layers.clear()
        assert len(layers) == 0
        values = nn.ParameterDict({"a": gs.ones(2), "keys": gs.zeros(1)})
        assert type(values["a"]) is Parameter and values["keys"].shape == (1,) and list(values.keys()) == ["a", "keys"]
        values["b"] = "text"
        assert values.get("x", 3) == 3 and values.setdefault("b") == "text" and list(values.state_dict()) == ["a", "keys"]
        assert values.pop("b") == "text" and len(values | nn.ParameterDict({"z": gs.ones(1)})) == 3 and len(values.copy()) == 2
        assert values.popitem()[0] == "keys" and len(values) == 1

    def test_pytorchs_prints(self):
        torch = pytest.importorskip("torch", reason=TORCH)
        import re

        for build in (lambda nn: nn.Sequential(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()]), nn.ModuleDict({"a": nn.ReLU()})),
                      lambda nn: nn.ModuleList(), lambda nn: nn.Sequential(nn.Sequential())):  # fmt: skip
            assert re.sub(r"  # .*", "", repr(build(nn))) == repr(build(torch.nn))


class TestSequences:
    @each("name", ["RNN", "GRU", "LSTM"])
    @each("sorted_already", [True, False])
    def test_packed_sequences_are_pytorchs(self, name, sorted_already):
        torch = pytest.importorskip("torch", reason=TORCH)
        there = getattr(torch.nn, name)(3, 4, 2, bidirectional=True).double()
        here = getattr(nn, name)(3, 4, 2, bidirectional=True)
        here.load_state_dict(there.state_dict())
        lengths = [5, 3, 3, 1] if sorted_already else [3, 1, 5, 3]
        x, state = np.random.default_rng(0).normal(size=(5, 4, 3)), np.random.default_rng(1).normal(size=(4, 4, 4))
        found = []
        for library, module in ((gs, here), (torch, there)):
            data = library.tensor(x, requires_grad=True)
            before = library.tensor(state, requires_grad=True)
            rnn = library.nn if library is gs else torch.nn.utils.rnn
            packed = rnn.pack_padded_sequence(data, library.tensor(lengths), enforce_sorted=sorted_already)
            y, last = module(packed, (before, before) if name == "LSTM" else before)
            y, _ = rnn.pad_packed_sequence(y)
            last = last[0] if name == "LSTM" else last
            ((y * y).sum() + (last * last * last).sum()).backward()
            found.append([y, last, data.grad, before.grad, *(value.grad for value in module.parameters())])
        for ours, theirs in zip(*found):
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12)

    def test_dropout_between_layers_only_while_training(self):
        gs.manual_seed(0)
        net, x = nn.GRU(2, 3, 2, dropout=0.5), gs.randn(4, 1, 2)
        assert not np.array_equal(net(x)[0].detach().numpy(), net(x)[0].detach().numpy())
        net.eval()
        np.testing.assert_array_equal(net(x)[0].detach().numpy(), net(x)[0].detach().numpy())
        assert [len(names) for names in net.all_weights] == [4, 4] and net.flatten_parameters() is None


def test_dropout_drops_while_it_trains():
    gs.manual_seed(0)
    x = gs.ones((1000,))
    for module in (nn.Dropout(0.3), nn.Dropout(0.3, inplace=True)):
        y = module(x.clone())
        assert 0.6 < (y != 0).float().mean().item() < 0.8 and abs(y[y != 0] - 1 / 0.7).max() < 1e-12
        assert module.eval()(x) is x or module(x).tolist() == x.tolist()


def test_a_transformer_without_what_comes_later():
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert mask.tolist()[1] == [0, 0, -np.inf, -np.inf]
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2)
    assert net.layers[0].linear1.weight is not net.layers[1].linear1.weight
    x = gs.randn(1, 4, 4)
    y = net(x, mask, is_causal=True)
    x[0, 3] += 1
    np.testing.assert_allclose(net(x, mask)[0, :3].detach().numpy(), y[0, :3].detach().numpy())


def test_modules_under_transformations():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = gs.randn(5, 2)
    whole = net(x).detach().numpy()
    np.testing.assert_allclose(gs.vmap(net)(x).detach().numpy(), whole)
    compiled = gs.compile(net)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x).detach().numpy(), whole)
    with gs.no_grad():
        net[0].weight += 1
    np.testing.assert_allclose(compiled(x).detach().numpy(), net(x).detach().numpy())
    assert not np.allclose(net(x).detach().numpy(), whole)


def test_a_compiled_training_step():
    def trained(wrap):
        gs.manual_seed(1)
        net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
        x, optimizer = gs.randn(8, 2), gs.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        call = wrap(step)
        return [call(x).item() for _ in range(6)], net

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (plain, net), (replayed, other) = trained(lambda f: f), trained(gs.compile)
    np.testing.assert_allclose(replayed, plain, rtol=1e-12)
    for (key, value), mine in zip(net.state_dict().items(), other.state_dict().values()):
        np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-12, err_msg=key)


def test_the_paths_of_pytorch():
    code = """
import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F
from gradspec.nn import init
from gradspec.nn.modules.linear import Linear
from gradspec.nn.parameter import Parameter
assert nn.Linear is Linear and torch.nn.Parameter is Parameter and init is nn.init and nn.modules.Linear is Linear
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_program_may_pickle_a_module_into_memory():
    file = io.BytesIO()
    pickle.dump(nn.Sequential(nn.Linear(1, 1), nn.LeakyReLU(0.2)), file)
    file.seek(0)
    assert pickle.load(file)[1].negative_slope == 0.2


def test_notebooks_show_the_tree_of_a_module():
    class Odd(gs.nn.Module):
        def extra_repr(self):
            return "<a> & b"

    class Spoken(gs.nn.Module):
        def __repr__(self):
            return "<its own words>"

    net = gs.nn.Sequential(gs.nn.Linear(2, 3), gs.nn.Sequential(Odd(), gs.nn.ReLU()), Spoken(), gs.nn.ModuleList([gs.nn.Tanh()] * 3))
    tree = ElementTree.fromstring(net._repr_html_())
    assert [one.text for one in tree.iter("summary")] == ["Sequential()  # 9 parameters", "(1): Sequential()"]
    lines = [one.text for one in tree.iter("div") if one.text]
    assert lines == ["(0): Linear(in_features=2, out_features=3, bias=True)  # 9 parameters", "(0): Odd(<a> & b)", "(1): ReLU()"]
    assert [one.text for one in tree.iter("pre")] == ["(2): <its own words>", "(3): ModuleList(\n  (0-2): 3 x Tanh()\n)"]
