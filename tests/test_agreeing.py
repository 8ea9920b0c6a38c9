"""What the quick look lets pass, NumPy lets pass too."""

import numpy as np

from tests import agreeing

NUMBERS = [0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-6, -1.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]


def passes(assertion, *arguments, **options):
    try:
        assertion(*arguments, **options)
    except AssertionError:
        return False
    return True


def test_the_quick_look_passes_nothing_that_numpy_refuses():
    assertions = np.testing.assert_allclose.__wrapped__, np.testing.assert_array_equal.__wrapped__
    seen = []
    for dtype in (np.float16, np.float32, float, complex, int, bool):
        with np.errstate(all="ignore"):
            values = np.nan_to_num(NUMBERS).astype(dtype) if dtype in (int, bool) else np.array(NUMBERS, dtype)
        for a in values:
            for b in values:
                one, two = np.full((2, 3), a), np.full((2, 3), b)
                for rtol, atol in ((1e-7, 0), (0, 0), (0, 1e-8), (1e-5, 1e-8), (np.inf, 0)):
                    quick = agreeing.close(one, two, rtol, atol)
                    assert not quick or passes(assertions[0], one, two, rtol, atol), (a, b, rtol, atol)
                    seen.append(quick)
                quick = agreeing.equal(one, two)
                assert not quick or passes(assertions[1], one, two), (a, b)
                assert not quick or not (a != a or b != b)
    assert 200 < sum(seen) < len(seen) / 2  # of each kind there are some


def test_what_is_no_pair_of_arrays_of_one_kind_goes_to_numpy():
    ones = np.ones(2)
    for other in (1.0, [1.0, 1.0], np.ones(2, np.float32), np.ones((1, 2)), np.ma.array([1.0, 1.0]), np.ones(2, object)):
        assert not agreeing.close(ones, other) and not agreeing.equal(ones, other)
    assert not agreeing.close(ones, ones, equal_nan=False) and not agreeing.equal(ones, ones, verbose=True)
    assert np.testing.assert_allclose.behind is agreeing.close
