"""Differences, inner products and hints."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from codegen.verify import numeric


def test_differences_are_accurate():
    x = np.linspace(0.2, 2, 7)
    (change,) = numeric.derivative(lambda v: [np.exp(np.sin(v))], x, np.ones(7))
    assert np.allclose(change, np.cos(x) * np.exp(np.sin(x)), rtol=1e-10, atol=0)


def test_lists_are_moved_together():
    x = [np.array(1.0), np.array([2.0, 3.0])]
    (change,) = numeric.derivative(lambda v: [v[0] * v[1]], x, [np.array(1.0), np.array([0.0, 1.0])])
    assert np.allclose(change, [2.0, 4.0])


def test_complex_numbers_are_pairs_of_reals():
    assert numeric.inner(np.array([1 + 2j]), np.array([3 - 1j])) == 1 * 3 + 2 * -1


def test_sums_over_broadcast_axes():
    assert (numeric.reduced(np.ones((2, 3, 4)), np.zeros((3, 1))) == 8 * np.ones((3, 1))).all()
    with pytest.raises(ValueError, match=r"has the shape \(3,\), which does not reduce to \(3, 1\)"):
        numeric.reduced(np.ones(3), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("got", "hint"),
    [
        ([-1.0, -2.0], "; it has the wrong sign"),
        ([3.0, 6.0], "; it is off by a factor 3"),
        ([0.5, 1.0], "; it misses a factor 2"),
        ([4.0, 5.0], "; it looks like the rule of 'b'"),
        ([2**0.5, 8**0.5], "; it is off by a factor 1.4142 = sqrt(2)"),
        ([-np.log(2), -np.log(4)], "; it misses a factor -1.4427 = -1 / log(2)"),
        ([1.3, 2.6], "; it is off by a factor 1.3"),
        ([4.0, 6.0], ""),
    ],
)
def test_hints(got, hint):
    other = np.array([1.0, 2.0]) if "rule" in hint else np.zeros(2)
    assert numeric.hint(np.array(got), np.array([1.0, 2.0]), {"b": other}) == hint


def test_one_number_has_a_ratio_to_any_other():
    """Of one element only the ratios of small integers are worth a word."""
    assert numeric.hint(np.float64(1.3), np.float64(1.0), {}) == ""
    assert numeric.hint(np.float64(4.0), np.float64(2.0), {}) == "; it is off by a factor 2"


def test_nan_is_wrong():
    assert numeric.worst(np.array([1.0, np.nan]), np.array([1.0, 1.0])) is not None
    assert numeric.worst(np.zeros((0, 3)), np.zeros((0, 3))) is None


def test_alike_compares_shapes_of_lists_too():
    assert numeric.alike([np.ones(3), [np.ones(2)]], [np.zeros(3), [np.zeros(2)]])
    assert not numeric.alike(np.ones(3), np.ones((3, 1))) and not numeric.alike([np.ones(3)], np.ones(3))


def test_numbers_are_numbers_and_few():
    assert numeric.numbers((1, [2.0, (True, 2j)])) == (1, [2.0, (True, 2j)])
    for value, error in ((["a"], TypeError), (None, TypeError), (np.zeros((10**9, 0)), None), (np.ones(30_000), ValueError)):
        with pytest.raises(error) if error else contextlib.nullcontext():
            numeric.numbers(value)
    with pytest.raises(ValueError):
        numeric.numbers([np.ones(1)] * 300)
