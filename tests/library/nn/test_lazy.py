"""lazy: layers that take their number of features from the first input, beside PyTorch's."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.modules.lazy import LazyModuleMixin
from gradspec.nn.parameter import is_lazy
from tests.asked import each

rng = np.random.default_rng(0)
ROWS = [  # class, arguments, shape of the input, the class that it becomes
    ("LazyLinear", (4,), (2, 5, 3)), ("LazyLinear", (4, False), (3,)),
    *((f"LazyConv{n}d", (4, 2), (2, 3, 5, 4, 6)[: n + 2]) for n in (1, 2, 3)), ("LazyConv2d", (4, (1, 2), 2, 1, 1, 2, False, "circular"), (6, 4, 5)),
    *((f"LazyConvTranspose{n}d", (4, 2, 2), (2, 3, 2, 4, 3)[: n + 2]) for n in (1, 2, 3)), ("LazyConvTranspose1d", (4, 3, 1, 0, 0, 2, False), (2, 6, 4)),
    *((f"Lazy{kind}{n}d", (), (4, 3, 2, 3, 2)[: n + 2]) for kind in ("BatchNorm", "InstanceNorm") for n in (1, 2, 3)),
    ("LazyBatchNorm1d", (1e-3, 0.2, False, False), (4, 3)),
]  # fmt: skip


def made(name, arguments):
    return getattr(nn, name)(*arguments)


@each(("name", "arguments", "size"), ROWS)
def test_a_lazy_layer_becomes_the_layer(name, arguments, size):
    """With numbers of the layer's distribution, one by one as if it had been made with the shapes; its state is taken before and after."""
    x = gs.asarray(rng.normal(size=size))
    lazy = made(name, arguments)
    twins = [copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy)), made(name, arguments)]
    waits = lazy.has_uninitialized_params()
    assert waits == any(map(is_lazy, [*lazy.parameters(), *lazy.buffers()])) and "parameter" not in repr(lazy)
    gs.manual_seed(0)
    result = lazy(x)
    plain = getattr(nn, name.removeprefix("Lazy"))
    assert type(lazy) is plain and isinstance(lazy, nn.Module) and not lazy._hooks.any()
    features = {"LazyLinear": lambda: (x.shape[-1],)}.get(name, lambda: (x.shape[-4 if "3d" in name else -3 if "2d" in name else -2 if x.ndim == 3 else -1],))()
    gs.manual_seed(0)
    wanted = plain(*features, *arguments) if "InstanceNorm" not in name else plain(*features, affine=True, track_running_stats=True)
    assert repr(lazy) == repr(wanted) and list(lazy.state_dict()) == list(wanted.state_dict())
    np.testing.assert_array_equal(result.detach(), wanted(x).detach())
    assert all(type(parameter) is nn.Parameter for parameter in lazy.parameters())
    for twin in twins:
        assert str(twin.load_state_dict(twin.state_dict())) == "<All keys matched successfully>"
        assert str(twin.load_state_dict(lazy.state_dict())) == "<All keys matched successfully>" and not twin.has_uninitialized_params()
        np.testing.assert_array_equal(twin.eval()(x).detach(), wanted.eval()(x).detach())
        assert type(twin) is plain
    half = made(name, arguments).to(gs.float32)
    half(x.astype("float32"))
    assert {value.dtype for value in half.parameters()} <= {gs.float32} and {b.dtype for b in half.buffers()} <= {gs.float32, gs.int64}


def test_an_optimiser_may_come_first():
    net = nn.Sequential(nn.LazyLinear(3), nn.Tanh(), nn.LazyLinear(1))
    optimizer = gs.optim.SGD(net.parameters(), lr=0.1)
    assert not any(p.grad is not None for p in net.parameters())
    net(gs.ones((4, 2))).sum().backward()
    before = [p.detach().clone() for p in net.parameters()]
    optimizer.step()
    assert all((p != old).any() for p, old in zip(net.parameters(), before))
    with pytest.raises(RuntimeError, match="size mismatch|Can't access the shape of an uninitialized"):
        net.load_state_dict(nn.Sequential(nn.LazyLinear(3), nn.Tanh(), nn.LazyLinear(1)).state_dict())


def test_what_has_no_shape_says_so():
    value = nn.UninitializedParameter(dtype="float32")
    for ask in (lambda: value.shape, lambda: value.ndim, lambda: value.size):
        with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
            ask()
    assert repr(value) == "<UninitializedParameter>" and np.isnan(value.sum().item()) and value.dtype == gs.float32
    value.materialize((2, 3))
    assert type(value) is nn.Parameter and value.shape == (2, 3) and value.requires_grad and value.dtype == gs.float32
    buffer = nn.UninitializedBuffer(persistent=False)
    for twin in (copy.deepcopy(buffer), pickle.loads(pickle.dumps(buffer))):
        assert is_lazy(twin) and not twin.persistent
    buffer.materialize(4)
    assert type(buffer) is nn.Buffer and buffer.shape == (4,)
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"):
        nn.LazyConv2d(2, 3)(gs.ones((3, 4)))
    with pytest.raises(ValueError, match="expected 4D input"):
        nn.LazyBatchNorm2d()(gs.ones((3, 4)))


def test_a_class_of_ones_own():
    class Scale(LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            self.factor.materialize(x.shape[-1])
            nn.init.ones_(self.factor)

        def forward(self, x):
            return self.factor * x

    scale = Scale()
    assert scale(gs.ones((2, 3))).shape == (2, 3) and type(scale) is Scale and not scale.has_uninitialized_params()
    Scale.initialize_parameters = lambda self, x: None
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        Scale()(gs.ones(2))


def test_signatures_and_prints_are_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch's modules, and PyTorch is not installed")
    for name in {name for name, _, _ in ROWS}:
        there, here = (inspect.signature(getattr(library, name)).parameters for library in (torch.nn, nn))
        assert list(here) == list(there), name
        assert [p.default for p in here.values()] == [p.default for p in there.values()], name
        arguments = next(arguments for other, arguments, _ in ROWS if other == name)
        assert repr(made(name, arguments)) == repr(getattr(torch.nn, name)(*arguments))
    missing = {name for name in dir(torch.nn) if name.startswith("Lazy")} - {name for name, _, _ in ROWS}
    assert missing == set()
