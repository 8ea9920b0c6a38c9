"""Measure each module of kernels beside the NumPy or SciPy expression that it replaces.

    python -m benchmarks kernels                       every module
    python -m benchmarks kernels reductions matmul     modules with one of the words in their name

The two run in turns, on one thread unless `THREADS` says otherwise.  The output has the medians, in microseconds, and the median
of the ratios of the turns, which is reliable on a busy machine, too.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from timeit import Timer
from typing import Any

import numpy as np

from .turns import in_turns

TURNS = 15
SECONDS = 0.005  # approximate time of a turn

# Module: (kernel, replaced expression); `elements`, `matrices` and `images` define the names.
CASES = {
    "elementwise.choice_loops": [
        ("kernels.where(m, x, a)", "np.where(m, x, a)"),
        ("kernels.clip(x, -1, 1)", "np.clip(x, -1, 1)"),
        ("kernels.masked_fill_(y, m, 0.5)", "np.copyto(y, 0.5, where=m)"),
        ("kernels.divide_or_zero(x, a)", "choice.divide_or_zero(x, a)"),
        ("kernels.hardswish(x)", "choice.hardswish(x)"),
        ("kernels.leaky_relu(x, 0.01)", "choice.leaky_relu(x, 0.01)"),
    ],
    "elementwise.elementwise_loops": [
        ("kernels.logit(u)", "elementwise.logit(u)"),
        ("kernels.sinc(x, 0)", "elementwise.sinc(x, 0)"),
        ("kernels.xlogy(u, u)", "elementwise.xlogy(u, u)"),
    ],
    "elementwise.error_function": [("kernels.erf(x)", "scipy.special.erf(x)")],
    "elementwise.logistic": [
        ("kernels.sigmoid(x)", "1 / (1 + np.exp(-x))"),
        ("kernels.logaddexp(x, a)", "np.logaddexp(x, a)"),
    ],
    "elementwise.powers": [("kernels.power(x, 3)", "np.power(x, 3)")],
    "elementwise.slopes_loops": [
        ("kernels.atan_slope(x)", "slopes.atan_slope(x)"),
        ("kernels.direction(x, a)", "slopes.direction(x, a)"),
    ],
    "convolution.convolution_loops": [
        ("kernels.convolve(x, w, None, (1, 1), (0, 0), (1, 1), 1)", "np.einsum('nchwij,ocij->nohw', windows, w, optimize=True)")
    ],
    "convolution.pooling_loops": [("kernels.max_pool(x, (2, 2), half, (2, 2), (0, 0), (1, 1))", "pairs.max((3, 5))")],
    "indexing.basic_index": [("kernels.getitem(x, (slice(1, None), None))", "x[1:, None]")],
    "indexing.gathering_loops": [
        ("kernels.take_along_axis(x, across, 0)", "np.take_along_axis(x, across, 0)"),
        ("kernels.take(x, places, 0)", "np.take(x, places, 0)"),
    ],
    "indexing.scattering_loops": [
        ("kernels.index_add_(y, 0, places, a)", "np.add.at(y, places, a)"),
        ("kernels.scatter_add_(y, 0, across, a)", "np.add.at(y, (across, np.arange(y.shape[1])), a)"),
    ],
    "loops.copying": [("kernels.copy_into(y[1:], x[1:])", "np.copyto(y[1:], x[1:])")],
    "joining.joining_loops": [
        ("kernels.stack([x, a], 0)", "np.stack([x, a])"),
        ("kernels.concatenate([x, a], 0)", "np.concatenate([x, a])"),
    ],
    "loops.axes": [("kernels.broadcast_to(x, (3, *x.shape))", "np.broadcast_to(x, (3, *x.shape))")],
    "matrices.cholesky": [
        ("kernels.cholesky(s)", "np.linalg.cholesky(s)"),
        ("kernels.cholesky_backward(t, b)", "expressions.cholesky_backward(t, b)"),
    ],
    "matrices.matmul": [("kernels.matmul(x, a)", "np.matmul(x, a)")],
    "matrices.solve_det_cholesky": [
        ("kernels.inv(x)", "np.linalg.inv(x)"),
        ("kernels.solve(x, b)", "np.linalg.solve(x, b)"),
        ("kernels.det(x)", "np.linalg.det(x)"),
    ],
    "matrices.solve_triangular": [
        ("kernels.solve_triangular(t, b, True, False)", "scipy.linalg.solve_triangular(t, b, lower=True)")
    ],
    "matrices.triangles": [
        ("kernels.tril(x, 0)", "np.tril(x)"),
        ("kernels.hermitian_part(x)", "(x + x.T) / 2"),
    ],
    "fusion_engine.program": [("formula(x, a)", "x * a + np.tanh(x) * (1 - a)")],
    "fusion_engine.ufunc": [("add(x, a)", "np.add(x, a)")],
    "fusion_engine.vectors": [("exp(x)", "np.exp(x)"), ("sinh(x)", "np.sinh(x)")],
    "reductions.reductions_loops": [
        ("kernels.sum_along(x, None, False)", "np.sum(x)"),
        ("kernels.sum_along(x, 0, False)", "np.sum(x, axis=0)"),
        ("kernels.max_along(x, -1, False)", "np.max(x, axis=-1)"),
        ("kernels.mean_along(x, -1, False)", "np.mean(x, axis=-1)"),
    ],
    "reductions.scans_loops": [
        ("kernels.cumsum(x, -1, False)", "np.cumsum(x, axis=-1)"),
        ("kernels.cumprod(x, 0, False)", "np.cumprod(x, axis=0)"),
        ("kernels.prod(x, 0, False)", "np.prod(x, axis=0)"),
    ],
    "reductions.sorting_loops": [
        ("kernels.topk(x, 5, -1, True)", "np.take_along_axis(x, np.argpartition(-x, 4, -1)[:, :5], -1)")
    ],
    "row_wise.attention_loops": [
        ("kernels.attention(few, few, few, None)", "attention.attention(few, few, few, None)"),
        ("kernels.attention_backward(few, few, few, few, None)", "attention.attention_backward(few, few, few, few, None)"),
    ],
    "row_wise.class_losses_loops": [
        ("kernels.cross_entropies(x, classes, 1, -100)", "class_losses.cross_entropies(x, classes, 1, -100)"),
        ("kernels.kept_mean(losses, classes, -100)", "class_losses.kept_mean(losses, classes, -100)"),
        ("kernels.kept_mean_backward(one, classes, -100)", "class_losses.kept_mean_backward(one, classes, -100)"),
    ],
    "row_wise.moments_loops": [
        ("kernels.std(x, -1, 0, False)", "np.std(x, axis=-1)"),
        ("kernels.euclidean_norm(x, -1, False)", "np.linalg.norm(x, axis=-1)"),
    ],
    "row_wise.normalisers_loops": [("kernels.standardize(x, -1, 1e-5, True)", "normalisers.standardize(x, -1, 1e-5, True)")],
    "special_functions.gamma_loops": [
        ("kernels.lgamma(a)", "scipy_backed.lgamma(a)"),
        ("kernels.polygamma(1, a)", "scipy_backed.polygamma(1, a)"),
    ],
    "row_wise.softmax_loops": [
        ("kernels.softmax(x, -1)", "softmax.softmax(x, -1)"),
        ("kernels.softmax(x, 0)", "softmax.softmax(x, 0)"),
        ("kernels.logsumexp(x, -1, False)", "softmax.logsumexp(x, -1, False)"),
    ],
}
THREADS = {"kernels.take(x, places, 0)": 2}  # on one thread it calls NumPy's


def elements(n: int) -> dict[str, Any]:
    """Square arrays of float32, indices into them, and elementwise programs."""
    from gradspec.kernels.fusion_engine.program import Program
    from gradspec.kernels.fusion_engine.ufunc import Ufunc

    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, n)).astype(np.float32)
    formula = "y = add(multiply(x, a), multiply(tanh(x), subtract(1, a)))"
    return {
        "x": x, "a": np.abs(x) + 1, "y": np.zeros_like(x), "m": x > 0, "losses": np.abs(x[0]), "one": np.ones((), np.float32),
        "u": 1 / (1 + np.exp(-x)), "few": x[:, :32],
        "places": rng.integers(0, n, n), "across": rng.integers(0, n, (n, n)), "classes": rng.integers(0, n, n),
        "add": Ufunc(np.add, "add"), "formula": Program("x, a -> y", formula),
        "exp": Ufunc(np.exp, "exp"), "sinh": Ufunc(np.sinh, "sinh"),
    }  # fmt: skip


def matrices(n: int) -> dict[str, Any]:
    """A well conditioned matrix, a positive definite matrix, a triangular matrix and right-hand sides."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, n)).astype(np.float32) + n * np.eye(n, dtype=np.float32)
    return {"x": x, "s": x @ x.T, "t": np.tril(x), "b": rng.normal(size=(n, n)).astype(np.float32)}


