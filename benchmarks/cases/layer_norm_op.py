"""Layer normalisation by each library's own operator, if it has one."""

from .layer_norm import inputs, with_numpy  # noqa: F401 (the harness asks for them)

title = "layer normalisation as an operator, and gradients, 128 x 512 float32"
not_comparable = {"jax": "JAX has no such operator", "autograd": "HIPS autograd has no such operator"}


def with_gradspec(x, scale, shift, weights):
    import gradspec as gs

    wanted, weights = [gs.tensor(array, requires_grad=True) for array in (x, scale, shift)], gs.tensor(weights)

    def step():
        x, scale, shift = wanted
        value = gs.sum(gs.nn.layer_norm(x, (x.shape[-1],), scale, shift) * weights)
        return value, *gs.autograd.grad(value, wanted)

    return step


def with_torch(x, scale, shift, weights):
    import torch

    wanted, weights = [torch.tensor(array, requires_grad=True) for array in (x, scale, shift)], torch.tensor(weights)

    def step():
        x, scale, shift = wanted
        value = torch.sum(torch.nn.functional.layer_norm(x, (x.shape[-1],), scale, shift) * weights)
        return value, *torch.autograd.grad(value, wanted)

    return step
