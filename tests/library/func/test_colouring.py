"""Groups of columns and rows: each element of a matrix can be read in a product, and the groups are few."""

import numpy as np

from gradspec.func.colouring import acyclic, both_ways, lone, orthogonal, star
from gradspec.func.substitution import Substitution
from tests.later import later

sparse = later("scipy.sparse", "SciPy is not installed")


def pattern(array):
    return sparse.csr_array(np.asarray(array, bool))


def randoms(symmetric=False):
    random = np.random.default_rng(0)
    for size in (1, 2, 7, 30):
        for density in (0.0, 0.1, 0.4, 1.0):
            found = random.random((size, size if symmetric else size + 3)) < density
            yield pattern(found | found.T if symmetric else found)


def elements(matrix):
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


def tridiagonal(n):
    return pattern(np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1)


def test_no_row_has_two_columns_of_a_group():
    for matrix in randoms():
        groups = orthogonal(matrix)
        assert np.array_equal(groups < 0, matrix.toarray().sum(axis=0) == 0)
        assert lone(matrix, groups).all()
        for group in range(groups.max(initial=-1) + 1):
            assert matrix.toarray()[:, groups == group].sum(axis=1).max() == 1


def test_each_element_of_a_symmetric_matrix_is_alone_in_one_of_its_places():
    for matrix in randoms(symmetric=True):
        groups = star(matrix)
        alone = set(zip(*(index[lone(matrix, groups)] for index in elements(matrix))))
        assert all((i, j) in alone or (j, i) in alone for i, j in zip(*elements(matrix)))


def test_a_star_colouring_has_no_path_of_four_in_two_colours():
    for matrix in randoms(symmetric=True):
        if matrix.shape[0] > 7:
            continue
        groups, near = star(matrix), [set(np.flatnonzero(row)) - {i} for i, row in enumerate(matrix.toarray())]
        for a in range(len(near)):
            for b in near[a]:
                assert groups[a] != groups[b]
                for c in near[b] - {a}:
                    for d in near[c] - {a, b}:
                        assert len({groups[a], groups[b], groups[c], groups[d]}) > 2


def grid(n):
    """Nine points of each place of a square."""
    far = [np.abs(np.subtract.outer(place, place)) for place in np.divmod(np.arange(n * n), n)]
    return pattern(np.maximum(*far) <= 1)


def test_between_two_groups_of_an_acyclic_colouring_there_are_trees():
    for matrix in (*randoms(symmetric=True), grid(6), tridiagonal(20)):
        groups = acyclic(matrix)
        assert np.array_equal(groups < 0, matrix.toarray().sum(axis=0) == 0)
        assert groups.max(initial=-1) <= star(matrix).max(initial=-1)
        edges = [(i, j) for i, j in zip(*elements(matrix)) if i < j]
        for pair in {frozenset((groups[i], groups[j])) for i, j in edges}:
            assert len(pair) == 2
            inside = [(i, j) for i, j in edges if {groups[i], groups[j]} == pair]
            forest = sparse.coo_array((np.ones(len(inside)), tuple(zip(*inside))), matrix.shape)
            assert len(inside) == matrix.shape[0] - sparse.csgraph.connected_components(forest, directed=False)[0]


def test_substitution_finds_each_element():
    random = np.random.default_rng(1)
    for matrix in (*randoms(symmetric=True), grid(6), tridiagonal(20)):
        groups, dense = acyclic(matrix), matrix.toarray() * random.normal(size=matrix.shape)
        dense = dense + dense.T
        products = (groups == np.arange(groups.max(initial=-1) + 1)[:, None]).astype(float) @ dense
        for dtype in (float, np.float32):
            found = Substitution(matrix, groups)(products.astype(dtype))
            assert found.dtype == dtype
            np.testing.assert_allclose(found, dense[elements(matrix)], rtol=0, atol=1e-12 if dtype is float else 1e-4)


def test_each_element_is_alone_in_a_group_of_columns_or_of_rows():
    arrow = np.eye(9)
    arrow[0] = arrow[:, 0] = 1
    for matrix in (*randoms(), pattern(arrow), pattern(arrow[:, ::-1])):
        columns, rows = both_ways(matrix)
        by_column = lone(matrix, columns)
        turned = matrix.T.tocsr()
        alone = set(zip(*(index[lone(turned, rows)] for index in elements(turned)[::-1])))
        assert all(there or place in alone for there, place in zip(by_column, zip(*elements(matrix))))


def test_how_many_groups_there_are():
    assert orthogonal(tridiagonal(50)).max() + 1 == 3 and star(tridiagonal(50)).max() + 1 == 3
    assert orthogonal(pattern(np.eye(20))).max() + 1 == 1 == star(pattern(np.eye(20))).max() + 1
    arrow = np.eye(40)
    arrow[0] = arrow[:, 0] = 1
    columns, rows = both_ways(pattern(arrow))
    assert columns.max() + rows.max() + 2 == 3 and orthogonal(pattern(arrow)).max() + 1 == 40
    assert star(pattern(arrow)).max() + 1 == 2 == acyclic(pattern(arrow)).max() + 1 == acyclic(tridiagonal(50)).max() + 1
    assert (star(grid(12)).max() + 1, acyclic(grid(12)).max() + 1) == (10, 6)
    wide = np.zeros((3, 60))
    wide[1] = 1
    columns, rows = both_ways(pattern(wide))  # one product from the left
    assert (columns.max(), rows.max()) == (-1, 0)


def test_ten_thousand_unknowns():
    line, one = tridiagonal(100), sparse.eye_array(100)
    plane = sparse.csr_array(sparse.kron(line, one) + sparse.kron(one, line), dtype=bool)
    groups = orthogonal(plane)
    assert groups.max() + 1 < 10 and lone(plane, groups).all()
    assert star(plane).max() + 1 < 10
