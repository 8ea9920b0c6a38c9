"""Colouring: group the columns, or rows, of a sparse matrix that may be computed together.

Computes greedy colourings of patterns, which are SciPy matrices; computes no derivatives.

Columns are *structurally orthogonal* if no row has elements in two of them.  The product with the sum of their unit vectors then
contains each of their elements (Curtis, Powell, Reid: On the estimation of sparse Jacobian matrices, 1974).  The groups colour
the graph that joins columns with a common row (Coleman, More: Estimation of sparse Jacobian matrices and graph coloring problems,
1983).  For symmetric matrices a star colouring determines each element from one of its two places (Coleman, More: Estimation of
sparse Hessian matrices and graph coloring problems, 1984).  An acyclic one determines the elements one after the other (Coleman,
Cai: The cyclic coloring problem and estimation of sparse Hessian matrices, 1986).  For a survey see Gebremedhin, Manne, Pothen:
What color is your Jacobian? Graph coloring for computing derivatives, SIAM Review 47, 2005.
"""

import numpy as np

from .sparsity_probing import boolean


def orthogonal(pattern):
    """Group structurally orthogonal columns by a greedy distance-1 colouring of the column intersection graph.

    Columns with the most neighbours are coloured first.

    Parameters
    ----------
    pattern : csr_array of bool, shape (m, n)

    Returns
    -------
    ndarray of int, shape (n,)
        The group of each column, counted from 0; -1 for an empty column.
    """
    lengths = np.diff(pattern.indptr)
    weights = pattern.T.astype(np.int64) @ lengths  # counts a neighbour once for each common row
    columns = pattern.tocsc()
    starts, members = columns.indptr.tolist(), columns.indices.tolist()
    colours = [-1] * pattern.shape[1]
    taken_by = [0] * pattern.shape[0]  # for each row a bit for each group that it contains
    for column in np.argsort(-weights, kind="stable").tolist():
        rows = members[starts[column] : starts[column + 1]]
        if not rows:
            continue
        taken = 0
        for row in rows:
            taken |= taken_by[row]
        free = ~taken & (taken + 1)  # the lowest bit that is not set
        colours[column] = free.bit_length() - 1
        for row in rows:
            taken_by[row] |= free
    return np.array(colours, int)


def _neighbours(pattern):
    """The start of each vertex's row in a graph, and the neighbours of each vertex."""
    starts, members = pattern.indptr.tolist(), pattern.indices.tolist()
    near = [[other for other in members[start:stop] if other != v] for v, (start, stop) in enumerate(zip(starts, starts[1:]))]
    return starts, near


def star(pattern):
    """Group the columns of a symmetric matrix by a greedy star colouring of its graph.

    Neighbours have different colours, and every path of four vertices has at least three.

    This is algorithm 4.1 of Gebremedhin, Tarafdar, Manne, Pothen: New acyclic and star coloring algorithms with application to
    computing Hessians, SIAM Journal on Scientific Computing 29, 2007, with counts of colours instead of stars.  A vertex avoids
    the colours of its neighbours, and each colour that would complete a path of four vertices in two colours.

    Parameters
    ----------
    pattern : csr_array of bool, shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray of int, shape (n,)
        The group of each column, counted from 0; -1 for an empty column.
    """
    starts, near = _neighbours(pattern)
    colours = [-1] * len(near)
    held = [{} for _ in near]  # for each vertex and colour, the first neighbour of that colour, and whether there are more
    hubs = [set() for _ in near]  # for each vertex, the colours of neighbours that have several neighbours of its own colour
    for v in sorted(range(len(near)), key=lambda v: -len(near[v])):
        if starts[v] == starts[v + 1]:
            continue
        around = [w for w in near[v] if colours[w] >= 0]
        taken = {colours[w] for w in around}
        for w in around:
            if held[v][colours[w]][1]:  # u - v - w - x, where u would have the colour of w
                taken.update(held[w])
            else:  # v - w - x - u, where u would have the colour of w
                taken |= hubs[w]
        colour = 0
        while colour in taken:
            colour += 1
        colours[v] = colour
        for w in near[v]:
            first, several = held[w].setdefault(colour, (v, False))
            if first != v:
                held[w][colour] = first, True
                if colours[w] >= 0:
                    hubs[v].add(colours[w])
                    if not several:
                        hubs[first].add(colours[w])
        for w in around:
            if held[v][colours[w]][1]:
                hubs[w].add(colour)
    return np.array(colours, int)


