"""The training step of `mlp_small` with large layers, so that the matrix products dominate."""

from . import mlp_small
from .mlp_small import with_autograd, with_gradspec, with_jax, with_numpy, with_torch

__all__ = ["with_autograd", "with_gradspec", "with_jax", "with_numpy", "with_torch"]
title = "MLP training step, batch 128, 512-512-512-10, float32"


def inputs():
    return mlp_small.inputs(sizes=(512, 512, 512, 10), batch=128)
