"""MLP of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "MLP of modules, training step, batch 64, 64-128-128-10 with layer norm, float32"
tolerance = 1e-3
not_comparable = dict.fromkeys(("jax", "autograd"), "has no modules of its own")


def inputs():
    return modules.inputs((64, 64), 10, 64)


def with_gradspec(x, classes):
    import gradspec as gs

    return modules.training(gs, modules.mlp, x, classes)


def with_torch(x, classes):
    import torch

    return modules.training(torch, modules.mlp, x, classes)
