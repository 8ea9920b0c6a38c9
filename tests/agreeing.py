"""NumPy's assertions of arrays behind a quick look: to find that two arrays agree takes them twenty times as long as to compare them.

Owns when no second look is needed: both are arrays of one shape and one dtype, and all numbers are finite and agree.  Everything else
goes to NumPy, which says what differs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def install() -> None:
    """Puts the quick look before `np.testing.assert_allclose` and `np.testing.assert_array_equal`."""
    if not hasattr(np.testing.assert_allclose, "behind"):
        np.testing.assert_allclose = _behind(close, np.testing.assert_allclose)
        np.testing.assert_array_equal = _behind(equal, np.testing.assert_array_equal)


def _behind(agree: Callable[..., bool], assertion: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(assertion)
    def asked(actual: Any, desired: Any, *rest: Any, **options: Any) -> None:
        __tracebackhide__ = True
        if not agree(actual, desired, *rest, **options):
            assertion(actual, desired, *rest, **options)

    asked.behind = agree
    return asked


def close(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, **options: Any) -> bool:
    """Whether two arrays are surely as close as NumPy wants them."""
    if options.keys() - {"err_msg"} or not _alike(actual, desired) or actual.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        bound = atol + rtol * np.abs(desired)
        return bool((np.abs(actual - desired) <= bound).all() and np.isfinite(bound).all())


def equal(actual: Any, desired: Any, **options: Any) -> bool:
    """Whether two arrays are surely equal."""
    return not options.keys() - {"err_msg", "strict"} and _alike(actual, desired) and bool((actual == desired).all())


def _alike(actual: Any, desired: Any) -> bool:
    one_kind = type(actual) is type(desired) is np.ndarray and actual.dtype == desired.dtype and actual.dtype.kind in "biufc"
    return one_kind and actual.shape == desired.shape
