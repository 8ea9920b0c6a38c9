"""The tests that docs/contract.md names are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "tests" / "runtime"


def functions(path):
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def rows():
    """(line number, behaviour, cell of tests) of every row below a heading row."""
    for number, line in enumerate((ROOT / "docs" / "contract.md").read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[0] not in ("behaviour", ":--"):
            yield number, cells[0], cells[1]


def test_every_row_names_tests_that_exist():
    assert len(list(rows())) > 40
    known, missing = {}, []
    for number, _, cell in rows():
        named = re.findall(r"`(\w+\.py)::(\w+)`", cell)
        rest = re.sub(r"`\w+\.py::\w+`", "", cell).replace(",", "").strip()
        if not named or rest:
            missing.append((number, cell))
        for name, test in named:
            if name not in known:
                known[name] = functions(RUNTIME / name)
            if test not in known[name]:
                missing.append((number, f"{name}::{test}"))
    assert missing == []


def test_no_behaviour_stands_twice():
    behaviours = [behaviour for _, behaviour, _ in rows()]
    assert len(behaviours) == len(set(behaviours))
