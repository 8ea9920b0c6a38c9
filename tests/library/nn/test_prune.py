"""prune: masks of parameters, beside PyTorch's, step by step."""

import copy
import importlib

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.utils import prune
from tests.asked import each

SCORES = np.random.default_rng(5).normal(size=(4, 3, 2))
STEPS = {  # several follow each other on one parameter
    "l1": lambda prune, m, t: prune.l1_unstructured(m, "weight", 0.3), "l1 count": lambda prune, m, t: prune.l1_unstructured(m, "weight", amount=5),
    "scores": lambda prune, m, t: prune.l1_unstructured(m, "weight", 7, importance_scores=t(SCORES)), "none": lambda prune, m, t: prune.l1_unstructured(m, "weight", 0.0),
    "ln": lambda prune, m, t: prune.ln_structured(m, "weight", 0.25, n=2, dim=0), "ln last": lambda prune, m, t: prune.ln_structured(m, "weight", 1, 1, -2),
    "ln inf": lambda prune, m, t: prune.ln_structured(m, "weight", 1, float("inf"), dim=1, importance_scores=t(SCORES)),
    "mask": lambda prune, m, t: prune.custom_from_mask(m, "weight", mask=t(1.0 * (SCORES > -1))), "identity": lambda prune, m, t: prune.identity(m, "weight"),
}  # fmt: skip


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with PyTorch's pruning, and PyTorch is not installed")


def asked(library, names):
    """What the steps leave: values, masks, gradients, keys, and the parameter after it is a plain one again."""
    pruning = importlib.import_module(f"{library.__name__}.nn.utils.prune")
    rng = np.random.default_rng(0)
    module, x = library.nn.Conv1d(3, 4, 2), library.tensor(rng.normal(size=(2, 3, 6)), dtype=library.float64)
    module = module.double()
    with library.no_grad():
        for p in module.parameters():
            p.copy_(library.tensor(rng.normal(size=tuple(p.shape))))
    found = []
    for name in names:
        STEPS[name](pruning, module, library.tensor)
        module.zero_grad()
        result = module(x)
        result.sum().backward()
        found += [result, module.weight, module.weight_mask, module.weight_orig.grad, np.array([*module.state_dict()])]
        assert pruning.is_pruned(module) and [key for key, _ in module.named_parameters()] == ["bias", "weight_orig"]
    pruning.remove(module, "weight")
    assert not pruning.is_pruned(module) and sorted(key for key, _ in module.named_parameters()) == ["bias", "weight"]
    return [np.asarray(item.detach() if hasattr(item, "detach") else item) for item in [*found, module.weight, module(x)]]


@each("names", [(one, *two) for one in STEPS for two in ((), ("l1", "ln"), ("mask", "ln last", "scores"))], ids=" ".join)
def test_steps_are_pytorchs(torch, names):
    for item, other in zip(asked(gs, names), asked(torch, names), strict=True):
        if item.dtype.kind == "U":
            assert sorted(item) == sorted(other)
        else:
            np.testing.assert_allclose(item, other, rtol=1e-12, atol=1e-12)


def test_several_parameters_as_one(torch):
    kept = []
    for library in (gs, torch):
        pruning = importlib.import_module(f"{library.__name__}.nn.utils.prune")
        net = library.nn.Sequential(library.nn.Linear(4, 3), library.nn.Linear(3, 2)).double()
        own = np.random.default_rng(2)
        with library.no_grad():
            for p in net.parameters():
                p.copy_(library.tensor(own.normal(size=tuple(p.shape))))
        pruning.l1_unstructured(net[0], "weight", 2)
        pruning.global_unstructured([(net[0], "weight"), (net[1], "weight"), (net[1], "bias")], pruning.L1Unstructured, amount=0.4)
        kept.append([np.asarray(mask) for _, mask in net.named_buffers()])
    for mask, other in zip(*kept, strict=True):
        np.testing.assert_array_equal(mask, other)
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured([(nn.Linear(2, 2), "weight")], prune.RandomStructured, amount=1)


def test_draws_and_training():
    gs.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    prune.random_unstructured(net[0], "weight", 0.5)
    prune.random_structured(net[0], "weight", 2, dim=0)
    prune.random_unstructured(net[0], "weight", amount=3)
    mask = net[0].weight_mask.numpy().copy()
    assert ((mask == 0).all(axis=1).sum() >= 2) and 24 + 3 <= (mask == 0).sum() and len(prune.hook_of(net[0], "weight")) == 3
    optimizer, x = gs.optim.Adam(net.parameters(), lr=0.1), gs.randn(16, 6)
    twin = copy.deepcopy(net[2])
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2 and net[0](x) is not None and net[0].weight.detach().numpy()[mask == 0].tolist() == [0] * int((mask == 0).sum())
    again = nn.Sequential(prune.identity(nn.Linear(6, 8), "weight"), nn.ReLU(), twin)
    again.load_state_dict(net.state_dict())
    np.testing.assert_array_equal(again(x).detach(), net(x).detach())
    assert prune.L1Unstructured(2).prune([3.0, -1.0, 2.0]).tolist() == [3.0, 0.0, 0.0]


def test_a_step_that_fails_leaves_the_earlier_ones():
    layer = prune.l1_unstructured(nn.Linear(3, 2), "weight", 2)
    with pytest.raises(ValueError, match="smaller than the number"):
        prune.l1_unstructured(layer, "weight", 5)
    assert prune.is_pruned(layer) and (layer.weight_mask == 0).sum() == 2 and layer(gs.ones(3)).shape == (2,)


def test_a_method_of_ones_own():
    class EveryOther(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = nn.Linear(3, 2)
    EveryOther.apply(layer, "bias")
    EveryOther.apply(layer, "weight")
    EveryOther.apply(layer, "weight")
    assert layer.bias_mask.tolist() == [0, 1] and layer.weight_mask.sum() == 1
    prune.remove(layer, "weight")
    assert prune.is_pruned(layer) and (layer.weight == 0).sum() == 5


@pytest.mark.parametrize(("ask", "error", "message"), [
    (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "should either be a float in the range"),
    (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError, "non-negative integer"), (lambda m: prune.l1_unstructured(m, "weight", "x"), TypeError, "Must be int or float"),
    (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError, "should be smaller than the number of parameters to prune=6"),
    (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "only be applied to multidimensional tensors"),
    (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5"), (lambda m: prune.ln_structured(m, "weight", 1, "nuc", 0), ValueError, "n must be a number"),
    (lambda m: prune.remove(m, "weight"), ValueError, "has to be pruned before pruning can be removed"),
    (lambda m: prune.custom_from_mask(m, "weight", np.ones(3)), ValueError, "the mask has the shape"),
    (lambda m: prune.l1_unstructured(m, "weight", 1, importance_scores=np.ones(3)), ValueError, "importance_scores should have the shape"),
])  # fmt: skip
def test_what_is_refused(ask, error, message):
    module = nn.Linear(3, 2)
    with pytest.raises(error, match=message):
        ask(module)
    assert not prune.is_pruned(module) and [*module.state_dict()] == ["weight", "bias"]
