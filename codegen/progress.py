"""Report the progress of a long run in one line on stderr.

On a terminal the line is rewritten in place.  Elsewhere, as in the log of a CI run, a new line is written every few seconds.
"""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import Self

SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """A callable that takes (steps done, total steps, current step)."""

    def __init__(self, label: str):
        self.label = label
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now - self._last < (0.05 if self._terminal else SECONDS_BETWEEN_LINES):
            return
        self._last = now
        line = f"{self.label} {done:{len(str(total))}}/{total} {what}"
        if self._terminal:
            print(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
