"""Repetition: write stretches of a function that repeat as one `for`, with the bits of the statements one after the other.

1. The search is on the statements after views have become positions in buffers, and before buffers have places.
2. Each statement has a key: its text, shapes, strides and dtypes, but no buffer, position or number.  A stretch repeats if its keys do;
   periods are the commonest distances between equal runs of keys.  The stretch begins where the fewest buffers are alive.
3. The operand of a statement is a column of buffers and positions, one for each iteration.  It is one buffer with positions in a line,
   numbers of a table, or buffers in a line of one family.
4. A family is buffers of one size: a statement of the loop writes its members, in order.  A carried value is the member before.  A
   saved value is a member of an earlier loop; a backward pass reads its family in falling order.
5. An operand of the first or the last two iterations from elsewhere, as the initial state, is copied to the family before the loop.
   Iterations with other exceptions stay outside.
6. A family is one block of memory, and a member is a part of it.  If only its own loop reads a family, each member that is alive at
   once has a place, and copies to the next place end an iteration.  One place is enough where each old member is read before the new
   one is written.
7. Only memory gets other names: statements, and their order, are the same.  The body is searched again, for loops in loops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .loops import LARGEST, Access, Block, Buffer, Code, Item, is_kept, position
from .spelling import TYPES, Literal

FEWEST = 3  # iterations of a loop
WORTH = 32  # fewest statements that a loop saves
GRAM = 6  # statements whose keys are compared at once
PERIODS = 24  # of the commonest distances, those that are tried
SHORTER = 4  # as many statements without loops as with them, or a small function has variables in place of loops (`scalars`)
LAG = 2  # iterations that a member may live without memory for each
WORD = re.compile(r"INT\d+_C\(\d+\)|[A-Za-z_]\w*|\d[\w.]*(?:(?<=[eE])[+-]\d+\w*)?")


class Slot(NamedTuple):
    """An operand: a buffer and the position of its first element, or a number of the text."""

    buffer: Buffer | None
    number: Any
    write: bool = False


class Use(NamedTuple):
    """An operand of a loop: in iteration k the member `index + step * k` of a family, or a buffer, at `first + move * k`."""

    first: Any
    move: int = 0
    buffer: Buffer | None = None
    family: Family | None = None
    index: int = 0
    step: int = 0


class Family:
    """Buffers of one size that are made in order.

    Attributes
    ----------
    members : dict of int to Buffer or None
        None for a copy of another buffer.
    uses : list of (Region, int, int, Use)
        With the places of the statement in the loop, and of the operand.
    outside : list of (int, int)
        A member that a statement outside uses, and the place of the statement.
    places : list of Buffer
        One block, which starts at the member `low`; or, if `low` is None, the newest member, the one before it, ...
    """

    def __init__(self, first: Buffer, members: dict[int, Buffer | None]) -> None:
        self.size, self.dtype, self.members = first.size, first.dtype, members
        self.uses: list[tuple[Region, int, int, Use]] = []
        self.outside: list[tuple[int, int]] = []
        self.places: list[Buffer] = []
        self.low: int | None = None
        self.in_place = False

    def settle(self, code: Code, items: list[Any]) -> None:
        """Choose the memory."""
        lag = self.lag()
        if lag is None:
            self.low = min(self.members)
            self.places = [code.buffer(self.dtype, self.size * (max(self.members) - self.low + 1))]
        else:
            self.in_place = lag == 1 and self.may_be_in_place(items)
            self.places = [code.buffer(self.dtype, self.size) for _ in range(1 if self.in_place else lag + 1)]
        for index, one in self.members.items():
            if one is not None and one.place == "work":
                one.whole, one.shift = self.places[0], 0 if self.low is None else (index - self.low) * self.size

    def lag(self) -> int | None:
        """For how many iterations a member lives; None if each member needs its memory."""
        region = self.uses[0][0]
        written = {use.index for place, at, i, use in self.uses if place.slots(at)[i].write}
        lag = -min(use.index for *_, use in self.uses)
        if any(place is not region or use.step != 1 or use.index > 0 for place, *_, use in self.uses) or written != {0}:
            return None
        if any(index != region.count - 1 or place < region.end for index, place in self.outside):
            return None
        return None if lag > LAG or lag and self.dtype == bool else lag

    def may_be_in_place(self, items: list[Any]) -> bool:
        """Whether each iteration reads the old member before it writes the new one, or at the same element."""
        region = self.uses[0][0]
        begun = min(at for _, at, _, use in self.uses if use.index == 0)
        item, old = items[region.start + begun], [(at, i, use) for _, at, i, use in self.uses if use.index]
        if type(item) is Item and not item.target.repeats(item.shape):
            here = item.target.first, 0, item.target.strides
            old = [(at, i, use) for at, i, use in old if at != begun or (use.first, use.move, item.reads[i].strides) != here]
        return all(at < begun for at, *_ in old)


class Repeat:
    """A loop of parts.

    Attributes
    ----------
    windows : dict of Buffer to str
        Buffers that move along others, and their places there.
    local : set of Buffer
        Those whose contents no other iteration reads.
    """

    joined = False

    def __init__(
        self, code: Code, name: str, count: int, body: list[Any], windows: dict[Buffer, str], local: set[Buffer]
    ) -> None:  # fmt: skip
        self.code, self.name, self.count, self.body, self.windows, self.local = code, name, count, body, windows, local
        self.notes = list(dict.fromkeys(note for part in body for note in part.notes))

    def live(self, wanted: set[Buffer]) -> bool:
        if not any(is_kept(one, wanted) for one in self.written()):
            return False
        wanted.update(one.root for part in self.body for one in part.read())
        self.body = [part for part in reversed(self.body) if part.live(wanted)][::-1]
        return True

    def work(self) -> int:
        return max(part.work() for part in self.body)

    def inner(self) -> list[Buffer]:
        return [one for part in self.body for one in part.buffers()]

    def buffers(self) -> list[Buffer]:
        return [one.whole if one in self.windows else one for one in self.inner()]

    def written(self) -> list[Buffer]:
        return [one for part in self.body for one in part.written()]

    def read(self) -> list[Buffer]:
        return [one for part in self.body for one in part.read()]

    def lines(self) -> list[str]:
        head = []
        for one in dict.fromkeys(one for one in self.inner() if one in self.windows):
            kind = "" if one.root.name in self.code.written else "const "
            head.append(f"{kind}{TYPES[one.dtype]} *const {one.name} = {one.whole.name} + {self.windows[one]};")
        lines = [*head, *(line for part in self.body for line in part.lines())]
        start = f"for (long {self.name} = 0; {self.name} < {self.count}; {self.name}++) {{"
        return [start, *(f"    {line}" for line in lines), "}"]


class Region:
    """Items that repeat: `count` times `period` from `start` on."""

    def __init__(self, owner: Repetition, start: int, period: int, count: int) -> None:
        self.owner, self.start, self.period, self.count = owner, start, period, count
        self.end = start + period * count
        self.uses: dict[tuple[int, int], Use] = {}
        self.places: dict[Buffer, tuple[Family, int]] = {}
        self.copies: dict[tuple[Family, int], tuple[Buffer, int]] = {}

    def slots(self, number: int, iteration: int = 0) -> list[Slot]:
        return self.owner.slots[self.start + iteration * self.period + number]

    def fit(self) -> set[int]:
        """Find the use of each operand; the iterations that do not fit."""
        at = [(number, i) for number in range(self.period) for i in range(len(self.slots(number)))]
        bad: set[int] = set()
        for number, i in sorted(at, key=lambda one: not self.slots(one[0])[one[1]].write):
            column = [self.slots(number, k)[i] for k in range(self.count)]
            use, wrong = self.column([one.buffer for one in column], [one.number for one in column], column[0].write)
            if use is None:
                return set(range(self.count))
            self.uses[number, i] = use
            bad |= wrong
        return bad

    def column(self, buffers: list[Any], numbers: list[Any], write: bool) -> tuple[Use | None, set[int]]:
        """The use of an operand, by two iterations in the middle, and the iterations that differ from it."""
        code, m = self.owner.code, self.count // 2
        if isinstance(numbers[0], str):
            if len(set(numbers)) == 1:
                return Use(numbers[0]), set()
            return Use(0, 1, code.constant(np.array([one.value for one in numbers]))), set()
        move = numbers[m + 1] - numbers[m]
        first = numbers[m] - move * m
        lost = {k for k, number in enumerate(numbers) if number != first + move * k}
        if buffers[m] is buffers[m + 1]:
            return Use(first, move, buffers[m]), lost | {k for k, one in enumerate(buffers) if one is not buffers[m]}
        if all(one.place == "constant" and one.size == buffers[0].size for one in buffers):
            table = code.constant(np.concatenate([one.data.ravel() for one in buffers]))
            return Use(first, move + buffers[0].size, table), lost
        found = [self.place_of(one) for one in buffers]
        if not any(found) and self.is_new(buffers, write):
            family = Family(buffers[0], dict(enumerate(buffers)))
            self.places.update((one, (family, k)) for k, one in enumerate(buffers))
            return Use(first, move, None, family, 0, 1), lost
        if found[m] is None or found[m + 1] is None or found[m][0] is not found[m + 1][0]:
            return None, set()
        family, index = found[m]
        step = found[m + 1][1] - index
        index -= step * m
        for k, one in enumerate(buffers):
            wanted = family, index + step * k
            if found[k] != wanted:
                fits = not write and k in (0, 1, self.count - 2, self.count - 1)
                fits = fits and self.copy(wanted, one, numbers[k] - first - move * k)
                lost = lost - {k} if fits else lost | {k}
        return Use(first, move, None, family, index, step), lost

    def place_of(self, one: Buffer) -> tuple[Family, int] | None:
        return self.places.get(one) or self.owner.places.get(one)

    def is_new(self, buffers: list[Buffer], write: bool) -> bool:
        """Whether buffers can be a family."""
        same = len(set(buffers)) == len(buffers) and len({(one.size, one.dtype) for one in buffers}) == 1
        return same and self.count * buffers[0].size < LARGEST // 2 and all(self.owner.is_free(one) for one in buffers) and all(
            one.place == "work" or write and self.start <= self.owner.spans[one][0] and self.owner.last_write[one] < self.end
            for one in buffers)  # fmt: skip

    def copy(self, wanted: tuple[Family, int], source: Buffer, shift: int) -> bool:
        """Let a copy of a part of a buffer be a member, if nothing is written there from now on."""
        family, index = wanted
        if index in family.members or wanted in self.copies:
            return (self.copies.get(wanted) or self.owner.copies.get(wanted)) == (source, shift)
        if self.owner.last_write.get(source, -1) >= self.start or not 0 <= shift <= source.size - family.size:
            return False
        self.copies[wanted] = source, shift
        return True

    def gain(self) -> int:
        """The lines that the loop saves, about."""
        moving = {(one.family, one.buffer, one.step, one.move) for one in self.uses.values() if one.step or one.move}
        results = [one for one in self.places if one.place == "result"]
        return self.period * (self.count - 1) - len(moving) - 3 * (len(self.copies) + len(results))

    def keep(self) -> None:
        """Enter what was found into the function."""
        self.owner.regions.append(self)
        self.owner.places |= self.places
        self.owner.copies |= self.copies
        for family, index in self.copies:
            family.members[index] = None
        for (number, i), use in self.uses.items():
            if use.family is not None:
                use.family.uses.append((self, number, i, use))

    # The loop.

    def write(self) -> None:
        """Add the loop, with copies before and behind it."""
        code = self.owner.code
        for (family, index), (source, shift) in self.copies.items():
            self.move(*self.member(family, index), source, shift, family.size)
        families = list(dict.fromkeys(use.family for use in self.uses.values() if use.family is not None))
        self.windows: dict[tuple[Buffer, int, int | None], Buffer] = {}
        self.texts: dict[Buffer, str] = {}
        self.name = code.name("i")
        items = [self.item(number) for number in range(self.period)]
        local = {
            one.places[0] for one in families if one.low is None and len(one.places) == 1 and not one.in_place and not one.outside
        }
        before, code.parts = code.parts, []
        made = written(code, items, local)
        for one in families:
            for new, old in reversed(list(zip(one.places, one.places[1:]))):
                self.move(old, 0, new, 0, one.size)
        body, code.parts = code.parts, before
        code.add(Repeat(code, self.name, self.count, body, self.texts, local | made), "")
        for one, (family, index) in self.places.items():
            if one.place == "result":
                self.move(one, 0, *self.member(family, index), family.size)

    def move(self, target: Buffer, first: int, source: Buffer, start: int, size: int) -> None:
        """Copy a part of a buffer."""
        strides = (1,) if size > 1 else ()
        shape = (size,) if size > 1 else ()
        code = self.owner.code
        code.write(Item(shape, "{0}", target.dtype, [Access(source, start, strides)], (target.dtype,), Access(target, first, strides), ""))

    def member(self, family: Family, index: int) -> tuple[Buffer, int]:
        """The memory of a member outside the loop."""
        if family.low is not None:
            return family.places[0], (index - family.low) * family.size
        return family.places[0 if family.in_place or index >= 0 else -index], 0

    def place(self, use: Use, whole: bool) -> tuple[Buffer, int]:
        """The buffer of an operand in the body, and its first element there; `whole` for the address of the buffer."""
        base, first, move, family = use.buffer, use.first, use.move, use.family
        if family is not None and family.low is not None:
            base, first = family.places[0], first + (use.index - family.low) * family.size
            move += use.step * family.size
        elif family is not None:
            base = family.places[0 if family.in_place else -use.index]
        if not move and not (whole and first):
            return base, first
        key = base, move, first if whole else None
        if key not in self.windows:
            made = self.windows[key] = Buffer(self.owner.code.name("w"), base.dtype, base.size, "window")
            made.whole, made.shift = base, first
            self.texts[made] = position(first, [(self.name, move)])
        return self.windows[key], first - self.windows[key].shift

    def item(self, number: int) -> Any:
        """A statement of the body."""
        item = self.owner.items[self.start + number]
        uses = [self.uses[number, i] for i in range(len(self.slots(number)))]
        if type(item) is Item:
            places = [one.first if isinstance(one.first, str) else Access(*self.place(one, False), given.strides
                      if isinstance(given, Access) else (0,) * len(item.shape))
                      for one, given in zip(uses, [*item.reads, item.target])]  # fmt: skip
            return item._replace(reads=places[:-1], target=places[-1])
        known, (reads, writes), rest = {one.name for one in item.buffers()}, ([], []), iter(zip(uses, self.slots(number)))

        def word(match: re.Match) -> str:
            if match[0] not in known and not match[0].isdigit():
                return match[0]
            use, slot = next(rest)
            if slot.buffer is None:
                return match[0] if not use.move else f"({position(use.first, [(self.name, use.move)])})"
            found, _ = self.place(use, True)
            (writes if slot.write else reads).append(found)
            return found.name

        lines = WORD.sub(word, "\n".join(item.text)).split("\n")
        return Block(lines, [*reads, *(writes if is_read(item) else [])], writes, None, item.note)


def is_read(block: Block) -> bool:
    """Whether a block reads a buffer that it writes."""
    return bool(set(block.reads) & set(block.writes))


class Repetition:
    """The loops of a list of items.

    Parameters
    ----------
    free : set of Buffer or None
        The buffers that may get other memory; None for all that are not given.
    """

    def __init__(self, code: Code, items: list[Any], free: set[Buffer] | None) -> None:
        self.code, self.items, self.free = code, items, free
        self.regions: list[Region] = []
        self.places: dict[Buffer, tuple[Family, int]] = {}
        self.copies: dict[tuple[Family, int], tuple[Buffer, int]] = {}
        self.spans: dict[Buffer, list[int]] = {}
        self.last_write: dict[Buffer, int] = {}
        keys: dict[Any, int] = {}
        found = [slots_of(item) for item in items]
        self.keys = np.array([keys.setdefault(key, len(keys)) for key, _ in found], np.int64)
        self.slots = [slots for _, slots in found]
        for place, slots in enumerate(self.slots):
            for one in slots:
                if one.buffer is not None:
                    self.spans.setdefault(one.buffer, [place, place])[1] = place
                    if one.write:
                        self.last_write[one.buffer] = place
        self.ends = np.array(list(self.spans.values()), np.int64).reshape(-1, 2)

    def is_free(self, one: Buffer) -> bool:
        return one in self.free if self.free is not None else one.place in ("work", "result")

    def search(self) -> None:
        """Find the loops, from the first to the last."""
        tasks: list[tuple] = [(0, len(self.items), frozenset())]
        while tasks:
            low, high, failed, *trial = tasks.pop()
            if not trial:
                best = self.best(low, high, failed)
                if best is not None:
                    tasks += [(best[0], high, failed, best), (low, best[0], frozenset())]
                continue
            region = self.fit(*trial[0])
            if region is not None:
                region.keep()
                tasks.append((region.end, high, frozenset()))
            elif len(failed) < PERIODS:
                tasks.append((low, high, failed | {trial[0][1]}))

    def best(self, low: int, high: int, failed: frozenset[int]) -> tuple[int, int, int] | None:
        """The start, the period and the count of the stretch that a loop would shorten most."""
        keys, best = self.keys[low:high], (WORTH - 1, None)
        if len(keys) < 2 * GRAM:
            return None
        grams = np.zeros(len(keys) - GRAM + 1, np.uint64)
        for i in range(GRAM):
            grams = grams * np.uint64(0x9E3779B97F4A7C15) + keys[i : i + len(grams)].astype(np.uint64)
        order = np.argsort(grams, kind="stable")
        distances = np.diff(order)[np.diff(grams[order]) == 0]
        votes = np.bincount(distances, minlength=1)
        for period in np.argsort(-votes, kind="stable")[:PERIODS].tolist():
            if not votes[period] or period in failed:
                continue
            edges = np.flatnonzero(np.diff(np.concatenate([[0], keys[:-period] == keys[period:], [0]])))
            lengths = edges[1::2] - edges[::2]
            longest = int(lengths.argmax()) if len(lengths) else 0
            count, rest = divmod(int(lengths[longest]) + period, period) if len(lengths) else (0, 0)
            if count >= FEWEST and (count - 1) * period > best[0]:
                best = (count - 1) * period, (low + int(edges[2 * longest]), period, count, rest)
        if best[1] is None:
            return None
        start, period, count, rest = best[1]
        short = self.ends[self.ends[:, 1] - self.ends[:, 0] < 2 * period]
        cuts = start + period * (count // 2) + np.arange(rest + 1)[:, None]
        alive = ((short[:, 0] < cuts) & (cuts <= short[:, 1])).sum(1)
        return start + int(alive.argmin()), period, count

    def fit(self, start: int, period: int, count: int) -> Region | None:
        """The loop, without the iterations at its ends that do not fit; None if it gains nothing."""
        while count >= FEWEST:
            region, middle = Region(self, start, period, count), count // 2
            bad = region.fit()
            if not bad:
                return region if region.gain() >= WORTH else None
            if middle in bad or middle + 1 in bad:
                return None
            first = max((k + 1 for k in bad if k < middle), default=0)
            start, count = start + first * period, min((k for k in bad if k > middle), default=count) - first
        return None

    def settle(self) -> set[Buffer]:
        """Choose the memory of all families."""
        inside = np.zeros(len(self.items), bool)
        for region in self.regions:
            inside[region.start : region.end] = True
            used = [use.buffer for use in region.uses.values()] + [source for source, _ in region.copies.values()]
            self.outside((one for one in used if one is not None), region.start)
            self.outside((one for one in region.places if one.place == "result"), region.end)
        for place in np.flatnonzero(~inside).tolist():
            self.outside((one.buffer for one in self.slots[place] if one.buffer is not None), place)
        families = list(dict.fromkeys(use.family for one in self.regions for use in one.uses.values() if use.family is not None))
        for family in families:
            family.settle(self.code, self.items)
        return {one for family in families for one in family.places}

    def outside(self, buffers: Iterable[Buffer], place: int) -> None:
        for one in buffers:
            if one in self.places:
                family, index = self.places[one]
                family.outside.append((index, place))


def slots_of(item: Any) -> tuple[Any, list[Slot]]:
    """The key of an item, and its operands."""
    slots: list[Slot] = []
    if type(item) is Item:
        kinds: list[Any] = []
        for one in (*item.reads, item.target):
            here = isinstance(one, Access)
            slots.append(Slot(one.buffer, one.first, one is item.target) if here else Slot(None, one))
            kinds.append((one.buffer.dtype, one.strides) if here else one.value.dtype if isinstance(one, Literal) else one)
        return (item.shape, item.text, item.dtype, *kinds), slots
    known = {one.name: one for one in item.buffers()}

    def word(match: re.Match) -> str:
        if match[0] in known:
            one = known[match[0]]
            slots.append(Slot(one, 0, one in item.writes))
            return f"{{{one.dtype}}}"
        if match[0].isdigit():
            slots.append(Slot(None, int(match[0])))
            return "{}"
        return match[0]

    text = WORD.sub(word, "\n".join(item.text))
    whole = {one.buffer for one in slots} >= set(known.values())
    return (text, is_read(item), None if whole else id(item)), slots


def written(code: Code, items: list[Any], free: set[Buffer] | None, other: Callable[[list[Any]], list[Any]] | None = None) -> set[Buffer]:
    """Add items to the parts of the function, what repeats as loops; the new buffers."""
    found = Repetition(code, items, free)
    found.search()
    if other is not None and sum(one.period * (one.count - 1) for one in found.regions) * SHORTER < len(items) * (SHORTER - 1):
        for item in items:
            code.write(item)
        plain, code.parts = code.parts, other(code.parts)
        if code.parts is not plain:
            return set()
        code.parts = []
    made, here = found.settle(), 0
    for region in found.regions:
        for item in items[here : region.start]:
            code.write(item)
        region.write()
        here = region.end
    for item in items[here:]:
        code.write(item)
    return made


def roll(code: Code, other: Callable[[list[Any]], list[Any]] | None) -> None:
    """Make the parts of a function of its items, without those that no result needs.

    Parameters
    ----------
    code : Code
    other : callable or None
        Takes the parts without loops of statements, and returns others, or the same; asked where loops leave much of the text.
    """
    wanted: set[Buffer] = set()
    items = []
    for item in reversed(code.items):
        if type(item) is Block:
            kept = item.live(wanted)
        elif kept := is_kept(item.target.buffer, wanted):
            wanted.update(one.buffer for one in item.reads if isinstance(one, Access))
        if kept:
            items.append(item)
    written(code, items[::-1], None, other)
