"""Line breaks: what is broken means what it meant, fits, and stands in lines that begin and end where brackets do."""

from __future__ import annotations

import ast
import random
import re
import textwrap

import pytest

from codegen.write.layout import WIDTH, broken
from tests.asked import each


def expression(random_, depth):
    """A random expression of what formulas are spelled with."""
    if depth == 0 or random_.random() < 0.1:
        return random_.choice(["grad", "x", "self.saved_x", "2", "-1", "1e999", "'sum, mean (or) none'", "()", "x_shape[0]"])
    parts = [expression(random_, depth - 1) for _ in range(random_.randint(1, 4))]
    match random_.randrange(7):
        case 0:
            return f"forward_matmul({', '.join(parts)})"
        case 1:
            return "(" + f" {random_.choice('+-*/@')} ".join(parts) + ")"
        case 2:
            return f"({parts[0]} if {parts[-1]} is not None else {parts[0]})"
        case 3:
            return f"({', '.join(parts)},)"
        case 4:
            return f"ops.sum({parts[0]}, axis={parts[-1]})"
        case 5:  # arguments of operators without brackets of their own
            return f"forward_where({parts[0]} if {parts[-1]} is None else {parts[0]}, {parts[0]} * {parts[-1]}, {parts[-1]})"
        case _:
            return "(" + " and ".join(f"{part} == 0" for part in parts) + ")"


STATEMENTS = ["return {}", "y, z = {}", "raise explain({}) from None", "return {}, {}", "grad_x = {} if x_ndim == 1 else {}"]


@pytest.mark.slow
@each("seed", range(300))
def test_random_statements_keep_their_meaning(seed):
    random_ = random.Random(seed)
    line = random_.choice(STATEMENTS).format(*(expression(random_, 5) for _ in range(2)))
    text = broken("        " + line)
    assert ast.dump(ast.parse(textwrap.dedent(text))) == ast.dump(ast.parse(line))
    assert broken(text) == text  # nothing is left to break
    assert all(len(row) <= WIDTH or " " not in row.strip() for row in text.split("\n"))
    assert not re.search(r",(?=[^\s)])| $", text, re.MULTILINE)  # a blank behind each comma, and none at the end of a line


def test_a_call_keeps_its_name_on_the_first_line():
    line = "        grad_x = forward_subtract(forward_matmul(forward_mH(vectors), forward_transpose(middle)), forward_mH(forward_matmul(left, right)))"
    assert broken(line) == """\
        grad_x = forward_subtract(
            forward_matmul(forward_mH(vectors), forward_transpose(middle)), forward_mH(forward_matmul(left, right))
        )"""


def test_a_conditional_has_a_line_for_each_branch():
    line = f"    y = {'a' * 60} if x.ndim == 1 else {'b' * 50} if x.ndim == 2 else {'c' * 20}"
    assert broken(line).split("\n") == [
        "    y = (", f"        {'a' * 60} if x.ndim == 1", f"        else {'b' * 50} if x.ndim == 2", f"        else {'c' * 20}", "    )",
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["# " + "word, " * 40, '    """' + "Text (of, many words). " * 8 + '"""', "from x cimport " + "name, " * 30 + "y"])
def test_prose_and_imports_are_left_alone(line):
    assert broken(line) == line
