"""Layers: each class of PyTorch's beside ours, with its weights: the same print, state, results and gradients."""

import copy
import fnmatch
import inspect
import itertools
import pickle
import re
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from tests.asked import each
from tests.runtime.layers_of_nn import LEFT, ROWS

WHERE = [(names, reason) for names, reason in LEFT.items()]
DRAWS = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU"}


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with PyTorch's modules, and PyTorch is not installed")


class Names:
    """What the arguments of a row may name."""

    def __init__(self, module, tensor):
        self.module, self.tensor = module, tensor

    def __getattr__(self, name):
        return getattr(self.module, name)


def made(names, name, arguments):
    return eval(f"nn.{name}({arguments})", {"nn": names})


def ours(name, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(Names(nn, gs.tensor), name, arguments)


def theirs(torch, name, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = made(Names(torch.nn, torch.tensor), name, arguments).double()
    rng = np.random.default_rng(3)
    for parameter in module.parameters():  # many begin as zeros and ones
        parameter.data += torch.tensor(rng.normal(size=tuple(parameter.shape))) / 4
    return module


def arrays(inputs):
    rng = np.random.default_rng(1)

    def array(item):
        if isinstance(item, tuple) and item and isinstance(item[0], tuple):
            return tuple(map(array, item))
        return rng.normal(size=item) if isinstance(item, tuple) else item

    return [array(item) for item in inputs]


def flat(nest):
    if isinstance(nest, (tuple, list)):
        return [leaf for item in nest for leaf in flat(item)]
    return [] if nest is None else [nest]


def asked(make, module, values, drawn, writes):
    """Results, and the gradients of inputs and parameters, as arrays; `make` makes a tensor of an array."""

    def tensor(value, needs_grad):
        if isinstance(value, tuple):
            return tuple(tensor(item, needs_grad) for item in value)
        return None if value is None else make(value, needs_grad and value.dtype.kind == "f")

    given = [tensor(value, i in drawn) for i, value in enumerate(values)]
    leaves = flat(given)
    # The gradient of PyTorch's CTCLoss is that of the logits: it is right behind log_softmax alone.
    passed = [given[0] * 1 if writes else given[0].log_softmax(-1) if type(module).__name__ == "CTCLoss" else given[0], *given[1:]]
    results = flat(module(*passed))
    total = sum((result * make(np.cos(np.arange(np.prod(tuple(result.shape)))).reshape(tuple(result.shape)), False)).sum()
                for result in results if "float" in str(result.dtype))  # fmt: skip
    if total.requires_grad:
        total.backward()
    found = {f"result {i}": result for i, result in enumerate(results)}
    found |= {f"gradient of input {i}": leaf.grad for i, leaf in enumerate(leaves) if leaf.grad is not None}
    found |= {f"gradient of {name}": value.grad for name, value in module.named_parameters() if value.grad is not None}
    found |= {f"buffer {name}": value for name, value in module.named_buffers()}
    return {name: np.asarray(value.detach()) for name, value in found.items()}


@each(("name", "arguments", "inputs"), ROWS)
def test_a_layer_is_pytorchs(torch, name, arguments, inputs):
    there, here = theirs(torch, name, arguments), ours(name, arguments)
    assert str(here.load_state_dict(there.state_dict())) == "<All keys matched successfully>"
    assert list(here.state_dict()) == list(there.state_dict())
    if "distance_function" not in arguments:
        print_of_theirs = re.sub(r"NonDynamicallyQuantizableLinear", "Linear", repr(there))
        print_of_ours = re.sub(r"  # [\d,]+ parameters?$", "", repr(here), flags=re.MULTILINE)
        if name in ("Hardsigmoid", "Hardswish"):  # PyTorch's say nothing of inplace
            print_of_ours = print_of_ours.replace("inplace=True", "")
        assert print_of_ours == print_of_theirs
    values, writes = arrays(inputs), "inplace=True" in arguments
    drawn = {0, *(i for i, item in enumerate(inputs) if isinstance(item, tuple))}  # what is differentiated; no masks and targets
    training = name not in DRAWS
    here.train(training), there.train(training)

    def tensor(value, needs_grad):
        return gs.tensor(value, requires_grad=needs_grad)

    def tensor_there(value, needs_grad):
        return torch.tensor(value, requires_grad=needs_grad)

    for mode in (training, False) if training else (False,):
        here.train(mode), there.train(mode)
        here.zero_grad(), there.zero_grad()
        found, wanted = asked(tensor, here, values, drawn, writes), asked(tensor_there, there, values, drawn, writes)
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert found[key].shape == value.shape, key
            rtol = 1e-7 if name == "Hardsigmoid" else 1e-9  # PyTorch's slope is a sixth in single precision
            np.testing.assert_allclose(found[key], value, rtol=rtol, atol=1e-10, err_msg=key)
    again, twin = pickle.loads(pickle.dumps(here)), copy.deepcopy(here)
    for other in (again, twin):
        assert repr(other) == repr(here) and list(other.state_dict()) == list(here.state_dict())
        np.testing.assert_equal(asked(tensor, other, values, drawn, writes).keys(), found.keys())


def classes(torch):
    return {name for name, value in vars(torch.nn).items() if inspect.isclass(value) and not name.startswith("_")}


def test_every_class_of_pytorch_is_asked_or_left_with_a_reason(torch):
    asked_of = {name for name, _, _ in ROWS}
    patterns = " ".join(LEFT).split()
    without = {name for name in classes(torch) - asked_of if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}
    assert without == set()
    assert asked_of <= classes(torch)
    here = {name for name in classes(torch) if hasattr(nn, name)}
    missing = {name for name in classes(torch) - here}
    reasons = {name: reason for names, reason in LEFT.items() for name in names.split()}
    assert all("test_" not in reason for name in missing for pattern, reason in reasons.items() if fnmatch.fnmatchcase(name, pattern))


@each("name", sorted({name for name, _, _ in ROWS}))
def test_the_constructor_takes_pytorchs_arguments(torch, name):
    there = inspect.signature(getattr(torch.nn, name)).parameters
    here = inspect.signature(getattr(nn, name)).parameters
    if any(value.kind in (value.VAR_POSITIONAL, value.VAR_KEYWORD) for value in there.values()):
        return
    older = {"min_value", "max_value"} if name == "Hardtanh" else {"_weight", "_freeze", "device", "dtype"}
    wanted = [key for key in there if key not in older]
    assert [key for key in here if key not in older] == wanted
    for key in wanted:
        default = there[key].default
        if key in here and (default is None or isinstance(default, (bool, int, float, str))):
            assert here[key].default == default, key


@each(("name", "arguments"), [("Linear", "300, 200"), ("Conv2d", "30, 20, 5"), ("ConvTranspose1d", "30, 40, 5"), ("Bilinear", "20, 30, 40"),
                              ("LSTM", "50, 60"), ("GRUCell", "50, 60"), ("Embedding", "200, 100"), ("MultiheadAttention", "64, 4"),
                              ("EmbeddingBag", "200, 100"), ("Transformer", "32, 4, 1, 1, 64")])  # fmt: skip
def test_first_numbers_are_of_pytorchs_distribution(torch, name, arguments):
    torch.manual_seed(0)
    gs.manual_seed(0)
    there, here = dict(made(Names(torch.nn, torch.tensor), name, arguments).named_parameters()), dict(ours(name, arguments).named_parameters())
    assert list(here) == list(there)
    for key, value in there.items():
        a, b = np.sort(here[key].detach().numpy().ravel()), np.sort(value.detach().numpy().ravel())
        assert a.shape == b.shape
        if b.std() == 0:
            np.testing.assert_array_equal(a, b)
            continue
        # The largest distance of the two distribution functions (Kolmogorov and Smirnov); 2.2 is passed once in 8000 draws.
        both = np.concatenate([a, b])
        distance = abs(np.searchsorted(a, both, "right") - np.searchsorted(b, both, "right")).max() / a.size
        assert distance * np.sqrt(a.size / 2) < 2.2, key
        assert a.max() < 1.01 * b.max() or name.startswith("Embedding") or b.size < 1000


def test_classes_of_an_adaptive_softmax():
    gs.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], 2.0)
    x = gs.asarray(np.random.default_rng(0).normal(size=(4, 8)))
    found = layer.log_prob(x)
    np.testing.assert_allclose(gs.exp(found).sum(axis=1).detach().numpy(), 1, rtol=1e-12)
    for label in range(10):
        assert abs(layer(x, gs.full((4,), label, dtype=int)).output - found[:, label]).max() < 1e-12
    assert layer.predict(x).tolist() == found.detach().numpy().argmax(1).tolist()
    for cutoffs in ([], [3, 3], [0, 2], [6, 3], [10], [2.5]):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs)
    for target, message in ((np.array([0, 10, 1, 2]), r"should be in \[0, 9\]"), (np.zeros((2, 2), int), "0D or 1D target"), (np.array(1), "0D target tensor expects 1D"),
                            (np.zeros(3, int), "same size in the batch")):  # fmt: skip
        with pytest.raises(RuntimeError, match=message):
            layer(x, target)


