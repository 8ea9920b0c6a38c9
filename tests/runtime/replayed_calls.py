"""Random calls of one compiled function: draws, branches on values, and what it holds changes between them.

A program of `replayed_programs` stands in the middle; around it are drawn numbers, branches on values, tensors and numbers that
the function holds and that are written to, replaced or changed between the calls, callbacks and dynamic numbers.  The same calls
are made of the function itself, with a copy of what it holds and the same seed, and all is compared, to the bit.

    python -m tests.runtime.replayed_calls COUNT --seed SEED
"""

import argparse
import random
import sys
import warnings

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.values import held

from .programs import MODES, REFUSED
from .replayed_programs import compare, function_of

CALLS = 7


class Held:
    """What a function holds."""

    def __init__(self, seed):
        rng = np.random.default_rng((seed, 2))
        self.w, self.total, self.scale, self.flag = gs.asarray(rng.normal(size=3)), gs.zeros(()), 0.5, True
        self.parts, self.notes = [gs.asarray(rng.normal(size=2)), 3.0], []
        self.leaf = gs.tensor(rng.normal(size=3), requires_grad=True)


def draw(x, here, rate):
    return x + 0.1 * gs.random.standard_normal(3)


def dropped(x, here, rate):
    return gs.nn.dropout(x, 0.5)


def branch(x, here, rate):
    return x * 2 if x.sum() > 0 else x - 1


def inner_branch(x, here, rate):
    return gs.sin(x) if bool((x[0, 0] > x[-1, 1]) & (x[0, 1] < 1)) else x[::-1]


def scaled(x, here, rate):
    return x * here.w * here.scale if here.flag else x + here.w


def counted(x, here, rate):
    here.total.add_(x.sum())
    return x + here.total


def listed(x, here, rate):
    for part in here.parts:
        x = x + (part.sum() if isinstance(part, gs.Tensor) else part)
    return x


def logged(x, here, rate):
    gs.debug.callback(here.notes.append, x)
    return x * 1


def masked(x, here, rate):
    return x + x[x > 0].sum()


def rated(x, here, rate):
    return x - rate * gs.cos(x) * (rate + 1)


def trained(x, here, rate):
    loss = ((x * here.leaf) ** 2).sum()
    loss.backward()
    with gs.no_grad():
        here.leaf.sub_(rate * here.leaf.grad)
        here.leaf.grad = None
    return x + loss.detach()


PARTS = [draw, dropped, branch, inner_branch, scaled, counted, listed, logged, masked, rated, trained]


def changes(rng, held):
    """One of the things that may happen between two calls."""
    kind = rng.randrange(9)
    numbers = np.random.default_rng(rng.randrange(10**6))
    if kind == 0:
        held.scale = rng.choice([0.5, 0.25, 3.0])
    elif kind == 1:
        held.flag = not held.flag
    elif kind == 2:
        held.w.mul_(1.5)
    elif kind == 3:
        held.w = gs.asarray(numbers.normal(size=3))
    elif kind == 4:
        held.parts.append(gs.asarray(numbers.normal(size=2))) if len(held.parts) < 4 else held.parts.pop()
    elif kind == 5:
        held.leaf.data = gs.asarray(numbers.normal(size=3)).data
    elif kind == 6:
        held.total.zero_()


def program(seed, mode, here):
    """The function of a seed."""
    rng = random.Random(seed)
    before, after = (rng.choices(PARTS, k=rng.randrange(1, 4)) for _ in range(2))
    middle = function_of(seed, mode, steps=4)

    def function(x, rate):
        for part in before:
            x = part(x, here, rate)
        found = middle(x)
        for part in after:
            x = part(x, here, rate)
        return found, x

    return function


def run(seed, mode):
    """One function, called several times; what it came to."""
    inputs = np.random.default_rng((seed, 1)).normal(size=(CALLS, 2, 3))
    mine, theirs = Held(seed), Held(seed)
    eager, compiled = program(seed, mode, mine), gs.compile(program(seed, mode, theirs), dynamic="rate")
    outcomes = []
    for number, x in enumerate(inputs[[0, 0, *range(2, CALLS)]]):
        if number > 2:
            for held_here in (mine, theirs):
                changes(random.Random(seed * 100 + number), held_here)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                gs.manual_seed(seed + number)
                wanted = eager(gs.asarray(x.copy()), 0.1 / (number + 1))
            except RuntimeError as error:
                if REFUSED in str(error):
                    return "refused"
                raise
            gs.manual_seed(seed + number)
            found = compiled(x.copy(), 0.1 / (number + 1))
        compare(found, wanted, f"call {number}")
        for name in ("w", "total", "leaf"):
            compare(getattr(theirs, name).detach(), getattr(mine, name).detach(), f"{name} after call {number}")
        compare(list(theirs.notes), list(mine.notes), f"the log after call {number}")
        outcomes.append((found, [held(y).copy() for y in leaves_of(found)]))
    for number, (found, before) in enumerate(outcomes):
        for y, numbers in zip(leaves_of(found), before):
            if held(y).tobytes() != numbers.tobytes():
                raise AssertionError(f"the result of call {number} was written to later")
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    return "as it is: " + reasons[0].split(" at ")[0] if reasons else "equal" if compiled.signatures else "nothing"


def leaves_of(tree):
    from .traced_programs import leaves

    return [leaf for leaf in leaves(tree) if held(leaf) is not None]


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
                print(f"seed {seed}, {mode}: {type(error).__name__}: {str(error)[:1500]}", end="\n\n", flush=True)
        tally[mode, outcome] = tally.get((mode, outcome), 0) + 1
    for key, count in sorted(tally.items()):
        print(*key, count, sep="\t")
    sys.exit(failures > 0)
