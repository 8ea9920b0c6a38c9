"""Entries that passed are left out until something that their check rests on is another."""

import os
import platform
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES

import pytest
from conftest import HEADER, PRELUDE

from codegen.errors import SpecErrors
from codegen.rules.analyze import analyze
from codegen.spec.reader import read_text
from codegen.verify import check as module
from codegen.verify.result_cache import Passed

ENTRY = """\
- op: apart(x) -> y
  doc: Knows no other.
  dtype: real
  shape: x -> x
  forward: np.negative(x)
  dy/dx: -1
  samples: one

- op: cubed(x) -> y
  doc: A cube.
  dtype: real
  shape: x -> x
  forward: np.power(x, 3)
  dy/dx: 3 * x * x
  samples: one

- op: twice_cubed(x) -> y
  doc: A composite.
  dtype: real
  shape: x -> x
  composite: cubed(x) * 2
  samples: one
  examples:
    f(2.0): 16
"""


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """Checks a spec as the command does, and gives the names of the entries that were run."""
    ran = []
    check_op = module.check_op
    monkeypatch.setattr(module, "check_op", lambda op, *rest: ran.append(op.name) or check_op(op, *rest))
    (tmp_path / "build").mkdir()
    (tmp_path / "runtime").mkdir()

    def check(entries=ENTRY, header=HEADER):
        ran.clear()
        spec = analyze(read_text(header + entries + PRELUDE), tmp_path)
        check.unproved = module.check(spec, tmp_path, integers=False, passed=Passed(spec, tmp_path))
        return set(ran)

    check.root = tmp_path
    return check


def test_nothing_is_run_twice(checked):
    assert {"cubed", "twice_cubed", "apart", "sin"} < checked()
    assert checked() == set()


@pytest.mark.parametrize("old, new, again", [
    ("3 * x * x", "3 * x**2", {"cubed", "twice_cubed"}),
    ("A cube.", "The cube.", {"cubed", "twice_cubed"}),
    ("f(2.0): 16", "f(2.0): 2 * 8", {"twice_cubed"}),
    ("np.negative(x)", "-x", {"apart"}),
])  # fmt: skip
def test_an_entry_and_what_calls_it(checked, old, new, again):
    checked()
    assert checked(ENTRY.replace(old, new)) == again
    assert checked(ENTRY.replace(old, new)) == set()


def test_an_entry_that_is_added_or_moved(checked):
    checked()
    apart, rest = ENTRY.split("\n\n", 1)
    assert checked("\n\n".join([apart, apart.replace("op: apart", "op: beside"), rest])) == {"beside"}
    assert checked("# A comment is part of what stands above it.\n" + ENTRY) != set()


def test_what_stands_outside_of_entries(checked):
    everything = checked()
    assert checked(header=HEADER.replace("f(x(0, 3))", "f(x(1, 3))")) == everything


KERNELS = """\
- op: halved(x) -> y
  doc: A kernel in Python that uses another module, and a helper.
  dtype: real
  shape: x -> x
  forward: kernels.halved(x)
  dy/dx: half(1)
  samples: one

- op: negated(x) -> y
  doc: Another kernel.
  dtype: real
  shape: x -> x
  forward: kernels.negated(x)
  dy/dx: -1
  samples: one

- op: quartered(x) -> y
  doc: A composite of a kernel.
  dtype: real
  shape: x -> x
  composite: halved(halved(x))
  samples: one
  examples:
    f(2.0): 0.5
"""
FILES = {
    "runtime/kernels/__init__.py": "",
    "runtime/kernels/rooms/scaling.py": "from .parts import HALF\n\n\ndef halved(x):\n    return x * HALF\n",
    "runtime/kernels/rooms/parts.py": "HALF = 0.5\n",
    "runtime/kernels/signs.py": "def negated(x):\n    return -x\n",
    "runtime/formulas/numbers.py": "def half(n):\n    return n / 2\n",
    "runtime/formulas/__init__.py": "from .numbers import *\n",
}


