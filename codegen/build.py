"""Build gradspec in place: the first time with pip, afterwards with ninja in the same folder.

Finds that folder and reads ninja's progress.  Does not depend on the spec.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlparse

_STEP = re.compile(r"\s*\[(\d+)/(\d+)\] (.*)")
_LINES_SHOWN = 40
JOBS = "GRADSPEC_JOBS"


class BuildFailed(Exception):
    """A failed build; its message ends with the compiler's output."""


def build(root: Path, progress: Callable[[int, int, str], None], jobs: int | None = None) -> int:
    """Build the changed parts; return the number of steps that ninja took."""
    folder, count = build_folder(root), f"-j{jobs or default_jobs()}"
    if folder is None:
        pip = [sys.executable, "-m", "pip", "install", "-v", "--no-build-isolation", "--no-deps",
               f"--config-settings=compile-args={count}"]  # fmt: skip (pip 23.0 has no -C)
        return _run([*pip, "--disable-pip-version-check", "-e", str(root)], root, progress)
    _stage_headers(root, folder)
    return _run([_ninja(), "-C", str(folder), count], root, progress)


def default_jobs() -> int:
    """The number from the environment, or the number of processors that this process may use: a compiler fills one."""
    if said := os.environ.get(JOBS):
        if not said.isdigit():
            raise BuildFailed(f"{JOBS} is {said!r}, which is not a number")
        return int(said)
    usable = getattr(os, "process_cpu_count", None) or (lambda: len(os.sched_getaffinity(0)))
    try:
        return usable() or 1
    except AttributeError:  # the system does not report the usable processors
        return os.cpu_count() or 1


def _stage_headers(root: Path, folder: Path) -> None:
    """Copy headers that were added since the build was configured; ninja does not look for new headers."""
    script, stage = root / "buildtools/stage_headers.py", folder / "headers"
    if script.exists() and stage.exists():
        subprocess.run([sys.executable, str(script), str(root), str(stage)], check=True)


def build_folder(root: Path) -> Path | None:
    """The build folder of an editable install of this checkout; None if there is no such install."""
    try:
        distribution = importlib.metadata.distribution("gradspec")
    except importlib.metadata.PackageNotFoundError:
        return None
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    installed = Path(unquote(urlparse(origin.get("url", "")).path))
    if not origin.get("dir_info", {}).get("editable") or installed.resolve() != root.resolve():
        return None
    for finder in sys.meta_path:  # the record of the install; a checkout may have several build folders
        if getattr(finder, "_name", None) == "gradspec" and hasattr(finder, "_build_path"):
            folder = Path(finder._build_path)
            return folder if (folder / "build.ninja").exists() else None
    found = sorted((root / "build").glob("*/build.ninja"), key=lambda path: path.stat().st_mtime)
    return found[-1].parent if found else None


def no_build_on_import(root: Path) -> dict[str, list[str]]:
    """Let this process import gradspec as last built; return the build commands that importing no longer runs.

    The environment variable that meson-python has for this purpose hides the package instead of skipping its build.
    """
    folder, spared = build_folder(root), {}
    for finder in sys.meta_path if folder else ():
        if getattr(finder, "_name", None) == "gradspec" and hasattr(finder, "_build_cmd"):
            spared[finder._name] = finder._build_cmd
            finder._build_cmd = [sys.executable, "-S", "-c", ""]
    return spared


def _ninja() -> str:
    """The ninja of this environment, or the first one on PATH."""
    beside = Path(sys.executable).parent / "ninja"
    found = str(beside) if beside.exists() else shutil.which("ninja")
    if found is None:
        raise BuildFailed("ninja is not installed: python -m pip install ninja meson-python Cython numpy")
    return found


def _run(command: list[str], root: Path, progress: Callable[[int, int, str], None]) -> int:
    steps, lines = 0, []
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    with subprocess.Popen(command, cwd=root, env=environment, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:  # fmt: skip
        for line in process.stdout:
            lines.append(line.rstrip())
            if match := _STEP.match(line):
                steps = int(match[1])
                progress(steps, int(match[2]), match[3])
    if process.returncode:
        failed = next((i for i, line in enumerate(lines) if "FAILED:" in line), 0)
        said = [line for line in lines[failed:] if not _STEP.match(line)] if failed else lines[-_LINES_SHOWN:]
        raise BuildFailed("the build failed:\n" + "\n".join(said[:_LINES_SHOWN]))
    return steps
