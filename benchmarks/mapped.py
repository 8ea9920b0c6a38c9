"""Measure transforms beside the computations that they replace: per-sample gradients, many problems, Laplacians.

    python -m benchmarks.mapped

Each case runs in turns with its counterpart, on one thread, in gradspec, in gradspec compiled, and in PyTorch and JAX if they
are installed.  Times are processor time, the minimum of the turns, so that a busy machine changes the ratios little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from timeit import Timer
from typing import Any

from .turns import in_turns

Pair = tuple[Callable[[], Any], Callable[[], Any]]
LIBRARIES = ("gradspec", "compiled", "torch", "jax")


def library(name: str) -> tuple[Any, Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """The array namespace of a library, its transforms, its compiler, and its function that waits for a result."""
    if name == "torch":
        import torch

        torch.set_num_threads(1)
        return torch, torch.func, lambda f: f, lambda y: y
    if name == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.numpy, jax, jax.jit, jax.block_until_ready
    import gradspec as gs

    return gs, gs, gs.compile if name == "compiled" else lambda f: f, lambda y: y


def per_sample(name: str) -> Pair:
    """Gradients of each of 128 examples, and the gradient of their sum."""
    from .cases.per_sample import inputs, loss

    xp, func, compiled, wait = library(name)
    args = tuple(map(xp.asarray, inputs()))

    def whole(a: Any, b: Any, x: Any, y: Any) -> Any:
        return xp.sum((xp.tanh(x @ a.T) @ b.T - y) ** 2)

    gradient = compiled(func.grad(whole, (0, 1)))
    each = compiled(func.vmap(func.grad(lambda *args: loss(xp, *args), (0, 1)), (None, None, 0, 0)))
    return lambda: wait(each(*args)), lambda: wait(gradient(*args))


def many_problems(name: str) -> Pair:
    """Gradients of 1000 problems of eight unknowns, and a loop over them."""
    from .cases.many_problems import function, inputs

    xp, func, compiled, wait = library(name)
    points = xp.asarray(inputs()[0])
    rows = [points[i] for i in range(len(points))]
    each, one = compiled(func.vmap(func.grad(lambda x: function(xp, x)))), compiled(func.grad(lambda x: function(xp, x)))
    return lambda: wait(each(points)), lambda: [wait(one(row)) for row in rows]


def laplacian(name: str) -> Pair:
    """The Laplacian of a network of 16 inputs at 256 points (in other libraries, the trace of the Hessian), and the network."""
    from .cases.laplacian import function, inputs

    xp, func, compiled, wait = library(name)
    points, *weights = map(xp.asarray, inputs())

    def network(x: Any) -> Any:
        return function(xp, x, weights)

    def of_hessian(x: Any) -> Any:
        return xp.trace(func.hessian(network)(x))

    second = func.func.laplacian(network) if name in ("gradspec", "compiled") else of_hessian
    each = compiled(func.vmap(second))
    *hidden, last = weights

    def batch(x: Any) -> Any:
        for weight in hidden:
            x = xp.tanh(x @ weight)
        return (x @ last)[:, 0]

    value = compiled(batch)
    return lambda: wait(each(points)), lambda: wait(value(points))


CASES = {
    "per-sample gradients / gradient of the batch": per_sample,
    "vmap(grad) of 1000 problems / the loop": many_problems,
    "Laplacian of an MLP / the MLP": laplacian,
}


def measured() -> Iterator[tuple[str, str, float, float]]:
    """Case, library, and the seconds of the transform and of its counterpart."""
    for title, case in CASES.items():
        for name in LIBRARIES:
            if find_spec(name.replace("compiled", "gradspec")) is not None:
                timers = [Timer(call, timer=time.process_time) for call in case(name)]
                yield title, name, *map(min, zip(*in_turns(timers, 0.05, 15, most=10)))


def main() -> None:
    for title, name, transform, counterpart in measured():
        figures = f"{transform * 1e3:9.3f} ms / {counterpart * 1e3:9.3f} ms = {transform / counterpart:7.3f}"
        print(f"{title:48} {name:9} {figures}", flush=True)


if __name__ == "__main__":
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    main()
