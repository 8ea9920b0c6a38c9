"""Random functions over Python state that changes between their calls: a compiled call gives the eager call's numbers.

A program reads a few places (attributes, elements, orders, defaults, closures, modules, classes, arrays) as factors, branches and
numbers of steps.  Between two calls some places change.

    python -m tests.runtime.changed_state CALLS --seed SEED
"""

import argparse
import collections
import random
import sys
import types
import warnings

import numpy as np

import gradspec as gs

CALLS = 10  # of one function


class Listed(list):
    pass


class Mapped(dict):
    pass


class Thing:
    pass


class Slotted:
    __slots__ = ("k",)


class State:
    """State of every kind, made from a seed; two of one seed are alike."""

    def __init__(self, seed):
        rng = random.Random(seed)

        def number():
            return rng.choice([0.5, 1.0, 2.0, 3.0])

        class Own:
            k, parts = number(), [number(), number()]

            def __init__(self):
                self.k2 = number()

            def scaled(self, x):
                return x * self.k2

            @property
            def by_property(self):
                return self.k2 + 1

            def __len__(self):
                return int(self.k2) + 1

            def __getitem__(self, key):
                return self.parts[key]

        cell = number()

        def inner(x, k=number(), *, b=number()):
            return x * k * b + cell

        def move(value):
            nonlocal cell
            cell = value

        self.cls, self.own, self.thing, self.slotted = Own, Own(), Thing(), Slotted()
        self.thing.k, self.thing.deep, self.slotted.k = number(), {"a": [number(), {"b": number()}]}, number()
        self.inner, self.move = inner, move
        inner.k = number()
        self.listed, self.mapped = Listed([number(), number()]), Mapped(a=number(), b=number())
        self.listed.k, self.mapped.k = number(), number()
        self.plain, self.ordered = {"a": number(), "b": number(), "c": number()}, collections.OrderedDict(a=number(), b=number())
        self.members, self.queue = {number(), number()}, collections.deque([number(), number()])
        self.tensor, self.weight = gs.ones(2), gs.asarray([number(), number()])
        self.tensor.k = number()
        self.table, self.index = np.array([number(), number()]), np.array([0, 1])
        self.module = types.ModuleType("m")
        self.module.k, self.module.sub = number(), types.ModuleType("m.sub")
        self.module.sub.k = number()
        self.get = self.listed.__getitem__


