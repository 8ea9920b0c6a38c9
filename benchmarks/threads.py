"""Measure gradspec's threads beside BLAS's: 1, 2 and 4 of each, in all combinations, on workloads that use both in alternation.

    python -m benchmarks threads                       every workload
    python -m benchmarks threads attention gaussian    workloads with one of the words in their name

Each combination has a process of its own, because BLAS sets its number of threads once.  They run in turns, so that a busy
machine affects all of them.  The output has the time of the best combination in milliseconds, and for each combination the ratio
to it; no ratio should be above 1.2.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

COUNTS = (1, 2, 4)
TURNS = 9
SECONDS = 0.05  # approximate time of a turn


def attention() -> Callable[[], object]:
    """Attention of four heads with 512 vectors of 64, forward and backward."""
    import numpy as np

    import gradspec as gs

    rng = np.random.default_rng(0)
    query, key, value = (gs.tensor(rng.normal(size=(4, 512, 64)).astype(np.float32), requires_grad=True) for _ in range(3))

    def step() -> object:
        y = gs.nn.scaled_dot_product_attention(query, key, value)
        return gs.autograd.grad(y.sum(), [query, key, value])

    return step


def convolution() -> Callable[[], object]:
    """Two convolutions of a batch of images, with a relu between them."""
    import numpy as np

    import gradspec as gs

    rng = np.random.default_rng(0)
    x = gs.tensor(rng.normal(size=(8, 16, 32, 32)).astype(np.float32))
    weights = [gs.tensor(rng.normal(size=(16, 16, 3, 3)).astype(np.float32) / 12, requires_grad=True) for _ in range(2)]

    def step() -> object:
        y = gs.nn.conv2d(gs.nn.relu(gs.nn.conv2d(x, weights[0], padding=1)), weights[1], padding=1)
        return gs.autograd.grad((y * y).sum(), weights)

    return step


def layer_norm() -> Callable[[], object]:
    """Four matrix products, each result normalised to mean 0 and variance 1."""
    import numpy as np

    import gradspec as gs

    rng = np.random.default_rng(0)
    x = gs.tensor(rng.normal(size=(512, 512)).astype(np.float32))
    weights = [gs.tensor(rng.normal(size=(512, 512)).astype(np.float32), requires_grad=True) for _ in range(4)]

    def step() -> object:
        y = x
        for weight in weights:
            y = gs.nn.layer_norm(y @ weight, (512,))
        return gs.autograd.grad((y * y).sum(), weights)

    return step


def gaussian_process() -> Callable[[], object]:
    """The Gaussian-process likelihood of 256 points and its gradient."""
    import numpy as np

    import gradspec as gs

    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 4))
    squared, y = gs.tensor(((x[:, None] - x) ** 2).sum(-1)), gs.tensor(rng.normal(size=(256, 1)))
    scale = gs.tensor(0.3, requires_grad=True)

    def step() -> object:
        factor = gs.linalg.cholesky(gs.exp(-0.5 * squared * gs.exp(scale)) + 0.1 * gs.eye(256))
        whitened = gs.linalg.solve_triangular(factor, y, lower=True)
        return gs.autograd.grad(0.5 * (whitened * whitened).sum() + gs.log(gs.diagonal(factor)).sum(), [scale])

    return step


def mlp() -> Callable[[], object]:
    """Three layers of 512 with tanh, a batch of 256."""
    import numpy as np

    import gradspec as gs

    rng = np.random.default_rng(0)
    x = gs.tensor(rng.normal(size=(256, 512)).astype(np.float32))
    weights = [gs.tensor(rng.normal(size=(512, 512)).astype(np.float32) / 20, requires_grad=True) for _ in range(3)]

    def step() -> object:
        y = x
        for weight in weights:
            y = gs.tanh(y @ weight)
        return gs.autograd.grad((y * y).mean(), weights)

    return step


WORKS = (attention, convolution, layer_norm, gaussian_process, mlp)


class Combination:
    """One process with given numbers of gradspec's threads and of BLAS's."""

    def __init__(self, name: str, ours: int, blas: int):
        variables = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
        environment = os.environ | {variable: str(blas) for variable in variables}
        command = [sys.executable, "-m", "benchmarks.threads", name, str(ours)]
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.times: list[float] = []

    def turn(self) -> None:
        assert self.process.stdin and self.process.stdout
        print("go", file=self.process.stdin, flush=True)
        self.times.append(float(self.process.stdout.readline()))

    def end(self) -> None:
        self.process.communicate()


def compared(name: str, turns: int = TURNS) -> dict[tuple[int, int], float]:
    """The median seconds of a step for each number of gradspec's threads and of BLAS's."""
    combinations = {(ours, blas): Combination(name, ours, blas) for ours in COUNTS for blas in COUNTS}
    try:
        for _ in range(turns):
            for combination in combinations.values():
                combination.turn()
    finally:
        for combination in combinations.values():
            combination.end()
    return {key: statistics.median(combination.times) for key, combination in combinations.items()}


def main(words: list[str]) -> int:
    chosen = [work.__name__ for work in WORKS if not words or any(word in work.__name__ for word in words)]
    if not chosen:
        print(f"no work named {' or '.join(words)}; there are {', '.join(work.__name__ for work in WORKS)}", file=sys.stderr)
        return 1
    columns = [(ours, blas) for ours in COUNTS for blas in COUNTS]
    print(f"| work | best, ms | {' | '.join(f'{ours} ours, {blas} of BLAS' for ours, blas in columns)} |")
    print(f"|---|--:|{'--:|' * len(columns)}")
    for name in chosen:
        seconds = compared(name)
        best = min(seconds.values())
        print(f"| {name} | {best * 1e3:.3g} | {' | '.join(f'{seconds[key] / best:.2f}' for key in columns)} |", flush=True)
    return 0


def serve(name: str, ours: int) -> None:
    """Run a turn for each line of stdin, and print the seconds of a step."""
    import gradspec

    gradspec.set_num_threads(ours)
    step = next(work for work in WORKS if work.__name__ == name)()
    step()
    start = perf_counter()
    step()
    loops = max(1, round(SECONDS / (perf_counter() - start)))
    for _ in sys.stdin:
        start = perf_counter()
        for _loop in range(loops):
            step()
        print((perf_counter() - start) / loops, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
