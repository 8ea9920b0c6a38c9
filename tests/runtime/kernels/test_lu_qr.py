"""Orders of rows after exchanges: of one matrix, and of so many that they are exchanged together."""

import numpy as np

from gradspec import kernels
from tests.asked import each


@each("stack", [(), (3,), (2, 3), (200,), (0,)])
@each("n, count", [(1, 1), (4, 4), (30, 30), (1, 3), (4, 9)])
def test_rows_after_exchanges(n, count, stack):
    rng = np.random.default_rng(n)
    pivots = rng.integers(0, count, (*stack, n))
    found = kernels.pivot_rows(pivots, count)
    assert found.shape == (*stack, count, 1) and found.dtype == np.intp
    for place in np.ndindex(stack):
        order = np.arange(count)
        for i, other in enumerate(pivots[place]):
            order[[i, other]] = order[[other, i]]
        assert np.array_equal(found[place][:, 0], order)
