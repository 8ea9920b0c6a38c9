"""Windows that taper a segment of a signal, under SciPy's names: gradspec.scipy.signal.windows.

Defines the formulas of windows with a smooth parameter: each has derivatives in it.  The values of all other windows are SciPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ...core.conversion import asarray
from ...core.tensor import TensorBase
from ...support.dispatch import ops
from ...support.lazy_import import answer
from ..values import must_be_constant, reals

__all__ = [
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin", "cosine", "dpss", "exponential",
    "flattop", "gaussian", "general_cosine", "general_gaussian", "general_hamming", "get_window", "hamming", "hann", "kaiser",
    "kaiser_bessel_derived", "lanczos", "nuttall", "parzen", "taylor", "triang", "tukey",
]  # fmt: skip
answer(__name__)


def _constant(name: str, about: str) -> Callable[..., Any]:
    """A window of SciPy's whose parameters, if any, have no derivative here."""

    def window(M: int, *args: Any, **kwds: Any) -> Any:
        import scipy.signal.windows

        given = [value for value in (*args, *kwds.values()) if isinstance(value, TensorBase)]
        must_be_constant(f"signal.windows.{name}: its parameters are numbers", given)
        args = tuple([value.numpy() if isinstance(value, TensorBase) else value for value in args])
        kwds = {key: value.numpy() if isinstance(value, TensorBase) else value for key, value in kwds.items()}
        found = getattr(scipy.signal.windows, name)(M, *args, **kwds)
        return tuple(map(asarray, found)) if isinstance(found, tuple) else asarray(found)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"{about}; SciPy's values.\n\nParameters as for scipy.signal.windows.{name}."
    return window


barthann = _constant("barthann", "A triangle and a cosine, by Bartlett and Hann")
bartlett = _constant("bartlett", "A triangle that is 0 at its ends")
blackman = _constant("blackman", "Three terms of a cosine series, by Blackman")
blackmanharris = _constant("blackmanharris", "Four terms of a cosine series, by Blackman and Harris")
bohman = _constant("bohman", "The convolution of two halves of a cosine")
boxcar = _constant("boxcar", "Ones")
chebwin = _constant("chebwin", "The window whose side lobes are alike, by Dolph and Chebyshev")
cosine = _constant("cosine", "Half a wave")
dpss = _constant("dpss", "The windows of Slepian, whose energy keeps closest to frequency 0")
flattop = _constant("flattop", "Five terms of a cosine series whose spectrum is flat at its top")
hamming = _constant("hamming", "A raised cosine on a step")
hann = _constant("hann", "A raised cosine")
lanczos = _constant("lanczos", "The middle of a sinc")
nuttall = _constant("nuttall", "Four terms of a cosine series, by Nuttall")
parzen = _constant("parzen", "A cubic spline, by Parzen")
taylor = _constant("taylor", "A window whose first side lobes are alike, by Taylor")
triang = _constant("triang", "A triangle that ends beyond its ends")


def _places(name: str, M: int, sym: bool) -> np.ndarray:
    """Positions of the elements relative to the middle of the window, or of the period that is one longer; for at least two."""
    if int(M) != M or M < 0:
        raise ValueError(f"{name}: the window has no {M} elements: M must be a whole number that is not negative")
    last = int(M) - 1 if sym else int(M)
    return np.arange(int(M)) - last / 2


def _shaped(name: str, M: int, sym: bool, parameters: tuple, formula: Callable[..., Any]) -> Any:
    """A window by its formula, a function of positions and of parameters as tensors; ones if there is only one element."""
    given = [parameter.astype(float) for parameter in map(asarray, parameters)] if M <= 1 else reals(name, *parameters)
    places = _places(name, M, sym)
    return asarray(np.ones(int(M))) if M <= 1 else formula(places, *given)


def exponential(M: int, center: float | None = None, tau: Any = 1.0, sym: bool = True) -> Any:
    """exp(-abs(k - center) / tau), with a derivative in `tau`.

    Parameters
    ----------
    M : int
        Number of elements.
    center : float, optional
        By default the middle; only for a window that is not symmetric.
    tau : float or Tensor
    sym : bool
        Whether the window is symmetric; otherwise it is one period of the symmetric window that is longer by an element.

    Returns
    -------
    Tensor, shape (M,)
    """
    if sym and center is not None:
        raise ValueError("exponential: center must be None where the window is symmetric")
    if isinstance(center, TensorBase):
        must_be_constant("signal.windows.exponential: its center is a number", [center])
    shift = 0.0 if center is None else M / 2 - float(center)
    return _shaped("exponential", M, sym, (tau,), lambda k, tau: ops.exp(-np.abs(k + shift) / tau))


def gaussian(M: int, std: Any, sym: bool = True) -> Any:
    """A bell of standard deviation `std`, differentiable in `std`; for `M` and `sym` see `exponential`."""
    return _shaped("gaussian", M, sym, (std,), lambda k, std: ops.exp(-0.5 * ops.square(k / std)))


