"""Groups of rows: sums of rows run with what computes the rows and with what reads the sums; the bits are those of eager code."""

import random
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.execute.low_level_ir import Blocks, Loop, Slot, Step, Sum
from gradspec.compiler.lowering import lowering
from gradspec.compiler.lowering.inspection import BrokenPass, check_steps
from gradspec.compiler.lowering.row_fusion import fuse_rows

from .test_compiled_function import bits, replays, values

SHAPES = (71, 97), (64, 64), (5, 1000), (300, 33), (3, 4096), (1030, 5), (2, 4500), (2048, 16), (3, 20, 90), (1, 5000), (5000, 1)
F = np.dtype("float32")


@pytest.fixture(params=[1, 3])
def threads(request):
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


def groups(compiled):
    return [step for step in compiled.program.forward.steps if step.kind == "blocks" and step.given.rows]


def program(seed):
    """Elementwise operations among sums of rows, of columns and of everything, and writes in place."""

    def called(x, v, w):
        choice, pool = random.Random(seed), [x]
        for _ in range(choice.randrange(3, 14)):
            a, b, kind = choice.choice(pool), choice.choice(pool), choice.randrange(11)
            if kind == 0:
                a = a - gs.mean(a, -1, keepdims=True)
            elif kind == 1:
                a = a * gs.sum(b, -1, keepdims=True) * 1e-2
            elif kind == 2:
                a = a / gs.sqrt(gs.mean(b * b, -1, keepdims=True) + 1.0)
            elif kind == 3:
                a = a * v + w
            elif kind == 4:
                a = gs.tanh(a)
            elif kind == 5:
                a = (a - b).add_(gs.mean(a, -1, keepdims=True).detach())
            elif kind == 6:
                a = gs.exp(gs.clip(a, -1, 1) - gs.max(a, -1, keepdims=True))
            elif kind == 7:
                a = a + gs.sum(b, 0) * 1e-3
            elif kind == 8:
                a = a + gs.mean(b)
            elif kind == 9:
                a = a * gs.sigmoid(b)
            else:
                a = (a * 1.5).detach().multiply_(gs.sum(b, -1, keepdims=True).detach()) + b
            pool.append(a)
        loss = sum((one * (0.3 + k)).sum() for k, one in enumerate(pool[-3:]))
        return [loss, pool[-1].detach(), gs.sum(pool[-2], -1).detach(), *gs.autograd.grad(loss, (x, v, w), allow_unused=True)]

    return called


def test_random_programs(threads, monkeypatch):
    count = 0
    for seed in range(66):
        function, numbers, shape = program(seed), np.random.default_rng(seed), SHAPES[seed % len(SHAPES)]
        compiled, apart = gs.compile(function), gs.compile(function)
        for _ in range(3):
            arrays = [numbers.normal(size=size).astype("f8" if seed % 3 else "f4") for size in (shape, shape[-1:], shape[-1:])]
            inputs = [gs.tensor(array, requires_grad=True) for array in arrays]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = [y is None or bits(y) for y in function(*inputs)]
                assert [y is None or bits(y) for y in compiled(*inputs)] == wanted, seed
                with monkeypatch.context() as patch:
                    patch.setattr(lowering, "fuse_rows", lambda slots, steps, *_: steps)
                    assert [y is None or bits(y) for y in apart(*inputs)] == wanted, seed
        assert not groups(apart) and (not groups(compiled) or 1 < shape[-1] <= 4096 and len(shape) + shape[0] > 3), seed
        count += len(groups(compiled))
    assert count >= 30