def images(n: int) -> dict[str, Any]:
    """A batch of images, its windows for a kernel of 3 x 3, and its blocks of 2 x 2."""
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=shape).astype(np.float32) for shape in ((n, 2 * n, 4 * n, 4 * n), (4 * n, 2 * n, 3, 3)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return {"x": x, "w": w, "windows": windows, "half": (2 * n, 2 * n), "pairs": x.reshape(n, 2 * n, 2 * n, 2, 2 * n, 2)}


def settings(module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Small and large operands by name."""
    if module.startswith("convolution."):
        for n in (2, 8):
            yield f"{n} x {2 * n} x {4 * n} x {4 * n}", images(n)
    elif module in ("matrices.cholesky", "matrices.solve_det_cholesky", "matrices.solve_triangular"):
        for n in (4, 500):
            yield f"{n} x {n}", matrices(n)
    else:
        for n in (8, 1000):
            yield f"{n} x {n}", elements(n)


def compared(ours: str, theirs: str, names: dict[str, Any]) -> tuple[float, float, float]:
    """Microseconds of both calls, and their ratio: medians over turns."""
    timers = [Timer(ours, globals=names), Timer(theirs, globals=names)]
    turns = in_turns(timers, SECONDS, TURNS)
    medians = (statistics.median(turn[side] * 1e6 for turn in turns) for side in (0, 1))
    return (*medians, statistics.median(a / b for a, b in turns))


def modules() -> dict[str, Any]:
    """Modules and functions that every case may name."""
    import scipy.linalg
    import scipy.special

    from gradspec import kernels
    from gradspec.kernels import expressions
    from gradspec.kernels.elementwise import choice, elementwise, slopes
    from gradspec.kernels.row_wise import attention, class_losses, normalisers, softmax
    from gradspec.kernels.special_functions import scipy_backed

    return {"np": np, "scipy": scipy, "kernels": kernels, "attention": attention, "choice": choice,
            "class_losses": class_losses, "elementwise": elementwise, "expressions": expressions, "normalisers": normalisers,
            "scipy_backed": scipy_backed, "slopes": slopes, "softmax": softmax}  # fmt: skip


def main(words: list[str]) -> int:
    import gradspec

    shared = modules()
    chosen = [module for module in CASES if not words or any(word in module for word in words)]
    if not chosen:
        print(f"no module named {' or '.join(words)}; there are {', '.join(CASES)}", file=sys.stderr)
        return 1
    print("| module | ours | it replaces | operands | us | us | ratio |\n|---|---|---|---|--:|--:|--:|")
    for module in chosen:
        for size, names in settings(module):
            for ours, theirs in CASES[module]:
                gradspec.set_num_threads(THREADS.get(ours, 1))
                mine, other, ratio = compared(ours, theirs, shared | names)
                on = f", {THREADS[ours]} threads" if ours in THREADS else ""
                print(f"| {module} | `{ours}` | `{theirs}` | {size}{on} | {mine:.3g} | {other:.3g} | {ratio:.2f} |", flush=True)
    return 0
