"""Spelled out: operators that are formulas of inner loops run as these, with the bits of the operators."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.op_info import OPS
from gradspec.replay import passes
from gradspec.replay.loops import loop_from
from gradspec.replay.spelled import spelled
from gradspec.tracing.calling import by_keyword
from gradspec.tracing.instructions import Instruction, layouts_of
from gradspec.tracing.values import Value

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.0, -2.5, 88.0]
PROGRAMS = [entry for entry in OPS if entry.program]


def bits(tensor):
    return tensor.numpy().tobytes()


def kinds(compiled):
    return {step.kind for step in compiled.program.forward.steps}


def called(entry, x):
    """An operator of such a formula, of arrays alone and of its own numbers."""
    given = []
    for name, kind, default, _ in entry.arguments:
        if kind == "Mask":
            given.append(x > 0)
        elif kind == "Array" and default is None:
            given.append(x * (1.5 if given else 1))
        else:
            given.append(0.5 if default is None else eval(default))
    return by_keyword(entry.name, entry, len(given))(*given)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(12,), (2, 6), (3, 2000)])
def test_every_formula_of_loops_has_the_bits_of_its_operator(dtype, size):
    assert len(PROGRAMS) > 15
    rng = np.random.default_rng(0)
    tried = 0
    for entry in PROGRAMS:
        x = np.resize(np.array(SPECIAL, dtype), size) if size != (3, 2000) else rng.normal(size=size).astype(dtype)
        function = lambda x, entry=entry: called(entry, x)  # noqa: E731
        compiled = gs.compile(function)
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert bits(compiled(gs.tensor(x))) == bits(function(gs.tensor(x))), entry.name
                x = x[::-1].copy()
        if compiled.program is not None:
            tried += kinds(compiled) <= {"loop", "blocks", "allocate"}
    assert tried > 15


def test_a_step_of_a_network_calls_nothing_for_its_relus():
    """The mask of a relu's derivative is made numbers by a loop, as NumPy makes them: of NaN and infinity times 0, too."""
    def step(x, w):
        w.grad = None
        y = gs.nn.relu(x @ w)
        gs.sum(y * y).backward()
        return y, w.grad

    rng = np.random.default_rng(0)
    for numbers in (rng.normal(size=(6, 5)), np.where(rng.random((6, 5)) < 0.2, np.inf, 1.0)):
        x = gs.tensor(numbers.astype("float32"))
        w, other = (gs.tensor(np.linspace(-1, 1, 20).reshape(5, 4).astype("float32"), requires_grad=True) for _ in range(2))
        compiled = gs.compile(step)
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert [bits(item.detach()) for item in compiled(x, w)] == [bits(item.detach()) for item in step(x, other)]
    names = {line.name for line in compiled.program.forward.steps if line.kind in ("call", "forward")}
    assert "relu" not in names and "multiply" not in names


def line_of(name, *arrays):
    """An instruction of an operator on such arrays."""
    result = getattr(gs.nn, name, None) or getattr(gs, name)
    found = result(*(gs.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays)).numpy()
    values = tuple(Value("input", a) if isinstance(a, np.ndarray) else a for a in arrays)
    return Instruction(name, values, Value("result", found), None)


def test_what_is_no_loop_stays_whole():
    plain = np.ones((3, 4), "float32")
    assert [line.name for line in spelled([line_of("relu", plain)])] == ["maximum"]
    assert [line.name for line in spelled([line_of("multiply", plain, plain > 0)])] == ["where", "multiply"]
    for name, *arrays in (("relu", plain.T), ("relu", np.ones((3, 4), int)), ("multiply", plain, plain[0] > 0),
                          ("multiply", plain.astype("float64"), plain), ("sum", plain > 0)):  # fmt: skip
        assert [line.name for line in spelled([line_of(name, *arrays)])] == [name], (name, arrays)


def test_the_parts_are_loops_and_the_last_one_makes_the_result():
    whole = line_of("relu6", np.ones(5, "float32"))
    parts = spelled([whole])
    assert [line.name for line in parts] == ["maximum", "minimum"] and parts[-1].outputs is whole.outputs
    assert all(loop_from(line, layouts_of(line)) is not None for line in parts)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(passes, "spelled", lambda lines: lines)
    compiled = gs.compile(lambda x: gs.nn.relu(x) * 2)
    x = gs.tensor(np.linspace(-1, 1, 5))
    compiled(x)
    assert bits(compiled(x)) == bits(gs.nn.relu(x) * 2) and "forward" in kinds(compiled)
