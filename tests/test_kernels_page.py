"""docs/kernels.md has a row for each compiled module of kernels, and each row is measured and held by a test."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.kernels import CASES, modules, settings

ROOT = Path(__file__).resolve().parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split(" | ")]
    for line in (ROOT / "docs/kernels.md").read_text().splitlines()
    if line.startswith("| `")
]


def test_every_compiled_module_has_a_row():
    listed = [line.split()[0] for line in (ROOT / "runtime/kernels/modules.txt").read_text().splitlines()]
    found = [row[0].strip("` ") for row in ROWS]
    assert sorted(found) == sorted(listed)


def test_every_row_that_replaces_something_is_measured():
    assert {row[0].strip("` ") for row in ROWS if len(row) == 7} == set(CASES)
    for row in ROWS:
        assert all(row), row[0]
        if len(row) == 7:
            figures = [len(re.findall(r"\d\.\d\d", cell)) for cell in row[2:4]]
            wanted = len(CASES[row[0].strip("` ")])
            assert figures == [wanted, wanted], row[0]


def test_every_row_names_tests_that_are_there():
    for row in ROWS:
        names = re.findall(r"`([\w/]+\.py)`", row[-2])
        assert names and all((ROOT / name).exists() for name in names), row[0]


def test_what_is_measured_runs():
    """On small operands: a name that a case has not is an error, and so is a shape that does not fit."""
    pytest.importorskip("scipy")
    shared = modules()
    for module, cases in CASES.items():
        _, names = next(settings(module))
        for ours, theirs in cases:
            found, expected = (eval(call, shared | names) for call in (ours, theirs))
            if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray) and "topk" not in ours:
                np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-4, err_msg=ours)
