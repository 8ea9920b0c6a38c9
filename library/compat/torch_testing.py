"""PyTorch's `testing.assert_close`: compare arrays with tolerances that depend on their dtype."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.testing  # noqa: F401 (imported when asked for)

import gradspec as gs

# Relative and absolute tolerances of PyTorch's documentation, by the name of the dtype; integers and truth values are exact.
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
                 check_dtype: bool = True, msg: str | None = None, **others: Any) -> None:  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Parameters
    ----------
    actual, expected : array, number, or sequence or mapping of them
    rtol, atol : float, optional
        Both or neither.  By default the tolerances of the less accurate dtype.
    equal_nan : bool
        Whether NaN equals NaN.
    check_dtype : bool
        Whether arrays of different dtypes differ.
    msg : str, optional
        The message of the error.
    **others
        `allow_subclasses`, `check_device`, `check_layout`, `check_stride`: accepted, without a meaning here.

    Raises
    ------
    AssertionError
        If shapes, dtypes, keys or values differ.
    ValueError
        If only one of `rtol` and `atol` is given.
    """
    unknown = others.keys() - {"allow_subclasses", "check_device", "check_layout", "check_stride"}
    if unknown:
        raise TypeError(f"assert_close: unexpected keyword argument {min(unknown)!r}")
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: write both rtol= and atol=, or neither")
    how: Any = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype, "msg": msg}
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            raise AssertionError(msg or f"keys differ: {list(actual)} and {list(expected)}")
        for key in actual:
            assert_close(actual[key], expected[key], **how)
        return
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            raise AssertionError(msg or f"lengths differ: {len(actual)} and {len(expected)}")
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, **how)
        return
    numbers = not gs.is_tensor(actual) and not gs.is_tensor(expected)
    a, b = (x.detach().numpy() if gs.is_tensor(x) else np.asarray(x) for x in (actual, expected))
    if a.shape != b.shape:
        raise AssertionError(msg or f"shapes differ: {a.shape} and {b.shape}")
    if check_dtype and not numbers and a.dtype != b.dtype:
        raise AssertionError(msg or f"dtypes differ: {a.dtype} and {b.dtype}")
    if rtol is None or atol is None:
        pairs = [_TOLERANCES.get(str(x.dtype), (0.0, 0.0)) for x in (a, b)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, err_msg=msg or "")