def acyclic(pattern):
    """Groups of columns of a symmetric matrix, by a greedy acyclic colouring of its graph: any two groups induce a forest.
    Neighbours have different colours, and each cycle has at least three colours.

    The trees of each pair of colours are disjoint sets, as in Gebremedhin, Tarafdar, Manne, Pothen (2007): a vertex avoids a
    colour that would connect it to the same tree twice.

    Parameters
    ----------
    pattern : csr_array of bool, shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray of int, shape (n,)
        The group of each column, counted from 0; -1 for an empty column.
    """
    starts, near = _neighbours(pattern)
    colours = [-1] * len(near)
    above = {}  # (vertex, other colour) -> a vertex nearer to the root of its tree

    def root(place):
        while (higher := above.get(place, place)) != place:
            above[place] = above.get(higher, higher)
            place = higher
        return place

    for v in sorted(range(len(near)), key=lambda v: -len(near[v])):
        if starts[v] == starts[v + 1]:
            continue
        around = [w for w in near[v] if colours[w] >= 0]
        taken = {colours[w] for w in around}
        several = [w for w in around if len(taken) < len(around)]  # if all colours differ, no cycle is closed
        colour = 0
        while colour in taken or len({(colours[w], root((w, colour))) for w in several}) < len(several):
            colour += 1
        colours[v] = colour
        for w in around:
            above[root((w, colour))] = root((v, colours[w]))
    return np.array(colours, int)


def lone(pattern, colours):
    """Whether each element of a matrix is the only one in its row among the columns of its group.

    Parameters
    ----------
    pattern : csr_array of bool, shape (m, n)
    colours : ndarray of int, shape (n,)
        -1 for columns without a group.

    Returns
    -------
    ndarray of bool
        One for each element, in the order of the matrix.
    """
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    groups = colours[pattern.indices]
    keys = rows * (colours.max(initial=0) + 1) + groups
    _, which, counts = np.unique(keys[groups >= 0], return_inverse=True, return_counts=True)
    found = np.zeros(len(rows), bool)
    found[groups >= 0] = counts[which] == 1
    return found


def both_ways(pattern):
    """Group columns and rows so that each element of a matrix can be read from the product with one group; as few as are found.

    A few dense rows spoil all groups of columns, and vice versa.  So the rows (or columns) with the most elements are removed and
    computed by separate groups; their number is chosen to minimise the total number of groups.  The idea, but not the order of
    removal, is from Coleman, Verma: The efficient computation of sparse Jacobian matrices using automatic differentiation, SIAM
    Journal on Scientific Computing 19, 1998.

    Parameters
    ----------
    pattern : csr_array of bool, shape (m, n)

    Returns
    -------
    columns, rows : ndarray of int
        The groups of columns, and of rows; -1 for columns and rows without a group.
    """
    best = None
    for turned in (False, True):
        matrix = pattern.T.tocsr() if turned else pattern
        for removed in _dense(matrix):
            columns = orthogonal(_without(matrix, removed))
            rows = np.full(matrix.shape[0], -1)
            if len(removed):
                rows[removed] = orthogonal(matrix[removed].T.tocsr())
            cost = columns.max(initial=-1) + rows.max(initial=-1) + 2
            if best is None or cost < best[0]:
                best = cost, (rows, columns) if turned else (columns, rows)
    assert best is not None
    return best[1]


def _dense(matrix):
    """Candidate sets of dense rows, with more than twice the median's elements: none, powers of two, and all of them."""
    lengths = np.diff(matrix.indptr)
    found = [np.zeros(0, int)]
    usual = np.median(lengths[lengths > 0]) if lengths.any() else 0
    order = np.argsort(-lengths, kind="stable")
    for count in {1 << k for k in range(max(1, len(order)).bit_length())} | {int(np.sum(lengths > 2 * usual))}:
        if 0 < count < len(order) and lengths[order[count - 1]] > 2 * usual:
            found.append(order[:count])
    return found


def _without(matrix, rows):
    """A matrix without the elements of some rows."""
    kept = np.ones(matrix.shape[0], bool)
    kept[rows] = False
    at, columns = matrix.nonzero()
    return boolean(at[kept[at]], columns[kept[at]], matrix.shape)
