"""Paired: a function and its slope are joined in one loop where nothing is in the way; the bits are those of both loops."""

import random

import numpy as np

import gradspec as gs
from gradspec.compiler.execute.low_level_ir import Blocks, Loop, Slot, Step, Sum
from gradspec.compiler.lowering import horizontal_fusion as pairs
from gradspec.compiler.lowering import lowering
from gradspec.compiler.lowering.horizontal_fusion import fuse_siblings
from gradspec.support.dispatch import ops
from tests.runtime.kernels.test_pairs import JOINED, pairs_in

from .test_compiled_function import bits

F = np.dtype("float32")


def program(seed):
    """Steps on two arrays, of which many ask for a function and its slope, some write in between."""

    def called(*inputs):
        choice, pool = random.Random(seed), list(inputs)
        for _ in range(choice.randrange(2, 8)):
            x, y = choice.choice(pool), choice.choice(pool)
            kind = choice.randrange(6)
            if kind < 3:
                pool.append([gs.tanh, gs.sigmoid, gs.nn.silu][kind](x))
            elif kind == 3:
                pool.append(x * y - 0.5)
            elif kind == 4:
                pool.append((x * 1.5).tanh_() * gs.sigmoid(y))
            else:
                late = (x * 0.5).add_(gs.tanh(y).detach())
                pool.append(gs.tanh(late) * late)
        loss = sum((one * (0.3 + k)).sum() for k, one in enumerate(pool[-3:]))
        return [loss, pool[-1].detach(), *gs.autograd.grad(loss, inputs, allow_unused=True)]

    return called


def test_random_programs(monkeypatch):
    count = 0
    for seed in range(24):
        function, numbers = program(seed), np.random.default_rng(seed)
        compiled, apart = gs.compile(function), gs.compile(function)
        shape, dtype = ((5003,), (71, 97), (4096,))[seed % 3], ("f4", "f4", "f4", "f8")[seed % 4]
        for _ in range(3):
            inputs = [gs.tensor(numbers.normal(size=shape).astype(dtype), requires_grad=True) for _ in range(2)]
            wanted = [y is None or bits(y) for y in function(*inputs)]
            assert [y is None or bits(y) for y in compiled(*inputs)] == wanted, seed
            with monkeypatch.context() as patch:
                patch.setattr(lowering, "fuse_siblings", lambda slots, steps: steps)
                assert [y is None or bits(y) for y in apart(*inputs)] == wanted, seed
        assert not pairs_in(apart) and (dtype == "f4" or not pairs_in(compiled))
        count += len(pairs_in(compiled))
    assert count >= 20 or not JOINED


def test_where_something_is_in_the_way(monkeypatch):
    known = ("tanh", "_tanh_slope", 0), ("sigmoid", "_sigmoid_slope", 0)
    monkeypatch.setattr(pairs, "is_pair", lambda *loops: loops in known)

    def group(*loops, places=("external", *["planned"] * 7), roots=()):
        slots = [Slot(place, F, (5000,), (4,)) for place in places]
        for place, root in roots:
            slots[place].place, slots[place].root = "view", root
        steps = [Step("loop", Loop(name, 0, (*reads, out), (4,) * len((*reads, out)), 5000), name, None, tuple(reads), (out,))
                 if name != "sum" else Step("sum", Sum((reads[0], out), 1, 5000, 1, False), "sum", None, tuple(reads), (out,))
                 for name, reads, out in loops]  # fmt: skip
        free, head = Step("free", (9,), "free", None), Step("blocks", Blocks(len(steps), 5000, 0), "blocks", None)
        found = fuse_siblings(slots, [free, head, *steps, free])
        assert found[1].given.loops == len(found) - 3 and [step.kind for step in found[:2]] == ["free", "blocks"]
        return [(step.name, step.given.second, step.writes) for step in found[2:-1] if step.kind == "loop" and step.given.second]

    both = [("tanh", "_tanh_slope", (1, 3))]
    tanh, slope = ("tanh", [0], 1), ("_tanh_slope", [0], 3)
    assert group(tanh, ("exp", [1], 2), slope) == both == group(tanh, slope, ("sum", [1], 4))
    assert group(slope, ("exp", [3], 2), tanh) == both == group(tanh, slope, ("_tanh_slope", [0], 5))
    assert group(tanh, slope, ("sigmoid", [0], 4), ("_sigmoid_slope", [0], 5)) == [*both, ("sigmoid", "_sigmoid_slope", (4, 5))]
    assert group(tanh, ("exp", [1], 0), slope) == []  # another operand by then
    assert group(("tanh", [0], 0), slope) == []
    assert group(tanh, ("exp", [3], 2), slope) == []  # what was there before is read,
    assert group(tanh, ("exp", [1], 3), slope) == []  # or written,
    assert group(tanh, ("exp", [4], 2), slope, roots=[(4, 3)]) == []  # by another name
    assert group(tanh, ("_tanh_slope", [2], 3)) == [] == group(("exp", [0], 1), slope)
    assert group(tanh, slope, places=["external"] * 4) == []  # memory of others may be the same


def test_loops_of_doubles_are_not_joined():
    def function(x):
        return gs.tanh(x), ops._tanh_slope(x)

    compiled = gs.compile(function, strict=True)
    x = gs.asarray(np.linspace(-3, 3, 9001))
    for _ in range(2):
        assert [bits(y) for y in compiled(x)] == [bits(y) for y in function(x)]
    assert pairs_in(compiled) == []
