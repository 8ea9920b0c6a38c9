"""The mean over classes that are counted against the NumPy expressions: dtypes, layouts, shapes, and nothing counted."""

import numpy as np

from gradspec import kernels
from gradspec.kernels.row_wise import class_losses as classes
from tests.asked import each


@each("kind", [np.int64, np.int32, np.uint8])
@each("dtype", [np.float32, np.float64, np.float16, ">f8"])
@each("shape", [(0,), (1,), (7,), (3, 4), (40, 50)])
@each("step", [1, 2, -1])
def test_means_are_those_of_the_expressions(shape, dtype, kind, step):
    rng = np.random.default_rng(len(shape))
    for ignored in (3, 200):
        target = rng.integers(5, size=shape).astype(kind)[::step]
        x = np.where(target == ignored, 0, rng.normal(size=target.shape)).astype(dtype)
        grad = np.array(1.5, dtype)
        with np.errstate(all="ignore"):
            for found, expected in (
                (kernels.kept_mean(x, target, ignored), classes.kept_mean(x, target, ignored)),
                (kernels.kept_mean_backward(grad, target, ignored), classes.kept_mean_backward(grad, target, ignored)),
            ):
                assert found.shape == expected.shape and found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=0, atol=8 * np.finfo(found.dtype).eps)


def test_what_is_infinite_stays_so():
    target = np.array([0, 1])
    assert kernels.kept_mean(np.array([np.inf, 1.0]), target, -100) == np.inf
    assert np.isnan(kernels.kept_mean(np.array([np.nan, 1.0]), target, -100))
    assert kernels.kept_mean_backward(np.array(-np.inf), target, 1).tolist() == [-np.inf, 0]


def test_a_number_whose_class_is_not_counted_is_left_out():
    for dtype in (np.float32, np.float64):
        for uncounted in (0, 0.75, np.nan, np.inf):
            assert kernels.kept_mean(np.array([0.5, uncounted, 1.0], dtype), np.array([2, -100, 1]), -100) == 0.75


def test_pairs_of_a_class_in_the_list_and_one_that_is_not():
    """What stands behind the first -1 does not count, and a class may be named twice."""
    rng = np.random.default_rng(0)
    for shape in ((4,), (1,), (60, 5), (3, 2, 4)):
        target = rng.integers(-1, shape[-1], size=shape)
        found = classes.class_pairs(target)
        assert found.shape == (*shape, shape[-1]) and found.dtype == bool
        for at in np.ndindex(shape[:-1]):
            row = target[at].tolist()
            row = row[: row.index(-1)] if -1 in row else row
            for i in range(shape[-1]):
                assert found[at][i].tolist() == [i < len(row) and other not in row for other in range(shape[-1])]


@each("dtype", [np.float32, np.float64])
@each("axis", [0, 1, -1])
def test_losses_are_those_of_the_expressions(dtype, axis):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 4, 3)).astype(dtype)
    target = rng.integers(x.shape[axis], size=np.delete(x.shape, axis))
    for ignored in (1, -100):
        found, expected = (of.cross_entropies(x, target, axis, ignored) for of in (kernels, classes))
        grad = rng.normal(size=target.shape).astype(dtype)
        weight = expected[1]
        back = [of.cross_entropies_backward(grad, weight, target, axis, ignored) for of in (kernels, classes)]
        for one, other in (*zip(found, expected), back):
            assert one.dtype == other.dtype == dtype
            np.testing.assert_allclose(one, other, rtol=1e-5 if dtype == np.float32 else 1e-13, atol=1e-6 if dtype == np.float32 else 1e-14)
