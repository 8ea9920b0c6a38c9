"""functional_call and stack_module_state: other parameters for one call, and many models as one batch."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.func import functional_call, stack_module_state


def mlp():
    return nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))


def close(found, wanted):
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-12, atol=1e-14)


def test_other_parameters_for_one_call():
    net, other, x = mlp(), mlp(), gs.randn(3, 2)
    before = [id(value) for value in net.parameters()]
    close(functional_call(net, dict(other.named_parameters()), x), other(x))
    close(functional_call(net, {"0.bias": gs.zeros(4)}, (x,)), net[2](gs.tanh(x @ net[0].weight.T)))
    assert [id(value) for value in net.parameters()] == before
    with pytest.raises(ValueError, match="matmul|linear|shape"):
        functional_call(net, {"0.weight": gs.ones((4, 3))}, x)
    assert [id(value) for value in net.parameters()] == before


def test_gradients_of_a_function_of_parameters():
    net, x = mlp(), gs.randn(5, 2)
    params = {name: value.detach() for name, value in net.named_parameters()}
    grads = gs.func.grad(lambda params: functional_call(net, params, x).square().sum())(params)
    net(x).square().sum().backward()
    for name, value in net.named_parameters():
        close(grads[name], value.grad)
    each = gs.vmap(gs.func.grad(lambda params, row: functional_call(net, params, row).square().sum()), (None, 0))(params, x)
    for name, value in net.named_parameters():
        assert each[name].shape == (5, *value.shape)
        close(each[name].sum(axis=0), value.grad)
    _, tangent = gs.jvp(lambda params: functional_call(net, params, x), (params,), ({name: gs.ones_like(v) for name, v in params.items()},))
    step = 1e-6
    moved = [functional_call(net, {name: value + s * step for name, value in params.items()}, x) for s in (1, -1)]
    np.testing.assert_allclose(tangent.detach().numpy(), ((moved[0] - moved[1]) / (2 * step)).detach().numpy(), rtol=1e-6, atol=1e-8)


def test_an_ensemble_is_a_batch():
    models, x = [mlp() for _ in range(3)], gs.randn(5, 2)
    params, buffers = stack_module_state(models)
    assert all(value.is_leaf and value.requires_grad and value.shape[0] == 3 for value in params.values()) and buffers == {}
    base = models[0]
    found = gs.vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)
    for number, model in enumerate(models):
        close(found[number], model(x))
    found.sum().backward()
    models[1](x).sum().backward()
    close(params["0.weight"].grad[1], models[1][0].weight.grad)


def test_buffers_are_exchanged_and_written():
    net = nn.BatchNorm1d(2)
    mean = gs.zeros(2)
    functional_call(net, {"running_mean": mean}, gs.ones((4, 2)))
    assert mean.tolist() == [0.1, 0.1] and net.running_mean.tolist() == [0, 0]
    params, buffers = stack_module_state([nn.BatchNorm1d(2) for _ in range(3)])
    assert buffers["running_var"].shape == (3, 2) and buffers["num_batches_tracked"].tolist() == [0, 0, 0]


def test_tied_weights():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x, w = gs.ones((1, 2)), gs.full((2, 2), 2.0)
    assert functional_call(net, {"0.weight": w}, x).tolist() == [[16, 16]]
    close(functional_call(net, {"0.weight": w}, x, tie_weights=False), gs.full((1, 2), 4.0) @ net[1].weight.T)
    assert net[0].weight is net[1].weight


def test_what_is_given_stays_what_it_was():
    first = gs.nn.Linear(2, 2)
    net = gs.nn.Sequential(first, gs.nn.Linear(2, 2))
    net[1].weight = first.weight
    given = {"0.weight": gs.eye(2) * 2}
    found = functional_call(net, given, gs.ones((1, 2)))
    np.testing.assert_allclose(found.detach(), (gs.ones((1, 2)) * 2 + first.bias).detach() * 2 + net[1].bias.detach())  # which is tied
    assert list(given) == ["0.weight"] and net[0].weight is first.weight is net[1].weight


def test_what_does_not_fit_is_refused():
    net, x = mlp(), gs.ones((1, 2))
    with pytest.raises(KeyError, match="Sequential has no parameter or buffer '0.wait'"):
        functional_call(net, {"0.wait": gs.ones(1)}, x)
    with pytest.raises(RuntimeError, match="Missing key.*'0.bias'"):
        functional_call(net, {"0.weight": gs.ones((4, 2))}, x, strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(net, ({"0.bias": gs.ones(4)}, {"0.bias": gs.ones(4)}), x)
    for models, words in (([], "at least one model"), ([mlp(), mlp().eval()], "same training/eval mode"), ([mlp(), nn.ReLU()], "same class")):
        with pytest.raises(RuntimeError, match=words):
            stack_module_state(models)
    models = [mlp(), mlp()]
    models[1][0].bias.requires_grad_(False)
    with pytest.raises(RuntimeError, match="'0.bias' to have the same .requires_grad in all models"):
        stack_module_state(models)


def test_keywords_and_hooks():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(gs.ones(()))

        def forward(self, x, *, shift=0.0):
            return self.factor * x + shift

    net, said = Scaled(), []
    net.register_forward_hook(lambda module, args, result: said.append(result.item()))
    assert functional_call(net, {"factor": gs.asarray(3.0)}, gs.asarray(2.0), {"shift": 1.0}).item() == 7 and said == [7]
