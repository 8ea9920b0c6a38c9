"""Parametrised weights: PyTorch's values, gradients and states, and what differences say of the gradients."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.utils import parametrizations, parametrize
from tests.asked import each

RNG = np.random.default_rng(0)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with PyTorch's parametrizations, and PyTorch is not installed")


# what is done to a layer; what it is; its input
CASES = [
    ("parametrizations.weight_norm(m)", "Linear(3, 4)", (2, 3)), ("parametrizations.weight_norm(m, dim=None)", "Linear(3, 4)", (2, 3)),
    ("parametrizations.weight_norm(m, dim=1)", "Conv1d(2, 3, 2)", (2, 2, 5)), ("parametrizations.weight_norm(m, 'bias')", "Linear(3, 4)", (2, 3)),
    ("parametrizations.spectral_norm(m)", "Linear(3, 4)", (2, 3)), ("parametrizations.spectral_norm(m, n_power_iterations=3, dim=1)", "Conv2d(2, 3, 2)", (1, 2, 4, 4)),
    ("parametrizations.spectral_norm(m)", "ConvTranspose1d(2, 3, 2)", (1, 2, 4)), ("parametrizations.spectral_norm(m, 'bias')", "Linear(3, 4)", (2, 3)),
    *((f"parametrizations.orthogonal(m, orthogonal_map={kind!r}, use_trivialization={trivial})", layer, (2, width))
      for kind, trivial in ((None, True), ("matrix_exp", True), ("cayley", False), ("householder", False), ("householder", True))
      for layer, width in (("Linear(3, 3)", 3), ("Linear(2, 4)", 2), ("Linear(4, 2)", 4))),
    ("parametrizations.weight_norm(parametrizations.orthogonal(m), 'bias')", "Linear(3, 4)", (2, 3)),
    ("weight_norm(m)", "Linear(3, 4)", (2, 3)), ("weight_norm(m, dim=None)", "Conv1d(2, 3, 2)", (2, 2, 5)),
    ("spectral_norm(m)", "Linear(3, 4)", (2, 3)), ("spectral_norm(m, n_power_iterations=2)", "ConvTranspose1d(2, 3, 2)", (1, 2, 4)),
    ("remove_weight_norm(weight_norm(m))", "Linear(3, 4)", (2, 3)), ("remove_spectral_norm(spectral_norm(m))", "Linear(3, 4)", (2, 3)),
    ("parametrize.remove_parametrizations(parametrizations.weight_norm(m), 'weight')", "Linear(3, 4)", (2, 3)),
    ("parametrize.remove_parametrizations(parametrizations.orthogonal(m), 'weight', False)", "Linear(3, 3)", (2, 3)),
]  # fmt: skip


def made(library, what, layer):
    import warnings

    names = {name: getattr(library.nn.utils, name) for name in ("parametrizations", "parametrize", "weight_norm", "spectral_norm", "remove_weight_norm",
                                                                 "remove_spectral_norm")}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(what, names, {"m": eval(f"nn.{layer}", {"nn": library.nn}).to(library.float64)})


@each(("what", "layer", "shape"), CASES)
def test_a_parametrised_layer_is_pytorchs(torch, what, layer, shape):
    there, here = made(torch, what, layer), made(gs, what, layer)
    assert list(here.state_dict()) == list(there.state_dict())
    assert [name for name, _ in here.named_parameters()] == [name for name, _ in there.named_parameters()]
    here.load_state_dict(there.state_dict())
    values = RNG.normal(size=shape)
    for training in (True, False):
        here.train(training), there.train(training)
        here.zero_grad(), there.zero_grad()
        x, y = gs.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
        found, wanted = here(x), there(y)
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-12)
        weights = np.cos(np.arange(found.size)).reshape(found.shape)
        (found * weights).sum().backward(), (wanted * torch.tensor(weights)).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-8, atol=1e-11)
        for (name, a), b in zip(here.named_parameters(), there.parameters()):
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-8, atol=1e-10, err_msg=name)
        for (name, a), b in zip(here.named_buffers(), there.buffers()):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)


@each("what", [case for case in CASES if "remove" not in case[0]])
def test_first_values_are_those_of_the_layer_and_gradients_those_of_differences(what):
    what, layer, shape = what
    gs.manual_seed(0)
    m = eval(f"nn.{layer}", {"nn": nn})
    before = {name: value.detach().numpy().copy() for name, value in m.named_parameters()}
    module = made_of(what, m).eval()
    if "weight_norm" in what:
        assert all(np.allclose(getattr(module, name).detach().numpy(), value) for name, value in before.items() if "orthogonal" not in what)
    elif "spectral_norm" in what and "bias" not in what:
        assert np.isfinite(module.weight.detach().numpy()).all()
    elif "orthogonal" in what:
        W = module.weight.detach().numpy()
        small = W @ W.T if W.shape[0] <= W.shape[1] else W.T @ W
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-12)
    params = list(module.parameters())
    if "orthogonal" in what:  # the map by reflections takes whole numbers of the diagonal, and jumps there
        held = module.parametrizations.weight.original
        held.data = held.detach() * (1 + 0.5 * gs.eye(*held.shape))
    x = gs.asarray(RNG.normal(size=shape))
    gs.autograd.gradcheck(lambda *_: (module(x) ** 2).sum(), params)


def made_of(what, m):
    utils = nn.utils
    return eval(what, {"parametrizations": utils.parametrizations, "weight_norm": utils.weight_norm, "spectral_norm": utils.spectral_norm}, {"m": m})


def test_spectral_norm_is_that_of_the_singular_values():
    gs.manual_seed(0)
    for make in (parametrizations.spectral_norm, nn.utils.spectral_norm):
        module = make(nn.Conv2d(3, 4, 2), n_power_iterations=50)
        module(gs.ones((1, 3, 4, 4)))
        assert abs(np.linalg.svd(module.weight.detach().numpy().reshape(4, -1))[1][0] - 1) < 1e-9


def test_orthogonal_takes_values():
    Q = np.linalg.qr(RNG.normal(size=(2, 5, 3)))[0]
    for value in (Q, np.swapaxes(Q, -1, -2)):
        for options in ({}, {"use_trivialization": False, "orthogonal_map": "householder"}):
            module = nn.Module()
            module.w = nn.Parameter(gs.zeros(value.shape) + gs.asarray(value))
            parametrizations.orthogonal(module, "w", **options)
            np.testing.assert_allclose(module.w.detach().numpy(), value, atol=1e-12)
            with gs.no_grad():
                module.w = gs.asarray(-value)
            np.testing.assert_allclose(module.w.detach().numpy(), -value, atol=1e-12)
    square = parametrizations.orthogonal(nn.Linear(3, 3, dtype=np.complex128), orthogonal_map="cayley")
    W = square.weight.detach().numpy()
    np.testing.assert_allclose(W @ W.conj().T, np.eye(3), atol=1e-12)


class Symmetric(nn.Module):
    def forward(self, x):
        return gs.triu(x) + gs.triu(x, 1).mT

    def right_inverse(self, a):
        return gs.triu(a)


class Times(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor, self.calls = factor, 0

    def forward(self, x):
        self.calls += 1
        return x * self.factor


class Wrong(nn.Module):
    def __init__(self, result, inverse=None):
        super().__init__()
        self.result, self.inverse = result, inverse

    def forward(self, *x):
        return self.result

    def right_inverse(self, value):
        return value if self.inverse is None else self.inverse


def test_a_chain_its_cache_and_its_copies():
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    symmetric = gs.asarray(np.arange(9.0).reshape(3, 3) + np.arange(9.0).reshape(3, 3).T)
    for value in (symmetric, nn.Parameter(symmetric)):
        layer.weight = value
        assert (layer.weight == symmetric).all() and "weight" not in layer._parameters
    times = Times(2.0)
    parametrize.register_parametrization(layer, "weight", times)
    assert (layer.weight == 2 * symmetric).all()
    with pytest.raises(RuntimeError, match="parametrization Times does not implement right_inverse"):
        layer.weight = symmetric
    before = times.calls
    with parametrize.cached():
        assert layer.weight is layer.weight and times.calls == before + 1
        with parametrize.cached():
            layer(gs.ones((1, 3)))
        assert times.calls == before + 1
    assert layer.weight is not layer.weight
    twin = copy.deepcopy(layer)
    twin.parametrizations.weight.original.data = gs.zeros((3, 3))
    assert (twin.weight == 0).all() and (layer.weight == 2 * symmetric).all() and type(twin) is not type(layer)
    with pytest.raises(RuntimeError, match=r"only supported through state_dict\(\)"):
        pickle.dumps(layer)
    assert gs.func.functional_call(layer, {"parametrizations.weight.original": gs.zeros((3, 3)), "bias": gs.ones(3)}, gs.ones(3)).tolist() == [1.0] * 3
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and (layer.weight == 2 * symmetric).all() and list(layer.state_dict()) == ["bias", "weight"]
    assert isinstance(layer.weight, nn.Parameter) and parametrize.is_parametrized(twin)
    both = parametrizations.weight_norm(parametrizations.weight_norm(nn.Linear(2, 2)), "bias", None)
    parametrize.remove_parametrizations(both, "weight")
    assert parametrize.is_parametrized(both, "bias") and not parametrize.is_parametrized(both, "weight")


def test_a_buffer():
    norm = parametrize.register_parametrization(nn.BatchNorm1d(2), "running_mean", Times(3.0))
    assert list(norm.state_dict())[-1] == "parametrizations.running_mean.original" and norm.running_mean.tolist() == [0.0, 0.0]
    parametrize.remove_parametrizations(norm, "running_mean")
    assert "running_mean" in norm._buffers


@each(("call", "message"), [
    (lambda m: parametrize.register_parametrization(m, "nope", Symmetric()), "does not have a parameter, a buffer, or a parametrized element with name 'nope'"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(gs.ones(2))), "may not change the shape of the tensor"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(gs.ones((3, 3), dtype=np.float32))), "may not change the dtype of the tensor"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(1.0)), "must return a tensor. Got"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(1.0, 2.0)), "'right_inverse' must return a Tensor or a Sequence of tensors"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(1.0, [2.0])), "Got element 0 of the sequence"),
    (lambda m: parametrize.register_parametrization(m, "weight", Wrong(1.0, gs.ones(1, dtype=np.float32))), "may not change the dtype"),
    (lambda m: parametrize.register_parametrization(parametrizations.weight_norm(m), "weight", Wrong(gs.ones(2))), "may not change dtype and shape"),
    (lambda m: parametrize.remove_parametrizations(m, "weight"), "does not have a parametrization on weight"),
    (lambda m: parametrize.remove_parametrizations(parametrizations.weight_norm(m), "weight", False), "Cannot leave unparametrized"),
    (lambda m: parametrize.ParametrizationList([], m.weight), "requires one or more modules"),
    (lambda m: parametrizations.orthogonal(m, "bias"), "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions"),
    (lambda m: parametrizations.orthogonal(m, orthogonal_map="qr"), "orthogonal_map has to be one of"),
    (lambda m: parametrizations.orthogonal(m, "nope"), "has no parameter or buffer with name 'nope'"),
    (lambda m: setattr(parametrizations.orthogonal(m), "weight", gs.ones(2)), "Expected a matrix or batch of matrices of shape"),
    (lambda m: parametrizations.spectral_norm(m, n_power_iterations=0), "Expected n_power_iterations to be positive"),
    (lambda m: nn.utils.spectral_norm(m, n_power_iterations=0), "Expected n_power_iterations to be positive"),
    (lambda m: nn.utils.spectral_norm(m, "nope"), "cannot be applied as parameter `nope`"),
    (lambda m: nn.utils.remove_spectral_norm(m), "spectral_norm of 'weight' not found"),
    (lambda m: nn.utils.remove_weight_norm(m), "weight_norm of 'weight' not found"),
])  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(nn.Linear(3, 3))


def test_two_hooks_are_refused():
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks on the same parameter weight"):
        nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(2, 2)))


@each(("layer", "norm", "shape"), [("Linear(3, 4)", "BatchNorm1d(4)", (5, 3)), ("Conv2d(2, 4, 3)", "BatchNorm2d(4)", (2, 2, 5, 5)),
                                   ("Conv1d(2, 4, 3, bias=False)", "BatchNorm1d(4, affine=False)", (2, 2, 5)), ("ConvTranspose1d(2, 4, 3)", "BatchNorm1d(4)", (2, 2, 5))])  # fmt: skip
def test_a_layer_and_its_batch_norm_are_one(layer, norm, shape):
    gs.manual_seed(0)
    pair = eval(f"nn.Sequential(nn.{layer}, nn.{norm})", {"nn": nn})
    with gs.no_grad():
        for param in pair.parameters():
            param += gs.asarray(RNG.normal(size=param.shape))
    for _ in range(3):
        pair(gs.asarray(RNG.normal(size=shape)))
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        nn.utils.fuse_conv_bn_eval(*pair)
    pair.eval()
    x = gs.asarray(RNG.normal(size=shape))
    fuse = nn.utils.fuse_linear_bn_eval if "Linear" in layer else nn.utils.fuse_conv_bn_eval
    one = fuse(*pair, *([True] if "Transpose" in layer else []))
    np.testing.assert_allclose(one(x).detach().numpy(), pair(x).detach().numpy(), rtol=1e-10, atol=1e-12)
    assert type(one) is type(pair[0]) and one is not pair[0]


def test_sequences_of_different_lengths():
    rnn = nn.utils.rnn
    sequences = [gs.asarray(RNG.normal(size=(n, 2))) for n in (2, 4, 1)]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    for a, b in zip(rnn.unpack_sequence(packed), sequences):
        assert a.shape == b.shape and (a == b).all()
    for batch_first in (False, True):
        padded = rnn.pad_sequence(sequences, batch_first=batch_first)
        for a, b in zip(rnn.unpad_sequence(padded, [2, 4, 1], batch_first), sequences):
            assert (a == b).all()
    net = nn.Linear(2, 1)
    assert nn.utils.stateless.functional_call(net, {"weight": gs.zeros((1, 2)), "bias": gs.ones(1)}, sequences[0]).tolist() == [[1.0], [1.0]]
