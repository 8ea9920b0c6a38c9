"""The tool that mutates our own code: which changes it makes, and that a mutant stands in no file of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from codegen.build import build_folder  # noqa: E402
from tests.mutants.changes import mutants  # noqa: E402
from tests.mutants.tokens import lines  # noqa: E402
from tests.mutants.trial import HOOK, Compiled  # noqa: E402

CHANGES = {
    "x[0] = a < b": ["pass", "x[1] = a < b", "x[(-1)] = a < b", "x[0] = a <= b", "x[0] = a >= b"],
    "if a and not b:": ["if True:", "if False:", "if a or not b:", "if not b:", "if a:", "if a and b:"],
    "while x is None:": ["while False:", "while x is not None:"],
    "return x not in y": ["return None", "return x in y"],
    "return": ["pass"],
    "break": ["continue", "pass"],
    "raise ValueError(f'{a < b}')": ["pass"],
    "import os": [],
    "'''Only words: 1 < 2.'''": [],
    "count: int | None = 3": ["count: int | None = 4", "count: int | None = 2"],
    "f(a, b, key=c)": ["pass", "f(b, a, key=c)", "f(a, b)"],
    "x = [y for y in z if y]": ["x = [y for y in z if True]"],
    "return a if b else c": ["return None", "return a if True else c", "return a if False else c"],
    "for i in range(n):": ["for i in range(n - 1):", "for i in range(1, n):", "for i in n:"],
    "return x[a:b]": ["return None", "return x[a + 1:b]", "return x[a:b - 1]"],
    "with lock:": ["if True:"],
    "@cached": [""],
    "def f(x, size=2, *rest) -> int:": ["def f(x, size=3, *rest) -> int:", "def f(x, size=1, *rest) -> int:"],
    "cdef inline int f(int* x, double y=1.0) except -1:": ["cdef inline int f(int* x, double y=1.25) except -1:"],
    "cdef int i, k = n - 1, *p": [
        "cdef int i, k = n + 1, *p", "cdef int i, k = n - 2, *p", "cdef int i, k = n - 0, *p"],
    "p[0] = <int*> &q": ["pass", "p[1] = <int*> &q", "p[(-1)] = <int*> &q"],
}  # fmt: skip


@pytest.mark.parametrize("source", CHANGES)
def test_changes(source):
    found = [mutant.of(f"{source}\n").rstrip("\n") for mutant in mutants("x.pyx", f"{source}\n")]
    assert sorted(found) == sorted(CHANGES[source])


def test_a_mutant_says_where_it_is():
    text = "class A:\n    def f(self, x):\n        # a comment\n        return (x <\n                3)  # less\n"
    (mutant, *_) = [m for m in mutants("a/b.py", text) if "<=" in m.after]
    assert str(mutant) == "a/b.py:4: A.f: return (x < -> return (x <="


def test_a_declaration_is_left_alone():
    text = "cdef extern from 'x.h':\n    int f(int a, int b) nogil\ncdef struct S:\n    int[3] x\nif TYPE_CHECKING:\n    from a import b\n    c = 1\n"
    assert mutants("x.pyx", text) == []


@pytest.mark.parametrize("folder", ["runtime", "library", "codegen"])
def test_every_source_has_whole_lines(folder):
    """Each bracket of a logical line is closed in it."""
    for path in sorted((ROOT / folder).rglob("*.py*")):
        if path.suffix in (".py", ".pyx", ".pxd"):
            for line in lines(path.read_text()):
                assert all(token.partner >= 0 for token in line.tokens if token.text in "()[]{}" and token.kind == "operator"), path


def test_a_mutant_is_loaded_in_the_place_of_a_module(tmp_path):
    """Also in processes that are started from there; the file stays as it is."""
    module, mutant = tmp_path / "module.py", tmp_path / "mutant" / "module.py"
    mutant.parent.mkdir()
    module.write_text("value = 1\n")
    mutant.write_text("value = 2\n")
    script = "import subprocess, sys, module; subprocess.run([sys.executable, '-c', 'import module; print(module.value)']); print(module.value)"
    environment = os.environ | {"PYTHONPATH": f"{HOOK}{os.pathsep}{tmp_path}", "MUTANT_OF": str(module), "MUTANT": str(mutant)}
    for variables, expected in ((environment, "2"), (environment | {"MUTANT": ""}, "1")):
        said = subprocess.run([sys.executable, "-c", script], env=variables, text=True, capture_output=True, check=True).stdout
        assert said.split() == [expected, expected]
    assert module.read_text() == "value = 1\n"


def test_equivalent_mutants_have_one_reason_and_a_module():
    listed = yaml.safe_load((ROOT / "tests" / "mutants" / "equivalent.yaml").read_text())
    for module, groups in listed.items():
        names = [name for group in groups for name in group["mutants"]]
        assert (ROOT / module).is_file() and len(set(names)) == len(names)
        assert all(group["reason"] for group in groups)


def test_a_module_in_cython_is_built_with_the_commands_of_the_build_beside_it(tmp_path):
    if build_folder(ROOT) is None:
        pytest.skip("gradspec is not installed editable from this checkout")
    module = ROOT / "runtime/kernels/loops/donated_buffer.pyx"
    compiled = Compiled(module)
    assert compiled.extension.parent.name == "kernels"
    built = compiled.extension.stat().st_mtime_ns
    source = tmp_path / module.name
    source.write_text(module.read_text())
    assert compiled.build(source)
    assert compiled.built(source).stat().st_size > 100_000
    source.write_text(module.read_text() + "\ncdef nothing that compiles\n")
    assert not compiled.build(source)
    assert compiled.extension.stat().st_mtime_ns == built
