"""CNN of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "CNN of modules, training step, batch 16 of 28 x 28, 8 and 16 channels with batch norm, float32"
tolerance = 1e-3
not_comparable = modules.NOT_COMPARABLE
inputs, with_gradspec, with_torch = modules.case(modules.cnn, (16, 1, 28, 28), 10, 16)
