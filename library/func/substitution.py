"""Substitution: compute the elements of a symmetric matrix from its products with the groups of an acyclic colouring.

Between two groups the graph of the matrix is a forest.  The product of a leaf's row with the other group is the element of the
leaf's only edge.  This element is subtracted from the product of the row at the edge's other end, and so on (Coleman, Cai: The
cyclic coloring problem and estimation of sparse Hessian matrices, SIAM Journal on Algebraic and Discrete Methods 7, 1986).  The
equations are triangular, and SciPy solves them.  Computes no derivatives.
"""

import numpy as np


class Substitution:
    """The map from the products with the sums of the columns of each group to the elements of a symmetric matrix.

    Parameters
    ----------
    pattern : csr_array of bool, shape (n, n)
        Symmetric.
    colours : ndarray of int, shape (n,)
        As returned by `acyclic`.
    """

    def __init__(self, pattern, colours):
        from scipy.sparse import coo_array, csc_array
        from scipy.sparse.linalg import splu

        size = pattern.shape[0]
        rows, columns = np.repeat(np.arange(size), np.diff(pattern.indptr)), pattern.indices
        on_diagonal = rows == columns
        pairs = (np.minimum(rows, columns) * size + np.maximum(rows, columns))[~on_diagonal]
        pairs, which = np.unique(pairs, return_inverse=True)
        equations, later, earlier = _elimination(pairs // size, pairs % size, colours)
        self.places = np.empty(len(rows), int)  # in the products; for edges in the solution
        self.places[on_diagonal] = colours[rows[on_diagonal]] * size + rows[on_diagonal]
        self.places[~on_diagonal] = which
        self.on_diagonal, self.order = on_diagonal, np.array([edge for edge, _, _ in equations], int)
        self.equations = np.array([group * size + row for _, row, group in equations], int)
        self.solve = None
        if later:
            below = coo_array((np.ones(len(later)), (later, earlier)), (len(pairs),) * 2)
            ones = coo_array((np.ones(len(pairs)), (np.arange(len(pairs)),) * 2))
            self.solve = splu(csc_array(ones + below), permc_spec="NATURAL", diag_pivot_thresh=0.0).solve

    def __call__(self, products):
        """The elements in the order of the pattern, from the products, one row for each group."""
        products = products.reshape(-1)
        sums = products[self.equations]
        edges = np.empty_like(sums)
        edges[self.order] = sums if self.solve is None else self.solve(np.asarray(sums, float))
        found = np.empty(len(self.places), products.dtype)
        found[self.on_diagonal] = products[self.places[self.on_diagonal]]
        found[~self.on_diagonal] = edges[self.places[~self.on_diagonal]]
        return found


def _elimination(ones, others, colours):
    """The edges of all forests from the leaves on, each with its row and group, and the nonzero coefficients of the equations.

    A coefficient is a pair of equations: an element that the earlier one determines occurs in the later one.
    """
    groups = int(colours.max(initial=-1)) + 1
    here = (ones * groups + colours[others]).tolist()  # a vertex, in the forest with the other vertex's group
    there = (others * groups + colours[ones]).tolist()
    open_edges, together = {}, {}  # for each vertex: the number of remaining edges, and the XOR of their numbers
    for edge, ends in enumerate(zip(here, there)):
        for end in ends:
            open_edges[end] = open_edges.get(end, 0) + 1
            together[end] = together.get(end, 0) ^ edge
    leaves = [end for end, count in open_edges.items() if count == 1]
    known, equations, later, earlier = {}, [], [], []
    for leaf in leaves:
        if open_edges[leaf] != 1:  # the last vertex of its tree
            continue
        edge = together[leaf]
        parent = there[edge] if here[edge] == leaf else here[edge]
        for number in known.pop(leaf, ()):
            later.append(len(equations))
            earlier.append(number)
        known.setdefault(parent, []).append(len(equations))
        equations.append((edge, *divmod(leaf, groups)))
        open_edges[leaf] = 0
        open_edges[parent] -= 1
        together[parent] ^= edge
        if open_edges[parent] == 1:
            leaves.append(parent)
    assert len(equations) == len(here)  # otherwise there is a cycle in two colours
    return equations, later, earlier
