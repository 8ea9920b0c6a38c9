"""Measure in-place operators and steps of optimisers beside PyTorch's, on large arrays.

    python -m benchmarks in_place [SIZE ...]    100000 and 1000000 elements by default, float32

The libraries take turns in one process.  A time is the median of a few turns, and the ratio is to PyTorch's better time of 1 and 2
threads.  Values do not drift towards numbers that a processor computes more slowly.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from timeit import Timer
from typing import Any

import numpy as np

from .turns import in_turns, rest

TURNS, SECONDS = 7, 0.01
WRITES = (
    "x.add_(a)", "x.sub_(a, alpha=0.001)", "x.mul_(0.999)", "x.mul_(one)", "x.div_(one)", "x.neg_()", "x.abs_()", "x.clamp_(-1, 1)",
    "x.relu_()", "x.lerp_(a, 0.5)", "x.addcmul_(a, one, value=0.01)", "x.addcdiv_(a, one, value=0.01)", "x.sin_()", "x.sigmoid_()",
    "x.copy_(a)", "x.zero_()", "x.fill_(0.5)", "x.masked_fill_(mask, 0.5)",
)  # fmt: skip
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("RMSprop", {}),
    ("Adam", {}),
    ("AdamW", {}),
)


def sides(size: int) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each library and its operands."""
    import torch

    import gradspec

    rng = np.random.default_rng(0)
    arrays = {"x": rng.normal(size=size), "a": rng.normal(size=size), "one": rng.uniform(0.999, 1.001, size)}
    masks = {"mask": rng.random(size) < 0.5}
    return {
        library.__name__: (library, {name: library.tensor(array.astype("f4")) for name, array in arrays.items()}
                           | {name: library.tensor(array) for name, array in masks.items()})
        for library in (gradspec, torch)
    }  # fmt: skip


def step(library: Any, rule: str, options: dict[str, Any], size: int) -> Callable[[], Any]:
    """A step with one parameter."""
    rng = np.random.default_rng(0)
    param = library.tensor(rng.normal(size=size).astype("f4"), requires_grad=True)
    param.grad = library.tensor(rng.normal(size=size).astype("f4"))
    return getattr(library.optim, rule)([param], lr=1e-3, **options).step


def main(words: list[str]) -> int:
    sizes = [int(word) for word in words] or [100_000, 1_000_000]
    print("| work | elements | gradspec, us | PyTorch, 1 thread | 2 threads | ratio |\n|:--|--:|--:|--:|--:|--:|", flush=True)
    ratios = []
    for size in sizes:
        found = sides(size)
        torch = found["torch"][0]

        def begin(threads: int, torch: Any = torch) -> None:
            torch.set_num_threads(threads)
            rest()

        works = [(text, {name: (text, names) for name, (_, names) in found.items()}) for text in WRITES]
        for rule, options in RULES:
            shown = f"{rule}({', '.join(f'{key}={value}' for key, value in options.items())}).step()"
            works.append(
                (shown, {name: ("f()", {"f": step(library, rule, options, size)}) for name, (library, _) in found.items()})
            )
        for shown, work in works:
            timers = [
                Timer(work[name][0], f"begin({threads})", globals=work[name][1] | {"begin": begin})
                for name, threads in (("gradspec", 1), ("torch", 1), ("torch", 2))
            ]
            ours, one, two = (statistics.median(times) * 1e6 for times in zip(*in_turns(timers, SECONDS, TURNS), strict=True))
            ratios.append(ours / min(one, two))
            print(f"| `{shown}` | {size} | {ours:.1f} | {one:.1f} | {two:.1f} | {ratios[-1]:.2f} |", flush=True)
    print(f"\nMedian of the ratios: {statistics.median(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
