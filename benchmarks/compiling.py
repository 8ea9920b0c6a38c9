"""Measure the cost of a build from nothing: processor time of Cython and of the C compiler, which other programs affect little.

    python -m benchmarks.compiling                   all modules, in some minutes
    python -m benchmarks.compiling tracing losses    modules with one of the words in their name

Runs the commands of the build folder again, without ccache, and does not change the build.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from codegen.build import build_folder

ROOT = Path(__file__).parents[1]


def spent(command: list[str], folder: Path) -> float:
    """Seconds of processor time of a command and its child processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=os.environ | {"CCACHE_DISABLE": "1"}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compiler(folder: Path) -> dict[str, list[str]]:
    """The command that compiles each module, without its output and without the options for ninja's dependency files."""
    found = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        command = shlex.split(re.sub(r"(?<= )(-MD|-M[QF] \S+) ", "", entry["command"]))
        at = command.index("-o")
        found[Path(entry["file"]).stem] = [*command[:at], *command[at + 2 :]]
    return found


def translations(folder: Path) -> list[tuple[list[str], list[str]]]:
    """The start of each command that translates modules, and its modules, `name=source`."""
    found = []
    for line in (folder / "build.ninja").read_text().splitlines():
        if "translate.py" in line and (command := re.match(r"\s*COMMAND = (.*)", line)):
            words = shlex.split(command[1])
            found.append((words[: words.index("--")], words[words.index("--") + 1 :]))
    return found


def main(words: list[str]) -> None:
    folder = build_folder(ROOT)
    if folder is None:
        sys.exit("gradspec is not built here: python -m codegen build")
    with tempfile.TemporaryDirectory() as scratch:
        cython, c = 0.0, {}
        for start, pairs in translations(folder):
            wanted = [pair for pair in pairs if not words or any(word in pair for word in words)]
            if wanted:
                script = next(i for i, word in enumerate(start) if word.endswith("translate.py"))
                start[script + 1 : script + 3] = f"{scratch}/made_of.d", scratch
                cython += spent([*start, "--", *wanted], folder)
        for name, command in compiler(folder).items():
            if not words or any(word in name for word in words):
                c[name] = spent([*command, "-o", f"{scratch}/out.o"], folder)
    for name, seconds in sorted(c.items(), key=lambda row: -row[1]):
        print(f"{seconds:7.2f}  {name}")
    print(f"{len(c)} modules: {cython:.0f} s in Cython, {sum(c.values()):.0f} s in the C compiler")


if __name__ == "__main__":
    main(sys.argv[1:])