READS = [
    lambda s: s.thing.k, lambda s: s.thing.deep["a"][0], lambda s: s.thing.deep["a"][1]["b"], lambda s: s.slotted.k,
    lambda s: s.cls.k, lambda s: s.own.k, lambda s: s.own.k2, lambda s: s.own.by_property, lambda s: len(s.own),
    lambda s: s.own[0], lambda s: s.own.parts[1], lambda s: s.inner.k, lambda s: s.listed[0], lambda s: s.listed.k, lambda s: len(s.listed),
    lambda s: s.mapped["a"], lambda s: s.mapped.k, lambda s: sum(s.plain.values()), lambda s: list(s.plain.values())[0],
    lambda s: next(iter(s.ordered.values())), lambda s: sum(s.members), lambda s: s.queue[0], lambda s: s.tensor.k, lambda s: float(s.table[0]),
    lambda s: s.module.k, lambda s: s.module.sub.k, lambda s: getattr(s.module, "k"), lambda s: s.get(0), lambda s: float(s.weight[0]),
    lambda s: getattr(s.thing, "late", 1.5), lambda s: vars(s.thing)["k"], lambda s: [v for v in vars(s.thing).values()][0] == s.thing.k,
]  # fmt: skip
STEPS = [lambda s, x: s.own.scaled(x), lambda s, x: s.inner(x), lambda s, x: x * s.weight, lambda s, x: x + s.table, lambda s, x: x[s.index] + s.index[0]]
CHANGES = [
    lambda s, v: setattr(s.thing, "k", v), lambda s, v: s.thing.deep["a"].__setitem__(0, v), lambda s, v: s.thing.deep["a"][1].update(b=v),
    lambda s, v: setattr(s.slotted, "k", v), lambda s, v: setattr(s.cls, "k", v), lambda s, v: setattr(s.own, "k", v),
    lambda s, v: setattr(s.own, "k2", v), lambda s, v: s.cls.parts.__setitem__(0, v), lambda s, v: setattr(s.inner, "k", v),
    lambda s, v: setattr(s.inner, "__defaults__", (v,)), lambda s, v: setattr(s.inner, "__kwdefaults__", {"b": v}),
    lambda s, v: s.inner.__kwdefaults__.update(b=v), lambda s, v: s.move(v), lambda s, v: s.listed.append(v), lambda s, v: s.listed.__setitem__(0, v),
    lambda s, v: setattr(s.listed, "k", v), lambda s, v: s.mapped.update(a=v), lambda s, v: setattr(s.mapped, "k", v),
    lambda s, v: s.plain.update(a=s.plain.pop("a")), lambda s, v: s.plain.update(b=v), lambda s, v: s.ordered.move_to_end("a"),
    lambda s, v: s.members.add(v), lambda s, v: s.queue.rotate(1), lambda s, v: setattr(s.tensor, "k", v), lambda s, v: s.table.fill(v),
    lambda s, v: s.index.__setitem__(slice(None), s.index[::-1].copy()), lambda s, v: setattr(s.module, "k", v),
    lambda s, v: setattr(s.module.sub, "k", v), lambda s, v: s.weight.fill_(v), lambda s, v: setattr(s.thing, "late", v),
    lambda s, v: setattr(s.thing, "k", vars(s.thing).pop("k")), lambda s, v: setattr(s.cls, "scaled", lambda self, x: x * (self.k2 + v)),
    lambda s, v: setattr(s, "weight", gs.asarray([v, v])), lambda s, v: setattr(s, "own", s.cls()) if v > 2 else None,
]  # fmt: skip


def program(seed, state):
    rng = random.Random(seed)
    reads, steps = rng.choices(READS, k=rng.randrange(1, 5)), rng.choices(STEPS, k=rng.randrange(3))
    kinds = [rng.choice(["factor", "branch", "count"]) for _ in reads]

    def function(x):
        for read, kind in zip(reads, kinds):
            value = read(state)
            if kind == "factor":
                x = x * value
            elif kind == "branch":
                x = x + 1 if value > 1.5 else x - 1
            else:
                for _ in range(int(value) % 4):
                    x = gs.sin(x)
        for step in steps:
            x = step(state, x)
        return x

    return function


def run(seed, recheck=None):
    """One function, called several times; what it came to."""
    mine, theirs = State(seed), State(seed)
    eager, compiled = program(seed, mine), gs.compile(program(seed, theirs), recheck=recheck)
    rng = random.Random(seed + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in range(CALLS):
            x = np.array([0.3 + call, 1.1])
            if call > 1 and rng.random() < 0.6:
                for _ in range(rng.randrange(1, 3)):
                    change, value = rng.choice(CHANGES), rng.choice([0.25, 1.0, 2.0, 4.0])
                    change(mine, value), change(theirs, value)
            wanted, found = eager(gs.asarray(x)), compiled(x)
            if found.numpy().tobytes() != wanted.numpy().tobytes():
                raise AssertionError(f"seed {seed}, call {call}: compiled {found}, eager {wanted}")
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    return "eager" if reasons or compiled.shut else "replayed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tally, failures = collections.Counter(), 0
    for seed in range(given.seed, given.seed + given.calls // CALLS):
        try:
            tally[run(seed, recheck=bool(seed % 2))] += CALLS
        except Exception as error:
            failures += 1
            tally["wrong"] += 1
            if failures <= 5:
                print(f"{type(error).__name__}: {error}", flush=True)
        if seed % 500 == 499:
            print(f"{sum(tally.values())} calls", flush=True)
    print(dict(tally))
    sys.exit(failures > 0)
