"""The Python blocks of the documents run, in order, each document in one namespace."""

import re
from pathlib import Path

from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))


def blocks(text, language):
    """(line number, source) of the fenced blocks of a language."""
    fences = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, fence.start(1)) + 1, fence[1]) for fence in fences]


@each("name", DOCUMENTS)
def test_python_blocks_run(name):
    namespace = {"__name__": name}
    for line, source in blocks((ROOT / name).read_text(), "python"):
        exec(compile("\n" * (line - 1) + source, ROOT / name, "exec"), namespace)


@each("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text())
    folder = (ROOT / name).parent
    assert [target for target in targets if not (folder / target).exists()] == []


def test_the_entry_in_the_readme_is_that_of_the_spec():
    shown, = [source for _, source in blocks((ROOT / "README.md").read_text(), "yaml")]
    spec = (ROOT / "derivatives.yaml").read_text()
    name = re.match(r"- op: (\w+)", shown.strip())[1]
    entry = re.search(rf"^- op: {name}\(.*?(?=\n\n)", spec, re.MULTILINE | re.DOTALL)[0]
    assert shown.strip() == entry


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
