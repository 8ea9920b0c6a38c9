"""Linear systems in continuous time: frequency responses, and outputs for given inputs.

Handles the three forms of a system.  A response is a value of the transfer function.  A simulation is exact for inputs that are
linear, or constant, between the times.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...func import pure_callback, stop_gradient
from ...support.dispatch import ops
from ..values import must_be_constant, numbers
from .responses import of_roots

__all__ = ["bode", "freqresp", "lsim"]


def _system(name: str, system: Any) -> tuple[Any, ...]:
    """Its two, three or four arrays as tensors of one dtype, with the number of axes that the form requires."""
    for form in (("num", "den"), ("zeros", "poles", "gain"), ("A", "B", "C", "D")):
        if hasattr(system, "dt") and all(hasattr(system, part) for part in form):  # SciPy's classes
            if system.dt is not None:
                raise ValueError(f"{name}: the system is of discrete time, of steps of {system.dt}; a continuous one is expected")
            system = tuple(getattr(system, part) for part in form)
            break
    if not isinstance(system, (tuple, list)) or len(system) not in (2, 3, 4):
        raise ValueError(f"{name}: system must be (num, den), (zeros, poles, gain) or (A, B, C, D)")
    parts = numbers(name, *system)
    if len(parts) == 4:
        A, B, C, D = (ops.reshape(part, (1, 1)) if part.ndim == 0 else part for part in parts)
        states, inputs, outputs = A.shape[0], B.shape[-1], C.shape[0]
        shapes = (states, states), (states, inputs), (outputs, states), (outputs, inputs)
        for which, part, shape in zip("ABCD", (A, B, C, D), shapes):
            if part.shape != shape:
                raise ValueError(f"{name}: {which} must have the shape {shape}, got {part.shape}")
        return A, B, C, D
    *vectors, gain = parts if len(parts) == 3 else (*parts, None)
    found = [ops.reshape(vector, (-1,)) if vector.ndim == 0 else vector for vector in vectors]
    if any(vector.ndim != 1 for vector in found):
        raise ValueError(f"{name}: polynomials, zeros and poles of one input and one output have one axis, got "
                         f"{[vector.shape for vector in found]}; write (A, B, C, D) for several")  # fmt: skip
    return tuple(found) if gain is None else (*found, gain)


def _response(name: str, parts: tuple[Any, ...], w: Any) -> Any:
    """The transfer function at 1j * w."""
    s = ops.complex(ops.zeros_like(w), w)
    if len(parts) == 2:
        num, den = parts
        return ops.polyval(num, s) / ops.polyval(den, s)
    if len(parts) == 3:
        return of_roots(*parts, s)
    A, B, C, D = parts
    if D.shape != (1, 1):
        raise ValueError(f"{name}: a system of one input and one output is expected, got {D.shape[1]} and {D.shape[0]}")
    turned = ops.expand_dims(s, (-1, -2)) * np.eye(A.shape[0]) - A
    return (C @ ops.solve(turned, ops.broadcast_to(B, (*w.shape, *B.shape))))[..., 0, 0] + D[0, 0]


def freqresp(system: Any, w: Any = None, n: int = 10000) -> tuple:
    """The frequency response of a system of continuous time.

    Parameters
    ----------
    system : tuple
        (num, den), polynomials with the highest power first; (zeros, poles, gain); or (A, B, C, D), of one input and one output;
        of arrays or Tensors.  SciPy's system objects are also accepted.
    w : array_like or Tensor, optional
        Frequencies in radians per unit of time; by default `n` points that SciPy chooses from the poles and zeros.
    n : int

    Returns
    -------
    w, H : Tensor
        The frequencies and the response, complex, with derivatives in the system and in `w`.

    Raises
    ------
    ValueError
        For a system of discrete time, or with several inputs or outputs.
    """
    parts = _system("freqresp", system)
    if w is None:
        from scipy.signal import freqresp as of_arrays

        dtype = np.finfo(parts[0].dtype).dtype
        w = pure_callback(lambda *arrays: of_arrays(tuple(array.numpy() for array in arrays), n=n)[0].astype(dtype),
                          ops.zeros(n, dtype=dtype), *map(stop_gradient, parts))  # fmt: skip
    (w,) = numbers("freqresp", w)
    return w, _response("freqresp", parts, w)


def bode(system: Any, w: Any = None, n: int = 100) -> tuple:
    """Magnitude and phase of the frequency response of a system of continuous time; errors as for `freqresp`.

    Parameters
    ----------
    system, w, n
        As for `freqresp`.

    Returns
    -------
    w, mag, phase : Tensor
        Frequencies, 20 log10 of the modulus of the response, and its angle in degrees without jumps.

    Examples
    --------
    >>> import gradspec as gs
    >>> w, mag, phase = gs.scipy.signal.bode(([1.0], [1.0, 1.0]), [1.0])
    >>> phase
    tensor([-45.])
    """
    w, response = freqresp(system, w, n)
    decibels = 20 / math.log(10) * ops.log(ops.absolute(response))
    return w, decibels, ops.unwrap(ops.atan2(ops.imag(response), ops.real(response))) * (180 / math.pi)


def _states(name: str, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """A, B, C, D; a transfer function uses SciPy's coordinates, its highest derivatives."""
    if len(parts) == 4:
        return parts
    if len(parts) == 3:
        zeros, poles, gain = parts
        parts = (gain * ops.real(ops.poly(zeros)), ops.real(ops.poly(poles)))
    num, den = parts
    order = den.size - 1
    if num.size > order + 1:
        raise ValueError(f"{name}: the numerator has a higher degree than the denominator, so an input is differentiated")
    num, den = num / den[0], den[1:] / den[0]
    num = ops.concat([ops.zeros(order + 1 - num.size, dtype=num.dtype), num])
    if order == 0:
        nothing = ops.zeros((1, 1), dtype=num.dtype)
        return nothing, nothing, nothing, ops.reshape(num, (1, 1))
    A = ops.concat([-ops.expand_dims(den, 0), asarray(np.eye(order - 1, order, dtype=num.dtype))])
    B = asarray(np.eye(order, 1, dtype=num.dtype))
    return A, B, ops.expand_dims(num[1:] - num[0] * den, 0), ops.reshape(num[0], (1, 1))


