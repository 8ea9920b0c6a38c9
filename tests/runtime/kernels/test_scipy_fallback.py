"""Functions of `math` in the place of SciPy's: one element after the other, dtypes and shapes kept, and what needs SciPy says so."""

import math
import sys

import numpy as np
import pytest

from gradspec.kernels.loops import scipy_fallback
from tests.asked import each


@each("dtype", ["f2", "f4", "f8", "i4", "?"])
@each("shape", [(), (0,), (2, 3)])
def test_a_function_of_numbers_is_one_of_arrays(dtype, shape):
    x = np.resize(np.array([0, 1, 1, 0, 1]), shape).astype(dtype)
    y = scipy_fallback.one_by_one(math.erf)(x)
    assert type(y) is np.ndarray and y.shape == shape and y.dtype == (dtype if x.dtype.kind == "f" else np.float64)
    np.testing.assert_allclose(y, np.where(x, math.erf(1), 0), rtol=1e-3 if dtype == "f2" else 1e-6)


def test_no_number_is_no_invalid_operation():
    with np.errstate(all="raise"):
        assert np.isnan(scipy_fallback.one_by_one(math.erf)(np.nan))
        assert np.isnan(scipy_fallback.one_by_one(lambda x: np.float64(x) - np.float64(x))(np.inf))


def test_without_scipy(monkeypatch):
    missing = "gradspec: {} needs SciPy, which is not installed: pip install scipy"
    for name in ("scipy", "scipy.special", "scipy.linalg"):
        monkeypatch.setitem(sys.modules, name, None)
    found = scipy_fallback.scipy_function.__wrapped__
    assert found("erf", math.erf) is math.erf
    for refused, what in ((lambda: found("erfinv"), "erfinv"), (lambda: scipy_fallback.scipy_linalg("expm"), "expm"),
                          (lambda: scipy_fallback.one_by_one(math.erf)(np.ones(2) + 1j), "erf of complex numbers")):  # fmt: skip
        with pytest.raises(ImportError) as error:
            refused()
        assert str(error.value) == missing.format(what)


def test_with_scipy():
    special = pytest.importorskip("scipy.special")
    assert scipy_fallback.scipy_function("erf", math.erf) is special.erf
    assert scipy_fallback.scipy_linalg("expm").expm is pytest.importorskip("scipy.linalg").expm
