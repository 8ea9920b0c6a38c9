"""Measure a step of `gs.distributed.value_and_grad` on growing numbers of processes.

    python -m benchmarks.processes

Each process has its own processor: BLAS uses one thread.  Speeds are relative to the same step without an executor, one shard
after the other.  The net consists of matrix products; the pendulums are a loop of small operations, whose time is Python's.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import numpy as np  # noqa: E402

import gradspec as gs  # noqa: E402
from gradspec.distributed import value_and_grad  # noqa: E402

ROUNDS, SHARDS = 7, 8


def net(params: dict[str, Any], shard: tuple[np.ndarray, np.ndarray]) -> gs.Tensor:
    """The squared error of a net of two hidden layers on a shard of 512 rows."""
    x, y = shard
    h = gs.tanh(gs.tanh(x @ params["first"]) @ params["second"])
    return ((h @ params["third"] - y) ** 2).sum()


def pendulums(params: dict[str, Any], shard: np.ndarray) -> gs.Tensor:
    """The squared angles after 200 steps of pendulums whose initial angles are the shard."""
    angle, speed = gs.asarray(shard), gs.zeros_like(shard)
    for _ in range(200):
        speed = speed - 0.01 * params["pull"] * gs.sin(angle)
        angle = angle + 0.01 * speed
    return (angle**2).sum()


def cases() -> dict[str, tuple[Callable[..., gs.Tensor], dict[str, np.ndarray], list[Any]]]:
    """Name -> loss, parameters, shards."""
    rng = np.random.default_rng(0)
    sizes = {"first": (64, 256), "second": (256, 256), "third": (256, 1)}
    weights = {name: rng.normal(size=size) / size[0] ** 0.5 for name, size in sizes.items()}
    rows = [(rng.normal(size=(512, 64)), rng.normal(size=(512, 1))) for _ in range(SHARDS)]
    return {
        "net, 512 rows a shard": (net, weights, rows),
        "pendulums, 64 a shard": (pendulums, {"pull": np.array(9.81)}, [rng.normal(size=64) for _ in range(SHARDS)]),
    }


def in_a_row(loss: Callable[..., gs.Tensor], params: dict[str, np.ndarray], shards: list[Any]) -> None:
    for shard in shards:
        gs.value_and_grad(loss)(params, shard)


def main(names: list[str]) -> int:
    counts = sorted({1, 2, os.cpu_count() or 1})
    head = ["a step of 8 shards", "without an executor", *("1 process" if n == 1 else f"{n} processes" for n in counts)]
    print("| " + " | ".join(head) + " |")
    print("|:--|--:|" + "--:|" * len(counts))
    for name, (loss, params, shards) in cases().items():
        executors = [ProcessPoolExecutor(count) for count in counts]
        steps: list[Callable[[], object]] = [lambda loss=loss, params=params, shards=shards: in_a_row(loss, params, shards)]
        for executor, count in zip(executors, counts):
            step = value_and_grad(loss, executor, workers=count)
            steps.append(lambda step=step, params=params, shards=shards: step(params, shards))
        times: list[list[float]] = [[] for _ in steps]
        for _ in range(2 + ROUNDS):  # two warm-up rounds
            for taken, step in zip(times, steps):
                start = time.perf_counter()
                step()
                taken.append(time.perf_counter() - start)
        alone, *others = [statistics.median(taken[2:]) for taken in times]
        print(f"| {name} | {alone * 1e3:.1f} ms | " + " | ".join(f"{alone / other:.2f}" for other in others) + " |")
        for executor in executors:
            executor.shutdown()
    print("\nHow many times as fast as without an executor; medians of interleaved steps.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
