"""The build backend: meson-python, metadata that waits for no compiler, and a counter on the terminal.

meson-python leaves out the hooks for metadata, for which pip then builds the whole wheel.  pip hides the output of a build, so
the counter is written to the terminal itself, if there is one.
"""

import contextlib
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import mesonpy
from mesonpy import (  # noqa: F401 (the hooks that pip looks for)
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)


def steps(source: Path, began: float) -> tuple[int, int]:
    """How many steps of a build that began at this time are done, and how many there are; (0, 0) before ninja starts."""
    logs = [log for folder in (".mesonpy-*", "build/*", "build/*/*") for log in source.glob(f"{folder}/.ninja_log")]
    logs = [log for log in logs if log.stat().st_mtime >= began]
    if not logs:
        return 0, 0
    log = max(logs, key=lambda path: path.stat().st_mtime)
    total = sum(line.startswith("build ") and ": phony" not in line for line in (log.parent / "build.ninja").open())
    return min(len({line.rpartition("\t")[0] for line in log.read_text().splitlines()[1:]}), total), total


@contextlib.contextmanager
def counted(terminal: TextIO | None, source: Path, every: float = 1.0) -> Iterator[None]:
    """Write the number of steps to a terminal while something is built."""
    began, finished = time.time() - 1, threading.Event()

    def write() -> None:
        while not finished.wait(every):
            done, total = steps(source, began)
            minutes, seconds = divmod(int(time.time() - began), 60)
            terminal.write(f"\r  gradspec: {done} of {total or '?'} steps, {minutes}:{seconds:02} min ")
            terminal.flush()
        terminal.write("\r" + " " * 60 + "\r")
        terminal.flush()

    thread = threading.Thread(target=write, daemon=True) if terminal is not None else None
    if thread is not None:
        thread.start()
    try:
        yield
    finally:
        finished.set()
        if thread is not None:
            thread.join()


def _terminal() -> TextIO | None:
    """The terminal from which the build was started; None for builds without one, as on CI."""
    try:
        return open("/dev/tty", "w")
    except OSError:
        return None


def build_wheel(*arguments, **named):
    """Build the wheel by meson-python; returns its name."""
    with counted(_terminal(), Path.cwd()):
        return mesonpy.build_wheel(*arguments, **named)


def build_editable(*arguments, **named):
    """Build the editable wheel by meson-python; returns its name."""
    with counted(_terminal(), Path.cwd()):
        return mesonpy.build_editable(*arguments, **named)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Write the metadata that the wheel will have; returns the name of its folder."""
    from pyproject_metadata import StandardMetadata

    project = Path(__file__).parents[1]
    metadata = StandardMetadata.from_pyproject(tomllib.loads((project / "pyproject.toml").read_text()), project)
    name = f"{metadata.name.replace('-', '_')}-{metadata.version}.dist-info"
    folder = Path(metadata_directory) / name
    folder.mkdir()
    (folder / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
