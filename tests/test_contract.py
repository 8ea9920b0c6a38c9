"""The tests that docs/contract.md, docs/passes.md and docs/derivative-conventions.md name are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [ROOT / "tests" / name for name in ("runtime", "library", "ops")]


def functions(path):
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def rows(page="contract.md", table="behaviour"):
    """(line number, first cell, cell of tests) of every row of the tables whose heading row begins with that word."""
    inside = False
    for number, line in enumerate((ROOT / "docs" / page).read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        inside = bool(cells) and (inside or cells[0] == table)
        if inside and cells[0] not in (table, ":--"):
            yield number, cells[0], cells[-1]


@pytest.mark.parametrize("page, table, least", [("contract.md", "behaviour", 40), ("passes.md", "feature", 10)])
def test_every_row_names_tests_that_exist(page, table, least):
    assert len(list(rows(page, table))) > least
    known, missing = {}, []
    for number, _, cell in rows(page, table):
        named = re.findall(r"`(\w+\.py)::(\w+)`", cell)
        rest = re.sub(r"`\w+\.py::\w+`", "", cell).replace(",", "").strip()
        if not named or rest:
            missing.append((number, cell))
        for name, test in named:
            if name not in known:
                paths = [path for folder in FOLDERS for path in folder.rglob(name)]
                known[name] = set().union(*map(functions, paths))
            if test not in known[name]:
                missing.append((number, f"{name}::{test}"))
    assert missing == []


def test_no_behaviour_stands_twice():
    behaviours = [behaviour for _, behaviour, _ in rows()]
    assert len(behaviours) == len(set(behaviours))


def paragraphs():
    """(line number, text) of the paragraphs of the page of conventions behind its introduction; a block of code is one."""
    page = (ROOT / "docs" / "derivative-conventions.md").read_text()
    code = re.sub(r"^```.*?^```$", lambda block: block[0].replace("\n\n", "\n \n"), page, flags=re.MULTILINE | re.DOTALL)
    start = code.index("\n## ")
    for found in re.finditer(r"(?:^.+\n)+", code[start:], re.MULTILINE):
        yield code.count("\n", 0, start + found.start()) + 1, found[0].rstrip()


def test_every_convention_names_its_tests():
    """Each statement is followed by its block of code and the tests that hold it."""
    waiting, missing, links = None, [], 0
    for number, text in paragraphs():
        if text.startswith("Held by "):
            waiting = None
            named = re.findall(r"\[`(\w+\.py)::(\w+)`\]\(\.\./(tests/[\w/]+\.py)\)", text)
            rest = re.sub(r"\[`[^`]*`\]\([^)]*\)", "", text).replace(",", "").split()
            if not named or rest != ["Held", "by", "."]:
                missing.append((number, text))
            for file, test, path in named:
                links += 1
                if Path(path).name != file or not (ROOT / path).exists() or test not in functions(ROOT / path):
                    missing.append((number, f"{path}::{test}"))
        elif not text.startswith(("```", "[tests/")):
            if waiting is not None:
                missing.append((waiting, "no tests"))
            waiting = None if text.startswith("#") else number
    assert missing == [] and waiting is None
    assert links > 30
