"""Literals of programs: evaluated, the text gives the same bits, dtype and strides."""

from base64 import b64decode

import numpy as np
import pytest

from gradspec.compiler.tracing.literals import array_literal, literal
from tests.asked import each

NAMES = {"np": np, "b64decode": b64decode}


@each("value", [
    None, True, 3, -2.5, 0.1, 1e300, "a'b", (1,), (), [1, (2.0, None)], {"a": 1}, ..., slice(1, None, -2), complex(1, -0.0), float, bool,
    np.float64, np.dtype("int8"), (slice(None), ..., 3),
])  # fmt: skip
def test_values(value):
    assert eval(literal(value), NAMES) == value


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, complex(np.nan, -np.inf)])
def test_numbers_without_a_literal(value):
    assert np.asarray(eval(literal(value), NAMES)).tobytes() == np.asarray(value).tobytes()


@pytest.mark.parametrize("value", [np.float32(0.1), np.int8(3), np.bool_(True), np.complex64(1 + 2j), np.float64(np.nan)])
def test_numpy_scalars(value):
    found = eval(literal(value), NAMES)
    assert type(found) is type(value) and found.tobytes() == value.tobytes()


BASE = np.random.default_rng(0).normal(size=(4, 6))


@each("array", [
    BASE, BASE.T, BASE[::-1, ::2], BASE[:2, :3], np.zeros((0, 3)), np.array(3.5), np.broadcast_to(BASE[0], (3, 6)),
    np.array([np.nan, np.inf, -0.0]), np.arange(3, dtype=np.int8), np.array([True, False]), np.array([1 + 2j, -0.0j]),
    np.array([0.1, 0.2], np.float32), np.float16([1.5, 2.5]),
], ids=str)  # fmt: skip
def test_arrays(array):
    found = eval(array_literal(array), NAMES)
    assert found.dtype == array.dtype and found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert array.size == 0 or found.strides == array.strides


def test_what_has_no_text_is_refused():
    with pytest.raises(TypeError, match="has no text for"):
        literal(object())
