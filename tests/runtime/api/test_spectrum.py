"""Spectra of stretches and back, windows, draws from weights: values of SciPy's and of sums written out, every mode, refusals."""

import inspect

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from tests.asked import each

SIGNAL = np.random.default_rng(0).normal(size=(2, 23))


def written_out(x, n_fft, hop, window, onesided):
    frames = [x[..., i : i + n_fft] * window for i in range(0, x.shape[-1] - n_fft + 1, hop)]
    transform = np.fft.rfft if onesided else np.fft.fft
    return np.stack([transform(frame) for frame in frames], -1)


@each("center", [True, False])
@each("onesided", [None, False])
@each("n_fft, hop", [(8, 3), (5, 5), (4, None)])
def test_stft_is_the_transform_of_each_stretch(n_fft, hop, center, onesided):
    window = np.hanning(n_fft + 2)[1:-1]
    x = np.pad(SIGNAL, ((0, 0), (n_fft // 2, n_fft // 2)), "reflect") if center else SIGNAL
    expected = written_out(x, n_fft, hop or n_fft // 4, window, onesided is None)
    found = gs.stft(SIGNAL, n_fft, hop, window=window, center=center, onesided=onesided)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13)
    scaled = gs.stft(SIGNAL, n_fft, hop, window=window, center=center, onesided=onesided, normalized=True)
    np.testing.assert_allclose(scaled.numpy(), expected / np.sqrt(n_fft), atol=1e-13)


@each("onesided", [None, False])
def test_real_and_imaginary_parts_are_taken_apart(onesided):
    whole = gs.stft(SIGNAL, 8, onesided=onesided).numpy()
    apart = gs.stft(SIGNAL, 8, onesided=onesided, return_complex=False).numpy()
    np.testing.assert_array_equal(apart, np.stack([whole.real, whole.imag], -1))


@each("keywords", [{}, {"normalized": True}, {"onesided": False}, {"win_length": 6}, {"hop_length": 3}])
@each("dtype", [np.float64, np.float32, np.complex128])
def test_istft_gives_the_signal_back(keywords, dtype):
    x = (SIGNAL + 1j * SIGNAL[::-1] if dtype is np.complex128 else SIGNAL).astype(dtype)
    window = np.hanning(keywords.get("win_length", 8) + 2)[1:-1].astype(np.float32 if dtype is np.float32 else np.float64)
    spectrum = gs.stft(x, 8, window=window, **keywords)
    more = {"return_complex": True, "onesided": False} if dtype is np.complex128 else {}
    back = gs.istft(spectrum, 8, window=window, length=23, **keywords | more)
    assert back.dtype == dtype
    np.testing.assert_allclose(back.numpy(), x, atol=1e-5 if dtype is np.float32 else 1e-12)
    if "win_length" in keywords:
        return  # the last window is 0 at its end
    longer = gs.istft(spectrum, 8, window=window, length=40, **keywords | more)
    assert longer.shape == (2, 40) and not longer.numpy()[:, 30:].any()


def test_both_in_every_mode():
    x = gs.tensor(SIGNAL[0, :9], requires_grad=True)
    window = gs.tensor([0.5, 1.0, 0.75, 0.25], requires_grad=True)

    def through(x, window):
        z = gs.stft(x, 4, 2, window=window)
        return gs.istft(z * z, 4, 2, window=window)

    assert gradcheck(through, (x, window), check_forward_ad=True, atol=1e-6)
    assert gradgradcheck(through, (x, window), check_fwd_over_rev=True, atol=1e-5)


@pytest.mark.parametrize("call, message", [
    (lambda: gs.stft(SIGNAL, 8, 0), "hop_length must be positive"),
    (lambda: gs.stft(SIGNAL + 0j, 8, onesided=True), "onesided is for real signals"),
    (lambda: gs.stft(SIGNAL[:, :3], 8, center=False), "no stretch of 8"),
    (lambda: gs.stft(SIGNAL, 8, window=np.ones(5)), r"window must have shape \(8,\), got \(5,\)"),
    (lambda: gs.stft(SIGNAL, 8, win_length=9), "win_length must be from 1 to n_fft"),
    (lambda: gs.istft(np.ones((4, 3)) + 0j, 8), "wants 8 frequencies"),
    (lambda: gs.istft(np.ones((5, 3)) + 0j, 8, window=np.zeros(8)), "its value is lost"),
])  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


GIVEN = {"general_cosine": {"a": [0.4, 0.5, 0.1]}, "kaiser": {"beta": 5.0}, "gaussian": {"std": 2.5}, "exponential": {"tau": 2.0},
         "general_hamming": {"alpha": 0.6}}  # fmt: skip


@each("sym", [True, False])
@each("M", [0, 1, 2, 7, 12])
@each("name", gs.signal.windows.__all__)
def test_windows_of_scipy(name, M, sym):
    windows = pytest.importorskip("scipy.signal").windows
    given = GIVEN.get(name, {})
    found = getattr(gs.signal.windows, name)(M, sym=sym, dtype=np.float32 if M == 7 else None, **given)
    assert found.dtype == (np.float32 if M == 7 else np.float64)
    positional = [given[key] for key in ("a", "std", "beta", "alpha") if key in given]
    expected = getattr(windows, name)(M, *positional, sym=sym, **{key: given[key] for key in given if key == "tau"})
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-7 if M == 7 else 1e-14)
    assert all(p.kind is p.KEYWORD_ONLY for p in list(inspect.signature(getattr(gs.signal.windows, name)).parameters.values())[1:])


def test_windows_refuse_what_makes_none():
    for call in (lambda w: w.hann(-1), lambda w: w.gaussian(3, std=0.0), lambda w: w.exponential(3, tau=-1.0),
                 lambda w: w.exponential(3, center=1.0)):  # fmt: skip
        with pytest.raises(ValueError):
            call(gs.signal.windows)


class TestMultinomial:
    def test_with_replacement_by_the_weights(self):
        drawn = gs.multinomial([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]], 4000, True, generator=3).numpy()
        assert drawn.shape == (2, 4000) and drawn.dtype == np.intp
        counts = np.bincount(drawn[0], minlength=3)
        assert counts[1] == 0 and abs(counts[0] / 4000 - 0.25) < 0.03 and (drawn[1] == 1).all()

    def test_without_replacement_each_once_the_heavy_first(self):
        weights = np.array([1.0, 0.0, 100.0, 1.0])
        drawn = np.array([gs.multinomial(weights, 3, generator=seed).numpy() for seed in range(200)])
        assert (np.sort(drawn, 1) == [0, 2, 3]).all() and (drawn[:, 0] == 2).mean() > 0.9

    @pytest.mark.parametrize("weights, n", [([1.0, -1.0], 1), ([0.0, 0.0], 1), ([np.nan, 1.0], 1), ([1.0, 0.0], 2), ([[[1.0]]], 1), ([], 1)])
    def test_what_is_refused(self, weights, n):
        with pytest.raises(ValueError, match="multinomial"):
            gs.multinomial(weights, n)


def test_promotion():
    x = gs.ones((2, 1), dtype="float32")
    assert gs.result_type(x, 2.0) == np.float32 and gs.result_type(x, np.float64(2)) == np.float64
    assert gs.result_type(x, gs.tensor([1j])) == np.complex128 and gs.promote_types("int32", "float32") == np.float64
    assert gs.can_cast(x, "float64") and not gs.can_cast(x, "int64") and gs.can_cast("int64", "int8", "same_kind")
    assert gs.broadcast_shapes((2, 1), 3, (1, 3)) == (2, 3)
    with pytest.raises(ValueError):
        gs.broadcast_shapes((2,), (3,))


@pytest.mark.parametrize("k", [-1, 0, 2])
@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_indices_of_triangles_take_out_what_tril_and_triu_keep(name, k):
    x = gs.tensor(np.arange(1.0, 13).reshape(3, 4), requires_grad=True)
    rows, columns = getattr(gs, name)(3, k, 4)
    kept = getattr(gs, name[:4])(x, k)
    assert x[rows, columns].sum().item() == kept.sum().item() and rows.shape == (np.count_nonzero(kept.detach().numpy()),)
