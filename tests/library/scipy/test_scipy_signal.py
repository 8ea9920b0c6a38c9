"""gs.scipy.signal: SciPy's values, derivatives against differences, in both modes and twice."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from tests.asked import each
from tests.later import later

scipy_signal = later("scipy.signal", "SciPy is not installed")
signal = gs.scipy.signal

RANDOM = np.random.default_rng(0)
X, XX, LONG = RANDOM.normal(size=7), RANDOM.normal(size=(2, 9)), RANDOM.normal(size=24)
B, A = np.array([0.5, 0.3, -0.1]), np.array([1.3, -0.6, 0.2, 0.1])
SOS = np.array([[0.5, 0.2, 0.1, 1.0, -0.4, 0.2], [0.7, 0.1, 0.0, 1.0, 0.3, 0.0]])
M, K, EVEN = RANDOM.normal(size=(4, 5)), RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(2, 2))
WINDOW = 0.5 - 0.5 * np.cos(np.pi * np.arange(8) / 4)
Z = np.fft.rfft(np.lib.stride_tricks.sliding_window_view(np.pad(LONG, 4), 8)[::4] * WINDOW).T / WINDOW.sum()

TIMES = np.arange(6) * 0.4
STATES = np.array([[-0.3, 1.2], [-0.9, -0.1]]), np.array([[0.2], [1.0]]), np.array([[1.0, 0.4]]), np.array([[0.3]])

CALLS = {
    "freqz": (lambda s, b, a: s.freqz(b, a, 7)[1], B, A),
    "freqz places": (lambda s, b, a, w: s.freqz(b, a, w, fs=3.0)[1], B, A, np.array([0.1, 0.7, 1.2])),
    "freqz whole": (lambda s, b: s.freqz(b, worN=5, whole=True)[1], B),
    "freqz nyquist": (lambda s, b: s.freqz(b, worN=5, include_nyquist=True)[1], B),
    "freqz_sos": (lambda s, sos: s.freqz_sos(sos, 6)[1], np.array([[1.0, 0.3, 0.1, 1.0, -0.2, 0.1], [0.5, 0.2, 0.4, 1.0, 0.3, 0.2]])),
    "freqz_zpk": (lambda s, z, p, k: s.freqz_zpk(z, p, k, 6)[1], np.array([0.3 + 0.2j, 0.3 - 0.2j]), np.array([0.5 + 0.1j, -0.4]), np.array(1.3)),
    "bode": (lambda s, b, a, w: s.bode((b, a), w), np.array([1.0, 0.3]), np.array([1.0, 0.4, 2.0]), np.array([0.3, 1.0, 1.7, 5.0])),
    "bode places": (lambda s, b, a: s.bode((b, a), n=5)[1:], np.array([1.0, 0.3]), np.array([1.0, 0.4, 2.0])),
    "bode states": (lambda s, a, b, c, d: s.bode((a, b, c, d), np.array([0.3, 1.7]))[1:], *STATES),
    "freqresp zeros": (lambda s, z, p, k: s.freqresp((z, p, k), np.array([0.3, 1.7]))[1], np.array([0.3 + 0.2j, 0.3 - 0.2j]), np.array([-1.0 + 0.5j, -1.0 - 0.5j, -0.2]), np.array(1.3)),
    "lsim": (lambda s, b, a, u: s.lsim((b, a), u, TIMES)[1:], np.array([1.0, 0.3]), np.array([2.0, 0.4, 2.0]), LONG[:6]),
    "lsim held": (lambda s, b, a, u: s.lsim((b, a), u, TIMES, interp=False)[1:], np.array([1.0, 0.3, 0.1]), np.array([2.0, 0.4, 2.0]), LONG[:6]),
    "lsim states": (lambda s, a, b, c, d, u, x: s.lsim((a, b, c, d), u, TIMES + 0.5, x)[1:], *STATES, LONG[:6], np.array([0.4, -0.7])),
    "lsim inputs": (lambda s, b, u: s.lsim((STATES[0], b, np.eye(2), np.zeros((2, 2))), u, TIMES)[1:], np.array([[0.3, 1.0], [0.7, -0.2]]), LONG[:12].reshape(6, 2)),
    "lsim alone": (lambda s, a, x: s.lsim((a, *(part.astype(a.dtype) for part in STATES[1:])), None, TIMES, x)[1:], STATES[0], np.array([0.4, -0.7])),
    "lsim gain": (lambda s, b, u: s.lsim((b, np.array([2.0])), u, TIMES)[1], np.array([3.0]), LONG[:6]),
    "upfirdn": (lambda s, h, x: s.upfirdn(h, x, 3, 2), LONG[:7], X),
    "upfirdn axis": (lambda s, h, x: s.upfirdn(h, x, 2, 3, axis=0), B, XX),
    "decimate": (lambda s, x: s.decimate(x, 2, 3), np.resize(LONG, 40)),
    "decimate once": (lambda s, x: s.decimate(x, 3, zero_phase=False), np.resize(LONG, 40)),
    "decimate fir": (lambda s, x: s.decimate(x, 3, 12, "fir"), np.resize(LONG, 40)),
    "decimate fir once": (lambda s, x: s.decimate(x, 3, 12, "fir", zero_phase=False), np.resize(LONG, 40)),
    "wiener": (lambda s, x: s.wiener(x), XX),
    "wiener noise": (lambda s, x, n: s.wiener(x, (3, 5), n), XX, np.array(0.3)),
    "lfilter": (lambda s, b, a, x: s.lfilter(b, a, x), B, A, X),
    "lfilter axis": (lambda s, b, a, x: s.lfilter(b, a, x, axis=0), B, A, XX),
    "lfilter FIR": (lambda s, b, x: s.lfilter(b, [2.0], x), B, X),
    "lfilter all-pole": (lambda s, a, x: s.lfilter([1.0], a, x), A, X),
    "lfilter long": (lambda s, b, x: s.lfilter(b, [1.0, 0.5], x), LONG, X),
    "lfilter state": (lambda s, b, a, x, zi: s.lfilter(b, a, x, zi=zi), B, A, X, np.array([0.3, -0.2, 0.5])),
    "lfilter state long": (lambda s, b, x, zi: s.lfilter(b, [1.0, 0.2], x, zi=zi), LONG[:9], X[:4], LONG[:8]),
    "lfilter state axis": (lambda s, b, a, x, zi: s.lfilter(b, a, x, 0, zi), B, A[:2], XX, RANDOM.normal(size=(2, 9))),
    "lfilter complex": (lambda s, b, a, x: s.lfilter(b, a, x), B + 0.1j, A + 0.2j, X - 0.5j),
    "lfilter_zi": (lambda s, b, a: s.lfilter_zi(b, a), B, A),
    "lfiltic": (lambda s, b, a, y, x: s.lfiltic(b, a, y, x), B, A, X[:2], X[2:4]),
    "lfiltic outputs": (lambda s, b, a, y: s.lfiltic(b, a, y), B[:1], A, X),
    "kaiser": (lambda s, beta: s.windows.kaiser(9, beta), 8.6),
    "kaiser steep": (lambda s, beta: s.windows.kaiser(8, beta, sym=False), 60.0),
    "kaiser_bessel_derived": (lambda s, beta: s.windows.kaiser_bessel_derived(8, beta), 4.0),
    "gaussian": (lambda s, std: s.windows.gaussian(8, std, sym=False), 2.5),
    "general_gaussian": (lambda s, p, sig: s.windows.general_gaussian(9, p, sig), 0.7, 3.0),
    "exponential": (lambda s, tau: s.windows.exponential(8, 2.0, tau, sym=False), 1.7),
    "general_cosine": (lambda s, a: s.windows.general_cosine(7, a, False), np.array([0.4, 0.3, 0.2, 0.1])),
    "general_hamming": (lambda s, alpha: s.windows.general_hamming(6, alpha), 0.6),
    "tukey": (lambda s, alpha: s.windows.tukey(16, alpha), 0.53),
    "get_window": (lambda s, std: s.get_window(("gaussian_symmetric", std), 8), 2.5),
    "get_window beta": (lambda s, beta: s.get_window(("ksr", beta), 8), 3.0),
    "sosfilt": (lambda s, sos, x: s.sosfilt(sos, x), SOS, XX),
    "sosfilt state": (lambda s, sos, x, zi: s.sosfilt(sos, x, zi=zi), SOS, X, RANDOM.normal(size=(2, 2))),
    "sosfilt_zi": (lambda s, sos: s.sosfilt_zi(sos), SOS),
    "filtfilt": (lambda s, b, a, x: s.filtfilt(b, a, x), B, A, LONG[:14]),
    "filtfilt even": (lambda s, b, a, x: s.filtfilt(b, a, x, padtype="even", padlen=4), B, A, XX),
    "filtfilt constant": (lambda s, b, a, x: s.filtfilt(b, a, x, 0, "constant", 3), B, A, XX.T),
    "filtfilt none": (lambda s, b, a, x: s.filtfilt(b, a, x, padtype=None), B, A, X),
    "sosfiltfilt": (lambda s, sos, x: s.sosfiltfilt(sos, x), SOS[:1], LONG[:12]),
    "savgol_filter": (lambda s, x: s.savgol_filter(x, 5, 2), XX),
    "savgol_filter derivative": (lambda s, x: s.savgol_filter(x, 5, 3, deriv=1, delta=0.5), X),
    "savgol_filter mirror": (lambda s, x: s.savgol_filter(x, 5, 2, mode="mirror"), X),
    "savgol_filter wrap": (lambda s, x: s.savgol_filter(x, 5, 2, mode="wrap", axis=0), XX.T),
    "savgol_filter nearest": (lambda s, x: s.savgol_filter(x, 5, 2, mode="nearest"), X),
    "savgol_filter constant": (lambda s, x: s.savgol_filter(x, 5, 2, mode="constant", cval=0.5), X),
    "fftconvolve": (lambda s, x, y: s.fftconvolve(x, y), X, B),
    "fftconvolve same": (lambda s, x, y: s.fftconvolve(x, y, "same"), M, K),
    "fftconvolve valid": (lambda s, x, y: s.fftconvolve(x, y, "valid"), M, K),
    "fftconvolve axes": (lambda s, x, y: s.fftconvolve(x, y, axes=1), XX, XX[:, :3]),
    "fftconvolve complex": (lambda s, x, y: s.fftconvolve(x, y), X + 1j, B - 2j),
    "oaconvolve": (lambda s, x, y: s.oaconvolve(x, y, "same"), LONG, B),
    "convolve": (lambda s, x, y: s.convolve(x, y), M, K),
    "convolve same": (lambda s, x, y: s.convolve(x, y, mode="same"), X, B),
    "convolve valid swapped": (lambda s, x, y: s.convolve(x, y, mode="valid"), B, X),
    "convolve2d": (lambda s, x, y: s.convolve2d(x, y), M, K),
    "convolve2d symm": (lambda s, x, y: s.convolve2d(x, y, "same", "symm"), M, K),
    "convolve2d wrap": (lambda s, x, y: s.convolve2d(x, y, "full", "wrap"), M, K),
    "convolve2d fill": (lambda s, x, y: s.convolve2d(x, y, "same", "fill", 2.0), M, K),
    "correlate": (lambda s, x, y: s.correlate(x, y), M, K),
    "correlate same": (lambda s, x, y: s.correlate(x, y, "same"), X, B),
    "correlate even": (lambda s, x, y: s.correlate(x, y, "same"), M, EVEN),
    "correlate valid": (lambda s, x, y: s.correlate(x, y, "valid"), B, X),
    "correlate complex": (lambda s, x, y: s.correlate(x, y), X + 1j, B - 2j),
    "correlate2d": (lambda s, x, y: s.correlate2d(x, y), M, K),
    "correlate2d same": (lambda s, x, y: s.correlate2d(x, y, "same", "symm"), M, EVEN),
    "hilbert": (lambda s, x: s.hilbert(x), XX),
    "hilbert even": (lambda s, x: s.hilbert(x, 6, axis=0), XX),
    "detrend": (lambda s, x: s.detrend(x), XX),
    "detrend constant": (lambda s, x: s.detrend(x, 0, "constant"), XX),
    "detrend pieces": (lambda s, x: s.detrend(x, bp=[4]), XX),
    "resample up": (lambda s, x: s.resample(x, 11), X),
    "resample down": (lambda s, x: s.resample(x, 5, axis=1), XX),
    "resample even": (lambda s, x: s.resample(x, 6), LONG[:8]),
    "resample even up": (lambda s, x: s.resample(x, 10), LONG[:8]),
    "resample window": (lambda s, x: s.resample(x, 5, window="hamming"), X),
    "resample complex": (lambda s, x: s.resample(x, 6), X + 1j * X[::-1]),
    "resample_poly": (lambda s, x: s.resample_poly(x, 3, 2), X),
    "resample_poly down": (lambda s, x: s.resample_poly(x, 2, 6, axis=1), XX),
    "resample_poly taps": (lambda s, x: s.resample_poly(x, 2, 1, window=np.array([0.2, 0.5, 0.2])), X),
    "medfilt": (lambda s, x: s.medfilt(x, 3), X),
    "medfilt matrix": (lambda s, x: s.medfilt(x, [3, 1]), M),
    "periodogram": (lambda s, x: s.periodogram(x, 2.0), X),
    "periodogram spectrum": (lambda s, x: s.periodogram(x, window="hann", scaling="spectrum", detrend="linear", nfft=12), X),
    "periodogram two-sided": (lambda s, x: s.periodogram(x, return_onesided=False, axis=0), XX.T),
    "welch": (lambda s, x: s.welch(x, 3.0, nperseg=8), LONG),
    "welch axis": (lambda s, x: s.welch(x, nperseg=4, noverlap=1, detrend=False, axis=0), XX.T),
    "csd": (lambda s, x, y: s.csd(x, y, nperseg=8), LONG, LONG[::-1]),
    "spectrogram": (lambda s, x: s.spectrogram(x, nperseg=8), LONG),
    "spectrogram magnitude": (lambda s, x: s.spectrogram(x, 2.0, nperseg=6, noverlap=2, mode="magnitude"), LONG),
    "stft": (lambda s, x: s.stft(x, 2.0, nperseg=8), LONG),
    "stft matrix": (lambda s, x: s.stft(x, nperseg=4, boundary=None, padded=False, window="hamming"), XX),
    "stft odd": (lambda s, x: s.stft(x, nperseg=5, boundary="odd", scaling="psd"), X),
    "istft": (lambda s, z: s.istft(z, 2.0, nperseg=8), Z),
    "istft noverlap": (lambda s, z: s.istft(z, nperseg=8, noverlap=6), Z),
}  # fmt: skip


def parts(result):
    """The differentiable part, and what comes with it."""
    several = result if isinstance(result, tuple) else (result,)
    tensors = [x for x in several if isinstance(x, gs.Tensor)]
    return tensors or [np.asarray(x) for x in several], several


@each("name", CALLS)
def test_calls(name):
    call, *args = CALLS[name]
    found = call(signal, *map(gs.asarray, args))
    expected = call(scipy_signal, *args)
    several = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for ours, theirs in several:
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-9, atol=1e-11)

    def differentiable(*tensors):
        return tuple(parts(call(signal, *tensors))[0])

    tensors = [gs.tensor(x, requires_grad=True) for x in args]
    fast = {"fast_mode": True}
    assert gradcheck(differentiable, tensors, check_forward_ad=True, **fast)
    assert gradgradcheck(differentiable, tensors, **fast)


@each("name", CALLS)
def test_results_have_the_precision_of_scipys(name):
    call, *args = CALLS[name]
    args = [np.asarray(x, "F" if np.iscomplexobj(x) else "f")[()] for x in args]
    for ours, theirs in zip(parts(call(signal, *map(gs.asarray, args)))[1], parts(call(scipy_signal, *args))[1], strict=True):
        if isinstance(ours, gs.Tensor):
            assert ours.dtype in (theirs.dtype, np.float32)
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=2e-3, atol=2e-3)


def test_hips_autograds_convolve():
    """Axes to convolve along, and axes to sum over."""
    a, b = RANDOM.normal(size=(3, 4, 5)), RANDOM.normal(size=(3, 2, 2))
    found = signal.convolve(a, b, axes=([1, 2], [1, 2]), dot_axes=([0], [0]), mode="valid")
    expected = sum(scipy_signal.convolve(a[i], b[i], "valid") for i in range(3))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    batch = RANDOM.normal(size=(6, 3, 4, 5))
    kernels = RANDOM.normal(size=(3, 7, 2, 2))
    found = signal.convolve(batch, kernels, axes=([2, 3], [2, 3]), dot_axes=([1], [0]))
    assert found.shape == (6, 7, 5, 6)
    np.testing.assert_allclose(
        found[2, 4].numpy(), sum(scipy_signal.convolve(batch[2, i], kernels[i, 4]) for i in range(3)), atol=1e-12
    )


def test_windows_are_differentiated():
    window = gs.tensor(np.hanning(10)[1:-1], requires_grad=True)
    assert gradcheck(lambda w: signal.welch(LONG, window=w)[1], [window], check_forward_ad=True)


def test_refusals():
    with pytest.warns(UserWarning, match="under no window"):
        signal.istft(Z, nperseg=8, boundary=False)
    with pytest.raises(NotImplementedError, match="Gustafsson"):
        signal.filtfilt(B, A, LONG, method="gust")
    with pytest.raises(NotImplementedError, match="average must be 'mean'"):
        signal.welch(LONG, average="median")
    with pytest.raises(ValueError, match="mode must be"):
        signal.convolve(X, B, "middle")
    with pytest.raises(ValueError, match="zi must have"):
        signal.lfilter(B, A, X, zi=[1.0])
    with pytest.raises(ValueError, match="longer than padlen"):
        signal.filtfilt(B, A, X)


def test_batches():
    """Rows of signals, and of coefficients, as a loop has them."""
    b, a, x = gs.asarray(B), gs.asarray(A), gs.asarray(XX)
    slope = gs.grad(lambda b, a, x: (signal.lfilter(b, a, x) ** 2).sum(), (1, 2))
    several = gs.stack([a, a * 1.5])
    for dims, at in (
        ((None, None, 0), lambda i: (b, a, x[i])),
        ((None, 0, None), lambda i: (b, several[i], x[0])),
        ((None, 0, 0), lambda i: (b, several[i], x[i])),
    ):
        args = b, several if dims[1] == 0 else a, x if dims[2] == 0 else x[0]
        for found, expected in zip(gs.vmap(slope, in_dims=dims)(*args), zip(*[slope(*at(i)) for i in range(2)])):
            np.testing.assert_allclose(found.numpy(), gs.stack(list(expected)).numpy(), atol=1e-12)


def test_windows_are_scipys():
    """Values at many sizes, of both kinds; a parameter without a derivative is refused as a tensor that wants one."""
    theirs = scipy_signal.windows
    parameters = {
        "general_gaussian": [(1.5, 2.5)], "general_cosine": [([0.4, 0.3, 0.2],)], "general_hamming": [(0.6,)], "gaussian": [(2.5,)],
        "kaiser": [(8.6,), (0.0,)], "kaiser_bessel_derived": [(4.0,)], "tukey": [(0.5,), (0.0,), (1.0,), (1.5,)], "chebwin": [(100,)],
        "exponential": [(None, 2.5)], "dpss": [(1.2,)],
    }  # fmt: skip
    asked = set()
    for name in sorted({*signal.windows.__all__} - {"get_window"}):
        for given in parameters.get(name, [()]):
            for size in (0, 1, 3, 8, 9):
                for sym in (True, False):
                    if name == "kaiser_bessel_derived" and (size % 2 or not sym) or name == "dpss" and size < 3:
                        continue
                    got, wanted = getattr(signal.windows, name)(size, *given, sym=sym), getattr(theirs, name)(size, *given, sym=sym)
                    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-15, err_msg=f"{name}{given} of {size}")
                    asked.add(name)
    assert asked >= {*theirs.__all__} - {"get_window"} if hasattr(theirs, "__all__") else len(asked) == 25
    for window in ("hann", 3.0, ("tukey", 0.3), ("general_hamming_symmetric", 0.6)):
        np.testing.assert_allclose(signal.get_window(window, 8), scipy_signal.get_window(window, 8))
    assert signal.get_window(gs.asarray(3.0), 8).tolist() == pytest.approx(scipy_signal.get_window(3.0, 8).tolist())
    wanting = gs.tensor(60.0, requires_grad=True)
    for call in (lambda: signal.windows.chebwin(8, wanting), lambda: signal.get_window(("chebwin", wanting), 8)):
        with pytest.raises(RuntimeError, match="chebwin.* numbers, which have no derivative; pass x.detach"):
            call()
    for wrong in (lambda: signal.windows.gaussian(-1, 2.0), lambda: signal.windows.exponential(4, 1.0, 2.0)):
        with pytest.raises(ValueError, match="gaussian: .* not negative|exponential: center"):
            wrong()


def test_the_transform_that_is_taken_back_is_one():
    np.testing.assert_allclose(Z, scipy_signal.stft(LONG, nperseg=8)[2], atol=1e-15)


def test_systems_that_are_refused():
    """Of discrete time, of several inputs, improper, of shapes that do not fit; times that are uneven or want a derivative."""
    one = ([1.0], [1.0, 1.0])
    for words, function in (
        ("bode|freqresp: the system is of discrete time", lambda: signal.bode(scipy_signal.dlti(*one))),
        ("one input and one output is expected, got 2 and 1", lambda: signal.bode((np.eye(2), np.eye(2), np.ones((1, 2)), np.zeros((1, 2))), [1.0])),
        ("lsim: the numerator has a higher degree", lambda: signal.lsim(([1.0, 0.0, 0.0], [1.0, 1.0]), TIMES, TIMES)),
        ("bode|freqresp: B must have the shape", lambda: signal.bode((np.eye(2), np.ones((3, 1)), np.ones((1, 2)), [[0.0]]), [1.0])),
        ("lsim: T must have equal steps", lambda: signal.lsim(one, TIMES, TIMES**2)),
        ("lsim: U must have the shape", lambda: signal.lsim(one, TIMES[1:], TIMES)),
        ("lsim: T must be times in a row", lambda: signal.lsim(one, TIMES, TIMES - 1)),
        ("write .A, B, C, D. for several", lambda: signal.lsim((np.ones((2, 1)), [1.0, 1.0]), TIMES, TIMES)),
    ):
        with pytest.raises(ValueError, match=words):
            function()
    with pytest.raises(RuntimeError, match="lsim: T are times, which have no derivative"):
        signal.lsim(one, TIMES, gs.tensor(TIMES, requires_grad=True))
    assert signal.bode(scipy_signal.lti(*one), [1.0])[2].item() == pytest.approx(-45)