def standardized(x):
    centred = x - gs.mean(x, -1, keepdims=True)
    return centred / gs.sqrt(gs.mean(centred * centred, -1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("shape", [(200, 300), (700, 1000)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_one_pass_over_memory(shape, dtype, threads):
    compiled, x = gs.compile(standardized, strict=True), values(shape).astype(dtype)
    wanted = bits(standardized(gs.asarray(x)))
    assert [bits(compiled(x)) for _ in range(3)] == [wanted] * 3
    if dtype in ("float32", "float64"):  # the others have no sums in plain memory
        assert len(groups(compiled)) == 1 and compiled.program.forward.memory < 16 * shape[0] + 1000


def test_what_is_not_finite_and_warnings(threads):
    x = values((300, 400))
    x[1, 2], x[5, 7], x[250] = np.nan, np.inf, -0.0
    compiled = gs.compile(standardized, strict=True)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in subtract"):
            found = compiled(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bits(found) == bits(standardized(gs.asarray(x)))
    compiled(values((300, 400)))
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        gs.compile(lambda x: x * 0.5 - gs.sum(x * 0.5, -1, keepdims=True), strict=True)(np.full((300, 400), 1e308))
    assert groups(compiled)


def test_rows_on_several_threads(threads):
    """A loop over rows by itself."""
    function = lambda x: x * x[0]  # noqa: E731
    compiled, x = gs.compile(function, strict=True), values((700, 1000))
    x[0, 3], x[600, 3] = 1e300, 1e300
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
            found = compiled(x)
        with np.errstate(over="ignore"):
            assert bits(found) == bits(function(gs.asarray(x)))
    assert not groups(compiled) and "rows" in {step.kind for step in compiled.program.forward.steps}


def test_between_calls_and_in_place():
    state = gs.zeros((80, 90))

    def function(x):
        state.add_(x)
        state.subtract_(gs.mean(state, -1, keepdims=True))
        kept = state * gs.sum(state * state, -1, keepdims=True)
        state.multiply_(x)
        return kept

    compiled, x = gs.compile(function, strict=True), values((80, 90))
    found = [(bits(compiled(x)), bits(state)) for _ in range(3)]
    state.zero_()
    assert found == [(bits(function(gs.asarray(x))), bits(state)) for _ in range(3)]
    assert replays(compiled)


def steps(*given):
    """Steps on rows of 100 elements: slots 0 to 3 are full, 4 and 5 have a number for each row, 6 is a vector, 7 is slot 1
    transposed and 8 its later rows."""
    made = []
    for kind, name, reads, out in given:
        if kind == "sum":
            shape = (100, 100, 1) if name == "sum" else (1, 10000, 1)
            made.append(Step("sum", Sum((reads[0], out), *shape, False), name, None, tuple(reads), (out,)))
            continue
        if kind == "call":
            made.append(Step("call", (), name, None, tuple(reads), (out,)))
            continue
        strides = {**dict.fromkeys((0, 1, 2, 3, 8), (4, 400)), 4: (0, 4), 5: (0, 4), 6: (4, 0), 7: (400, 4)}
        inner, jumps = zip(*(strides[place] for place in (*reads, out)))
        loop = (Loop(name, 0, (*reads, out), inner, 100, 100, jumps) if kind == "rows" else
                Loop(name, 0, (*reads, out), (4,) * (len(reads) + 1), 100 if out in (4, 5) else 10000))  # fmt: skip
        made.append(Step(kind, loop, name, None, tuple(reads), (out,)))
    return made


def slots():
    full = [Slot(place, F, (100, 100), (400, 4)) for place in ("external", "planned", "planned", "planned")]
    return [*full, *(Slot("planned", F, (100, 1), (4, 4)) for _ in range(2)), Slot("planned", F, (100,), (4,)),
            Slot("view", F, (100, 100), (4, 400), root=1), Slot("view", F, (99, 100), (400, 4), root=1, offset=400)]  # fmt: skip


def sizes(*given):
    return [step.given.loops for step in fuse_rows(slots(), steps(*given)) if step.kind == "blocks"]


def test_what_joins():
    first = ("loop", "exp", [0], 1), ("sum", "sum", [1], 4)
    assert sizes(*first, ("rows", "divide", [1, 4], 2)) == [3]
    assert sizes(*first, ("loop", "sqrt", [4], 5), ("rows", "divide", [1, 5], 1)) == [4]
    assert sizes(*first) == []  # as `loop_fusion` does
    begun = ("rows", "add", [0, 6], 2), ("loop", "exp", [0], 1)
    assert sizes(*begun, ("rows", "add", [1, 6], 3)) == [3]
    assert sizes(*begun, ("rows", "add", [7, 6], 3)) == sizes(*begun, ("rows", "add", [8, 6], 3)) == [2]  # other rows are read
    assert sizes(("loop", "exp", [1], 2), ("rows", "add", [2, 6], 2), ("rows", "add", [7, 6], 3)) == [2]
    assert sizes(*begun, ("call", "f", [6], 5), ("rows", "add", [1, 6], 3)) == [3]
    assert sizes(*begun, ("call", "f", [6], 5), ("rows", "add", [5, 5], 3)) == [2]  # what a step moved behind computes
    assert sizes(*begun, ("call", "f", [6], 5), ("rows", "add", [1, 6], 0)) == [2]  # a write to the caller's memory stays behind
    assert sizes(*begun, ("loop", "sin", [1], 3), ("sum", "sum of all", [3], 4)) == [2]  # `loop_fusion` joins these two
    assert sizes(("rows", "add", [0, 6], 1), ("loop", "exp", [1], 2), ("loop", "exp", [0], 6)) == [2]  # its size is another


def test_a_group_with_other_rows_is_illegal():
    ready = [Step("call", (), "f", None, (), (place,)) for place in (4, 6)]
    members = steps(("loop", "exp", [0], 1), ("sum", "sum", [1], 4), ("rows", "divide", [1, 4], 2))
    head = Step("blocks", Blocks(3, 10000, 0, 100), "blocks", None)
    check_steps("a pass", slots(), [*ready, head, *members])
    for wrong in (Step("blocks", Blocks(3, 10000, 0, 50), "blocks", None), Step("blocks", Blocks(3, 10000, 0), "blocks", None)):
        with pytest.raises(BrokenPass, match="among loops"):
            check_steps("a pass", slots(), [*ready, wrong, *members])
