"""SciPy's functions inside of compiled functions: to the bit what an eager call gives, and replayed, SciPy's values included."""

import warnings

import numpy as np
import pytest

import gradspec as gs

pytest.importorskip("scipy", reason="SciPy is not installed")
from tests.library.scipy import test_scipy_ndimage, test_scipy_quadrature, test_scipy_signal  # noqa: E402

SAMPLES = [np.random.default_rng(0).normal(size=(3, 7)), np.linspace(0.5, 7.0, 7) ** 1.1]
A = np.random.default_rng(1).normal(size=(3, 3))
CALLS = {
    "signal": (gs.scipy.signal, test_scipy_signal.CALLS),
    "ndimage": (gs.scipy.ndimage, test_scipy_ndimage.CALLS),
    "integrate": (gs.scipy.integrate, {name: (call, *SAMPLES) for name, call in test_scipy_quadrature.CALLS.items()}),
    "linalg": (gs.scipy.linalg, {
        "logm": (lambda s, a: s.logm(a), A @ A.T + np.eye(3)), "cosm": (lambda s, a: s.cosm(a), A),
        "fractional_matrix_power": (lambda s, a: s.fractional_matrix_power(a, 0.3), A @ A.T + np.eye(3)),
    }),
    "fft": (gs.scipy.fft, {f"{name} {kind}": (lambda s, x, n=name, k=kind: getattr(s, n)(x, k), A)
                           for name in ("dct", "idst") for kind in (1, 2, 3, 4)}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("module", CALLS)
def test_every_call(module):
    names, calls = CALLS[module]
    for name, (call, *arrays) in calls.items():

        def step(*tensors):
            found = call(names, *tensors)  # noqa: B023
            results = [one for one in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(one, gs.Tensor)]
            loss = sum((gs.real(one) ** 2).sum() + gs.imag(one).sum() for one in results if one.dtype.kind in "fc")
            return [*results, *gs.autograd.grad(loss, tensors, allow_unused=True)]

        compiled, said = gs.compile(step), []
        for turn in range(4):
            factors = [1 + turn / 64 if np.ndim(array) else 1.0 for array in arrays]  # a number may say how wide a window is
            tensors = [gs.tensor(np.asarray(array) * factor, requires_grad=True) for array, factor in zip(arrays, factors)]
            with warnings.catch_warnings(record=True) as caught:
                found = compiled(*tensors)
            said += [str(one.message) for one in caught]
            for one, other in zip(found, step(*tensors)):
                assert one is other or one.detach().numpy().tobytes() == other.detach().numpy().tobytes(), (name, turn)
        assert compiled.program is not None, (name, said)
