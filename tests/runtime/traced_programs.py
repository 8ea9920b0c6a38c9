"""Random programs of views, in-place writes, no_grad, detach, levels and passes, traced: the printed program gives the call's bits.

A program is one of `programs`.  It is traced at one input, and its printed text is run at another one, where the function
itself says what comes out: what a trace has taken for a constant, and is none, is found so.

    python -m tests.runtime.traced_programs COUNT --seed SEED

With --numpy the text is the one over NumPy alone, whose elementary functions may differ in their last digits.
"""

import argparse
import sys

import numpy as np

import gradspec as gs
from gradspec import trace
from gradspec.autograd import grad
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held

from .programs import MODES, REFUSED, Machine, level_of


def function_of(seed, mode, steps=9):
    """What a seed stands for, as a function of an array: all values that it computes, and their derivatives."""
    direction, second = np.random.default_rng(seed).normal(size=(2, 2, 3))

    def stepped(primal, x, forward, twice=None):
        machine = Machine(seed, np.array(primal), direction, x, forward, twice)
        for _ in range(steps):
            machine.step()
        total, _, _ = machine.result()
        return machine, total

    def function(primal):
        if mode == "reverse":
            x = gs.tensor(primal, requires_grad=True)
            machine, total = stepped(primal, x, False)
            return [y for y, _ in machine.pool], total, grad(total, x)
        if mode in ("forward", "forward in batches"):
            with level_of(mode) as (push, tangents):
                machine, total = stepped(primal, push(gs.tensor(primal), direction), True)
                return [y for y, _ in machine.pool], total, [t for _, t in tangents(total)]
        if mode.startswith("forward over reverse"):
            with level_of(mode) as (push, tangents):
                leaf = gs.tensor(primal, requires_grad=True)
                machine, total = stepped(primal, push(leaf, second), False)
                (g,) = grad(total, leaf)
                return [y for y, _ in machine.pool], total, g, [t for _, t in tangents(g)]
        x = gs.tensor(primal, requires_grad=True)
        machine, total = stepped(primal, x, False)
        (g,) = grad(total, x, create_graph=True)
        gg = grad((g * direction).sum(), x, allow_unused=True) if g.requires_grad else None
        return [y for y, _ in machine.pool], total, g, gg

    return function


def leaves(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


ULPS = 64  # of numbers around 1, after nine operators and two passes


def run(seed, mode, numpy=False):
    """One program in one mode; what it came to: "equal", "close" (over NumPy) or "refused" (by autograd)."""
    first, other = np.random.default_rng((seed, 1)).normal(size=(2, 2, 3))
    function = function_of(seed, mode)
    with np.errstate(all="ignore"):
        try:
            wanted = function(other.copy())
        except RuntimeError as error:
            if REFUSED in str(error):
                return "refused"
            raise
        taken = trace(function, first)
        found = taken.compiled(numpy)(other.copy())
    outcome = "equal"
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        if held(b) is None or same_bits(held(a), held(b)):
            continue
        outcome = "close"
        if not numpy or not is_close(a, held(b)):
            raise AssertionError(f"the program gives {a}, the function {b}\n{taken.python(numpy)}")
    return outcome


def is_close(a, b):
    """Whether an array of the program over NumPy differs in its last digits alone."""
    same = type(a) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape
    return same and bool(np.all(np.abs(a - b) <= ULPS * np.finfo(b.dtype).eps * np.maximum(1, np.abs(b))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--numpy", action="store_true")
    given = parser.parse_args()
    tally, failures = {}, 0
    for seed in range(given.seed, given.seed + given.count):
        mode = given.mode or MODES[seed % len(MODES)]
        try:
            outcome = run(seed, mode, given.numpy)
        except Exception as error:
            failures += 1
            outcome = f"FAILED: {type(error).__name__}"
            if failures <= 5:
                print(f"seed {seed}, {mode}: {type(error).__name__}: {str(error)[:4000]}", end="\n\n")
        tally[mode, outcome] = tally.get((mode, outcome), 0) + 1
    for key, count in sorted(tally.items()):
        print(*key, count, sep="\t")
    sys.exit(failures > 0)
