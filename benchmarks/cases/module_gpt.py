"""GPT block of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "GPT block of modules, training step, 8 x 64 positions, width 64, 4 heads, float32"
tolerance = 1e-3
not_comparable = dict.fromkeys(("jax", "autograd"), "has no modules of its own")


def inputs():
    return modules.inputs((8, 64, 64), 32, 512)


def with_gradspec(x, classes):
    import gradspec as gs

    return modules.training(gs, modules.gpt_block, x, classes)


def with_torch(x, classes):
    import torch

    return modules.training(torch, modules.gpt_block, x, classes)
