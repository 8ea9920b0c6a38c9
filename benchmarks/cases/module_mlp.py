"""MLP of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "MLP of modules, training step, batch 64, 64-128-128-10 with layer norm, float32"
tolerance = 1e-3
not_comparable = modules.NOT_COMPARABLE
inputs, with_gradspec, with_torch = modules.case(modules.mlp, (64, 64), 10, 64)
