"""Docstrings: every public function has the sections of numpydoc, every method the first line; the stubs have that line too."""

import ast
import importlib
import inspect
import pydoc
import re
from pathlib import Path

import pytest

import gradspec as gs
from gradspec.support.docstrings import LEAF, OUT, docstring
from tests.asked import each

ROOT = Path(__file__).parents[3]
SECTIONS = ["Parameters", "Returns", "Notes", "References", "Examples"]
NAMESPACES = {path.stem: path for path in sorted((ROOT / "generated/namespaces").glob("*.pyi"))}


def stub(path):
    return ast.parse(path.read_text()).body


def one_line(text):
    return " ".join(text.split())


MAIN = stub(ROOT / "generated/__init__.pyi")
FUNCTIONS = [pytest.param(gs, node, id=node.name) for node in MAIN if isinstance(node, ast.FunctionDef)]
for name, path in NAMESPACES.items():
    module = importlib.import_module(f"gradspec.{name}")
    FUNCTIONS += [pytest.param(module, node, id=f"{name}.{node.name}") for node in stub(path) if isinstance(node, ast.FunctionDef)]
(TENSOR,) = [node for node in MAIN if isinstance(node, ast.ClassDef) and node.name == "Tensor"]
METHODS = [node for node in TENSOR.body if isinstance(node, ast.FunctionDef) and ast.get_docstring(node)]


def test_sections_stand_in_the_order_of_numpydoc():
    text = docstring("Sum.", "x : array_like\n" + OUT, "sum(x) -> y", ">>> 1\n1", "z : Tensor", "Somebody (1999).")
    assert text == """\
Sum.

Parameters
----------
x : array_like
out : Tensor, optional
    Where the result is written.

Returns
-------
z : Tensor

Notes
-----
sum(x) -> y

References
----------
Somebody (1999).

Examples
--------
>>> 1
1"""
    assert docstring("Zero.", LEAF, "zero() -> y").startswith("Zero.\n\nParameters\n----------\nrequires_grad : bool")
    assert docstring("Zero.", notes="zero() -> y") == "Zero.\n\nReturns\n-------\ny : Tensor\n\nNotes\n-----\nzero() -> y"


@each("module, node", FUNCTIONS)
def test_a_function_has_every_section_and_its_parameters(module, node):
    text = inspect.getdoc(getattr(module, node.name))
    first, *parts = re.split(r"\n\n(\w+)\n-+\n", text)
    sections = dict(zip(parts[::2], parts[1::2]))
    assert one_line(first) == one_line(ast.get_docstring(node))
    assert list(sections) == [name for name in SECTIONS if name in sections]
    assert {"Returns", "Notes"} <= set(sections) and all(sections.values())
    a = node.args
    parameters = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
    described = re.findall(r"^(\w+(?:, \w+)*) : \S", sections.get("Parameters", ""), re.MULTILINE)
    assert [name for names in described for name in names.split(", ")] == [p.arg for p in parameters]
    returned = [line.partition(" : ")[2] for line in sections["Returns"].split("\n")]
    kinds = {"list[Tensor]": "list of Tensor", "tuple[Tensor, ...]": "tuple of Tensor"}
    assert returned == [kinds.get(ast.unparse(node.returns), "Tensor")] * len(returned)
    assert (len(returned) > 1) == ("_results." in ast.unparse(node.returns))


@each("node", METHODS, ids=lambda node: node.name)
def test_a_method_says_what_the_stub_says(node):
    first = one_line(inspect.getdoc(getattr(gs.Tensor, node.name)).partition("\n\n")[0])
    assert first == one_line(ast.get_docstring(node)) and first.endswith(".")


def test_every_function_and_method_is_looked_at():
    assert len(FUNCTIONS) > 500 and len(METHODS) > 350


def test_help_shows_them():
    text = pydoc.render_doc(gs.linalg.vector_norm, renderer=pydoc.plaintext)
    for line in ("Parameters", "x : array_like", "Returns", "y : Tensor", "Notes", "composite: ", ">>> gs.linalg.vector_norm"):
        assert line in text
    assert gs.nn.functional.relu.__doc__ is gs.nn.relu.__doc__


def test_titles_of_sections_stand_on_lines_of_their_own():
    wrapped = re.compile(r"^ *(?:\w+ )+-{4,} \S", re.MULTILINE)
    for path in [*(ROOT / "runtime").rglob("*.py*"), *(ROOT / "library").rglob("*.py*"), *(ROOT / "codegen").rglob("*.py")]:
        if path.suffix in (".py", ".pyx") and (found := wrapped.search(path.read_text())):
            raise AssertionError(f"{path.relative_to(ROOT)}: {found[0]}")
