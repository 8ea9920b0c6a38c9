"""The pages for readers name what is there: files, and the tests that hold a statement."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "benchmarks|codegen|docs|examples|generated|runtime|samples|tests"


def expanded(path):
    """`a/{b,c}.py` as two paths."""
    start, names, end = re.fullmatch(r"([^{]*)(?:{(.*)}(.*))?", path).groups()
    return [f"{start}{name}{end or ''}" for name in (names or "").split(",")]


def named(text):
    return re.findall(rf"`((?:{FOLDERS})/[\w/{{}},.-]*)`", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_are_there(page):
    paths = [path for path in named(page.read_text()) if not re.search(r"\b[A-Z]{4,}\b", path)]  # `samples/FAMILY.yaml` is a pattern
    assert [path for path in paths for name in expanded(path) if not (ROOT / name).exists()] == []


def test_such_names_are_found():
    """The test of the test."""
    assert expanded("a/{b,c}.py") == ["a/b.py", "a/c.py"] and expanded("a/b.py") == ["a/b.py"]
    assert named("`runtime/core/{node,tensor}.pyx`, `x/y`") == ["runtime/core/{node,tensor}.pyx"]
