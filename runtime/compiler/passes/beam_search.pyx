# cython: boundscheck=False, wraparound=False
"""Beam search: find an instruction order that needs little memory, in a short program.

Extends orders instruction by instruction: one that is ready, then all ready ones that allocate nothing.  Among orders of equal
length the few that need the least memory continue.  Two orders of the same instructions are one.
"""

cdef enum:
    BEGUN = 8       # width of the beam


cdef class Line:
    """A line of a program, with the lines that it depends on."""


cdef class Room:
    """Memory shared by values."""


cdef list search_orders(list lines, list gates, list rooms):
    """The best order of the lines that the search finds."""
    cdef Line line
    cdef Room room
    cdef Begun begun = Begun.__new__(Begun), other, best = None
    cdef list level = [begun]
    cdef dict found
    begun.ready, begun.order, begun.pending, begun.left, begun.done = [], [], [], [], 0
    for line in (*lines, *gates):
        line.place = len(begun.pending)
        begun.pending.append(len(line.before))
        if not line.before:
            begun.ready.append(line)
    for room in rooms:
        room.place = len(begun.left)
        begun.left.append(room.users)
    while level:
        found = {}
        for begun in level:
            for line in begun.ready:
                other = begun.followed_by(line)
                if not other.ready:
                    best = other if best is None or other.is_better(best) else best
                elif other.done not in found or other.is_better(found[other.done]):
                    found[other.done] = other
        level = sorted(found.values(), key=needs)[:BEGUN]
    return best.order


cdef class Begun:
    """A partial order: its first lines are chosen.

    Attributes
    ----------
    now, most : int
        Bytes alive after these lines, and the peak.
    done : int
        A bit for each line.
    pending, left : list of int
        For each line the number of lines that it waits for, and for each room the number of its remaining users.
    """

    cdef Py_ssize_t now, most
    cdef object done
    cdef list ready, order
    cdef list pending, left

    cdef bint is_better(self, Begun other) except -1:
        return self.most < other.most or self.most == other.most and self.now < other.now

    cdef Py_ssize_t lets_go(self, Line line) except -1:
        cdef Py_ssize_t bytes = 0
        cdef Room room
        for room in line.rooms:
            if <Py_ssize_t> self.left[room.place] == 1:
                bytes += room.bytes
        return bytes

    cdef Py_ssize_t at_once(self, Line line) except -1:
        """Bytes alive while a line runs."""
        cdef Room room
        for room in line.rooms:
            if line.alike and room.bytes == line.bytes and <Py_ssize_t> self.left[room.place] == 1:
                return self.now
        return self.now + line.bytes

    cdef Begun followed_by(self, Line line):
        """This partial order with one more line, and then all ready lines that do not increase memory."""
        cdef Begun found = Begun.__new__(Begun)
        found.now, found.most, found.done = self.now, self.most, self.done
        found.ready, found.order, found.pending, found.left = self.ready[:], self.order[:], self.pending[:], self.left[:]
        found.run(line)
        while found.run_what_takes_nothing():
            pass
        return found

    cdef bint run_what_takes_nothing(self) except -1:
        cdef Line line
        for line in reversed(self.ready):  # successors of the previous line come first: loops stay together
            if line.bytes <= self.lets_go(line) and self.at_once(line) <= self.most:
                self.run(line)
                return True
        return False

    cdef int run(self, Line line) except -1:
        cdef Line other
        cdef Room room
        self.most = max(self.most, self.at_once(line))
        self.now += line.bytes - self.lets_go(line)
        self.ready.remove(line)
        self.done |= (<object> 1) << line.place
        if not line.gate:
            self.order.append(line)
        for room in line.rooms:
            self.left[room.place] -= 1
        for other in reversed(line.behind):
            self.pending[other.place] -= 1
            if <Py_ssize_t> self.pending[other.place] == 0:
                self.ready.append(other)
        return 0


def needs(Begun begun):
    return begun.most, begun.now
