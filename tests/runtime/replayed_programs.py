"""Random programs of views, formulas, in-place writes, no_grad, detach, levels and passes, compiled: a replay gives the bits of the call.

A program is one of `programs`, of one input.  It is called once, which is written down, and then with other numbers, which
is compared with the function itself; what was returned before has to be as it was.

    python -m tests.runtime.replayed_programs COUNT --seed SEED
"""

import argparse
import sys
import warnings

import numpy as np

import gradspec as gs
from gradspec.autograd import grad
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held

from .programs import MODES, REFUSED, Machine, level_of
from .traced_programs import leaves


class Unchecked(Machine):
    """A program whose reference has numbers of its own: a compiled function must not look at those of its argument."""

    def result(self):
        total = 0.0
        for k, (x, v) in enumerate(self.pool):
            weights = np.cos(np.arange(v.p.size) + k).reshape(v.p.shape)
            try:
                total = total + (x * weights).sum()
            except RuntimeError as error:
                if "view" not in str(error):
                    raise
        return total, None, None


def function_of(seed, mode, steps=9):
    """What a seed stands for: all values that it computes, and their derivatives.  What it may do hangs on shapes alone."""
    direction, second, primal = np.random.default_rng(seed).normal(size=(3, 2, 3))

    def stepped(x, forward, twice=None):
        machine = Unchecked(seed, primal.copy(), direction, x, forward, twice)
        for _ in range(steps):
            machine.step()
        total, _, _ = machine.result()
        return machine, total

    def reverse(x):
        leaf = gs.asarray(x.detach(), requires_grad=True)
        machine, total = stepped(leaf, False)
        return [y.detach() for y, _ in machine.pool], total.detach(), grad(total, leaf)

    def forward(x):
        with level_of(mode) as (push, tangents):
            machine, total = stepped(push(x * 1, direction), True)
            return [gs.asarray(held(y)) for y, _ in machine.pool], [t for _, t in tangents(total)]

    def forward_over_reverse(x):
        with level_of(mode) as (push, tangents):
            leaf = gs.asarray(x.detach(), requires_grad=True)
            machine, total = stepped(push(leaf, second), False)
            (g,) = grad(total, leaf)
            return [gs.asarray(held(y)) for y, _ in machine.pool], gs.asarray(held(g)), [t for _, t in tangents(g)]

    def twice(x):
        leaf = gs.asarray(x.detach(), requires_grad=True)
        machine, total = stepped(leaf, False)
        (g,) = grad(total, leaf, create_graph=True)
        gg = grad((g * direction).sum(), leaf, allow_unused=True) if g.requires_grad else None
        return [y.detach() for y, _ in machine.pool], total.detach(), g.detach(), gg

    if mode == "reverse":
        return reverse
    if mode in ("forward", "forward in batches"):
        return forward
    return forward_over_reverse if mode.startswith("forward over reverse") else twice


def compare(found, wanted, what):
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        if held(b) is not None and not same_bits(held(a), held(b)):
            raise AssertionError(f"{what}: replayed {a}, the function {b}")


def run(seed, mode):
    """One program in one mode; what it came to: "equal", "refused" (by autograd), or why it ran as it is."""
    first, other = np.random.default_rng((seed, 1)).normal(size=(2, 2, 3))
    function = function_of(seed, mode)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted, at_first = function(gs.asarray(other.copy())), function(gs.asarray(first.copy()))
        except RuntimeError as error:
            if REFUSED in str(error):
                return "refused"
            raise
        compiled = gs.compile(function)
        recorded = compiled(first.copy())
        found = compiled(other.copy())
        compare(found, wanted, "second call")
        again = compiled(first.copy())
        compare(again, at_first, "third call")
        compare(found, wanted, "second result after the third call")
        compare(recorded, at_first, "first result")
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    if reasons:
        return "as it is: " + reasons[0].split(" at ")[0]
    return "equal" if len(compiled.signatures) == 1 else "several signatures"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=MODES)
    given = parser.parse_args()
    tally, failures = {}, 0
    for seed in range(given.seed, given.seed + given.count):
        mode = given.mode or MODES[seed % len(MODES)]
        try:
            outcome = run(seed, mode)
        except Exception as error:
            failures += 1
            outcome = f"FAILED: {type(error).__name__}"
            if failures <= 5:
                print(f"seed {seed}, {mode}: {type(error).__name__}: {str(error)[:4000]}", end="\n\n")
        tally[mode, outcome] = tally.get((mode, outcome), 0) + 1
    for key, count in sorted(tally.items()):
        print(*key, count, sep="\t")
    sys.exit(failures > 0)
