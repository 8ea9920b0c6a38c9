"""Packages of operators beside the library: found, held to the same checks, refused with file and line, written as Python."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import packages, starter
from codegen.__main__ import _check, main
from codegen.errors import SpecErrors
from codegen.package import Package
from codegen.packages import NoPackage, package_at
from codegen.rules.calls import ops_of
from codegen.spec.model import Family, Spec
from codegen.spec.table import GRAMMAR, table
from codegen.spec_cache import analysed
from codegen.write import guests
from tests.asked import each

ROOT = Path(__file__).parents[2]
PROJECT = '[project.entry-points."gradspec.operators"]\nwaves = "waves"\n'
ENTRY = """\
grammar: 1
---
family: special
about: Functions of one variable.
defaults: {dtype: real, shape: x -> x}
ops:
- op: gudermann(x) -> y
  doc: The Gudermannian.
  forward: 2 * np.arctan(np.tanh(x / 2))
  dy/dx: 1 / cosh(x)
"""
ADJOINT = """\
- op: every(x, int step=2) -> y
  doc: Some elements of the last axis.
  dtype: any
  shape: (..., n) -> (..., _)
  forward: np.copy(x[..., ::step])
  linear: [x]
  vjp:
    x: _spread(grad, x.shape[-1], step)
  samples:
  - f(x(2, 6))
  - f(x(3, 2, 7), 3)

- op: _spread(x, int n, int step) -> y
  doc: The adjoint of every.
  dtype: any
  shape: (..., _) -> (..., n)
  forward: kernels.spread(x, n, step)
  linear: [x]
  vjp:
    x: every(grad, step)
  samples:
  - f(x(2, 3), 6, 2)
  - f(x(2, 3, 2), 5, 3)

