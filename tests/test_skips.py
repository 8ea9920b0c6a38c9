"""The list of what may be skipped: another reason, or one test more, is told from what the list allows."""

import ast
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import allowed, judged

LISTED = {"no torch": 2, "torch does not take this call: .*": 3}


def test_what_the_list_allows():
    lines, refused = judged(Counter({"no torch": 2, "torch does not take this call: a": 1, "torch does not take this call: b": 2}), LISTED)
    assert refused == [] and lines == ["    2 of at most    2  no torch", "    3 of at most    3  torch does not take this call: .*"]


@pytest.mark.parametrize("found", [{"no torch": 3}, {"no torches": 1}, {"torch does not take this call: a": 2, "torch does not take this call: b": 2}])
def test_what_it_does_not(found):
    assert len(judged(Counter(found), LISTED)[1]) == 1


def test_the_list_is_one():
    listed = allowed()
    assert listed and all(count > 0 for count in listed.values())


def test_off_ci_nothing_that_is_missing_reads_as_a_fault():
    found = Counter({"compares with PyTorch, which is not installed": 10**4, "could not import 'torch': No module named 'torch'": 10**4, "no reason": 1})
    lines, refused = judged(found, allowed(ci=False))
    assert len(refused) == 1 and refused[0].endswith("no reason") and "of at most    0" in refused[0]
    assert sum("of at most" in line for line in lines) == 1
    assert len(judged(found, allowed(ci=True))[1]) == 3


def test_every_module_that_tests_can_do_without_has_a_row():
    """`importorskip` says either what the row says or, by itself, that it could not import the module."""
    listed, reasons = allowed(ci=False), set()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text())
        named = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("importorskip")):
            reason = next((k.value for k in call.keywords if k.arg == "reason"), None)
            reason = named.get(reason.id) if isinstance(reason, ast.Name) else reason
            reasons |= {reason.value if isinstance(reason, ast.Constant) else "could not import 'x': No module named 'x'"}
    rows = [pattern for pattern, most in listed.items() if most == math.inf]
    assert len(reasons) > 5
    assert [reason for reason in sorted(reasons) if not any(re.fullmatch(row, reason, re.DOTALL) for row in rows)] == []


PROGRAM = """
import pytest

def test_passes():
    pass

@pytest.mark.skipif(True, reason={reason!r})
def test_is_left_out():
    pass

def test_samples(record_property):
    record_property("left out", {reason!r})
"""


@pytest.mark.parametrize("reason, ci, code", [
    ("counts with valgrind, which is not installed", "true", 1), ("this NumPy has no sin", "true", 0), ("no reason", "true", 1), ("no reason", "", 0),
])  # fmt: skip
def test_another_skip_fails_on_ci_and_is_printed_everywhere(tmp_path, reason, ci, code):
    """Of valgrind one test may be skipped, and here are two."""
    for name in ("conftest.py", "skips.toml"):
        (tmp_path / name).write_text((Path(__file__).parent / name).read_text())
    (tmp_path / "test_program.py").write_text(PROGRAM.format(reason=reason))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    environment = os.environ | {"CI": ci, "PYTHONPATH": str(Path(__file__).parents[1])}  # where `tests` is
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == code, done.stdout
    assert "    2 " in done.stdout and reason.split()[0] in done.stdout
    assert ("NOT ALLOWED" in done.stdout) == (bool(code) or reason == "no reason")
