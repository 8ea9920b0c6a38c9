"""Gradients that are put off and computed as one program have the bits of one call after another, for every sample of every entry."""

import numpy as np

import gradspec as gs
from gradspec.autograd import grad
from gradspec.kernels.fusion_engine import fusion

from .questions import of_samples


@of_samples(lambda op: op.inputs)
def test_what_is_put_off_has_the_bits_of_what_is_not(case):
    """What arrives at the operator has been put off, and what it gives may be."""
    found = []
    before = fusion.set_large(0)
    try:
        for large in (0, 1 << 60):
            fusion.set_large(large)
            leaves = case.leaves()
            outputs = [y for y in case(*[leaf * 1.0 for leaf in leaves]) if y.requires_grad] if leaves else []
            if outputs:
                total = sum(gs.sum(gs.real(y * y)) for y in outputs)
                found.append([None if g is None else (g.dtype, g.shape, np.asarray(g).tobytes())
                              for g in grad(total, leaves, allow_unused=True)])  # fmt: skip
    finally:
        fusion.set_large(before)
    assert not found or found[0] == found[1]
