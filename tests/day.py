"""The day's part of the samples and of the slow tests: a usual run takes a tenth of them, `pytest --all` and CI take all.

Ten days in a row take each.  `DAY=20785 pytest` repeats the run of a day.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
PARTS = 10
DAY = int(os.environ.get("DAY") or time.time() // 86400)
every = bool(os.environ.get("CI"))  # whether all samples are asked; set by `--all`


def part(name: str, items: Sequence[Item]) -> list[Item]:
    """The items of one name that are asked today: one of ten, and at least one."""
    if every or not items:
        return list(items)
    parts = min(PARTS, len(items))
    return list(items[(DAY + zlib.crc32(name.encode())) % parts :: parts])


def is_today(name: str) -> bool:
    """Whether it is the day of a name: one day of ten, or each."""
    return every or (DAY + zlib.crc32(name.encode())) % PARTS == 0


def least(count: int) -> int:
    """How many samples have to be asked at least, of a test that asks `count` of all names."""
    return count if every else count // (2 * PARTS)


def share(of_all: float, of_a_part: float) -> float:
    """The bound of a share: a tenth of the samples strays further than all of them."""
    return of_all if every else of_a_part
