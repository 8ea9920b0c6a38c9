# cython: boundscheck=False, wraparound=False
"""Buffer assignment: choose the place of each value in memory, and when the memory is freed.

Computes lifetimes.  The result of a loop reuses the memory of an operand that dies there, and so does the result of a forward if
its entry allows that.  Other results take the smallest hole that is large enough.  Steps of one blocked group live and die
together, except for a result that takes the exact place of its operand.  If the program is over by then, a few large values leave
smaller holes when the largest is placed first.
"""

from libc.stdlib cimport free, malloc

from bisect import bisect_left

from ..tracing.instructions import CALLBACK
from .call_conventions import drawing
from ..execute.low_level_ir cimport Loop, Slot, Step

cdef enum:
    LARGE = 1 << 16     # bytes of an array that is freed as early as possible
    FEW = 256           # most pieces of memory that are placed by size


cdef class Lifetimes:
    """The lifetime of each slot's memory.

    Attributes
    ----------
    first, last : list of int
        For each slot that is not a view, the first and the last step that uses its memory; -1 for an unused slot.
    ends : list of int
        For each step, the last step of its block group.
    """

    cdef Py_ssize_t* numbers            # one allocation for the four arrays below
    cdef Py_ssize_t* roots              # for each slot, the slot that holds its memory
    cdef Py_ssize_t* firsts
    cdef Py_ssize_t* lasts
    cdef Py_ssize_t* endings
    cdef Py_ssize_t slots, steps

    def __init__(self, list slots, list steps):
        cdef Py_ssize_t number, inner, place, count
        cdef Slot slot
        cdef Step step
        free(self.numbers)
        self.slots, self.steps = len(slots), len(steps)
        self.numbers = <Py_ssize_t*> malloc((3 * self.slots + self.steps + 1) * sizeof(Py_ssize_t))
        if self.numbers == NULL:
            raise MemoryError
        self.roots, self.firsts = self.numbers, self.numbers + self.slots
        self.lasts, self.endings = self.firsts + self.slots, self.firsts + 2 * self.slots
        for place in range(self.slots):
            slot = slots[place]
            self.roots[place] = slot.root if slot.place == "view" else place
            self.firsts[place] = self.lasts[place] = -1
        for number in range(self.steps):
            self.endings[number] = number
        for number in range(self.steps):
            step = steps[number]
            self.use(step.reads, number)
            self.use(step.writes, number)
            if step.kind == "blocks":
                count = step.given[0]
                for inner in range(number, number + count + 1):
                    self.endings[inner] = number + count

    def __dealloc__(self):
        free(self.numbers)

    cdef int use(self, tuple places, Py_ssize_t number) except -1:
        cdef Py_ssize_t place, root
        for place in places:
            root = self.roots[place]
            if self.firsts[root] < 0:
                self.firsts[root] = number
            self.lasts[root] = number
        return 0

    @property
    def first(self):
        return [self.firsts[place] for place in range(self.slots)]

    @property
    def last(self):
        return [self.lasts[place] for place in range(self.slots)]

    @property
    def ends(self):
        return [self.endings[number] for number in range(self.steps)]


cdef class Holes:
    """The memory that is free at the moment, ordered by address."""

    cdef list starts, sizes
    cdef readonly Py_ssize_t memory     # total bytes, used or free

    def __init__(self):
        self.starts, self.sizes = [], []

    cdef Py_ssize_t take(self, Py_ssize_t size) except -1:
        """The offset of `size` bytes: in the smallest sufficient hole, or at the end, which grows."""
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
        """Free bytes and merge adjacent holes."""
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


