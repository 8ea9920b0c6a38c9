"""A training step that is recorded once and replayed: the same losses, to the last bit.

    python examples/replay.py
"""

from time import perf_counter

import numpy as np

import gradspec as gs

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 8)).astype(np.float32)
y = np.sin(x.sum(axis=1, keepdims=True))


def training():
    """A network and its optimiser, as a step that returns the loss."""
    draws = np.random.default_rng(1)
    w, v = (gs.tensor(draws.normal(size=shape).astype(np.float32) / 4, requires_grad=True) for shape in [(8, 16), (16, 1)])
    optimizer = gs.optim.Adam([w, v], lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = gs.nn.mse_loss(gs.tanh(x @ w) @ v, y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def run(step, count=400):
    start = perf_counter()
    losses = [step(gs.asarray(x), gs.asarray(y)) for _ in range(count)]
    return [loss.item() for loss in losses], perf_counter() - start


eager, seconds = run(training())
compiled = gs.compile(training())
replayed, again = run(compiled)
print(f"loss {eager[0]:.3f} to {eager[-1]:.3f}, the same when replayed: {eager == replayed}")
print(f"{seconds / again:.1f} times as fast, with what writing it down took")
print(str(compiled.program).splitlines()[-1].strip())