def general_gaussian(M: int, p: Any, sig: Any, sym: bool = True) -> Any:
    """exp(-abs(k / sig)**(2 * p) / 2), with derivatives in `p` and `sig`; for `M` and `sym` see `exponential`."""

    def formula(k: np.ndarray, p: Any, sig: Any) -> Any:
        middle = k == 0
        power = ops.exp(2 * p * ops.log(np.abs(np.where(middle, 1.0, k)) / abs(sig)))
        return ops.where(middle, 1.0 + 0 * power, ops.exp(-0.5 * power))

    return _shaped("general_gaussian", M, sym, (p, sig), formula)


def general_cosine(M: int, a: Any, sym: bool = True) -> Any:
    """A sum of cosines, linear in the weights `a`; for `M` and `sym` see `exponential`."""

    def formula(k: np.ndarray, a: Any) -> Any:
        waves = 2 * np.pi * k / (M - 1 if sym else M)  # from the middle, so that no term changes its sign
        return ops.matmul(a, asarray(np.cos(np.arange(a.size)[:, None] * waves)))

    return _shaped("general_cosine", M, sym, (a,), formula)


def general_hamming(M: int, alpha: Any, sym: bool = True) -> Any:
    """alpha - (1 - alpha) * cos(2 * pi * k / (M - 1)), with a derivative in `alpha`; `M` and `sym` as of `exponential`."""
    alpha = asarray(alpha)
    return general_cosine(M, ops.stack([alpha, 1 - alpha]), sym)


def kaiser(M: int, beta: Any, sym: bool = True) -> Any:
    """Near to the window of Slepian; `beta` says how far it falls, and has a derivative.  `M` and `sym` as of `exponential`."""

    def formula(k: np.ndarray, beta: Any) -> Any:
        half = (M - 1 if sym else M) / 2
        root = np.sqrt(np.maximum(1 - (k / half) ** 2, 0))
        return ops.i0e(beta * root) / ops.i0e(beta) * ops.exp(abs(beta) * (root - 1))

    return _shaped("kaiser", M, sym, (beta,), formula)


def kaiser_bessel_derived(M: int, beta: Any, *, sym: bool = True) -> Any:
    """The root of a running sum of Kaiser's window, with an even number of elements and a derivative in `beta`."""
    if not sym:
        raise ValueError("kaiser_bessel_derived: it is symmetric: sym must be True")
    if M % 2:
        raise ValueError(f"kaiser_bessel_derived: M must be even, got {M}")
    if M < 1:
        return asarray(np.ones(0))
    sums = ops.cumsum(kaiser(M // 2 + 1, beta), 0)
    half = ops.sqrt(sums[:-1] / sums[-1])
    return ops.concat([half, ops.flip(half, 0)])


def tukey(M: int, alpha: Any = 0.5, sym: bool = True) -> Any:
    """Ones between two halves of a cosine, which take a fraction `alpha` of the window.

    It has a derivative in `alpha`, which is 0 outside [0, 1].  For `M` and `sym` see `exponential`.
    """

    def formula(k: np.ndarray, alpha: Any) -> Any:
        last = M - 1 if sym else M
        part = ops.clip(alpha, 0.0, 1.0)
        from_end = last / 2 - np.abs(k)
        inside = (part > 0) & (from_end <= part * last / 2)
        width = ops.where(part > 0, part, 1.0) * last / 2
        return ops.where(inside, 0.5 - 0.5 * ops.cos(np.pi * from_end / width), 1.0)

    return _shaped("tukey", M, sym, (alpha,), formula)


_SHAPED = {
    exponential: ("poisson",), gaussian: ("gauss", "gss"), general_cosine: ("general cosine",),
    general_gaussian: ("general gaussian", "general gauss", "general_gauss", "ggs"), general_hamming: ("general hamming",),
    kaiser: ("ksr",), kaiser_bessel_derived: ("kaiser bessel derived", "kbd"), tukey: ("tuk",),
}  # fmt: skip
_BY_NAME = {name: function for function, further in _SHAPED.items() for name in (function.__name__, *further)}


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Any:
    """A window by its name.

    Parameters
    ----------
    window : str, tuple, float or Tensor
        A name; a name and parameters, which may be tensors with a derivative if the window has one; or the `beta` of `kaiser`.
    Nx : int
        Number of elements.
    fftbins : bool
        Whether it is one period of the window that is longer by an element, for a Fourier transform.

    Returns
    -------
    Tensor, shape (Nx,)

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.grad(lambda std: gs.scipy.signal.get_window(("gaussian", std), 8).sum())(2.0).round(4).item()
    1.8283
    """
    import scipy.signal

    if isinstance(window, TensorBase):
        window = ("kaiser", window)
    given = [value for value in window[1:] if isinstance(value, TensorBase)] if isinstance(window, tuple) else []
    if not given:
        return asarray(scipy.signal.get_window(window, Nx, fftbins))
    name, _, kind = window[0].rpartition("_")
    if kind not in ("symmetric", "periodic"):
        name, kind = window[0], "periodic" if fftbins else "symmetric"
    if name not in _BY_NAME:
        must_be_constant(f"signal.get_window: the parameters of '{name}' are numbers", given)
        plain = tuple([value.numpy() if isinstance(value, TensorBase) else value for value in window])
        return asarray(scipy.signal.get_window(plain, Nx, fftbins))
    return _BY_NAME[name](Nx, *window[1:], sym=kind == "symmetric")
