"""A program run in a process of its own, where the library is imported already.

Owns the processes: each is a fork of one that has imported the library, which takes longer than most programs do.  What a program
leaves behind ends with it.  Where there are no forks, each process starts from nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT = {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}


class Done(NamedTuple):
    """How a program ended."""

    returncode: int
    stdout: str
    stderr: str


def run(path: Path, *arguments: object) -> Done:
    """Runs a file as `python FILE ARGUMENTS` does."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = processes().Process(target=play, args=(str(path), [*map(str, arguments)], out, err))
        process.start()
        process.join()
        return Done(process.exitcode, out.read_text(), err.read_text())


@cache
def processes() -> multiprocessing.context.BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gradspec", "pytest", __name__])
    kept, _ = dict(os.environ), os.environ.update(ENVIRONMENT)
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return context


def play(path: str, arguments: list[str], out: Path, err: Path) -> None:
    """What the process does."""
    os.environ.update(ENVIRONMENT)
    for file, stream in ((out, sys.stdout), (err, sys.stderr)):
        stream.flush()
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), stream.fileno())
    sys.argv, sys.path[0:0] = [path, *arguments], [os.path.dirname(path)]
    runpy.run_path(path, run_name="__main__")
