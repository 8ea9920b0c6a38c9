"""The cost of a profile for an operator: the products of `multiply`, recorded by the profiler."""

import numpy as np

title = "one recorded multiply under a profile, 8 float32"
units = 10_000
multiple_of = "multiply"
not_comparable = {"jax": "jitted code has no operators at run time", "autograd": "it has no profiler"}


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=8).astype(np.float32), rng.normal(size=8).astype(np.float32)


def multiply(a, b, profile):
    with profile:
        for _ in range(units):
            y = a * b
    return (y,)


def with_gradspec(a, b):
    import gradspec as gs

    a, b = gs.tensor(a, requires_grad=True), gs.tensor(b, requires_grad=True)
    return lambda: multiply(a, b, gs.profiler.profile())


def with_torch(a, b):
    import torch

    a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    return lambda: multiply(a, b, torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]))
