"""Names of arguments: whatever one is called, the generated code means the argument by it, or the name is refused."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.spec.constants import CONSTANTS
from codegen.spec.names import CALLED
from codegen.write.files import render
from tests.asked import each

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "codegen" / "write" / "templates"
ENTRY = "  doc: F.\n  forward: np.sin(x)\n  nondifferentiable: true\n"


def imported() -> set[str]:
    """The names that the templates of nodes and wrappers bring into a module."""
    names = set()
    for name in ("functions", "variable_type", "kernels"):
        text = (TEMPLATES / f"{name}.pyx.j2").read_text()
        for found in re.finditer(r"^(?:from (?:\S+|\{\{ package.name \}\}) c?import (\([^)]*\)|[^({\n]*)|import (\w+)(?: as (\w+))?)$", text, re.MULTILINE):
            names |= set(re.findall(r"\w+", found[1])) if found[1] else {found[3] or found[2]}
    return names


def test_every_name_that_the_templates_import_is_reserved():
    modules = {"np", "kernels", "formulas", "math", "ops"}
    assert imported() == {name for name in CALLED if not hasattr(builtins, name)} | modules


@each("word", sorted(CALLED | {"op_x", "jvp_x", "forward_x", "tanh_ufunc", "TanhBackward"}))
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


# What some part of the generated code, of a node or of Python calls something of its own, and an argument may be called too.
WORDS = (
    "state inputs memory wanted edges node written recording level flat item error result outputs hooks released index name i output "
    "saved saves values value version metadata needs apply tracked primal tangent tangents other keyword op data array object "
    "type list range tuple slot target old len zip isinstance function family sample"
).split()

# One entry for each form, with names A to G for arguments, outputs and lets.
ENTRIES = """
- op: composed{n}(A, B, int C) -> D
  doc: D.
  variants: [method, inplace, out]
  composite: sum(E, C)
  let:
    E: matmul(A, B)
  samples:
  - f(x(3), x(3), 2)

- op: listed{n}(Array[] A, int B) -> Array[] D
  doc: D.
  forward: kernels.f(A, B)
  linear: [A]
  vjp:
    A: listed{n}(grad, B)
  samples:
  - f([x(3), x(3)], 2)

- op: partial{n}(A, B) -> D
  doc: D.
  variants: [method, inplace, out]
  forward: np.hypot(A, B)
  dy/dx: cos(A)
  dD/dB: sin(D)
  samples: two

- op: rules{n}(A, B, int C=1, *, bool D=False) -> E, F
  doc: D.
  variants: [method]
  forward: kernels.f(A, B, C, D)
  let:
    G: matmul(A, B)
  vjp:
    A: sum(matmul(grad_E, G), C) if D else matmul(grad_E, E)
    B: matmul(grad_F, F)
  jvp:
    E: matmul(A_t, G) + matmul(B_t, A)
    F: matmul(B_t, F)
  samples:
  - f(x(3), x(3))
  - f(x(3), x(3), 2, D=True)

- op: viewed{n}(A, Index B, float C) -> D
  doc: D.
  variants: [method]
  view: A
  forward: kernels.f(A, B, C)
  linear: [A]
  vjp:
    A: viewed{n}(grad, B, C)
  samples:
  - f(x(3), 0, 2.0)

- op: written{n}_(A, B) -> D
  doc: D.
  inplace: kernels.f(A, B)
  linear: [A, B]
  vjp:
    A: grad
    B: grad
  samples: two
"""


OPERATORS = """\
- op: multiply(a, b) -> y
  doc: Product.
  operator: __mul__
  forward: np.multiply(a, b)
  multilinear: [a, b]
  vjp:
    a: grad * conj(b)
    b: grad * conj(a)
  samples: two

- op: negative(x) -> y
  doc: Minus x.
  operator: __neg__
  forward: np.negative(x)
  dy/dx: -1
  samples: one"""


def entries_with(words):
    """The entries, with every word in each of them: as an argument of one, an output or a let of another."""
    texts = OPERATORS.split("\n\n")
    for k, entry in enumerate(ENTRIES.strip().split("\n\n")):
        entry = entry.replace("dy/dx", "dD/dA")
        for n in range(0, len(words), 7):
            names = {part: words[(n + k + i) % len(words)] for i, part in enumerate("ABCDEFG")}
            text = re.sub(r"\b(grad_|)([A-G])(?=\b|_t\b)", lambda found: found[1] + names[found[2]], entry)
            text = re.sub(r"\bd([A-G])/d([A-G])\b", lambda found: f"d{names[found[1]]}/d{names[found[2]]}", text)
            texts.append(text.format(n=f"{n:02}"))
    return "\n\n".join(sorted(texts)) + "\n"


@pytest.mark.slow
def test_arguments_may_be_called_like_variables_of_the_generated_code(small, tmp_path):
    """Nodes and wrappers of every form, with every word in every place, are valid Cython."""
    pytest.importorskip("Cython")
    small.write("runtime/kernels/__init__.py", "from .all import f\n")
    small.write("runtime/kernels/all.py", "def f(*args):\n    return args\n")
    files = render(small.analyze(entries_with(WORDS)), small.root)
    source = tmp_path / "source"
    (source / "runtime").parent.mkdir()
    (source / "runtime").symlink_to(ROOT / "runtime")
    for name in ("__init__.pxd", "functions/__init__.pxd", "kernels/__init__.pxd", "variable_type/__init__.pxd"):
        files.setdefault(name, "")
    for name, text in files.items():
        path = source / "generated" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run([sys.executable, ROOT / "buildtools/stage_headers.py", source, tmp_path / "headers"], check=True)
    for folder in ("functions", "variable_type"):
        done = subprocess.run(
            [sys.executable, "-m", "cython", "-3", "-I", tmp_path / "headers", "--module-name", f"gradspec.generated.{folder}.tested",
             source / "generated" / folder / "tested.pyx", "-o", tmp_path / f"{folder}.c"], capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("word", sorted(CONSTANTS))
def test_a_let_is_not_called_like_a_constant(small, word):
    """Below it the constant would be something else; an argument may be called so, which a reader sees in the signature."""
    entry = "- op: f(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  let:\n    {0}: cos(x)\n  dy/dx: {0}\n  samples: one\n"
    text = small.refusal("read", entry.format(word))
    assert text.startswith(f"derivatives.yaml:16:5: error: f: let: {word}: '{word}' is a constant of formulas")
