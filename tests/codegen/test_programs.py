"""Which parts of formulas become programs, and what is left of the formula around them."""

from pathlib import Path

import pytest

from codegen.package import Package
from codegen.spec_cache import analysed
from codegen.write.wrapper import OpText

ROOT = Path(__file__).parents[2]
ENTRIES = """
---
family: programs
about: Formulas with elementwise parts.
defaults: {dtype: real, shape: x -> x}
ops:
- op: t_branch(x, float p=2.0) -> y
  doc: A static choice stays a choice between programs; what is static is given.
  forward: np.tanh(x)
  vjp:
    x: grad * x * (1 - p) if p > 1 else -grad * x
  jvp: x_t * x

- op: t_inside(x) -> y
  doc: A let that one program reads stands inside it; one that others read as well does not.
  forward: np.tanh(x)
  let:
    alone: exp(x) + 1
    twice: exp(x) + 2
  vjp:
    x: grad * alone * alone * sum(twice) + grad * twice
  jvp: x_t * x

- op: t_out(x) -> y
  doc: An op whose formula is elementwise is written out, another is given to the program.
  forward: np.tanh(x)
  vjp:
    x: grad * rsqrt(x) * cumsum(x, 0)
  jvp: x_t * x

- op: t_pair(x) -> y
  doc: Two, and a number.
  forward: 2 * np.tanh(x)
  vjp:
    x: grad * x / 3
  jvp: x_t * x / 3

- op: t_single(x) -> y
  doc: One instruction.
  forward: np.tanh(x)
  vjp:
    x: grad * x
  jvp: x_t * x

- op: t_single_bound(x) -> y
  doc: One instruction, with a number.
  forward: np.maximum(x, 0)
  vjp:
    x: grad * x
  jvp: x_t * x
"""


@pytest.fixture(scope="module")
def texts():
    spec = analysed(Package(ROOT), more=ENTRIES)
    signatures = {spelling: op.signature for spelling, op in spec.by_spelling.items()}
    return {name: OpText(op, signatures, spec.by_spelling) for name, op in spec.ops.items() if op.family == "programs"}


def sources(text):
    return [program.source for program in text.node_programs]


def test_a_single_instruction_stays_a_call(texts):
    assert texts["t_single"].on_arrays[-1] == "return forward_multiply(grad, x)"
    assert not texts["t_single"].node_programs and not texts["t_single"].forward_programs


def test_numpys_function_of_a_number_is_a_program(texts):
    assert texts["t_single_bound"].forward_lines == ["return as_array(t_single_bound_y.run((x,)))"]
    assert [program.source for program in texts["t_single_bound"].forward_programs] == [
        'cdef Program t_single_bound_y = Program("x -> y", "y = maximum(x, 0)")'
    ]


def test_two_are_a_program(texts):
    assert texts["t_pair"].on_arrays[-1] == "return t_pair_grad_x.run((grad, x))"
    assert sources(texts["t_pair"]) == [
        'cdef Program t_pair_grad_x = Program("grad, x -> grad_x", "grad_x = divide(multiply(grad, x), 3)")'
    ]
    assert texts["t_pair"].forward_lines == ["return as_array(t_pair_y.run((x,)))"]


def test_lets(texts):
    programs = {program.name: program for program in texts["t_inside"].node_programs}
    assert programs["t_inside_twice"].lines == {"twice": "add(exp(x), 2)"}
    lines = programs["t_inside_grad_x"].lines
    assert lines["alone"] == "add(exp(x), 1)" and "multiply(grad, alone), alone" in lines["grad_x"]
    assert "twice" in programs["t_inside_grad_x"].inputs and "alone" not in programs["t_inside_grad_x"].inputs
    assert sum("forward_sum(twice, None, False)" in line for line in texts["t_inside"].on_arrays) == 1


def test_ops_that_are_elementwise_are_written_out(texts):
    (program,) = texts["t_out"].node_programs
    assert program.lines == {"grad_x": "multiply(multiply(grad, divide(1, sqrt(x))), given_2)"}
    assert texts["t_out"].on_arrays[-1] == "return t_out_grad_x.run((grad, x, forward_cumsum(x, 0, False)))"


def test_branches(texts):
    first, second = texts["t_branch"].node_programs
    assert first.lines == {"grad_x": "multiply(multiply(grad, x), given_2)"}
    assert second.lines == {"grad_x": "multiply(negative(grad), x)"}
    assert any("(grad, x, 1 - p)" in line for line in texts["t_branch"].on_arrays)
