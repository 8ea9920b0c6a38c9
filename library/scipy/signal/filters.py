"""Recursive filters: lfilter and related functions.

Computes the recursion of an all-pole filter: y[n] = v[n] - a[1] y[n-1] - a[2] y[n-2] - ...  SciPy's loop computes it. Its
derivatives are the same filter: applied to a tangent, and to a gradient in reverse order.  All other functions are built from
operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd import Function
from ...core.conversion import asarray
from ...support.dispatch import ops
from ..values import computed, numbers

__all__ = ["filtfilt", "lfilter", "lfilter_zi", "lfiltic", "savgol_filter", "sosfilt", "sosfilt_zi", "sosfiltfilt"]


class AllPole(Function):
    """The filter 1 / a along the last axis, a[0] being 1."""

    pure = True

    @staticmethod
    def forward(ctx: Any, a: Any, v: Any) -> Any:
        from scipy.signal import lfilter as of_array

        y = computed(lambda a, v: of_array([1.0], a, v, axis=-1), a, v)
        ctx.save_for_backward(a, y)
        ctx.save_for_forward(a, y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (a, y), count = ctx.saved_tensors, grad.shape[-1]
        by_v = ops.flip(AllPole.apply(ops.conj(a), ops.flip(grad, -1)), -1)
        by_a = None
        if ctx.needs_input_grad[0]:
            parts = [ops.sum(by_v[..., k:] * ops.conj(y[..., : max(count - k, 0)])) for k in range(a.size)]
            by_a = -ops.stack(parts)
        return by_a, by_v if ctx.needs_input_grad[1] else None

    @staticmethod
    def jvp(ctx: Any, a_t: Any, v_t: Any) -> Any:
        a, y = ctx.saved_tensors
        return AllPole.apply(a, v_t - _moving_sum(a_t, y))

    @staticmethod
    def vmap(info: Any, in_dims: tuple, a: Any, v: Any) -> Any:
        if in_dims[0] is None:
            return AllPole.apply(a, ops.moveaxis(v, in_dims[1], 0)), 0
        rows = [AllPole.apply(ops.select(a, in_dims[0], i), v if in_dims[1] is None else ops.select(v, in_dims[1], i))
                for i in range(info.batch_size)]  # fmt: skip
        return ops.stack(rows), 0


def _moving_sum(b: Any, x: Any) -> Any:
    """b[0] x[n] + b[1] x[n-1] + ... along the last axis."""
    count = x.shape[-1]
    terms = [b[k] * ops.concat([ops.zeros((*x.shape[:-1], k), dtype=x.dtype), x[..., : count - k]], axis=-1)
             for k in range(min(b.size, count))]  # fmt: skip
    return sum(terms[1:], terms[0]) if terms else x * 1


def _floats(*values: Any) -> list:
    return numbers("scipy.signal", *values, least=np.float32)


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter a signal along an axis by a rational transfer function.

    Parameters
    ----------
    b, a : array_like or Tensor, 1-D
        Numerator and denominator; both are divided by a[0].
    x : array_like or Tensor
    axis : int
    zi : array_like or Tensor, optional
        The state before the first sample: as `x`, but of length max(len(a), len(b)) - 1 along `axis`.

    Returns
    -------
    y : Tensor
        Has the shape of `x`.
    zf : Tensor
        The state after the last sample, only with `zi`.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.scipy.signal.lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    b, a, x = _floats(b, a, x)
    if a.ndim != 1 or b.ndim != 1 or not a.size or not b.size or not x.ndim:
        raise ValueError("lfilter: b and a must be vectors that are not empty, and x an array along an axis")
    lead, x = a[0], ops.moveaxis(x, axis, -1)
    b, a = b / lead, a / lead
    v, order = _moving_sum(b, x), max(a.size, b.size) - 1
    if zi is not None:
        zi = ops.moveaxis(ops.astype(asarray(zi), np.result_type(x.dtype, asarray(zi).dtype)), axis, -1)
        if zi.shape[-1] != order or zi.ndim != x.ndim:
            raise ValueError(
                f"lfilter: zi must have {x.ndim} axes, and the length {order} along `axis`; got the shape {zi.shape}"
            )
        zi = ops.broadcast_to(zi, (*x.shape[:-1], order))
        count = min(order, x.shape[-1])
        first = zi[..., :count]
        v = v + ops.concat([first, ops.zeros((*x.shape[:-1], x.shape[-1] - count), dtype=first.dtype)], axis=-1)
    y = AllPole.apply(a, v) if a.size > 1 and v.size else v
    if zi is None:
        return ops.moveaxis(y, -1, axis)
    ends = [_state(b, a, x, y, zi, m, order) for m in range(order)]
    zf = ops.stack(ends, axis=-1) if ends else ops.zeros((*x.shape[:-1], 0), dtype=y.dtype)
    return ops.moveaxis(y, -1, axis), ops.moveaxis(zf, -1, axis)


def _state(b: Any, a: Any, x: Any, y: Any, zi: Any, m: int, order: int) -> Any:
    """An element of the state after the last sample: the contribution of samples and initial state to later outputs."""
    count = x.shape[-1]
    found = zi[..., m + count] if m + count < order else ops.zeros(x.shape[:-1], dtype=y.dtype)
    for back in range(1, min(order - m, count) + 1):
        if m + back < b.size:
            found = found + b[m + back] * x[..., count - back]
        if m + back < a.size:
            found = found - a[m + back] * y[..., count - back]
    return found


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """The state of `lfilter` after known outputs and inputs.

    Parameters
    ----------
    b, a : array_like or Tensor, 1-D
        Numerator and denominator.
    y : array_like or Tensor, 1-D
        The outputs y[-1], y[-2], ..., the last one first; zeros before them.
    x : array_like or Tensor, 1-D, optional
        The inputs x[-1], x[-2], ...; zeros by default.

    Returns
    -------
    Tensor, shape (max(len(a), len(b)) - 1,)

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.scipy.signal.lfiltic([1.0], [1.0, -0.5], [2.0]).tolist()
    [1.0]
    """
    b, a, y, x = _floats(b, a, y, [0.0] if x is None else x)
    if any(given.ndim != 1 for given in (b, a, y, x)) or not a.size or not b.size:
        raise ValueError("lfiltic: b, a, y and x must be vectors, and b and a not empty")
    order = max(a.size, b.size) - 1
    zi = _reached(b, x, order) - _reached(a, y, order)
    return zi / a[0]


def _reached(c: Any, past: Any, order: int) -> Any:
    """sum over j of c[m + j] past[j - 1], for each m from 1 on: the contribution of the past to later samples."""
    sums = [ops.sum(c[m + 1 : m + 1 + past.size] * past[: max(c.size - m - 1, 0)]) for m in range(order)]
    return ops.stack(sums) if sums else ops.zeros(0, dtype=c.dtype)


def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of `lfilter` that gives a constant output for a constant input of ones.

    Parameters
    ----------
    b, a : array_like or Tensor, 1-D

    Returns
    -------
    Tensor, shape (max(len(a), len(b)) - 1,)
    """
    b, a = _floats(b, a)
    b, a, order = b / a[0], a / a[0], max(a.size, b.size) - 1
    b, a = (ops.concat([c, ops.zeros(order + 1 - c.size, dtype=c.dtype)]) for c in (b, a))
    if not order:
        return ops.zeros(0, dtype=b.dtype)
    shift = asarray(np.eye(order, k=1, dtype=b.dtype))
    first = asarray(np.eye(1, order, dtype=b.dtype))
    matrix = asarray(np.eye(order, dtype=b.dtype)) - shift + a[1:, None] * first
    return ops.solve(matrix, b[1:] - a[1:] * b[0])


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter a signal by sections of second order, one after the other.

    Parameters
    ----------
    sos : array_like or Tensor, shape (sections, 6)
        For each section three numbers of the numerator and three of the denominator.
    x : array_like or Tensor
    axis : int
    zi : array_like or Tensor, optional
        The states before: an axis of sections in front of that of `lfilter`.

    Returns
    -------
    y : Tensor
    zf : Tensor
        Only with `zi`.
    """
    sos, y = _floats(sos, x)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError(f"sosfilt: sos must have the shape (sections, 6), got {sos.shape}")
    ends = []
    for i in range(sos.shape[0]):
        if zi is None:
            y = lfilter(sos[i, :3], sos[i, 3:], y, axis)
        else:
            y, end = lfilter(sos[i, :3], sos[i, 3:], y, axis, asarray(zi)[i])
            ends.append(end)
    return y if zi is None else (y, ops.stack(ends))


def sosfilt_zi(sos: Any) -> Any:
    """The states of `sosfilt` that give a constant output for a constant input of ones.

    Parameters
    ----------
    sos : array_like or Tensor, shape (sections, 6)

    Returns
    -------
    Tensor, shape (sections, 2)
    """
    (sos,) = _floats(sos)
    states, gain = [], ops.ones((), dtype=sos.dtype)
    for i in range(sos.shape[0]):
        states.append(gain * lfilter_zi(sos[i, :3], sos[i, 3:]))
        gain = gain * ops.sum(sos[i, :3]) / ops.sum(sos[i, 3:])
    return ops.stack(states)


def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: Any = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: Any = None,
) -> Any:
    """Filter a signal forward and backward, without a phase shift.

    Parameters
    ----------
    b, a, x, axis
        As for `lfilter`.
    padtype : {"odd", "even", "constant", None}
        Extension of the signal beyond its ends.
    padlen : int, optional
        Length of the extension; by default three times the length of the filter.
    method : {"pad"}
        Gustafsson's, "gust", has no derivative here.
    irlen : None

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    if method != "pad":
        raise NotImplementedError(f"filtfilt: method must be 'pad', got {method!r}: Gustafsson's method has no derivative here")
    b, a, x = _floats(b, a, x)
    length = 3 * max(a.size, b.size) if padlen is None else padlen
    return _both_ways(lambda x, zi: lfilter(b, a, x, -1, zi)[0], lfilter_zi(b, a), x, axis, padtype, length)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None) -> Any:
    """`filtfilt` by sections of second order.

    Parameters
    ----------
    sos, x, axis
        As for `sosfilt`.
    padtype, padlen
        As for `filtfilt`.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    sos, x = _floats(sos, x)
    values = sos.detach().numpy()
    length = 2 * len(values) + 1 - min((values[:, 2] == 0).sum(), (values[:, 5] == 0).sum())
    length = int(3 * length) if padlen is None else padlen
    return _both_ways(lambda x, zi: sosfilt(sos, x, -1, zi)[0], sosfilt_zi(sos), x, axis, padtype, length)


def _both_ways(filtered: Any, zi: Any, x: Any, axis: int, padtype: Any, length: int) -> Any:
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError(f"padtype must be 'odd', 'even', 'constant' or None, got {padtype!r}")
    x = ops.moveaxis(x, axis, -1)
    length = 0 if padtype is None else length
    if x.shape[-1] <= length:
        raise ValueError(f"the signal must be longer than padlen, which is {length}, got {x.shape[-1]} samples")
    if length:
        before, after = ops.flip(x[..., 1 : length + 1], -1), ops.flip(x[..., -length - 1 : -1], -1)
        first, last = x[..., :1], x[..., -1:]
        if padtype == "odd":
            before, after = 2 * first - before, 2 * last - after
        elif padtype == "constant":
            before, after = ops.broadcast_to(first, before.shape), ops.broadcast_to(last, after.shape)
        x = ops.concat([before, x, after], axis=-1)
    states = ops.reshape(zi, (*zi.shape[:-1], *(1,) * (x.ndim - 1), zi.shape[-1]))
    for _ in range(2):
        x = ops.flip(filtered(x, states * x[..., :1]), -1)
    return ops.moveaxis(x[..., length : x.shape[-1] - length], -1, axis)


def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1, mode: str = "interp",
    cval: float = 0.0,
) -> Any:  # fmt: skip
    """Smooth a signal by polynomials that are fitted to windows of it (Savitzky and Golay).

    Parameters
    ----------
    x : array_like or Tensor
    window_length, polyorder, deriv, delta
        SciPy's; constants.
    axis : int
    mode : {"interp", "mirror", "constant", "nearest", "wrap"}
        Extension beyond the ends; "interp" evaluates the polynomials of the first and the last window there.
    cval : float
        With mode="constant".

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    from scipy.signal import savgol_coeffs
    from scipy.signal import savgol_filter as of_array

    (x,) = _floats(x)
    x = ops.moveaxis(x, axis, -1)
    count, half = x.shape[-1], window_length // 2
    if mode == "interp" and window_length > count:
        raise ValueError("savgol_filter: with mode='interp' window_length must not be greater than the size of x")
    modes = {"interp": "edge", "mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap"}
    if mode not in modes:
        raise ValueError(f"savgol_filter: mode must be one of {', '.join(map(repr, modes))}, got {mode!r}")
    weights = savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta, use="dot")
    where = np.arange(half + 1 - window_length, count + half)  # an even window has more elements after its place
    wide = _extended(x, where, modes[mode], cval)
    y = sum(float(weight) * wide[..., i : i + count] for i, weight in enumerate(weights))
    if mode == "interp" and half:  # the polynomials of the first and of the last window extend to the ends
        ends = of_array(np.eye(window_length), window_length, polyorder, deriv, delta, axis=0, mode="interp").astype(x.dtype)
        y = ops.concat([x[..., :window_length] @ asarray(ends[:half].T), y[..., half : count - half],
                        x[..., -window_length:] @ asarray(ends[-half:].T)], axis=-1)  # fmt: skip
    return ops.moveaxis(y, -1, axis)


def _extended(x: Any, where: np.ndarray, kind: str, cval: float) -> Any:
    """Samples at positions that may be beyond the ends."""
    count = x.shape[-1]
    if kind == "wrap":
        return ops.take(x, where % count, axis=-1)
    if kind == "reflect":
        period = max(2 * (count - 1), 1)
        places = where % period
        return ops.take(x, np.where(places >= count, period - places, places), axis=-1)
    found = ops.take(x, np.clip(where, 0, count - 1), axis=-1)
    return ops.where(asarray((where >= 0) & (where < count)), found, cval) if kind == "constant" else found