def assign_buffers(list slots, list steps, Lifetimes lives):
    """Assign offsets to planned slots.

    Returns
    -------
    int, list of Piece
        Total bytes, and the pieces of memory that slots share one after another.
    """
    cdef Py_ssize_t number, place, heir, end
    cdef bint felt = False  # whether the program has had an external effect, so that it cannot restart
    cdef Holes holes = Holes()
    cdef Slot slot
    cdef Step step
    cdef list pieces = [None] * len(slots), found = [], born = [None] * len(steps), dying = [None] * len(steps)
    cdef Piece piece
    for place in range(len(slots)):
        slot = slots[place]
        if lives.firsts[place] >= 0 and (slot.place == "planned" or slot.place == "offered"):
            put(born, lives.firsts[place], place)
    for number in range(len(steps)):
        step, end = steps[number], lives.endings[number]
        for place in born[number] or ():
            slot = slots[place]
            heir = -1 if felt else operand_of_forward(slots, step, place, number, lives)
            if heir < 0:
                heir = operand_that_dies(slots, step, place, number, lives)
            if heir < 0 and end != number:
                heir = block_that_died(slots, steps, place, number, lives, dying[end])
            if heir < 0:
                slot.offset = holes.take(slot.bytes)
                piece = Piece.__new__(Piece)
                piece.first, piece.bytes, piece.slots = number, slot.bytes, []
                found.append(piece)
            else:
                slot.offset = (<Slot> slots[heir]).offset
                (<list> dying[end]).remove(heir)
                piece = pieces[heir]
            piece.last = lives.endings[lives.lasts[place]]
            piece.slots.append(slot)
            pieces[place] = piece
            put(dying, piece.last, place)
        felt = felt or is_felt(slots, step, lives)
        for place in dying[number] or ():
            slot = slots[place]
            holes.give(slot.offset, slot.bytes)
    return min(holes.memory, by_size(found, holes.memory)), found


cdef int put(list lists, Py_ssize_t number, Py_ssize_t item) except -1:
    """Append to one of several lists; an empty list is None."""
    if lists[number] is None:
        lists[number] = [item]
    else:
        (<list> lists[number]).append(item)
    return 0


cdef class Piece:
    """Memory that several slots use one after another, from its first step to its last."""

    cdef readonly Py_ssize_t first, last, bytes
    cdef Py_ssize_t start
    cdef readonly list slots


cpdef Py_ssize_t by_size(list pieces, Py_ssize_t most) except -1:
    """Assign offsets to pieces, the largest first, each in the smallest gap between pieces with overlapping lifetimes.

    Returns
    -------
    int
        Total bytes; `most`, without any change, if the total would not be less.
    """
    cdef Piece piece, other
    cdef Py_ssize_t end, gap, memory = 0
    cdef list placed = []
    if len(pieces) > FEW:
        return most
    for piece in sorted(pieces, key=largest_first):
        gap, end = -1, 0
        for other in placed:  # by increasing offset
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


cdef Py_ssize_t operand_that_dies(list slots, Step step, Py_ssize_t place, Py_ssize_t number, Lifetimes lives) except -2:
    """An operand of a loop that is not used later and has the result's size, so that the result may overwrite it; else -1."""
    cdef Loop loop
    cdef Slot operand
    cdef Py_ssize_t i, count, other
    cdef bint rows = step.kind == "rows"
    if not rows and step.kind != "loop" or len(step.writes) != 1 or <Py_ssize_t> step.writes[0] != place:
        return -1
    loop = step.given
    count = len(loop.slots) - 1
    for i in range(count):
        other = loop.slots[i]
        operand = slots[other]
        if lives.lasts[other] != number or operand.bytes != (<Slot> slots[place]).bytes:
            continue
        if operand.place == "planned" or operand.place == "offered":  # an offered slot uses the plan's memory, or none
            if same_steps(loop, i, count, rows) and is_alone(loop, i, count, lives, rows):
                return other
    return -1


cdef Py_ssize_t operand_of_forward(list slots, Step step, Py_ssize_t place, Py_ssize_t number, Lifetimes lives) except -2:
    """An operand that is not used later and that a forward may overwrite with its result; else -1."""
    cdef Slot operand, result = slots[place]
    cdef Py_ssize_t other, root, each
    if step.kind != "forward":
        return -1
    for other in step.given[4]:
        operand, root = slots[other], lives.roots[other]
        if lives.lasts[root] != number or operand.dtype != result.dtype or operand.shape != result.shape:
            continue
        if operand.strides != result.strides or (<Slot> slots[root]).bytes != result.bytes:
            continue
        if (<Slot> slots[root]).place not in ("planned", "offered"):  # an offered slot uses the plan's memory, or none
            continue
        if sum([lives.roots[<Py_ssize_t> each] == root for each in step.reads]) == 1:
            return root
    return -1


