"""The quick comparison says what `numpy.testing.assert_allclose` says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from .near import assert_close

VALUES = [np.array(v) for v in (
    [1.0, 2.0], [1.0, 2.0 + 1e-10], [1.0, 2.001], [1.0, np.nan], [1.0, np.inf], [1.0, -np.inf], [1.0, 2.0j], [1, 2], [True, False],
    [[1.0, 2.0]], [], 0.0, -0.0, 1e-13, [0.0, 1e300],
)]  # fmt: skip
VALUES += [np.array([1.0, 2.0], ">f8"), np.array([1.0, 2.0], np.float32), np.array([[1.0, 2.0], [3.0, 4.0]]).T]


def says(compare, *arrays, **tolerances):
    try:
        compare(*arrays, **tolerances)
    except AssertionError:
        return False
    return True


def test_every_pair():
    for one, other in itertools.product(VALUES, VALUES):
        for rtol, atol in ((0.0, 0.0), (1e-9, 1e-9), (1e-2, 0.0)):
            with np.errstate(all="ignore"):
                expected = says(np.testing.assert_allclose, one, other, rtol=rtol, atol=atol)
            assert says(assert_close, one, other, rtol, atol) == expected, (one, other, rtol, atol)


def test_what_is_said():
    with pytest.raises(AssertionError, match="of the third(.|\n)*Mismatched elements: 1 / 2"):
        assert_close(VALUES[0], VALUES[2], rtol=1e-6, say="of the third")
