"""Measure the errors and the cost of elementary functions and their derivatives in single precision, beside jitted JAX's.

    python -m benchmarks accuracy

Errors are in units of the last place of the exact value, computed in double precision, for numbers between -9 and 9, most of
them near 0.  `ns` is processor time per number, the minimum of many turns in one thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

TURNS = 15
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {  # the exact function, and its derivative
    "tanh": (np.tanh, lambda x: np.cosh(x) ** -2.0),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / ((1 + np.exp(-x)) * (1 + np.exp(x)))),
    "exp": (np.exp, np.exp),
    "log1p": (np.log1p, lambda x: 1 / (1 + x)),
}


def errors(y: np.ndarray, exact: np.ndarray) -> str:
    """The largest and the mean error."""
    away = np.abs(y.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    return f"{away.max():12.2f}{away.mean():12.3f}"


def least(functions: list[Callable[[], Any]]) -> list[float]:
    """Processor time of each, in turns."""
    found = [float("inf")] * len(functions)
    for _ in range(TURNS):
        for number, function in enumerate(functions):
            begun = time.process_time()
            function()
            found[number] = min(found[number], time.process_time() - begun)
    return found


def main() -> int:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import gradspec as gs

    try:
        import jax
    except ImportError:
        print("JAX is missing: python -m benchmarks.environments")
        return 1
    gs.set_num_threads(1)
    rng = np.random.default_rng(0)
    both = np.concatenate([rng.normal(size=700_000), rng.uniform(-9, 9, 300_000)]).astype(np.float32)
    print(f"{'':24}{'largest':>12}{'mean':>12}{'ns':>8}{'jax: largest':>16}{'mean':>12}{'ns':>8}")
    for name, exact in FUNCTIONS.items():
        numbers = np.abs(both) if name == "log1p" else both
        theirs = getattr(jax.numpy, name, None) or getattr(jax.nn, name)
        x, y = gs.tensor(numbers, requires_grad=True), jax.device_put(numbers)
        ours = getattr(gs, name)
        one, ones = gs.ones_like(x), jax.numpy.ones_like(y)
        value, slope = jax.jit(theirs), jax.jit(lambda y, ones, theirs=theirs: jax.vjp(theirs, y)[1](ones)[0])
        recorded = ours(x)
        with np.errstate(all="ignore"):
            rows = {
                name: (lambda x=x, ours=ours: ours(x.detach()), lambda value=value, y=y: value(y).block_until_ready()),
                f"derivative of {name}": (
                    lambda recorded=recorded, x=x, one=one: gs.autograd.grad(recorded, x, one, retain_graph=True)[0],
                    lambda slope=slope, y=y, ones=ones: slope(y, ones).block_until_ready(),
                ),
            }
            for (row, pair), right in zip(rows.items(), exact):
                wanted = right(numbers.astype(np.float64))
                found = [np.asarray(pair[0]().numpy()), np.asarray(pair[1]())]
                times = [1e9 * seconds / numbers.size for seconds in least(list(pair))]
                print(f"{row:24}{errors(found[0], wanted)}{times[0]:8.2f}    {errors(found[1], wanted)}{times[1]:8.2f}")
    return 0
