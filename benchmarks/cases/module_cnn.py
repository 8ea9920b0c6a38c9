"""CNN of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "CNN of modules, training step, batch 16 of 28 x 28, 8 and 16 channels with batch norm, float32"
tolerance = 1e-3
not_comparable = dict.fromkeys(("jax", "autograd"), "has no modules of its own")


def inputs():
    return modules.inputs((16, 1, 28, 28), 10, 16)


def with_gradspec(x, classes):
    import gradspec as gs

    return modules.training(gs, modules.cnn, x, classes)


def with_torch(x, classes):
    import torch

    return modules.training(torch, modules.cnn, x, classes)
