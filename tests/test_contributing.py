"""CONTRIBUTING.md and docs/grammar.md say what happens: entries are checked, and messages compared with those that come.

A YAML block that begins with `- op:` is the entry from there on; any other block under the same heading replaces or adds
keys of it.  A message below stands for the entry with the line that it shows.  The page's line numbers are not compared:
they move with every entry above.  `[...]` on the page stands for any text.
"""

import re
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.errors import ErrorList, SpecErrors  # noqa: E402
from codegen.package import Package  # noqa: E402
from codegen.skeleton import skeleton  # noqa: E402
from codegen.spec.entry import DEFAULT_KEYS, ENTRY_KEYS  # noqa: E402
from codegen.spec.model import TYPES, VARIANTS  # noqa: E402
from codegen.spec.reader import FAMILY_KEYS  # noqa: E402
from codegen.spec.samples import MAKERS  # noqa: E402
from codegen.spec_cache import analysed, read  # noqa: E402
from codegen.verify.check import check_op, quiet  # noqa: E402
from codegen.verify.evaluate import Evaluator  # noqa: E402
from codegen.verify.reference import Reference, number  # noqa: E402
from tests.ops import test_hard_points as hard  # noqa: E402

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
GRAMMAR = (ROOT / "docs/grammar.md").read_text()
LESSONS = [part for part in re.split(r"^(?=## )", PAGE, flags=re.MULTILINE) if "```yaml\n- op:" in part]
MESSAGE = re.compile(r"^derivatives\.yaml:\d+:(\d+): error: (\w+): ", re.MULTILINE)


def blocks(text):
    """(language, text above it, content) of each fenced block."""
    above = 0
    for fence in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield fence[1], text[above : fence.start()], fence[2]
        above = fence.end()


# The entry under work.


def placed(entries, family):
    """The spec with the entries put into a family where the alphabet wants the first."""
    spec = (ROOT / "derivatives.yaml").read_text()
    start = spec.index(f"\nfamily: {family}\n")
    end = spec.find("\n---\n", start) % (len(spec) + 1)
    name = re.match(r"- op: _?(\w+)", entries)[1]
    after = [m.start() for m in re.finditer(r"^- op: _?(\w+)", spec[:end], re.MULTILINE) if m.start() > start and m[1] > name]
    # An adjoint stands below its operator and has the other's place.
    after = [i for i in after if re.match(r"- op: [a-z]", spec[i:])]
    at = after[0] if after else end + 1
    return spec[:at] + entries.strip("\n") + "\n\n" + spec[at:]


def changed(entry, lines):
    """The entry with the keys of some lines, replaced where it has them and added in their order where not."""
    keys = [re.match(r" *[^:]+", line)[0] for line in entry.splitlines()]
    rows = entry.splitlines()
    first = re.match(r" *[^:]+", lines)[0]
    if first in keys:
        at = keys.index(first)
        stop = next((i for i in range(at + 1, len(rows)) if _indent(rows[i]) <= _indent(lines)), len(rows))
        rows[at:stop] = lines.splitlines()
    else:
        order = [key for key in ENTRY_KEYS if key != "op"]
        rank = order.index(first.strip())
        at = next((i for i, key in enumerate(keys) if key.strip() in order and _indent(key) == 2 and
                   order.index(key.strip()) > rank), len(rows))  # fmt: skip
        rows[at:at] = lines.splitlines()
    return "\n".join(rows)


def _keys(entry):
    return set(re.findall(r"^[- ] (\S+):", entry, re.MULTILINE))


def _indent(line):
    return len(line) - len(line.lstrip(" ")) if not line.lstrip().startswith("- f(") else len(line) - len(line.lstrip()) + 1


@cache
def checkout(folder, kernel):
    """A checkout with the sources that a check reads, a kernel appended to those of the scans; its spec is analysed and kept."""
    root = Path(folder)
    for path in sorted(path for path in (ROOT / "runtime").rglob("*.py*") if path.is_file() and path.suffix != ".pyc"):
        target = root / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    if kernel:  # appended and named, as the page says
        scans = root / "runtime/kernels/reductions/scans.py"
        name = re.search(r"def (\w+)", kernel)[1]
        text = scans.read_text().replace("__all__ = [", f'__all__ = ["{name}", ', 1)
        scans.write_text(text + kernel.partition("\n\n\nvalues")[0])
    (root / "build").mkdir()
    (root / "derivatives.yaml").write_text((ROOT / "derivatives.yaml").read_text())
    analysed(Package(root))
    return root


def refusals(entries, family, root, finished=False):
    """What the reader, analysis and the numeric check say of some entries, without line numbers."""
    names = re.findall(r"^- op: (\w+)", entries, re.MULTILINE)
    (root / "derivatives.yaml").write_text(placed(entries, family))
    try:
        spec = analysed(Package(root))
        errors = ErrorList(spec.file, spec.source, spec.further)
        evaluator = Evaluator(spec, root)
        with quiet():
            for name in names:
                assert not evaluator.deferred(spec.ops[name])
                check_op(spec.ops[name], evaluator, errors, shown=finished)
        errors.raise_if_any()
    except SpecErrors as found:
        return [MESSAGE.sub(r"derivatives.yaml:LINE:\1: error: \2: ", str(error)) for error in found.errors]
    return []