def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True) -> tuple:
    """The output of a system of continuous time.

    Parameters
    ----------
    system : tuple
        As for `freqresp`; (A, B, C, D) may have several inputs and outputs.
    U : array_like or Tensor, shape (N,) or (N, inputs), or None
        The input at each time; None and 0 mean zero input.
    T : array_like, shape (N,)
        Times with equal steps, the first at least 0; they have no derivative.
    X0 : array_like or Tensor, optional
        The state at time 0; zeros by default.
    interp : bool
        Whether the input is linear between the times; else it keeps its value until the next.

    Returns
    -------
    T, yout, xout : Tensor
        The times, outputs and states at each, with derivatives in the system, `U` and `X0`; axes of length 1 are left out.

    Raises
    ------
    ValueError
        The times are not evenly spaced, a shape does not fit, or the numerator is of a higher degree than the denominator.
    RuntimeError
        `T` needs a derivative.

    References
    ----------
    C. F. Van Loan, "Computing Integrals Involving the Matrix Exponential", IEEE Trans. Automat. Contr. 23 (1978).
    """
    A, B, C, D = _states("lsim", _system("lsim", system))
    must_be_constant("lsim: T are times", [asarray(T)])
    times = np.atleast_1d(asarray(T).numpy())
    if times.ndim != 1 or not times.size or times[0] < 0:
        raise ValueError(f"lsim: T must be times in a row, from 0 or later, got the shape {times.shape} from {times.ravel()[:1]}")
    steps = np.diff(times)
    if steps.size and not np.allclose(steps, steps[0]):
        raise ValueError("lsim: T must have equal steps")
    states, inputs = B.shape
    if U is None or np.ndim(U) == 0 and not np.any(asarray(U).detach().numpy()):
        U = np.zeros((times.size, inputs), A.dtype)
    X0 = np.zeros(states, A.dtype) if X0 is None else X0
    A, B, C, D, U, x = numbers("lsim", A, B, C, D, U, X0)
    U = ops.reshape(U, (-1, 1)) if U.ndim < 2 else U
    if U.shape != (times.size, inputs) or x.shape != (states,):
        raise ValueError(f"lsim: U must have the shape {(times.size, inputs)} and X0 {(states,)}, got {U.shape} and {x.shape}")
    if times[0] > 0:  # without an input
        x = ops.matrix_exp(A * float(times[0])) @ x
    found = [x]
    if steps.size:
        step = float(steps[0])
        # The state, the input and its rise over a step are the state of a linear system without an input.
        below = np.eye(2 * inputs, states + 2 * inputs, states + inputs, dtype=A.dtype)
        above = [A * step, B * step, ops.zeros((states, inputs), dtype=A.dtype)]
        moved = ops.matrix_exp(ops.concat([ops.concat(above, 1), asarray(below)]))[:states]
        drive = U[:-1] @ ops.mT(moved[:, states : states + inputs])
        if interp:
            drive = drive + (U[1:] - U[:-1]) @ ops.mT(moved[:, states + inputs :])
        for i in range(steps.size):
            found.append(moved[:, :states] @ found[-1] + drive[i])
    xout = ops.stack(found)
    return asarray(times), ops.squeeze(xout @ ops.mT(C) + U @ ops.mT(D)), ops.squeeze(xout)