def test_neighbours_across_maps_have_pytorchs_values_and_the_derivatives_of_these(torch):
    for size, channels in itertools.product((1, 2, 3, 4, 5, 7), (1, 3, 6, 9)):
        x, arguments = np.random.default_rng(size).normal(size=(2, channels, 2, 3)), (size, 0.3, 0.6, 1.5)
        here, there = nn.CrossMapLRN2d(*arguments), torch.nn.CrossMapLRN2d(*arguments)
        np.testing.assert_allclose(here(gs.tensor(x)), there(torch.tensor(x)), rtol=1e-13)
        assert repr(here) == repr(there)
    x = np.random.default_rng(0).normal(size=(1, 5, 1, 2))
    assert gs.autograd.gradcheck(nn.CrossMapLRN2d(3, 0.3, 0.6, 1.5), (gs.tensor(x, requires_grad=True),))
    theirs = torch.autograd.gradcheck(torch.nn.CrossMapLRN2d(3, 0.3, 0.6, 1.5), (torch.tensor(x, requires_grad=True),), raise_exception=False)
    assert not theirs, "PyTorch's gradients are right now: ask it as the other layers"
    with pytest.raises(ValueError, match="Expected input to be 4D, got 3D"):
        nn.CrossMapLRN2d(3)(gs.ones(2, 3, 4))
