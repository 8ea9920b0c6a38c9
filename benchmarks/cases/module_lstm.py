"""LSTM of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "LSTM of modules, training step, batch 16, 32 steps, 16 inputs, 64 hidden, float32"
tolerance = 1e-3
not_comparable = modules.NOT_COMPARABLE
inputs, with_gradspec, with_torch = modules.case(modules.lstm, (16, 32, 16), 10, 16)
