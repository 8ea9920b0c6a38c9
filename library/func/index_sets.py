"""Index sets: for each element of an array a set of indices.

Stores equal sets once, and selects, joins and mixes them.  Independent of operators.
"""

import numpy as np

from .sparsity_probing import Rows, boolean


class Sets:
    """For each element a set of indices; equal sets may be stored once.

    Attributes
    ----------
    cells : ndarray of int
        The number of each element's set.
    rows : csr_array of bool
        One row for each set.  Row 0 is empty.
    """

    def __init__(self, cells, rows):
        self.cells, self.rows = cells, rows

    @classmethod
    def none(cls, size, count):
        from scipy.sparse import csr_array

        return cls(np.zeros(size, np.intp), csr_array((1, count), dtype=bool))

    @classmethod
    def counted(cls, count, start, size):
        """One index for each element, from `start` on."""
        from scipy.sparse import csr_array

        starts, indices = np.append(0, np.arange(size + 1)), np.arange(start, start + size)
        return cls(np.arange(size) + 1, csr_array((np.ones(size, bool), indices, starts), (size + 1, count)))

    def taken(self, index):
        """The sets of some elements; the empty set for -1."""
        return Sets(np.where(index < 0, 0, self.cells[index]) if self.cells.size else np.zeros(index.size, np.intp), self.rows)

    def joined(self, other):
        """The union of the sets of each element."""
        if not other.cells.any():
            return self
        if not self.cells.any():
            return other
        pairs, cells = np.unique(self.cells * other.rows.shape[0] + other.cells, return_inverse=True)
        first, second = np.divmod(pairs, other.rows.shape[0])
        return Sets(cells, self.rows[first] + other.rows[second]).with_none()

    def united(self, size):
        """The union of all sets, for each of `size` elements."""
        at, every = np.zeros(size, np.intp), np.arange(self.cells.size)
        return self.mixed(Rows(at, boolean(np.zeros_like(every), every, (1, every.size))))

    def mixed(self, found):
        """The unions given by `sparsity_probing.Rows`."""
        held_by = boolean(np.arange(self.cells.size), self.cells, (self.cells.size, self.rows.shape[0]))
        return Sets(found.cells, found.sets @ held_by @ self.rows).with_none()

    def with_none(self):
        """The same sets, with the empty set as the first one."""
        from scipy.sparse import csr_array, vstack

        return Sets(self.cells + 1, vstack([csr_array((1, self.rows.shape[1]), dtype=bool), self.rows], format="csr"))

    def written(self, places, sets):
        """The same sets, with other sets at some places."""
        from scipy.sparse import vstack

        cells = self.cells.copy()
        cells[places] = sets.cells + self.rows.shape[0]
        return Sets(cells, vstack([self.rows, sets.rows], format="csr")).shrunk()

    def shrunk(self):
        """Drop sets that no element has, if there are many."""
        if self.rows.shape[0] <= 2 * self.cells.size + 16:
            return self
        kept, cells = np.unique(np.append(0, self.cells), return_inverse=True)
        return Sets(cells[1:], self.rows[kept])

    def matrix(self):
        return self.rows[self.cells]
