# cython: boundscheck=False, wraparound=False
"""Planning: where in memory each value lies, and when what is held is let go.

Owns lifetimes.  What is dead is used again: for a result of a loop whose operand dies there, else the smallest hole that is large
enough.  Steps of one group of blocks live and die together, but for a result that takes its operand's very place.  Where the
program is over by then, a few large things leave fewer holes if the largest find their places first.
"""

from bisect import bisect_left

from .steps cimport Slot, Step

cdef enum:
    LARGE = 1 << 16     # bytes of an array that is let go as soon as it may
    FEW = 256           # pieces of memory whose places are chosen by size


cdef class Lifetimes:
    """When the memory of each slot is used.

    Attributes
    ----------
    roots : list of int
        Of each slot the one whose memory it lies in.
    first, last : list of int
        Of each slot that is no look the first and the last step that uses its memory; -1 of one that none uses.
    ends : list of int
        For each step the last one that runs with it, block by block.
    """

    cdef readonly list roots, first, last, ends

    def __init__(self, list slots, list steps):
        cdef Py_ssize_t number, inner, place, root, count
        cdef Slot slot
        cdef Step step
        self.roots = [slot.root if slot.place == "look" else place for place, slot in enumerate(slots)]
        self.first, self.last, self.ends = [-1] * len(slots), [-1] * len(slots), list(range(len(steps)))
        for number in range(len(steps)):
            step = steps[number]
            for place in step.reads:
                root = self.roots[place]
                if <Py_ssize_t> self.first[root] < 0:
                    self.first[root] = number
                self.last[root] = number
            for place in step.writes:
                root = self.roots[place]
                if <Py_ssize_t> self.first[root] < 0:
                    self.first[root] = number
                self.last[root] = number
            if step.kind == "blocks":
                count = step.given[0]
                for inner in range(number, number + count + 1):
                    self.ends[inner] = number + count


cdef class Holes:
    """The memory that nobody uses at the moment, by the place where each hole begins."""

    cdef list starts, sizes
    cdef readonly Py_ssize_t memory     # bytes of all together, used or not

    def __init__(self):
        self.starts, self.sizes = [], []

    cdef Py_ssize_t take(self, Py_ssize_t size) except -1:
        """The place of so many bytes: in the smallest hole that is large enough, else at the end, which grows."""
        cdef Py_ssize_t i, best = -1, room, start
        for i in range(len(self.starts)):
            room = self.sizes[i]
            if room >= size and (best < 0 or room < <Py_ssize_t> self.sizes[best]):
                best = i
                if room == size:
                    break
        if best < 0:
            best = len(self.starts) - 1
            if best < 0 or <Py_ssize_t> self.starts[best] + <Py_ssize_t> self.sizes[best] != self.memory:
                self.memory += size
                return self.memory - size
            self.memory += size - <Py_ssize_t> self.sizes[best]
            self.sizes[best] = size
        start, room = self.starts[best], self.sizes[best]
        if room == size:
            del self.starts[best], self.sizes[best]
        else:
            self.starts[best], self.sizes[best] = start + size, room - size
        return start

    cdef int give(self, Py_ssize_t start, Py_ssize_t size) except -1:
        """Let bytes go; holes side by side are one."""
        cdef Py_ssize_t place = bisect_left(self.starts, start)
        if place < len(self.starts) and start + size == <Py_ssize_t> self.starts[place]:
            size += <Py_ssize_t> self.sizes[place]
            del self.starts[place], self.sizes[place]
        if place and <Py_ssize_t> self.starts[place - 1] + <Py_ssize_t> self.sizes[place - 1] == start:
            self.sizes[place - 1] = <Py_ssize_t> self.sizes[place - 1] + size
        else:
            self.starts.insert(place, start)
            self.sizes.insert(place, size)
        return 0


def planned(list slots, list steps, Lifetimes lives):
    """Give planned slots their places.

    Returns
    -------
    int, list of Piece
        Bytes of all together, and the pieces of memory that slots take over from one another.
    """
    cdef Py_ssize_t number, place
    cdef Holes holes = Holes()
    cdef Slot slot
    cdef dict born = {}, dying = {}, sizes = {}, pieces = {}
    cdef Piece piece
    for place in range(len(slots)):
        slot = slots[place]
        number = lives.first[place]
        if number >= 0 and (slot.place == "planned" or slot.place == "offered"):
            born.setdefault(number, []).append(place)
    for number in range(len(steps)):
        for place in born.get(number, ()):
            slot = slots[place]
            sizes[place] = slot.bytes
            heir = operand_that_dies(slots, steps[number], place, number, lives, sizes)
            if heir is None and <Py_ssize_t> lives.ends[number] != number:
                heir = block_that_died(slots, steps, place, number, lives, sizes, dying.get(lives.ends[number]))
            if heir is None:
                slot.offset = holes.take(slot.bytes)
                piece = Piece.__new__(Piece)
                piece.first, piece.bytes, piece.slots = number, slot.bytes, []
            else:
                slot.offset = (<Slot> slots[heir]).offset
                dying[lives.ends[number]].remove(heir)
                piece = pieces[heir]
            piece.last = lives.ends[<Py_ssize_t> lives.last[place]]
            piece.slots.append(slot)
            pieces[place] = piece
            dying.setdefault(lives.ends[<Py_ssize_t> lives.last[place]], []).append(place)
        for place in dying.pop(number, ()):
            slot = slots[place]
            holes.give(slot.offset, slot.bytes)
    found = list(dict.fromkeys(pieces.values()))
    return min(holes.memory, by_size(found, holes.memory)), found


