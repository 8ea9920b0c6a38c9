# cython: boundscheck=False, wraparound=False
"""Beam search: find an instruction order that needs little memory, in a short program.

Extends an order by a ready instruction, and then by all ready instructions that allocate nothing.  Among orders of equal
length the few that need the least memory continue.  Two orders of the same instructions are one.
"""

cdef enum:
    WIDTH = 8       # width of the beam


cdef class Line:
    """A line of a program, with the lines that it depends on."""


cdef class Room:
    """Memory shared by values."""


cdef list search_orders(list lines, list gates, list rooms):
    """The best order of the lines that the search finds."""
    cdef Line line
    cdef Room room
    cdef Prefix prefix = Prefix.__new__(Prefix), other, best = None
    cdef list level = [prefix]
    cdef dict found
    prefix.ready, prefix.order, prefix.pending, prefix.left, prefix.done = [], [], [], [], 0
    for line in (*lines, *gates):
        line.place = len(prefix.pending)
        prefix.pending.append(len(line.before))
        if not line.before:
            prefix.ready.append(line)
    for room in rooms:
        room.place = len(prefix.left)
        prefix.left.append(room.users)
    while level:
        found = {}
        for prefix in level:
            for line in prefix.ready:
                other = prefix.followed_by(line)
                if not other.ready:
                    best = other if best is None or other.is_better(best) else best
                elif other.done not in found or other.is_better(found[other.done]):
                    found[other.done] = other
        level = sorted(found.values(), key=needs)[:WIDTH]
    return best.order


cdef class Prefix:
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

    cdef bint is_better(self, Prefix other) except -1:
        return self.most < other.most or self.most == other.most and self.now < other.now

    cdef Py_ssize_t frees(self, Line line) except -1:
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

    cdef Prefix followed_by(self, Line line):
        """This partial order with one more line, and then all ready lines that do not increase memory."""
        cdef Prefix found = Prefix.__new__(Prefix)
        found.now, found.most, found.done = self.now, self.most, self.done
        found.ready, found.order, found.pending, found.left = self.ready[:], self.order[:], self.pending[:], self.left[:]
        found.run(line)
        while found.run_free_line():
            pass
        return found

    cdef bint run_free_line(self) except -1:
        cdef Line line
        for line in reversed(self.ready):  # successors of the previous line come first: loops stay together
            if line.bytes <= self.frees(line) and self.at_once(line) <= self.most:
                self.run(line)
                return True
        return False

    cdef int run(self, Line line) except -1:
        cdef Line other
        cdef Room room
        self.most = max(self.most, self.at_once(line))
        self.now += line.bytes - self.frees(line)
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


def needs(Prefix prefix):
    return prefix.most, prefix.now
