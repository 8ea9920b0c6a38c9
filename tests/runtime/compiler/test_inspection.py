"""Inspection of passes: an illegal program is an error with the name of its pass, and programs are printed."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.execute.low_level_ir import Slot, Step
from gradspec.compiler.lowering import inspection, lowering
from gradspec.compiler.lowering.inspection import BrokenPass, check_steps
from gradspec.compiler.passes import pipeline
from gradspec.compiler.tracing.instructions import Instruction

X = np.linspace(0.1, 1.0, 5)


def formula(x):
    return (gs.sin(x) * gs.exp(x)).cumsum(0).sum() + x[1]


def compiled():
    """One compiled call, with all checks."""
    return gs.compile(formula, strict=True)(X)


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setattr(inspection, "SETTINGS", {"check"})


def unknown(lines, given, returned):
    return [Instruction("no_operator", line.arguments, line.outputs, line.line) for line in lines]


# What is wrong -> a pass that makes it so.
BROKEN = {
    "drops": lambda lines, given, returned: lines[1:],
    "reverses": lambda lines, given, returned: lines[::-1],
    "renames": unknown,
}


@pytest.mark.parametrize("name", pipeline.PASSES)
@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_pass_is_an_error_with_its_name(name, fault, monkeypatch):
    monkeypatch.setitem(pipeline.PASSES, name, BROKEN[fault])
    with pytest.raises(BrokenPass, match=name):
        compiled()


@pytest.mark.parametrize("name", ["fuse_rows", "fuse_loops", "fuse_siblings", "assign_blocks", "insert_frees"])
def test_broken_steps_are_an_error_with_the_name_of_the_pass(name, monkeypatch):
    monkeypatch.setattr(lowering, name, lambda slots, steps, *_: steps[1:])
    with pytest.raises(BrokenPass, match=name):
        compiled()


def slots():
    return [Slot(place, np.dtype(float), (2,), (8,)) for place in ("external", "planned", "called")]


MADE = Step("call", (), "sin", None, (0,), (1,))


@pytest.mark.parametrize("steps", [
    [Step("jump", (), "jump", None)],
    [Step("loop", (), "add", None, (0,), (1,))],
    [Step("move", (), "roll", None, (0,), ())],
    [Step("call", (), "sin", None, (1,), (2,))],
    [Step("call", (), "sin", None, (7,), (2,))],
    [MADE, Step("free", (1,), "free", None), Step("call", (), "cos", None, (1,), (2,))],
])  # fmt: skip
def test_illegal_steps(steps):
    with pytest.raises(BrokenPass, match="a pass"):
        check_steps("a pass", slots(), steps)


def test_legal_steps():
    check_steps("a pass", slots(), [MADE, Step("call", (), "cos", None, (1,), (2,)), Step("free", (2,), "free", None)])


def test_unknown_places(monkeypatch):
    broken = slots()
    broken[1].place = "nowhere"
    with pytest.raises(BrokenPass, match="nowhere"):
        check_steps("a pass", broken, [])


@pytest.mark.parametrize("name", [*pipeline.PASSES, "schedule_memory"])
def test_the_pipeline_stops_at_a_pass(name, monkeypatch):
    """Later passes do not run, and the results stay."""
    wanted = formula(gs.asarray(X)).item()
    ran = []
    for other, one in pipeline.PASSES.items():
        monkeypatch.setitem(pipeline.PASSES, other, lambda *rest, other=other, one=one: ran.append(other) or one(*rest))
    monkeypatch.setattr(inspection, "SETTINGS", {"check", name})
    function = gs.compile(formula, strict=True)
    assert function(X).item() == wanted == function(X).item()
    order = [*pipeline.PASSES]
    assert ran == (order[: order.index(name) + 1] if name in order else order)


def test_programs_are_printed():
    """Before the first pass, and after each that changed the program; a program that stays is not printed again."""
    code = "import gradspec as gs, numpy as np; gs.compile(lambda x: gs.nn.relu(x) * 1.0 + gs.sin(x))(np.ones(3))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "GRADSPEC_PASSES": "show"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    passes = [line[6:-1] for line in done.stderr.splitlines() if line.startswith("after ")]
    assert passes[:2] == ["record", "decompose"] and "fuse_rows" in passes
    first, second = done.stderr.split("after decompose:")
    assert "relu" in first and "relu" not in second and "maximum" in second and "return %" in first


def test_notebooks_show_a_compiled_function_and_its_program():
    compiled = gs.compile(lambda x: (x * 2).sum())
    assert "&lt;compiled &lt;function" in compiled._repr_html_() and "without a recording" in compiled._repr_html_()
    x = gs.ones(3)
    compiled(x), compiled(x)
    tree = ElementTree.fromstring(compiled._repr_html_())
    assert tree.find("details/pre").text == str(compiled.program)
    assert tree.find("details/summary").text == "program(x0: float64[3])"
