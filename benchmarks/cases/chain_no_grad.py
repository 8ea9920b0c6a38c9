"""The same thousand operations without gradients: the overhead of a tensor over its array."""

import numpy as np

from .chain import chain, inputs

__all__ = ["inputs"]
title = "the same chain without gradients"


def with_gradspec(*arrays):
    import gradspec as gs

    x, w, b = (gs.tensor(array) for array in arrays)
    return lambda: (chain(x, w, b),)


def with_torch(*arrays):
    import torch

    x, w, b = (torch.tensor(array) for array in arrays)
    return lambda: (chain(x, w, b),)


def with_jax(*arrays):
    import jax

    x, w, b = jax.device_put(arrays)
    forward = jax.jit(chain)
    return lambda: (jax.block_until_ready(forward(x, w, b)),)


def with_autograd(x, w, b):
    return lambda: (chain(x, w, b),)


def with_numpy(x, w, b):
    out = np.empty_like(x)

    def step():
        np.multiply(x, w, out)
        np.add(out, b, out)
        for _ in range(499):
            np.multiply(out, w, out)
            np.add(out, b, out)
        return (out,)

    return step
