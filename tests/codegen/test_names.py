"""Names of arguments: whatever one is called, the generated code means the argument by it, or the name is refused."""

from __future__ import annotations

import builtins
import re
from pathlib import Path

import pytest

from codegen.spec.names import CALLED

TEMPLATES = Path(__file__).parents[2] / "codegen" / "write" / "templates"
ENTRY = "  doc: F.\n  forward: np.sin(x)\n  nondifferentiable: true\n"


def imported() -> set[str]:
    """The names that the templates of nodes and wrappers bring into a module."""
    names = set()
    for name in ("functions", "variable_type", "kernels"):
        text = (TEMPLATES / f"{name}.pyx.j2").read_text()
        for found in re.finditer(r"^(?:from \S+ c?import (\([^)]*\)|[^({\n]*)|import (\w+)(?: as (\w+))?)$", text, re.MULTILINE):
            names |= set(re.findall(r"\w+", found[1])) if found[1] else {found[3] or found[2]}
    return names


def test_every_name_that_the_templates_import_is_reserved():
    modules = {"np", "kernels", "formulas", "math", "ops"}
    assert imported() == {name for name in CALLED if not hasattr(builtins, name)} | modules


@pytest.mark.parametrize("word", sorted(CALLED | {"op_x", "jvp_x", "forward_x", "tanh_ufunc", "TanhBackward"}))
def test_names_of_the_generated_code_are_refused(small, word):
    text = small.refusal("read", f"- op: f(x, {word}) -> y\n{ENTRY}")
    assert text.startswith(f"derivatives.yaml:12:12: error: f: op: '{word}' is a name of the generated code")


@pytest.mark.parametrize("word", ["shape", "ndim", "dtype"])
def test_an_argument_called_like_metadata_of_another_is_refused(small, word):
    text = small.refusal("read", f"- op: f(x, x_{word}) -> y\n{ENTRY}")
    assert text.startswith(f"derivatives.yaml:12:12: error: f: op: 'x_{word}' is what the generated code calls x.{word}")


def test_a_let_cannot_hide_what_the_generated_code_calls(small):
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  let:\n    saved_array: x\n  vjp:\n    x: saved_array\n  jvp: x_t\n"
    text = small.refusal("read", entry)
    assert text.startswith("derivatives.yaml:16:5: error: f: let: saved_array: 'saved_array' is a name of the generated code")
