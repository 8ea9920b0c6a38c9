"""GPT block of modules: one training step, through layers and an optimiser of gradient descent with momentum."""

from .. import modules

title = "GPT block of modules, training step, 8 x 64 positions, width 64, 4 heads, float32"
tolerance = 1e-3
not_comparable = modules.NOT_COMPARABLE
inputs, with_gradspec, with_torch = modules.case(modules.gpt_block, (8, 64, 64), 32, 512)
