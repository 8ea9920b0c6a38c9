"""The Gaussian process of `gaussian_process` with 256 points."""

from . import gaussian_process
from .gaussian_process import tolerance, with_autograd, with_gradspec, with_jax, with_numpy, with_torch

__all__ = ["inputs", "title", "tolerance", "with_autograd", "with_gradspec", "with_jax", "with_numpy", "with_torch"]

title = "Gaussian-process likelihood and gradient, n = 256, float64"


def inputs():
    return gaussian_process.inputs(256)
