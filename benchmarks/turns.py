"""Owns the timing of several statements in one process: in turns, so that a busy moment of the machine falls on all of them.
Knows nothing of what the statements do.
"""

from __future__ import annotations

from collections.abc import Sequence
from timeit import Timer


def in_turns(timers: Sequence[Timer], seconds: float, turns: int, most: float = float("inf")) -> list[list[float]]:
    """For each turn the seconds of one call of each statement.

    A turn of a statement takes about `seconds`, and at least one call.  Where the turns together would take more than `most`
    seconds there are fewer, or none but the calls that were to say how long they take.
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
