"""Whether arrays are close: a plain comparison, and NumPy's words where they are not.

Owns the comparison of the tests that make very many: `numpy.testing.assert_allclose` takes longer than most operators do.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_close(found: np.ndarray, expected: np.ndarray, rtol: float = 0.0, atol: float = 0.0, say: Any = "") -> None:
    """As `numpy.testing.assert_allclose`; what is not finite goes there, too."""
    if found.shape == expected.shape:
        if found.dtype == expected.dtype and found.tobytes() == expected.tobytes():
            return
        if found.dtype.kind in "fc" and expected.dtype.kind in "fc" and np.isfinite(found).all() and np.isfinite(expected).all():
            if (np.abs(found - expected) <= atol + rtol * np.abs(expected)).all():
                return
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=str(say))
