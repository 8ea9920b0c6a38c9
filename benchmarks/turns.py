"""Time several statements in one process, in turns, so that a busy moment of the machine affects all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from timeit import Timer

LOOK, IDLE, LONGEST = 0.002, 0.1, 0.05  # seconds of a look, the share of it that other threads may use, seconds of all looks


def rest() -> None:
    """Sleep until no other thread of this process is busy.

    Threads of OpenMP and BLAS wait for their next work in a loop and keep a core meanwhile: 8 ms on one processor, 3 on another.
    """
    begun = time.perf_counter()
    while time.perf_counter() - begun < LONGEST:
        used, looked = time.process_time(), time.perf_counter()
        time.sleep(LOOK)
        if time.process_time() - used < IDLE * (time.perf_counter() - looked):
            return


def in_turns(timers: Sequence[Timer], seconds: float, turns: int, most: float = float("inf")) -> list[list[float]]:
    """For each turn the seconds of one call of each statement.

    A turn of a statement takes about `seconds`, and at least one call.  If the turns together would take more than `most`
    seconds there are fewer, or only the calls that estimate the time of a turn.
    """
    counts, first = [], []
    for timer in timers:
        once = timer.timeit(1)
        if once < seconds:
            timer.timeit(2)
            once = max(timer.timeit(3) / 3, 1e-8)
        counts.append(max(1, round(seconds / once)))
        first.append(once)
    turn = sum(count * once for count, once in zip(counts, first))
    turns = turns if turns * turn <= most else int(most / turn)
    return [[timer.timeit(count) / count for timer, count in zip(timers, counts)] for _ in range(turns)] or [first]
