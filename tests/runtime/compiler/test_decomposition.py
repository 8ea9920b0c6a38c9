"""Spelled out: operators that are formulas of inner loops run as these, with the bits of the operators."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.lowering.inner_loops import loop_from
from gradspec.compiler.passes import pipeline
from gradspec.compiler.passes.decomposition import decompose, is_cast
from gradspec.compiler.tracing.calling import by_keyword
from gradspec.compiler.tracing.instructions import Instruction, layouts_of
from gradspec.compiler.tracing.values import Value
from gradspec.generated.op_info import OPS

from .test_compiled_function import values

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.0, -2.5, 88.0]
PROGRAMS = [entry for entry in OPS if entry.program]


def bits(tensor):
    """The bytes of an array, where one NaN is as good as another: the C compiler chooses the sign of inf - inf."""
    array = tensor.numpy()
    return np.where(np.isnan(array), np.nan, array).astype(array.dtype).tobytes()


def kinds(compiled):
    return {step.kind for step in compiled.program.forward.steps}


def call_of(entry):
    """A call of an operator of such a formula, of arrays alone and of its own numbers."""
    given = []
    for _, kind, default, _ in entry.arguments:
        if kind == "Mask":
            given.append(lambda x: x > 0)
        elif kind == "Array" and default is None:
            given.append((lambda x: x * 1.5) if given else (lambda x: x * 1))
        else:
            number = 0.5 if default is None else eval(default)
            given.append(lambda x, number=number: number)
    call = by_keyword(entry.name, entry, len(given))
    return lambda x: call(*[one(x) for one in given])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(12,), (2, 6), (3, 2000)])
def test_every_formula_of_loops_has_the_bits_of_its_operator(dtype, size):
    assert len(PROGRAMS) > 15
    rng = np.random.default_rng(0)
    tried = 0
    for entry in PROGRAMS:
        x = np.resize(np.array(SPECIAL, dtype), size) if size != (3, 2000) else rng.normal(size=size).astype(dtype)
        function = call_of(entry)
        compiled = gs.compile(function)
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert bits(compiled(gs.tensor(x))) == bits(function(gs.tensor(x))), entry.name
                x = x[::-1].copy()
        if compiled.program is not None:
            tried += kinds(compiled) <= {"loop", "blocks", "allocate"}
    assert tried > 15


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("part", [slice(None), slice(3, None)])
def test_a_formula_written_in_place_is_loops_too(dtype, part):
    """With the bits of the operator: also over a part of an array, beside another part that it reads."""
    rng, tried = np.random.default_rng(0), 0
    for entry in PROGRAMS:
        name = f"{entry.name}_"
        if not hasattr(gs.Tensor, name) or any(kind == "Mask" for _, kind, _, _ in entry.arguments):
            continue
        others = [rng.normal(size=1 + (kind == "Array") * 1999).astype(dtype) for _, kind, default, _ in entry.arguments[1:] if default is None]

        def function(x, entry=entry, name=name, others=others):
            y = x * 1
            arguments = [gs.asarray(y[:-3] if part.start and other.size > 1 else other[part] if other.size > 1 else other[0]) for other in others]
            getattr(y[part], name)(*arguments)
            return y, x

        compiled, x = gs.compile(function), rng.normal(size=2000).astype(dtype)
        with np.errstate(all="ignore"):
            for _ in range(3):
                found, wanted = compiled(gs.tensor(x)), function(gs.tensor(x))
                assert list(map(bits, found)) == list(map(bits, wanted)), entry.name
                x = x[::-1].copy()
        tried += compiled.program is not None and kinds(compiled) <= {"loop", "blocks", "allocate"}
    assert tried > 8, tried


def test_composites_fuse_where_nothing_is_differentiated():
    """And the positions and constants among their parts stay where they are known."""
    x, y = (gs.tensor(np.linspace(-1, 1, 300) + shift) for shift in (0.0, 0.1))
    functional = gs.nn.functional
    for function in (gs.div, functional.mse_loss, functional.huber_loss, functional.smooth_l1_loss, functional.kl_div,
                     lambda x, y: (x * 1).div_(y), lambda x, y: (x * 1).copy_(x * y)):  # fmt: skip
        compiled = gs.compile(function)
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert bits(compiled(x, y)) == bits(function(x, y))
        assert kinds(compiled) <= {"loop", "blocks", "allocate", "sum"}
    for target, source in ((slice(1, None), slice(-1)), (slice(-1), slice(1, None)), (slice(None), slice(None))):
        def function(x, target=target, source=source):
            y = x * 1
            y[target].copy_(y[source])
            return y

        compiled = gs.compile(function)
        for _ in range(3):
            assert bits(compiled(x)) == bits(function(x))
    whole = gs.compile(lambda x: gs.interp(x, np.arange(4.0), np.arange(4.0) ** 2))
    for _ in range(3):
        whole(x)
    assert [line.name for line in whole.program.taken.lines] == ["interp"]


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
    assert [line.name for line in decompose([line_of("relu", plain)])] == ["maximum"]
    assert [line.name for line in decompose([line_of("multiply", plain, plain > 0)])] == ["where", "multiply"]
    for name, *arrays in (("relu", plain.T), ("relu", np.ones((3, 4), int)), ("multiply", plain, plain[0] > 0),
                          ("multiply", plain.astype("float64"), plain), ("sum", plain > 0)):  # fmt: skip
        assert [line.name for line in decompose([line_of(name, *arrays)])] == [name], (name, arrays)


def test_the_parts_are_loops_and_the_last_one_makes_the_result():
    whole = line_of("relu6", np.ones(5, "float32"))
    parts = decompose([whole])
    assert [line.name for line in parts] == ["maximum", "minimum"] and parts[-1].outputs is whole.outputs
    assert all(loop_from(line, layouts_of(line)) is not None for line in parts)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(pipeline, "decompose", lambda lines: lines)
    compiled = gs.compile(lambda x: gs.nn.relu(x) * 2)
    x = gs.tensor(np.linspace(-1, 1, 5))
    compiled(x)
    assert bits(compiled(x)) == bits(gs.nn.relu(x) * 2) and "forward" in kinds(compiled)


@pytest.mark.parametrize(("source", "target"), [("f8", "f4"), ("f4", "f8"), ("i8", "f4")])
def test_tensors_made_of_tensors_are_casts(source, target):
    function = lambda x: gs.tensor(x * 3, dtype=np.dtype(target)) * 2  # noqa: E731
    compiled = gs.compile(function, strict=True)
    compiled(np.ones((3, 4), source))
    program = compiled.program.forward
    assert [step.name for step in program.steps if step.kind == "into"] == ["cast"] and not any(map(is_cast, program.lines))
    hard = [np.nan, np.inf, -0.0, 1e-46, 1e300, 1 + 2**-30] if source == "f8" else [0, 1, -(2**24) - 1, 2**30 - 1, 3, 7]
    for array in (np.arange(12).reshape(3, 4), np.resize(hard, (3, 4))):
        outcomes = []
        for call in (function, compiled):
            with warnings.catch_warnings(record=True) as said, np.errstate(all="warn"):
                warnings.simplefilter("always")
                outcomes.append((bits(call(gs.asarray(array.astype(source)))), {str(one.message) for one in said}))
        assert outcomes[0] == outcomes[1]


def test_an_optimiser_with_a_step_in_a_tensor_writes_where_its_parameters_are():
    """Casts of its rates stand between the writes, and cannot fail: no copies of what was written before them are kept."""
    made = []
    for compile in (lambda step: step, gs.compile):
        parameters = [gs.tensor(values((8, 4), seed).astype("f4"), requires_grad=True) for seed in range(3)]
        optimizer = gs.optim.Adam(parameters, lr=0.1)

        def step(x, parameters=parameters, optimizer=optimizer):
            optimizer.zero_grad()
            loss = sum((x @ parameter).sum() ** 2 for parameter in parameters)
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = compile(step)
        losses = [bits(run(gs.asarray(values((5, 8), 7).astype("f4")))) for _ in range(6)]
        made.append((losses, [bits(parameter.detach()) for parameter in parameters]))
    assert made[0] == made[1]
    program = run.program.forward
    assert any(step.name == "cast" for step in program.steps) and not any(step.kind == "copy" for step in program.steps)
