"""The runs, and the table that docs/portability.md has of them."""

from __future__ import annotations

import re
import tomllib
from datetime import date

from . import ROOT, RUNS

PAGE = ROOT / "docs/portability.md"
# Cells that the table has, run or not.
PYTHONS = ("3.11", "3.12", "3.13", "3.13t", "3.14")
PROCESSORS = ("x86_64, AVX2", "x86_64, AVX-512", "x86_64, without AVX2", "aarch64, by qemu-user")
BEGIN, END = "<!-- written by python -m tests.portability --table -->\n", "<!-- end -->\n"


def runs() -> list[dict]:
    """All runs, the oldest first."""
    return tomllib.loads(RUNS.read_text())["run"]


def add(run: dict) -> None:
    """Append a run to runs.toml."""

    def value(item) -> str:
        if isinstance(item, list):
            return f"[{', '.join(map(value, item))}]"
        return item.isoformat() if isinstance(item, date) else str(item) if isinstance(item, int) else f'"{item}"'

    with RUNS.open("a") as file:
        file.write("\n[[run]]\n" + "".join(f"{key} = {value(item)}\n" for key, item in run.items()))


def _compiler(text: str) -> str:
    """The name and the major version in the first line of a compiler's `--version`: `gcc 14`."""
    major = re.search(r"(\d+)\.\d+", text)
    assert major is not None, text
    return f"{'clang' if 'clang' in text else 'gcc'} {major[1]}"


def _python(text: str) -> str:
    """The minor version of `3.13.5`, or of a Python without the GIL, `3.13.5t`."""
    return ".".join(text.split(".")[:2]) + text[-1:] * text.endswith("t")


def _number(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def rendered() -> str:
    """A row for each compiler and Python, a column for each processor; a cell says what was run, or `not run`."""
    latest = {(_compiler(run["compiler"]), _python(run["python"]), run["processor"]): run for run in runs()}
    lines = ["| compiler | Python | " + " | ".join(PROCESSORS) + " |", "|:--|:--|" + ":--|" * len(PROCESSORS)]
    for compiler in sorted({key[0] for key in latest}, key=lambda text: (text.split()[0] != "gcc", _number(text))):
        for python in PYTHONS:
            cells = [_cell(latest.get((compiler, python, processor))) for processor in PROCESSORS]
            lines.append(f"| {compiler} | {python} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(run: dict | None) -> str:
    if run is None:
        return "not run"
    failed = f", **{run['failed']} failed**" if run["failed"] else ""
    note = f"; {run['note']}" if "note" in run else ""
    return (
        f"{run['date']}, NumPy {run['numpy']}: {run['passed']} passed, {run['skipped']} skipped{failed} (`{run['tests']}`){note}"
    )


def write() -> None:
    """Write the table into the page."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(head + BEGIN + rendered() + END + rest.partition(END)[2])