def test_an_edited_kernel_forgets_what_names_it(checked):
    for name, text in FILES.items():
        (checked.root / name).parent.mkdir(parents=True, exist_ok=True)
        (checked.root / name).write_text(text)
    assert {"halved", "negated", "quartered", "sin"} < checked(KERNELS)
    assert checked(KERNELS) == set()
    for name, again in {
        "runtime/kernels/rooms/scaling.py": {"halved", "quartered"},
        "runtime/kernels/rooms/parts.py": {"halved", "quartered"},  # which scaling imports
        "runtime/kernels/signs.py": {"negated"},
        "runtime/formulas/numbers.py": {"halved", "quartered"},
    }.items():
        (checked.root / name).write_text("# Edited.\n" + FILES[name])
        assert checked(KERNELS) == again, name
        assert checked(KERNELS) == set()
    (checked.root / "runtime/kernels/rooms/unused.py").write_text("def other(x):\n    return x\n")
    (checked.root / "runtime/other.py").write_text("")
    assert checked(KERNELS) == set()
    (checked.root / "runtime/kernels/rooms/scaling.py").rename(checked.root / "runtime/kernels/scaling.py")
    (checked.root / "runtime/kernels/rooms/parts.py").rename(checked.root / "runtime/kernels/parts.py")
    assert checked(KERNELS) == set()  # the same text in another room is the same kernel


def test_a_kernel_that_is_edited_and_not_built_has_not_passed(checked):
    """What ran is then older than what is read."""
    for name, text in FILES.items():
        (checked.root / name).parent.mkdir(parents=True, exist_ok=True)
        (checked.root / name).write_text(text)
    built = checked.root / "build" / "cp3" / "runtime" / "kernels" / f"modules{EXTENSION_SUFFIXES[0]}"
    built.parent.mkdir(parents=True)
    built.write_bytes(b"")
    (checked.root / "runtime/kernels/signs.pxd").write_text("# declares\n")
    os.utime(checked.root / "runtime/kernels/signs.pxd", (1, 1))
    checked(KERNELS)
    assert (checked(KERNELS), checked.unproved) == (set(), [])
    (checked.root / "runtime/kernels/signs.pxd").write_text("# declares more\n")
    os.utime(built, (2, 2))
    for _ in range(2):
        assert (checked(KERNELS), checked.unproved) == ({"negated"}, ["negated"])
    os.utime(built)
    assert (checked(KERNELS), checked.unproved) == ({"negated"}, [])
    assert (checked(KERNELS), checked.unproved) == (set(), [])


def test_what_calls_an_entry(checked):
    spec = analyze(read_text(HEADER + ENTRY + PRELUDE), checked.root)
    assert Passed(spec, checked.root).callers({"cubed"}) == {"twice_cubed"}
    assert Passed(spec, checked.root).callers({"apart"}) == set()


def test_what_is_forgotten_is_checked_again(checked):
    checked()
    spec = analyze(read_text(HEADER + ENTRY + PRELUDE), checked.root)
    with Passed(spec, checked.root) as passed:
        assert passed.holds(spec.ops["apart"])
        passed.forget(["apart"])
    assert checked() == {"apart"}


def test_entries_that_are_not_looked_at_stay_as_they_were(checked):
    checked()
    spec = analyze(read_text(HEADER + ENTRY + PRELUDE), checked.root)
    module.check(spec, checked.root, integers=False, passed=Passed(spec, checked.root), names=["apart"])
    assert checked() == set()


@pytest.mark.parametrize("changed", ["numpy", "scipy"])
def test_what_computes(checked, monkeypatch, changed):
    """Another version, or none at all."""
    everything = checked()
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "99" if name == changed else version(name))
    assert checked() == everything and checked() == set()

    def absent(name):
        if name == changed:
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert checked() == everything and checked() == set()


def test_another_python(checked, monkeypatch):
    everything = checked()
    monkeypatch.setattr(platform, "python_version", lambda: "4.0")
    assert checked() == everything and checked() == set()


def test_wherever_it_is_called_from(checked, monkeypatch):
    checked()
    monkeypatch.chdir(checked.root)
    spec = analyze(read_text(HEADER + ENTRY + PRELUDE), ".")
    assert all(map(Passed(spec, ".").holds, spec.ops.values()))


def test_what_is_refused_has_not_passed(checked):
    wrong = ENTRY.replace("3 * x * x", "4 * x * x")
    for _ in range(2):
        with pytest.raises(SpecErrors, match="cubed: dy/dx: is wrong"):
            checked(wrong)
        assert "cubed" not in {line.split()[0] for line in (checked.root / "build" / "checked.txt").open()}


def test_a_file_that_makes_no_sense_says_nothing(checked):
    everything = checked()
    (checked.root / "build" / "checked.txt").write_text("cubed\n\n1 2 3\n")
    assert checked() == everything


def test_a_missing_folder_of_builds_is_made(checked):
    (checked.root / "build").rmdir()
    assert checked() != set()
    assert checked() == set()


def test_where_no_folder_can_be_made_nothing_is_kept(checked):
    (checked.root / "build").rmdir()
    (checked.root / "build").write_text("A file.")
    assert checked() == checked() != set()
    assert (checked.root / "build").read_text() == "A file."
