"""Fourier transforms agree with NumPy's in every argument."""

import numpy as np
import pytest

import gradspec as gs

NAMES = [name for name in gs.fft.__all__ if hasattr(np.fft, name)]


def test_every_name_is_numpys():
    assert set(gs.fft.__all__) - set(NAMES) == {"hfft2", "hfftn", "ihfft2", "ihfftn"}  # which are SciPy's and PyTorch's
    assert set(NAMES) >= set(np.fft.__all__)


def calls(name):
    if name.endswith("freq"):
        return [dict(n=n, d=d) for n in (1, 4, 5) for d in (1.0, 0.5)]
    if name.endswith("shift"):
        return [{}, dict(axes=1), dict(axes=(0, 2))]
    norms = (None, "backward", "ortho", "forward")
    if name[-1] in "2n":
        sizes = [{}, dict(s=(2, 7), axes=(0, -1)), dict(s=(-1, 7), axes=(0, 1)), dict(s=(4, -1), axes=(2, 0)), dict(axes=(1, 0))]
    else:
        sizes = [{}, dict(n=3, axis=0), dict(n=8, axis=1)]
    return [dict(size, norm=norm) for size in sizes for norm in norms]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_values(name, dtype):
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(dtype)
    if np.iscomplexobj(x):
        if name.startswith(("rfft", "ihfft")):
            return  # of real numbers only
        x = x + 1j * np.roll(x, 1)
    tolerance = 100 * np.finfo(dtype).eps
    for arguments in calls(name):
        given = () if name.endswith("freq") else (x,)
        found, expected = getattr(gs.fft, name)(*given, **arguments).numpy(), getattr(np.fft, name)(*given, **arguments)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_what_no_transform_takes():
    x = gs.ones((3, 4))
    with pytest.raises(ValueError, match="norm must be 'backward', 'ortho' or 'forward', got 'none'"):
        gs.fft.fft(x, norm="none")
    with pytest.raises(ValueError, match="at least one element"):
        gs.fft.fft(x, 0)
    with pytest.raises(ValueError, match="at least one element"):
        gs.fft.irfft(x[:, :1])
    with pytest.raises(ValueError, match="3 lengths for 2 axes"):
        gs.fft.fftn(x, (1, 2, 3), (0, 1))
    with pytest.raises(TypeError, match="^rfft: argument 'x' is of dtype complex128"):
        gs.fft.rfft(x * 1j)
