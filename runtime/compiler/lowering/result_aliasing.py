"""Result aliasing: put temporaries into a result's buffer.

Decides which temporaries share the buffer.  The buffer of a result is allocated afresh at each call and is unused until the step
that writes the result.  At the peak of memory, the largest temporary that fits and is dead by then moves into it, until
no other fits; the buffer is then allocated at the start.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ..execute.low_level_ir import Slot, Step, root_of

LARGE = 1 << 15  # least bytes of a result that can hold temporaries
MANY = 256  # most pieces of memory; with more, the pass does nothing


def alias_results(slots: list[Slot], steps: list[Step], pieces: list[Any]) -> tuple[list[Step], list[Any]]:
    """Place temporaries in the memory of results.

    Parameters
    ----------
    slots : list of Slot
        Slots of moved values become views of a result, and so do their own views.
    steps : list of Step
    pieces : list of Piece
        Pieces of planned memory, each with its first and last step.

    Returns
    -------
    list of Step, list of Piece
        The steps, beginning with the allocations, and the remaining pieces.
    """
    hosts = hosts_in(slots, steps)
    if not hosts or len(pieces) > MANY:
        return steps, pieces
    guests: dict[int, list[Any]] = {}
    staying = list(pieces)
    while staying:
        busiest = most_at(staying, len(steps))
        alive = [piece for piece in staying if piece.first <= busiest <= piece.last]
        found = next(((host, piece) for piece in sorted(alive, key=lambda piece: -piece.bytes) for host, begins in hosts.items()
                      if fits(piece, slots[host], begins, guests.get(host, ()))), None)  # fmt: skip
        if found is None:
            break
        host, piece = found
        guests.setdefault(host, []).append(piece)
        staying.remove(piece)
    if not guests:
        return steps, pieces
    for host, moved in guests.items():
        move(slots, host, moved)
    early = [step for step in steps if step.kind == "allocate" and step.writes[0] in guests]
    return [*early, *(step for step in steps if step not in early)], staying


def hosts_in(slots: list[Slot], steps: list[Step]) -> dict[int, int]:
    """Large results, each with its first step, or the start of that step's block group."""
    found: dict[int, int] = {}
    if not any(slot.place == "fresh" and slot.bytes >= LARGE for slot in slots):
        return found
    begins = end = -1
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            begins, end = number, number + step.given.loops
        if step.kind == "allocate":
            continue
        for place in (*step.reads, *step.writes):
            root = root_of(slots, place)
            if slots[root].place == "fresh" and slots[root].bytes >= LARGE:
                found.setdefault(root, begins if number <= end else number)
    return found


def most_at(pieces: list[Any], count: int) -> int:
    """The step with the most live memory."""
    change = [0] * (count + 1)
    for piece in pieces:
        change[piece.first] += piece.bytes
        change[piece.last + 1] -= piece.bytes
    now, most, place = 0, -1, 0
    for number in range(count):
        now += change[number]
        if now > most:
            most, place = now, number
    return place


def fits(piece: Any, host: Slot, begins: int, guests: Any) -> bool:
    """Whether a piece fits into a result that is first written at step `begins`, beside other guests."""
    if piece.last >= begins or any(slot.place != "planned" or size_of(slot) > size_of(host) for slot in piece.slots):
        return False
    return all(piece.last < other.first or other.last < piece.first for other in guests)


def size_of(slot: Slot) -> int:
    """Bytes of a slot's array; its planned memory may be larger."""
    return slot.dtype.itemsize * prod(slot.shape)


def move(slots: list[Slot], host: int, moved: list[Any]) -> None:
    """Turn all slots of some pieces into views of a result."""
    own = {id(slot) for piece in moved for slot in piece.slots}
    places = {place for place, slot in enumerate(slots) if id(slot) in own}
    for slot in slots:
        if id(slot) in own:
            slot.place, slot.root, slot.offset = "view", host, 0
        elif slot.place == "view" and slot.root in places:
            slot.root = host