def hard_points(entries, root):
    """What tests/ops would say of the values at hard points, for mpmath, of the elementwise operators of one array."""
    spec, wrongs = analysed(Package(root)), []
    for name in re.findall(r"^- op: (\w+)", entries, re.MULTILINE):
        op = spec.ops[name]
        if op.form != "partial":
            continue
        for x in [*hard.points(np.float64), *hard.edges(op, np.float64)]:
            with np.errstate(all="ignore"), mp.workdps(50):
                exact = Reference(spec).value(op, {op.signature.arrays[0].name: mpf(x)})
                found, = Evaluator(spec, root).forward(op, {op.signature.arrays[0].name: np.array(x)})
            if hard.wrong(float(found), number(exact), np.float64, 0):
                wrongs.append(f"{name}: value at {x!r}: {float(found)!r}, exact {number(exact)!r}")
    return wrongs


def messages(block):
    """The messages of a block, each with the lines of source and caret that follow, wrapped lines joined."""
    starts = [m.start() for m in MESSAGE.finditer(block)]
    for start, stop in zip(starts, [*starts[1:], len(block)]):
        lines = [line for line in block[start:stop].rstrip("\n").split("\n") if not re.fullmatch(r"\d+ errors?", line)]
        source = next((i for i, line in enumerate(lines) if i and line.startswith("  ")), len(lines))
        yield MESSAGE.sub(r"derivatives.yaml:LINE:\1: error: \2: ", " ".join(lines[:source])), lines[source:]


def matches(shown, came):
    return re.fullmatch(re.escape(shown).replace(re.escape("[...]"), ".*"), came) is not None


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    """Where there is a checkout for each kernel, which the lessons share: to analyse it takes most of their time."""
    return tmp_path_factory.mktemp("checkouts")


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.partition("\n")[0].strip("# "))
def test_entries_and_messages(lesson, checkouts):
    family = re.search(r"family\s+`(\w+)`", lesson)[1]
    entry = kernel = ""
    compared = 0
    for language, _, content in blocks(lesson):
        if language == "yaml":
            entry = content.rstrip("\n") if content.startswith("- op:") else changed(entry, content.rstrip("\n"))
        elif language == "python":
            kernel = content
        elif MESSAGE.search(content):
            for message, source in messages(content):
                tried = changed(entry, source[0]) if source and source[0] not in entry else entry
                came = refusals(tried, family, checkout(checkouts / str(len(kernel)), kernel))
                wanted = "\n".join([message, *source])
                assert any(matches(wanted, text if source else text.partition("\n")[0]) for text in came), (
                    f"the page says\n{wanted}\nand what came is\n" + "\n".join(came)
                )
                compared += 1
    root = checkout(checkouts / str(len(kernel)), kernel)
    for op in re.findall(r"^python -m codegen new (\w+)$", lesson, re.MULTILINE):  # no key is deleted on the way
        assert _keys(skeleton(op, "partial", read(Package(ROOT)))) <= _keys(entry)
    assert refusals(entry, family, root, finished=True) == []
    assert hard_points(entry, root) == []
    assert compared >= 3


def table(heading):
    """The rows of the first table below a heading of the grammar."""
    section = GRAMMAR[GRAMMAR.index(f"# {heading}\n") :]
    rows = re.search(r"^\|.*\n\|[-| ]*\n((?:\|.*\n)+)", section, re.MULTILINE)[1]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows.splitlines()]


def test_the_tables_of_the_grammar_are_those_of_the_reader():
    keys = dict(table("Keys of an entry"))
    assert [key.strip("`") for key in keys] == list(ENTRY_KEYS)
    assert set(re.findall(r"`(\w+)`", keys["`variants`"])) == set(VARIANTS)
    makers = [name for row in table("Samples") for name in re.findall(r"`(\w+)\(", row[0])]
    assert sorted(makers) == sorted(set(MAKERS) - {"slice"})
    for key in (*FAMILY_KEYS, *DEFAULT_KEYS, *TYPES):
        assert f"`{key}`" in GRAMMAR or f"`{key}:`" in GRAMMAR, key


def test_the_commands_on_the_pages_are_there():
    from codegen.__main__ import _arguments

    commands = re.findall(r"`python -m codegen ?([^`]*)`", PAGE + GRAMMAR)
    assert len(commands) > 5
    known = set(re.findall(r'add_parser\("(\w+)"', (ROOT / "codegen/__main__.py").read_text()))
    assert known - {"generate"} <= {command.partition(" ")[0] for command in commands}
    for command in commands:
        _arguments(command.replace("[OP]", "OP").replace("OP", "tanh").split())
