"""gs.scipy.fft: values are SciPy's, derivatives those of differences, in both modes."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import fft
from tests.asked import each
from tests.directional import assert_derivatives
from tests.later import later

scipy_fft = later("scipy.fft")

R = np.random.default_rng(2)
X, Z = R.standard_normal((3, 5)), R.standard_normal((3, 5)) + 1j * R.standard_normal((3, 5))
OPTIONS = [{}, {"norm": "ortho"}, {"norm": "forward"}, {"norm": "backward", "orthogonalize": True}, {"norm": "ortho", "orthogonalize": False, "n": 4, "axis": 0}, {"n": 7}]


@each("name", ["dct", "idct", "dst", "idst"])
@each("kind", [1, 2, 3, 4])
def test_transforms_along_one_axis(name, kind):
    for options in OPTIONS:
        theirs = getattr(scipy_fft, name)
        np.testing.assert_allclose(getattr(fft, name)(X, kind, **options).numpy(), theirs(X, kind, **options), rtol=1e-12, atol=1e-13)
        expected = theirs(Z.real, kind, **options) + 1j * theirs(Z.imag, kind, **options)  # SciPy does not heed orthogonalize of Z
        np.testing.assert_allclose(getattr(fft, name)(Z, kind, **options).numpy(), expected, rtol=1e-12, atol=1e-13)
        assert_derivatives(lambda x: getattr(fft, name)(x, kind, **options) ** 2, [X], [R.uniform(-1, 1, X.shape)])
    assert_derivatives(lambda x: getattr(fft, name)(x, kind), [Z], [R.uniform(-1, 1, Z.shape) * (1 + 0.3j)])


@each("name", ["dctn", "idctn", "dstn", "idstn"])
def test_transforms_along_several_axes(name):
    for options in ({}, {"type": 3, "axes": (0,)}, {"type": 1, "s": (4, 3), "norm": "ortho"}, {"s": 4, "axes": 1}):
        found = getattr(fft, name)(X, **options)
        np.testing.assert_allclose(found.numpy(), getattr(scipy_fft, name)(X, **options), rtol=1e-12, atol=1e-13)
        assert_derivatives(lambda x: getattr(fft, name)(x, **options), [X], [R.uniform(-1, 1, X.shape)])


def test_single_precision_batches_and_inverses():
    assert fft.dct(X.astype(np.float32)).dtype == np.float32 and fft.dst([1, 2, 3]).dtype == np.float64
    rows = gs.vmap(lambda x: fft.dct(x, 3))(X)
    np.testing.assert_allclose(rows.numpy(), scipy_fft.dct(X, 3), rtol=1e-12)
    for kind in (1, 2, 3, 4):
        np.testing.assert_allclose(fft.idct(fft.dct(X, kind, norm="ortho"), kind, norm="ortho").numpy(), X, rtol=1e-12)


@each("name", ["fht", "ifht"])
def test_hankel_transforms(name):
    x = np.exp(-np.linspace(-2, 2, 8) ** 2)
    for arguments in ((0.1, 0.5), (0.2, 1.5, 0.3), (0.1, 0.5, 0.2, -0.4)):
        np.testing.assert_allclose(getattr(fft, name)(x, *arguments).numpy(), getattr(scipy_fft, name)(x, *arguments), rtol=1e-10)
    assert_derivatives(lambda x: getattr(fft, name)(x, 0.1, 0.5, 0.2, -0.4), [x], [0.1 * x])
    assert fft.fhtoffset(0.1, 0.5) == scipy_fft.fhtoffset(0.1, 0.5)


def test_names_and_what_is_refused():
    assert set(gs.fft.__all__) <= set(fft.__all__) and fft.rfft is gs.fft.rfft
    for call, words in ((lambda: fft.dct(X, 5), "type must be"), (lambda: fft.dct(X, norm="x"), "norm must be"), (lambda: fft.dct(X[:, :1], 1), "number of data points"),
                        (lambda: fft.dctn(X, s=(1, 2), axes=(0,)), "of one length")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
