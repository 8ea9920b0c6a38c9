"""The matrix exponential and its derivative along a direction, by Padé approximation, scaling and squaring.

Computes both for stacks of matrices: a matrix and a direction are multiplied and divided together, as dual numbers are, so that
one formula serves both.  The products are NumPy's.  Does not depend on autograd.
"""

import math

import numpy as np

from .matmul import matmul
from .solve_det_cholesky import solve

__all__ = ["matrix_exp", "matrix_exp_along"]

# The largest norm that keeps an approximation of each order exact to rounding, derivative included.
_REACH = {np.float64: {3: 1.08e-2, 5: 0.2, 7: 0.783, 13: 4.25}, np.float32: {3: 0.36, 5: 1.6, 7: 3.6}}


def matrix_exp(x):
    """Exponential of square matrices."""
    return _of_stacks(x)


def matrix_exp_along(x, direction):
    """The derivative of the exponential of square matrices along a direction.

    Parameters
    ----------
    x, direction : (..., n, n) ndarray

    Returns
    -------
    ndarray
    """
    return _of_stacks(*np.broadcast_arrays(x, direction))


def _of_stacks(*parts):
    """The last of the parts of the exponential, for stacks of any shape and dtype."""
    shape = np.shape(parts[0])
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise np.linalg.LinAlgError(f"the last two axes must be of one length, the shape is {shape}")
    dtype = np.result_type(*parts)
    dtype = np.result_type(dtype.newbyteorder("=") if dtype.kind in "fc" else np.float64, np.float32)
    if not math.prod(shape):
        return np.empty(shape, dtype)
    x = np.array([np.reshape(part, (-1, *shape[-2:])) for part in parts], dtype)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        return _exponential(x).reshape(shape)


def _exponential(x):
    """The last of the parts of the exponential; `x` contains the matrices, followed by their directions if there are any."""
    reach = _REACH[np.finfo(x.dtype).dtype.type]
    norm = _norm(x)
    most = norm[0].max()
    order = next((order for order, limit in reach.items() if most <= limit), max(reach))
    size = np.frexp(norm)[1]  # scaling by this power of two brings each part to a norm below 1, without rounding
    powers = [None, _scaled(x, -size)]
    powers.append(_product(powers[1], powers[1]))
    for _ in range(4, min(order, 7), 2):
        powers.append(_product(powers[2], powers[-1]))
    halvings = _halvings(powers, norm[0], size[0], order, reach[order]) if order == max(reach) else np.zeros(len(size[0]), int)
    powers[1:] = (_scaled(power, (size[0] - halvings) * (2 * i or 1)) for i, power in enumerate(powers[1:]))
    even, odd = _even_and_odd(powers, order)
    odd = _product(powers[1], odd)
    return _scaled(_squared(_quotient(even - odd, even + odd), x[0], halvings), size - size[0])[-1]


def _squared(y, x, halvings):
    """Square the approximation for each matrix as many times as the matrix was halved.

    The diagonal of a triangular matrix is recomputed exactly after each step, which keeps the other elements accurate.
    """
    rounds, n = halvings.max(), x.shape[-1]
    triangular = (x[:, 0, -1] == 0) | (x[:, -1, 0] == 0) | (n == 1)
    if some := triangular.any():
        triangular &= ~(np.tril(x, -1).any((-2, -1)) & np.triu(x, 1).any((-2, -1)))
    places = np.arange(n)
    for left in range(rounds, -1, -1):  # matrices halved fewer times start later, and all end together
        if (now := halvings > left).all():
            y = _product(y, y)
        elif now.any():
            y[:, now] = _product(y[:, now], y[:, now])
        if some and (exact := triangular & (halvings >= left)).any():
            y[0, exact.nonzero()[0][:, None], places, places] = np.exp(x[exact][:, places, places] * 0.5**left)
    return y


def _even_and_odd(powers, order):
    """The even powers of the Padé numerator, and the odd ones divided by the matrix."""
    b = [1.0]
    for j in range(order):
        b.append(b[-1] * (order - j) / ((2 * order - j) * (j + 1)))
    sums = []
    for first in (0, 1):
        y = sum(b[first + 2 * i] * power for i, power in enumerate(powers[2:5], 1) if first + 2 * i <= order)
        if order > 7:
            y += _product(powers[4], sum(b[first + 6 + 2 * i] * power for i, power in enumerate(powers[2:], 1)))
        np.einsum("...ii->...i", y[0])[...] += b[first]
        sums.append(y)
    return sums


def _halvings(powers, norm, size, order, reach):
    """The number of halvings: Al-Mohy and Higham (2009), A new scaling and squaring algorithm for the matrix exponential.

    Powers of a matrix may be much smaller than the powers of its norm; halving more than they require costs digits.
    """
    fourth, sixth = (_norm(powers[i][0]) ** (1 / (2 * i - 2)) for i in (3, 4))
    halvings = _above(np.ldexp(np.maximum(fourth, sixth), size) / reach)
    doubtful = np.ldexp(norm, -halvings) > reach
    if doubtful.any():
        epsilon = float(np.finfo(norm.dtype).eps) / 2
        factor = math.factorial(order) ** 2 / (math.factorial(2 * order) * math.factorial(2 * order + 1))
        moduli = _scaled(np.abs(powers[1][0]), size - halvings)
        columns = moduli.sum(-2, keepdims=True)
        first = columns.max((-2, -1))
        for _ in range(2 * order):
            columns = matmul(columns, moduli)
        halvings += np.where(doubtful, _above((factor / epsilon * columns.max((-2, -1)) / first) ** (1 / (2 * order))), 0)
    return np.maximum(halvings, size - np.finfo(norm.dtype).maxexp // 7)  # so that no power of 2 overflows


def _above(x):
    """The least integer n >= 0 with 2**n >= `x`; 0 if `x` is NaN."""
    return np.where(np.isfinite(x), np.maximum(np.ceil(np.log2(x)), 0), 0).astype(int)


def _norm(x):
    return np.abs(x).sum(-2).max(-1)


def _scaled(x, exponent):
    """Matrices times a power of 2, one for each."""
    return x * np.ldexp(np.ones((), x.real.dtype), exponent)[..., None, None]


def _product(a, b):
    value = matmul(a[0], b[0])
    return value[None] if len(a) == 1 else np.array([value, matmul(a[0], b[1]) + matmul(a[1], b[0])])


def _quotient(a, b):
    """``inv(a) @ b``."""
    value = solve(a[0], b[0])
    return value[None] if len(a) == 1 else np.array([value, solve(a[0], b[1] - matmul(a[1], value))])
