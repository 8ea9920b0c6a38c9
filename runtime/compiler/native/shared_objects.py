"""Shared objects: compile C with the machine's compiler, and keep what was compiled in the user's cache folder.

The folder belongs to the user alone.  The name of a file has two hashes: of the text, the compiler and its flags, and of the
file's own bytes; a file with other bytes is made again.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..record.captured_state import Unfit

FLAGS = "-std=c99 -O3 -fPIC -shared -ffp-contract=off -fno-math-errno".split()
OF_PROCESSOR = "-march=native"  # for compilers that know it
KEPT = 500  # files, the ones used last
HOUR = 3600

loaded: dict[Path, ctypes.CDLL] = {}  # which stay: a program may have their addresses


@cache
def compiler(asked: str | None) -> tuple[list[str], str]:
    """The command of the machine's C compiler, with flags, and the macros that it defines: its version and the processor.

    Parameters
    ----------
    asked : str or None
        The environment's `CC`.
    """
    if sys.platform == "win32":
        raise Unfit("c: compilers for Windows are not called")
    try:
        command = shlex.split(asked or "")
    except ValueError as error:
        raise Unfit(f"c: CC is {asked!r}: {error}") from None
    command = command or [next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), "")]
    if not command[0] or shutil.which(command[0]) is None:
        raise Unfit(f"c: there is no C compiler{f' {command[0]!r}' if command[0] else ''}")
    command = [*command, *FLAGS]
    ways = [[*command, OF_PROCESSOR], command]
    macros = [run([*way, "-dM", "-E", "-x", "c", os.devnull]) for way in ways]
    return (ways[1], macros[1].stdout) if macros[0].returncode else (ways[0], macros[0].stdout)


def run(command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def cache_folder() -> Path:
    """The user's folder; refused if other users may enter it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    folder = Path(base) / "gradspec"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Unfit(f"c: the folder {folder} is not the user's alone, as by chmod 700")
    return folder


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


def whole(path: Path) -> bool:
    """Whether a file has the bytes that it was written with."""
    return path.is_file() and not path.is_symlink() and digest(path.read_bytes()) == path.stem.partition("-")[2]


def compiled(text: str) -> ctypes.CDLL:
    """The library of a text in C.

    Raises
    ------
    Unfit
        The compiler is missing or fails, or the cache folder cannot be used.
    """
    command, macros = compiler(os.environ.get("CC"))
    try:
        folder = cache_folder()
        key = digest("\0".join([text, *command, macros]).encode())
        path = next((one for one in sorted(folder.glob(f"{key}-*.so")) if whole(one)), None)
        if path is not None:
            try:
                return library(path)
            except OSError:  # the text is compiled again
                path.unlink(missing_ok=True)
        return library(made(command, text, folder, key))
    except OSError as error:
        raise Unfit(f"c: {error}") from error


def library(path: Path) -> ctypes.CDLL:
    """The library in a file."""
    os.utime(path)
    if path not in loaded:
        loaded[path] = ctypes.CDLL(str(path))
    return loaded[path]


def made(command: list[str], text: str, folder: Path, key: str) -> Path:
    """Compile a text, and move the file into the cache when it is whole."""
    tidy(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix="tmp") as scratch:
        source, target = Path(scratch) / "program.c", Path(scratch) / "program.so"
        source.write_text(text, encoding="ascii")
        done = run([*command, "-o", str(target), str(source), "-lm"])
        if done.returncode or not target.is_file():
            raise Unfit(f"c: {command[0]} fails: {done.stderr.strip()[:500]}")
        path = folder / f"{key}-{digest(target.read_bytes())}.so"
        os.replace(target, path)
    for other in folder.glob(f"{key}-*.so"):
        if other != path:
            other.unlink(missing_ok=True)
    return path


def tidy(folder: Path) -> None:
    """Remove the files that were used long ago, and the scratch folders of processes that were killed."""
    files = sorted(folder.glob("*.so"), key=lambda one: one.stat().st_mtime, reverse=True)
    for one in files[KEPT:]:
        one.unlink(missing_ok=True)
    for one in folder.glob("tmp*"):
        if one.stat().st_mtime < time.time() - HOUR:
            shutil.rmtree(one, ignore_errors=True)
