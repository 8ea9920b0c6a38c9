"""LSTM of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "LSTM of modules, training step, batch 16, 32 steps, 16 inputs, 64 hidden, float32"
tolerance = 1e-3
not_comparable = dict.fromkeys(("jax", "autograd"), "has no modules of its own")


def inputs():
    return modules.inputs((16, 32, 16), 10, 16)


def with_gradspec(x, classes):
    import gradspec as gs

    return modules.training(gs, modules.lstm, x, classes)


def with_torch(x, classes):
    import torch

    return modules.training(torch, modules.lstm, x, classes)