cdef bint is_felt(list slots, Step step, Lifetimes lives) except -1:
    """Whether a step writes to external memory, draws random numbers or runs a callback."""
    cdef Py_ssize_t place
    for place in step.writes:
        if (<Slot> slots[lives.roots[place]]).place == "external":
            return True
    return step.kind == "call" and (step.name == CALLBACK or len(drawing(step.name)) > 0)


cdef bint same_steps(Loop loop, Py_ssize_t i, Py_ssize_t j, bint rows) except -1:
    """Whether a loop visits two of its operands with the same strides."""
    return <Py_ssize_t> loop.strides[i] == <Py_ssize_t> loop.strides[j] and (
        not rows or <Py_ssize_t> loop.jumps[i] == <Py_ssize_t> loop.jumps[j])


cdef bint is_alone(Loop loop, Py_ssize_t i, Py_ssize_t count, Lifetimes lives, bint rows) except -1:
    """Whether a loop reads the memory of an operand through that operand only."""
    cdef Py_ssize_t j, place = loop.slots[i], other
    for j in range(count):
        other = loop.slots[j]
        if lives.roots[other] == place and not (other == place and same_steps(loop, i, j, rows)):
            return False
    return True


cdef Py_ssize_t block_that_died(
    list slots, list steps, Py_ssize_t place, Py_ssize_t number, Lifetimes lives, list dying
) except -2:
    """Memory last used by an earlier loop of the same block group, with the strides of the result, so that it is free block by
    block; else -1."""
    cdef Py_ssize_t first = number, other
    cdef Step step = steps[number]
    cdef Loop loop
    if not dying or step.kind != "loop" or step.writes != (place,):
        return -1
    loop = step.given
    while first and lives.endings[first - 1] == lives.endings[number]:
        first -= 1
    if (<Step> steps[first]).given.rows:  # its steps differ in their strides
        return -1
    for other in dying:
        if lives.lasts[other] < number and (<Slot> slots[other]).bytes == (<Slot> slots[place]).bytes:
            if goes_along(steps, other, first, number, lives, loop.strides[len(loop.strides) - 1]):
                return other
    return -1


cdef bint goes_along(list steps, Py_ssize_t other, Py_ssize_t first, Py_ssize_t number, Lifetimes lives, stride) except -1:
    """Whether the loops of a group use a slot's memory only with this stride and not through views."""
    cdef Py_ssize_t inner, i, place
    cdef Loop loop
    for inner in range(first, number):
        if (<Step> steps[inner]).kind != "loop":  # the group's header; a sum follows all loops
            continue
        loop = (<Step> steps[inner]).given
        for i in range(len(loop.slots)):
            place = loop.slots[i]
            if lives.roots[place] == other and (place != other or loop.strides[i] != stride):
                return False
    return True


def insert_frees(list slots, list steps, results, Lifetimes lives):
    """The steps, with a release of each operator result behind its last use."""
    cdef Py_ssize_t number, place
    cdef set kept = {lives.roots[<Py_ssize_t> place] for place in results}
    cdef dict freed = {}
    cdef list found = []
    cdef Slot slot
    for place in range(len(slots)):
        number = lives.lasts[place]
        slot = slots[place]
        held = slot.place in ("called", "fresh") or slot.place == "offered" and slot.bytes >= LARGE  # it may have its own memory
        if number >= 0 and held and place not in kept:
            freed.setdefault(lives.endings[number], []).append(place)
    if not freed:
        return steps
    for number in range(len(steps)):
        found.append(steps[number])
        for place in freed.get(number, ()):
            found.append(Step("free", (place,), "free", None))
    return found
