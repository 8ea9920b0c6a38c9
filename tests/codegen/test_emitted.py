"""What an entry becomes, to the letter: emitted/<form>.yaml beside emitted/<form>.pyx.

After a change that is meant, `GRADSPEC_ACCEPT=1 pytest tests/codegen/test_emitted.py` writes the new text; the diff is
what is to be reviewed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from codegen.errors import ErrorList
from codegen.package import Package
from codegen.spec.model import FORMS
from codegen.spec_cache import analysed
from codegen.verify.check import check_op, quiet
from codegen.verify.evaluate import Evaluator
from codegen.write.files import render_family

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "emitted"
FAMILY = "---\nfamily: emitted\nabout: One entry of each form.\nops:\n"
DEFINITION = re.compile(r"\n\n+(?=cdef (?:object|tuple|class|Program) |def |\w+_ufunc = |register\()")
FILES = ("kernels", "functions", "variable_type")  # in the order in which code is called from below


@pytest.fixture(scope="module")
def spec():
    """derivatives.yaml with a family of the entries below: their formulas may call what stands there."""
    entries = sorted((FOLDER / f"{form}.yaml").read_text() for form in FORMS)
    return analysed(Package(ROOT), more=FAMILY + "\n".join(entries))


@pytest.fixture(scope="module")
def files(spec):
    return render_family(spec, ROOT, "emitted")


def name_of(form):
    return re.match(r"- op: (\w+)", (FOLDER / f"{form}.yaml").read_text())[1]


def emitted(files, op):
    """The top-level definitions that belong to an op, under the names of their files."""
    own = re.compile(rf"(?:cdef|def|cpdef)\b.*\b(?:\w+_)?{op.name}(?:_\w*)?\(|cdef class {op.node}\(|{op.name}_ufunc = "
                     rf"|cdef Program {op.name.lstrip('_')}_")
    parts = []
    for folder in FILES:
        text = files.get(f"{folder}/emitted.pyx", "")
        blocks = DEFINITION.split(text)
        found = [block.rstrip() for block in blocks if own.match(block)]
        if found:
            parts.append("\n\n".join([f"# generated/{folder}/{op.family}.pyx", *found]))
    return "\n\n\n".join(parts) + "\n"


@pytest.mark.parametrize("form", FORMS)
def test_the_entry_becomes_this(form, spec, files):
    op, path = spec.ops[name_of(form)], FOLDER / f"{form}.pyx"
    assert op.form == form
    text = emitted(files, op)
    if os.environ.get("GRADSPEC_ACCEPT"):
        path.write_text(text)
    assert text == path.read_text(), "if this is meant: GRADSPEC_ACCEPT=1 pytest tests/codegen/test_emitted.py"


@pytest.mark.parametrize("form", FORMS)
def test_the_entry_is_right(form, spec):
    op, errors, evaluator = spec.ops[name_of(form)], ErrorList(spec.file, spec.source), Evaluator(spec, ROOT)
    with quiet():
        check_op(op, evaluator, errors)
    errors.raise_if_any()


def test_all_that_is_emitted_for_the_family_is_shown(files):
    """The test of the test: nothing but imports is left when the blocks that are shown are taken away."""
    shown = "".join((FOLDER / f"{form}.pyx").read_text() for form in FORMS)
    for folder in FILES:
        for block in DEFINITION.split(files.get(f"{folder}/emitted.pyx", ""))[1:]:
            assert block.startswith("register(") or block.rstrip() in shown


def test_the_page_shows_every_form():
    page = (FOLDER / "README.md").read_text()
    assert set(re.findall(r"\]\((\w+)\.pyx\)", page)) == {*FORMS} == {path.stem for path in FOLDER.glob("*.pyx")}


def test_entries_are_short():
    lengths = {form: len((FOLDER / f"{form}.yaml").read_text().splitlines()) for form in FORMS}
    assert max(lengths.values()) <= 12, lengths