cdef class Piece:
    """Memory of slots that take it over from one another, from the first step that uses it to the last."""

    cdef readonly Py_ssize_t first, last, bytes
    cdef Py_ssize_t start
    cdef readonly list slots


cpdef Py_ssize_t by_size(list pieces, Py_ssize_t most) except -1:
    """Give pieces their places, the largest first, each in the smallest gap between those that live at the same time.

    Returns
    -------
    int
        Bytes of all together; `most`, and nothing is changed, where it would not be less.
    """
    cdef Piece piece, other
    cdef Py_ssize_t end, gap, memory = 0
    cdef list placed = []
    if len(pieces) > FEW:
        return most
    for piece in sorted(pieces, key=largest_first):
        gap, end = -1, 0
        for other in placed:  # from the front of memory to its end
            if other.first <= piece.last and piece.first <= other.last:
                if other.start - end >= piece.bytes and (gap < 0 or other.start - end < gap):
                    gap, piece.start = other.start - end, end
                end = max(end, other.start + other.bytes)
        if gap < 0:
            piece.start = end
        memory = max(memory, piece.start + piece.bytes)
        if memory >= most:
            return most
        placed.insert(bisect_left(placed, piece.start, key=start_of), piece)
    for piece in pieces:
        for slot in piece.slots:
            (<Slot> slot).offset = piece.start
    return memory


def largest_first(Piece piece):
    return -piece.bytes, piece.first


def start_of(Piece piece):
    return piece.start


cdef object operand_that_dies(list slots, Step step, Py_ssize_t place, Py_ssize_t number, Lifetimes lives, dict sizes):
    """An operand of a loop that nobody reads later, of the same size as the result: it may lie in the same place."""
    cdef tuple jumps, places, strides
    cdef Py_ssize_t i, j, count
    cdef bint alone
    if step.kind == "rows":
        jumps = step.given.jumps
    elif step.kind == "loop":
        jumps = None
    else:
        return None
    if step.writes != (place,):
        return None
    places, strides = step.given.slots, step.given.strides
    count = len(places) - 1
    for i in range(count):
        if <Py_ssize_t> lives.last[<Py_ssize_t> places[i]] != number or strides[i] != strides[count]:
            continue
        if (<Slot> slots[<Py_ssize_t> places[i]]).place != "planned" or sizes.get(places[i]) != sizes[place] or (
                jumps is not None and jumps[i] != jumps[count]):
            continue
        alone = True
        for j in range(count):
            if lives.roots[<Py_ssize_t> places[j]] == places[i]:
                alone = alone and places[j] == places[i] and strides[j] == strides[i] and (jumps is None or jumps[j] == jumps[i])
        if alone:
            return places[i]
    return None


cdef object block_that_died(list slots, list steps, Py_ssize_t place, Py_ssize_t number, Lifetimes lives, dict sizes, dying):
    """Memory that an earlier loop of the same group of blocks was the last to use, element by element as the result is written:
    block by block it is free."""
    cdef Py_ssize_t first = number
    if not dying or steps[number].kind != "loop" or steps[number].writes != (place,):
        return None
    while first and lives.ends[first - 1] == lives.ends[number]:
        first -= 1
    for other in dying:
        if <Py_ssize_t> lives.last[other] < number and sizes[other] == sizes[place]:
            if goes_along(slots, steps, other, first, number, lives, steps[number].given.strides[len(steps[number].given.strides) - 1]):
                return other
    return None


cdef bint goes_along(list slots, list steps, other, Py_ssize_t first, Py_ssize_t number, Lifetimes lives, stride) except -1:
    """Whether the loops of a group use a slot's memory with that stride alone, as themselves and not as looks."""
    cdef Py_ssize_t inner, i
    cdef tuple places, strides
    for inner in range(first, number):
        if steps[inner].kind != "loop":  # what begins the group; a sum is behind all loops
            continue
        places, strides = steps[inner].given.slots, steps[inner].given.strides
        for i in range(len(places)):
            if lives.roots[<Py_ssize_t> places[i]] == other and (places[i] != other or strides[i] != stride):
                return False
    return True


def released(list slots, list steps, results, Lifetimes lives):
    """The steps, with a release of what operators made behind its last use."""
    cdef Py_ssize_t number, place
    cdef set kept = {lives.roots[place] for place in results}
    cdef dict freed = {}
    cdef list found = []
    cdef Slot slot
    for place in range(len(slots)):
        number = lives.last[place]
        slot = slots[place]
        held = slot.place in ("called", "fresh") or slot.place == "offered" and slot.bytes >= LARGE  # it may be elsewhere
        if number >= 0 and held and place not in kept:
            freed.setdefault(lives.ends[number], []).append(place)
    if not freed:
        return steps
    for number in range(len(steps)):
        found.append(steps[number])
        for place in freed.get(number, ()):
            found.append(Step("free", (place,), "free", None))
    return found