"""
KERNELS = "import numpy as np\n\n\ndef spread(x, n, step):\n    y = np.zeros((*x.shape[:-1], n), x.dtype)\n    y[..., ::step] = x\n    return y\n"


def written(folder: Path, spec: str, kernels: str = KERNELS, name: str = "waves") -> Package:
    """A package of a spec, and of kernels in one file."""
    place = folder / "src" / name
    place.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT.replace("waves", name))
    (place / "derivatives.yaml").write_text(spec)
    (place / "kernels.py").write_text(kernels)
    (place / "__init__.py").write_text("from .operators import *\n")
    package = package_at(folder)
    assert package is not None
    return package


def refused(package: Package) -> str:
    """What all checks refuse a package with."""
    with pytest.raises(SpecErrors) as caught:
        _check(package)
    return str(caught.value)


def changed(*pairs: tuple[str, str]) -> str:
    text = ENTRY
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


RULE, FORWARD = "1 / cosh(x)", "2 * np.arctan(np.tanh(x / 2))"
HOSTILE = {
    "an unknown operator": (changed((RULE, "1 / coshh(x)")),
                            "10:14: error: gudermann: dy/dx: unknown function 'coshh' (formulas call the operators of src/waves/derivatives.yaml "
                            "and of gradspec); did you mean 'cosh'?"),
    "a name of ours": (changed(("gudermann(", "tanh(")), "7:7: error: tanh: op: 'tanh' is an operator of gradspec already: gradspec.tanh is "
                       "tanh(x) -> y"),
    "an alias of ours": (changed(("  forward", "  alias: [arctan]\n  forward")), "9:10: error: gudermann: alias: 'arctan' is an operator of gradspec"),
    "a wrong sign": (changed((RULE, "-1 / cosh(x)")), "10:10: error: gudermann: dy/dx: is wrong: expected"),
    "a wrong factor": (changed((RULE, "1 / cosh(2 * x)")), "10:10: error: gudermann: dy/dx: is wrong: expected"),
    "an operator that is private": (changed((RULE, "_gauss(x)")), "10:10: error: gudermann: dy/dx: '_gauss' is private to gradspec"),
    "an unknown key": (changed(("  doc", "  dock")), "8:3: error: gudermann: unknown key 'dock'; did you mean 'doc'?"),
    "no version of the grammar": (changed(("grammar: 1\n---\n", "---\n")), f"1:1: error: grammar: a spec begins with the version of its grammar: "
                                  f"grammar: {GRAMMAR}"),
    "a newer grammar": (changed(("grammar: 1", "grammar: 7")), "1:10: error: grammar: grammar 7 is not read: this gradspec reads grammar 1; install "
                        "a newer gradspec"),
    "a grammar that never was": (changed(("grammar: 1", "grammar: one")), "1:10: error: grammar: grammar one is not read"),
    "a circle of composites": (ENTRY + "\n- op: here(x) -> y\n  doc: A circle.\n  composite: there(x)\n\n- op: there(x) -> y\n  doc: A circle.\n"
                               "  composite: here(x)\n", "14:14: error: here: composite: "),
    "no sample": (changed(("shape: x -> x", "shape: _"), ("  forward", "  shape: (n, n) -> (n, n)\n  forward")), "7:7: error: gudermann: samples: missing: an op without samples is not tested"),
    "no sample for an argument": (changed(("gudermann(x)", "gudermann(x, float scale=1.0)")), "7:26: error: gudermann: samples: no sample gives 'scale' another "
                                  "value than its default"),
    "a kernel that is not there": (changed((FORWARD, "kernels.gudermann(x)")), "9:20: error: gudermann: forward: no kernel 'gudermann' in "
                                   "src/waves/kernels"),
    "a list in the place of a key": (changed(("grammar: 1", "? [grammar]\n: 1")), "1:1: error: grammar: a spec begins with"),
    "a list in the place of the version": (changed(("grammar: 1", "grammar: [1]")), "1:10: error: "),
    "a tab": (changed(("  doc", "\tdoc")), "8:1: error: not YAML: "),
    "a brace that stays open": (changed(("x -> x}", "x -> x")), "6:4: error: not YAML: expected ',' or '}'"),
    "Python by import": (changed((FORWARD, "__import__('os').system('true')")), "9:29: error: gudermann: forward: arrays have no .system"),
    "Python by attributes": (changed((FORWARD, "np.linalg.__loader__")), "9:22: error: gudermann: forward: np.linalg.__loader__ is not for formulas"),
    "Python by what NumPy imports": (changed((FORWARD, "np.linalg.linalg.os.system('true')")), "9:"),
    "a file": (changed((FORWARD, "np.load('x', allow_pickle=True)")), "9:15: error: gudermann: forward: np.load is not for formulas"),
    "a file of an array": (changed((FORWARD, "x.tofile('x')")), "9:14: error: gudermann: forward: .tofile is not for formulas"),
    "Python by a class": (changed((FORWARD, "x.__class__.__bases__")), "9:"),
    "Python in a rule": (changed((RULE, "x.__class__")), "10:12: error: gudermann: dy/dx: .__class__ is not for formulas"),
    "Python by a lambda": (changed((RULE, "(lambda:x)()")), "10:11: error: gudermann: dy/dx: a lambda is not allowed in a formula"),
    "Python in a sample": (ENTRY + "  samples:\n  - f(open('x'))\n", "12:7: error: gudermann: samples: unknown function 'open'"),
    "a method of Tensor": (changed(("dtype: real,", "dtype: real, variants: [method],")), "5:35: error: gudermann: variants: 'method' would stand on "
                           "gradspec's Tensor"),
    "an operator of Python": (changed(("  forward", "  operator: __add__\n  forward")), "9:13: error: gudermann: operator: Python's operators"),
    "a name of the generated module": (changed(("gudermann(", "kernels(")), "7:7: error: kernels: op: "),
    "a name of a generated function": (changed(("gudermann(", "forward_x(")), "7:7: error: forward_x: op: "),
}  # fmt: skip


@each("name", HOSTILE)
def test_a_hostile_spec_is_refused_with_its_line(name, tmp_path):
    spec, wanted = HOSTILE[name]
    start = time.process_time()
    said = refused(written(tmp_path / name.replace(" ", "_"), spec))
    assert f"derivatives.yaml:{wanted}" in said, said
    assert time.process_time() - start < 5


def test_a_clash_of_two_packages_names_both_places(tmp_path, monkeypatch):
    ours, theirs = written(tmp_path / "waves", ENTRY), written(tmp_path / "hills", ENTRY, name="hills")
    monkeypatch.setattr(packages, "_installed", lambda: iter([("hills", theirs)]))
    assert refused(ours).startswith("derivatives.yaml:7:7: error: gudermann: op: 'gudermann' is an operator of another package already: "
                                    f"{theirs.path(theirs.spec)}:7:7")  # fmt: skip
    assert packages.installed("hills") is theirs
    with pytest.raises(NoPackage, match="no installed package has the entry point .* installed are hills"):
        packages.installed("waves")


def test_what_an_entry_point_names_is_found(tmp_path, monkeypatch):
    (tmp_path / "hills-1.0.dist-info").mkdir()
    (tmp_path / "hills-1.0.dist-info" / "entry_points.txt").write_text("[gradspec.operators]\nhills = hills\n")
    (tmp_path / "hills-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: hills\nVersion: 1.0\n")
    (tmp_path / "hills").mkdir()
    (tmp_path / "hills" / "__init__.py").write_text("raise RuntimeError('it is not imported')\n")
    (tmp_path / "hills" / "derivatives.yaml").write_text(ENTRY.replace("  forward", "  alias: [gd]\n  forward"))
    monkeypatch.syspath_prepend(tmp_path)
    found = packages.taken(Package(tmp_path, name="waves"))
    assert {name: (at.line, at.column) for name, at in found.items()} == {"gudermann": (7, 7), "gd": (9, 11)}
    assert list(analysed(packages.installed("hills")).ops) == ["gudermann"]


def test_a_folder_without_the_entry_point_is_no_package(tmp_path, monkeypatch, capsys):
    assert package_at(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert package_at(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    with pytest.raises(NoPackage, match="names 'waves', and neither src/waves nor waves in .* has a derivatives.yaml"):
        package_at(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 1 and "neither src/waves" in capsys.readouterr().err


def test_a_package_asks_for_cython_in_its_project(tmp_path):
    package = written(tmp_path, ENTRY)
    project = package.path("pyproject.toml")
    names = {"kernels/operators.pyx", "functions/operators.pyx", "variable_type/operators.pyx"}

    def asked(text: str) -> Package:
        project.write_text(f"{PROJECT}\n[tool.gradspec]\n{text}\n")
        return package_at(tmp_path)

    for text, wanted in (("cython = true", names), ("cython = false", set()), ("", set())):
        rendered = guests.render(analysed(package), asked(text))
        assert {path.removeprefix("src/waves/generated/") for path in rendered if path.endswith(".pyx")} == wanted
    compiled = guests.render(analysed(package), asked("cython = true"))
    assert "y = multiply(2, atan(tanh(divide(x, 2))))" in compiled["src/waves/generated/kernels/operators.pyx"]
    assert '"waves.operators.gudermann"' in compiled["src/waves/generated/variable_type/operators.pyx"]
    for text in ("cython = 1", "python = true"):
        with pytest.raises(NoPackage, match=r"pyproject.toml: \[tool.gradspec\] has one key, cython = true or false"):
            asked(text)


def test_a_package_is_checked_written_and_imported(tmp_path, monkeypatch):
    gs = pytest.importorskip("gradspec")
    package = written(tmp_path, ENTRY.replace("ops:\n", "ops:\n" + ADJOINT))
    spec, unproved = _check(package)
    assert unproved == [] and list(spec.ops) == ["every", "_spread", "gudermann"]
    assert [path.name for path in guests.generate(spec, package)] == ["operators.py", "operators.pyi", "OPS.md", "test_operators.py"]
    assert guests.generate(spec, package) == [] and guests.stale(spec, package) == []
    package.path("OPS.md").write_text("other")
    assert guests.stale(spec, package) == ["OPS.md"]
    ast.parse(package.path("src/waves/operators.pyi").read_text())
    monkeypatch.syspath_prepend(tmp_path / "src")
    waves = importlib.import_module("waves")
    try:
        assert waves.operators.__all__ == ["every", "gudermann"]
        x = gs.tensor([0.5, 1.0, 2.0], requires_grad=True)
        waves.gudermann(waves.every(x)).sum().backward()
        assert x.grad.tolist() == pytest.approx([0.886818883970074, 0, 0.2658022288340797])
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "waves"]:
            del sys.modules[name]


def test_code_of_another_format_is_refused(tmp_path):
    from gradspec.operators import FORMAT, module

    assert guests.FORMAT == FORMAT
    with pytest.raises(ImportError, match="waves.operators was generated by an older gradspec .* generate it again"):
        module("waves.operators", FORMAT - 1)
    with pytest.raises(ImportError, match="was generated by a newer gradspec"):
        module("waves.operators", FORMAT + 1)


def test_commands_are_about_the_package_of_the_folder(tmp_path, monkeypatch, capsys):
    written(tmp_path, ENTRY)
    monkeypatch.chdir(tmp_path / "src" / "waves")
    assert main(["toc"]) == 0 and "special    1  Functions of one variable." in capsys.readouterr().out
    assert main(["show", "gudermann"]) == 0
    shown = capsys.readouterr().out
    assert re.search("vmap +elements", shown) and "def vjp_gudermann(wanted_, x, grad):\n    grad_x = grad / made_.ops.cosh(x)" in shown
    assert main(["--check-generated"]) == 1 and "waves is stale: run python -m gradspec.codegen" in capsys.readouterr().err
    assert main(["build"]) == 1 and "is built by what its pyproject.toml names" in capsys.readouterr().err
    assert main(["new", "gudermann"]) == 1 and "has an entry already" in capsys.readouterr().err


def test_the_table_has_the_public_operators():
    found = table()
    gs = pytest.importorskip("gradspec")
    assert found.operators["sum"].signature.source.startswith("sum(x, int[]? axis=None") and found.operators["mul"].name == "multiply"
    assert not any(name.startswith("_") for name in found.operators) and "_sum_to" in found.private
    assert found.shapes["x -> x"] == ("unary",) or "unary" in found.presets
    public = {name for name, op in found.operators.items() if not op.inplace_only}
    assert {name for name in public if hasattr(gs, name)} >= {"tanh", "matmul", "einsum"}


# Of the library's own operators each one of so many stands for all: GUESTS=1 takes all, GUESTS=7+3 one of seven from the fourth on.
GUESTS, START = (int(word or 0) for word in os.environ.get("GUESTS", "41").partition("+")[::2])


def test_own_entries_pass_all_checks_as_those_of_a_package(spec_of_the_checkout):
    """What is written for another package is right for every form of entry: our own are asked as if they were a package's."""
    pytest.importorskip("gradspec")
    from gradspec import formulas, kernels
    from gradspec.operators.checks import CHECKS

    _, spec = spec_of_the_checkout
    ops = [op for op in spec.ops.values() if not (op.private or op.view or op.inplace_only or op.signature.generators)]
    ops = [op for op in ops if not any(name.startswith("_") for name in ops_of(op))]
    wrong = []
    for op in ops[START::GUESTS]:
        family = Family("guests", "Own operators.", (replace(op, variants=("function", "out") if "out" in op.variants else ("function",)),), op.location)
        names = {"__name__": "guests", "kernels": kernels, "formulas": formulas}
        exec(compile(guests.render_one(Spec((family,))), f"<{op.name}>", "exec"), names)
        for check in CHECKS:
            try:
                check(names[op.name])
            except Exception as error:
                wrong.append(f"{op.name}, {check.__name__}: {type(error).__name__}: {str(error)[:300]}")
    assert "\n".join(wrong) == "" and len(ops) > 250


