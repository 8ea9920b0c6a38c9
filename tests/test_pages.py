"""The pages for readers name what is there: files, and the tests that hold a statement."""

import re
import runpy
from collections import defaultdict
from pathlib import Path

import pytest
from test_layers import PACKAGES

from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "benchmarks|buildtools|codegen|docs|examples|generated|library|runtime|samples|tests"


def expanded(path):
    """`a/{b,c}.py` as two paths."""
    start, names, end = re.fullmatch(r"([^{]*)(?:{(.*)}(.*))?", path).groups()
    return [f"{start}{name}{end or ''}" for name in (names or "").split(",")]


def named(text):
    return re.findall(rf"`((?:{FOLDERS})/[\w/{{}},.-]*)`", text)


@each("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_are_there(page):
    paths = [path for path in named(page.read_text()) if not re.search(r"\b[A-Z]{4,}\b", path)]  # `samples/FAMILY.yaml` is a pattern
    assert [path for path in paths for name in expanded(path) if not (ROOT / name).exists()] == []


def test_such_names_are_found():
    """The test of the test."""
    assert expanded("a/{b,c}.py") == ["a/b.py", "a/c.py"] and expanded("a/b.py") == ["a/b.py"]
    assert named("`runtime/core/{node,tensor}.pyx`, `x/y`") == ["runtime/core/{node,tensor}.pyx"]


def table(page, heading):
    """The rows of the first table below a heading, a list of cells each."""
    text = (ROOT / page).read_text()
    text = text[text.index(f"## {heading}") :]
    rows = re.search(r"^\|.*\n\|[-:| ]*\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows.splitlines()]


def contents():
    """The rows of the contents of architecture.md: the folders of a row, and the files to read first."""
    for folders, _, first in table("docs/architecture.md", "Contents, in reading order"):
        if not folders.startswith("**"):
            yield re.findall(r"`([^`]+)`", folders), re.findall(r"`([^`]+)`", first)


def test_the_contents_name_each_folder_once():
    named = [folder for folders, _ in contents() for folder in folders]
    present = {path.parent.relative_to(ROOT).as_posix() for top in ("runtime", "library", "codegen") for path in (ROOT / top).rglob("*.py")}
    inner = {folder for folder in present if any(other in named and other.count("/") and folder.startswith(other + "/")
                                                 for other in present)}  # fmt: skip
    assert len(named) == len(set(named))
    assert {folder for folder in present - inner - set(named) if "templates" not in folder} == {"runtime", "runtime/transforms"}
    assert [folder for folder in named if not (ROOT / folder).exists()] == []


def test_the_files_to_read_first_are_there():
    lost = [(folders, name) for folders, first in contents() for name in first
            if not any((ROOT / folder / name).exists() for folder in [*folders, *(folder.partition("/")[0] for folder in folders)])
            and not name.startswith("the entry") and name not in (ROOT / "derivatives.yaml").read_text()]  # fmt: skip
    assert lost == []


@pytest.mark.parametrize("heading", ["One call followed", "The same call backward"])
def test_each_step_of_a_call_names_what_its_file_has(heading):
    rows = table("docs/architecture.md", heading)
    lost = [(file, name) for _, file, name in rows
            if not re.search(rf"\b{name.strip('`')}\b", (ROOT / file.strip("`")).read_text())]  # fmt: skip
    assert len(rows) > 10 and lost == []


@pytest.mark.parametrize("package, folders", [("gradspec", "`runtime/`, `library/` and `generated/`"), ("codegen", "`codegen/`")])
def test_the_drawing_of_the_folders_is_that_of_the_layers(package, folders):
    text = (ROOT / "docs/architecture.md").read_text()
    drawn = re.search(rf"(?:in|of) {folders}:\n\n```\n(.*?)```", text, re.DOTALL)[1].splitlines()
    _, rows = PACKAGES[package]
    assert drawn == ["  ".join(row) for row in reversed(rows)], "docs/architecture.md draws the rows of tests/test_layers.py"


def names_of_tests(text):
    return re.findall(r"`(\w+\.py)::(\w+)`", text)


def test_every_invariant_names_its_tests_and_the_files_that_may_break_it():
    text = (ROOT / "docs/invariants.md").read_text()
    known = defaultdict(str)
    for path in (ROOT / "tests").rglob("test_*.py"):
        known[path.name] += path.read_text()
    items = re.split(r"^\*\*(\d+)\. ", text, flags=re.MULTILINE)[1:]
    assert [int(number) for number in items[::2]] == list(range(1, len(items) // 2 + 1)) and len(items) > 40
    for number, item in zip(items[::2], items[1::2]):
        statement, held, broken = re.fullmatch(r"(.*?)\nHeld by (.*?)\.\nBroken in (.*?)\.\n.*", item, re.DOTALL).groups()
        assert statement and names_of_tests(held) and named(broken), number
        missing = [f"{file}::{test}" for file, test in names_of_tests(held) if not re.search(rf"def {test}\(", known[file])]
        assert missing == [], f"invariant {number} names tests that are not there"


def test_decisions_are_numbered_and_say_when_to_think_again():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1)) and len(pages) > 5
    for page in pages:
        text = page.read_text()
        assert text.startswith(f"# {int(page.name[:4])}. ")
        assert [part for part in ("Question", "Decision", "Why", "Price", "Reconsider") if f"**{part}" not in text] == []


def test_the_glossary_is_in_order():
    text = (ROOT / "docs/glossary.md").read_text()
    parts = [[word.strip("` ") for word in re.findall(r"^\| ([^|]+)\|", part, re.MULTILINE)][1:] for part in text.split("\n## ")[1:]]
    assert sum(map(len, parts)) > 80 and [words for words in parts if words != sorted(words, key=str.casefold)] == []
    words = [word for part in parts for word in part]
    assert len(words) == len(set(words)), "one concept has one word"


def test_the_list_of_modules_is_what_their_docstrings_say():
    page = runpy.run_path(str(ROOT / "docs/modules.py"))["page"]()
    assert (ROOT / "docs/modules.md").read_text() == page, "docs/modules.md is stale: run python docs/modules.py"


def test_every_module_says_what_it_is():
    docstring = runpy.run_path(str(ROOT / "docs/modules.py"))["docstring"]
    paths = [path for folder in ("runtime", "library", "codegen") for suffix in ("py", "pyx") for path in (ROOT / folder).rglob(f"*.{suffix}")]
    assert len(paths) > 200 and [path for path in paths if path.stat().st_size and not docstring(path)] == []
