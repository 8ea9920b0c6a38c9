"""Windows that taper a stretch of a signal: PyTorch's names and arguments, the values of scipy.signal.windows.

A window with `sym` is symmetric; any other is one period: the symmetric window that is longer by an element, without its last
element.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ..core.conversion import asarray
from ..support.lazy_import import answer

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
    "nuttall",
]  # fmt: skip
answer(__name__)


def _places(M: int, sym: bool) -> tuple[np.ndarray, float]:
    """The places of the elements, and the last one of the period."""
    if M < 0:
        raise ValueError(f"a window has no {M} elements: M must not be negative")
    return np.arange(M, dtype=np.float64), max(M - 1 if sym else M, 1)


def _window(M: int, values: Any, dtype: Any) -> Any:
    """Ones if there is only one element."""
    return asarray(np.ones(1) if M == 1 else values, dtype or np.float64)


def bartlett(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """A triangle that is 0 at its ends.

    Parameters
    ----------
    M : int
        Number of elements; a negative one is refused.
    sym : bool
        Whether the window is symmetric; else it is one period.
    dtype : dtype, optional
        float64 by default.

    Returns
    -------
    Tensor, shape (M,)
    """
    k, last = _places(M, sym)
    return _window(M, 1 - np.abs(2 * k / last - 1), dtype)


def blackman(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """Three terms of a cosine series, by Blackman.

    Parameters
    ----------
    M, sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype)


def cosine(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """Half a wave.

    Parameters
    ----------
    M, sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    k, last = _places(M, sym)
    return _window(M, np.sin(np.pi * (k + 0.5) / (last + 1)), dtype)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None) -> Any:
    """exp(-abs(k - center) / tau).

    Parameters
    ----------
    M : int
        Number of elements.
    center : float, optional
        The place of the number 1: the middle by default; others are refused if `sym`.
    tau : float
        Positive: the window falls by the factor e over this distance.
    sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    if tau <= 0:
        raise ValueError(f"exponential: tau must be positive, got {tau}")
    if center is not None and sym:
        raise ValueError("exponential: center must be None where the window is symmetric")
    k, last = _places(M, sym)
    return _window(M, np.exp(-np.abs(k - (last / 2 if center is None else center)) / tau), dtype)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None) -> Any:
    """A bell of standard deviation `std` around the middle.

    Parameters
    ----------
    M : int
        Number of elements.
    std : float
        Positive.
    sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    if std <= 0:
        raise ValueError(f"gaussian: std must be positive, got {std}")
    k, last = _places(M, sym)
    return _window(M, np.exp(-0.5 * ((k - last / 2) / std) ** 2), dtype)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None) -> Any:
    """A sum of cosines with 0, 1, 2, ... waves, with the weights `a` and alternating signs.

    Parameters
    ----------
    M : int
        Number of elements.
    a : iterable of float
        The weights.
    sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    k, last = _places(M, sym)
    return _window(M, sum((-1) ** i * w * np.cos(2 * np.pi * i * k / last) for i, w in enumerate(a)), dtype)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None) -> Any:
    """alpha - (1 - alpha) * cos(2 * pi * k / (M - 1)).

    Parameters
    ----------
    M : int
        Number of elements.
    alpha : float
        The weight of the constant; 1 - alpha is the weight of the cosine.
    sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype)


def hamming(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """A raised cosine on a step.

    Parameters
    ----------
    M, sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    return general_hamming(M, sym=sym, dtype=dtype)


def hann(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """A raised cosine.

    Parameters
    ----------
    M, sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None) -> Any:
    """Near to the window whose energy keeps closest to frequency 0; `beta` says how far it falls.

    Parameters
    ----------
    M : int
        Number of elements.
    beta : float
        How far the window falls: its ends are 1 / i0(beta).
    sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    k, last = _places(M, sym)
    root = np.sqrt(np.maximum(1 - (2 * k / last - 1) ** 2, 0))
    return _window(M, np.i0(beta * root) / np.i0(beta), dtype)


def nuttall(M: int, *, sym: bool = True, dtype: Any = None) -> Any:
    """Four terms of a cosine series, by Nuttall.

    Parameters
    ----------
    M, sym, dtype
        As for `bartlett`.

    Returns
    -------
    Tensor, shape (M,)
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype)
