"""Checkpointing on a deep chain: the memory that it saves, and its cost in time.

Run it with `python examples/checkpoint.py`.
"""

import time
import tracemalloc

import numpy as np

import gradspec as gs
from gradspec.autograd.checkpoint import checkpoint_sequential

LAYERS = 64
rng = np.random.default_rng(0)
weights = [gs.tensor(rng.normal(size=(64, 64)) / 8, requires_grad=True) for _ in range(LAYERS)]
inputs = gs.tensor(rng.normal(size=(1024, 64)))


def layer(weight):
    return lambda x: gs.tanh(x @ weight)


def train_step(segments):
    """The gradients of all weights, through a chain that is cut into segments; only the inputs of segments are kept."""
    for weight in weights:
        weight.grad = None
    y = checkpoint_sequential([layer(weight) for weight in weights], segments, inputs, use_reentrant=False)
    (y * y).sum().backward()
    return [weight.grad.numpy() for weight in weights]


reference = train_step(1)
print("segments   peak of memory      time")
for segments in (1, 2, 4, 8, 16, 32):
    start = time.perf_counter()
    gradients = train_step(segments)
    elapsed = time.perf_counter() - start
    assert all(map(np.array_equal, gradients, reference))
    del gradients

    tracemalloc.start()
    train_step(segments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{segments:8}   {peak / 1e6:10.1f} MB   {1000 * elapsed:7.1f} ms")