# The package to start from.


def test_the_example_is_the_package_to_start_from(tmp_path):
    """What `new-package` writes is examples/operators, under another name, and that is not stale."""
    example = package_at(ROOT / "examples" / "operators")
    assert guests.stale(analysed(example), example) == []
    files = starter.files("tutorial_operators", cython=True)
    assert all((example.root / path).read_text() == text for path, text in files.items())
    generated = set(guests.render(analysed(example), example))
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "."], cwd=example.root, capture_output=True,
                            text=True).stdout.split()  # fmt: skip
    assert not listed or set(listed) == {*files, *generated}


def test_a_new_package_without_a_compiler(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-package", "plain"]) == 0
    files = {path.relative_to(tmp_path / "plain").as_posix() for path in (tmp_path / "plain").rglob("*") if path.is_file()}
    assert "setup.py" not in files and not any(name.endswith(".pyx") for name in files) and "src/plain/operators.py" in files
    texts = [(tmp_path / "plain" / name).read_text() for name in files]
    assert not any("leak" in text or "tutorial" in text or "Cython" in text for text in texts)
    monkeypatch.chdir(tmp_path / "plain")
    assert main([]) == 0 and "checked 3 operators" in capsys.readouterr().err


@each("name", ["gradspec", "class", "2x", "a-b", "a.b", "é"])
def test_a_name_that_cannot_be_imported_makes_no_package(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be imported as a package of operators"):
        starter.write(name, tmp_path / "new", False)


def test_a_folder_that_is_in_use_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is there already"):
        starter.write("fresh", tmp_path, False)
