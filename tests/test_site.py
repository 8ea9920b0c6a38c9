"""The sources of the site: formulas are well-formed, every page of docs/ has its place, links lead somewhere, examples run."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))

import mathematics  # noqa: E402
import pages  # noqa: E402
import plots  # noqa: E402

from codegen import spec_cache  # noqa: E402
from codegen.package import Package  # noqa: E402
from codegen.write import docstring_maths  # noqa: E402

SPEC = spec_cache.analysed(Package.at(ROOT))


def text(line):
    """The characters of a formula, without the elements."""
    return "".join(ElementTree.fromstring(f"<p>{mathematics.line(line)}</p>".replace("&nbsp;", " ")).itertext())


def test_every_rule_is_typeset():
    count = 0
    for op in pages.Operators(SPEC).public():
        for line in [*docstring_maths.backward(op), *docstring_maths.forward(op)]:
            assert text(line)
            count += "<math" in mathematics.line(line)
    assert count > 1000


@pytest.mark.parametrize(
    "line, typeset",
    [("dy/dx = 1 / cosh(x)", "∂y∂x=1cosh\u2061(x)"), ("grad_x = (a + b) * c ** 2", "g¯x=(a+b)⋅c2"), ("y_t = a - (b - c)", "y\u0307=a−(b−c)"),
     ("grad_x = a if n > 1 else b", "g¯x={aif\xa0n>1botherwise"), ("not differentiable", "not differentiable"), ("where s = -(a * b)", "where s=−a⋅b"),
     ("y_t = dy/dx * x_t", "y\u0307=∂y∂x⋅x\u0307"), ("dy/dx = (-x) ** 2", "∂y∂x=(−x)2"), ("composite: a @ (b + c)", "composite: a@(b+c)")],
)  # fmt: skip
def test_a_formula_keeps_its_meaning(line, typeset):
    assert text(line) == typeset


def test_brackets_are_where_the_tree_needs_them():
    """Two formulas with different trees are typeset differently."""
    seen = {}
    for formula in (
        "a - (b - c)",
        "a - b - c",
        "(a + b) * c",
        "a + b * c",
        "-(a + b)",
        "-a + b",
        "(a / b) ** 2",
        "a / b ** 2",
        "(a if b else c) + d",
        "a if b else c + d",
    ):
        shown = mathematics.line(f"y = {formula}")
        assert shown not in seen, (formula, seen[shown])
        seen[shown] = formula


@pytest.mark.slow
def test_links_lead_somewhere_and_examples_run(tmp_path):
    pages.guides(tmp_path)
    pages.operators(tmp_path, SPEC)
    pages.reference(tmp_path)
    written = list(tmp_path.rglob("*.md"))
    assert len(written) > 650
    for path in written:
        for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", path.read_text()):
            assert "://" in target or target.endswith(".svg") or (path.parent / target).exists(), (path.name, target)
    grammar = (tmp_path / "grammar.md").read_text()
    keys = {key for path in written for key in re.findall(r'grammar.html#key-([^"]+)"', path.read_text())}
    assert {"op", "doc", "forward", "dy/dx", "vjp"} <= keys and {key for key in keys if f'id="key-{key}"' not in grammar} == set()
    shown = [path.read_text() for path in written if "```pycon" in path.read_text()]
    assert len(shown) > 300
    found = pages.Operators(SPEC)
    for op in found.public():
        stated = pages.examples.example(found.views(op))
        assert list(map(numbers, found.session(op) or stated)) == list(map(numbers, stated)), op.name


def numbers(line):
    """The numbers of a line: an example does not state the signs of zeros."""
    return [float(number) for number in re.findall(r"(?<!\w)[-+]?\d[\d.]*(?:e[-+]\d+)?", line)] or line


def test_hard_points_are_those_of_the_entry(tmp_path):
    op = SPEC.ops["absolute"]
    assert plots.hard_points(op) == [0.0] and plots.name(op) == "absolute.svg" and plots.name(SPEC.ops["flip"]) == ""
    plots.one(op, tmp_path / "absolute.svg")
    assert "derivative" in (tmp_path / "absolute.svg").read_text()
