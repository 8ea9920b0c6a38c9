"""NumPy expressions of compiled kernels without a Python counterpart, for programs that run without this library.

Python kernels that are longer than NumPy's call have an expression here too.  Defines the functions that
`gradspec.compiler.tracing` writes into such a program.  A kernel of a module `x_loops` has its expression in the module `x` if
that defines its name; the expressions of all other kernels are here.  A loop that may decline and leave its work to NumPy always
declines here.  The library itself does not call them.
"""

import math

import numpy as np

from .elementwise.complex_functions import complex_log1p, complex_logaddexp
from .indexing import indexing
from .loops.scipy_fallback import one_by_one, scipy_function
from .row_wise.moments import std, var
from .special_functions import scipy_backed

# Products.


def outer(a, b):
    return np.multiply.outer(np.ravel(a), np.ravel(b))


# Copies.


def copy_into(target, source):
    target[...] = source
    return target


def copy_of(x):
    return np.array(x, order="C")


def empty_like(x, dtype):
    return np.empty_like(x, dtype=dtype)


def empty_of(shape, x):
    return np.empty(shape, x.dtype)


def zeros_of(shape, x):
    return np.zeros(shape, x.dtype)


def full(shape, value, dtype):
    return np.full(shape, value, dtype)


def full_like(x, value, dtype):
    return np.full_like(x, value, dtype=dtype)


def tile(x, reps):
    return np.tile(x, reps)


def repeat(x, repeats, axis):
    return np.repeat(x, repeats, axis)


# Elementwise functions.


def clip(x, min, max):
    return np.clip(x, min, max)


def clip_(x, min, max):
    return np.clip(x, min, max, out=x)


def where(mask, a, b):
    return np.where(mask, a, b)


def power(a, b):
    return np.power(a, b)


def log1p(x):
    return complex_log1p(x) if np.iscomplexobj(x) else np.log1p(x)


def logaddexp(a, b):
    return complex_logaddexp(a, b) if np.iscomplexobj(a) or np.iscomplexobj(b) else np.logaddexp(a, b)


def sigmoid(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        small = np.exp(np.where(x.real < 0, x, -x))
        return np.where(x.real < 0, small, 1) / (1 + small)
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def sigmoid_slope(x):
    return _slope(x, 1, 1)


def tanh_slope(x):
    return _slope(x, 2, 4)


def _slope(x, scale, factor):
    """``factor * exp(-scale x) / (1 + exp(-scale x))**2``, on the side where nothing overflows."""
    small = np.exp(-scale * (np.where(np.real(x) < 0, np.negative(x), x) if np.iscomplexobj(x) else np.absolute(x)))
    return factor * small / np.square(1 + small)


def silu(x):
    return (x if np.iscomplexobj(x) else np.maximum(x, -1000)) * sigmoid(x)


def silu_slope(x):
    near = x if np.iscomplexobj(x) else np.clip(x, -1000, 1000)
    return sigmoid(x) * (1 + near * sigmoid(-near))


def erf(x):
    return settled(scipy_function("erf", one_by_one(math.erf))(x), x, 0)


def erfc(x):
    return settled(scipy_function("erfc", one_by_one(math.erfc))(x), x, 1)


def settled(y, x, complement):
    """`y`, with the limit where squaring a complex `x` subtracted equal infinities."""
    if y.dtype.kind != "c":
        return y
    limit = np.copysign(1, np.real(x))
    lost = np.isnan(y) & (np.abs(np.real(x)) == np.abs(np.imag(x))) & np.isfinite(x)
    return np.where(lost, 1 - limit if complement else limit, y)


def erfinv(x):
    return scipy_function("erfinv")(x)


def gelu(x, approximate):
    above = np.maximum(x, -50)  # below -50 the result is 0, also for -inf
    if approximate == "tanh":
        inner = np.minimum(above, 50)
        return above * sigmoid(math.sqrt(8 / math.pi) * inner * (1 + 0.044715 * np.square(inner)))
    return above * (erfc(-math.sqrt(0.5) * above) * 0.5)


def gelu_slope(x):
    near = np.clip(x, -50, 50)
    return erfc(-math.sqrt(0.5) * near) * 0.5 + near * np.exp(-0.5 * np.square(near)) * (1 / math.sqrt(2 * math.pi))


def lgamma(x):
    return scipy_backed.lgamma(x)


def polygamma(n, x):
    return scipy_backed.polygamma(n, x)


# Parts of arrays.


def getitem(x, index):
    y = indexing.getitem(x, index)
    return y if type(y) is np.ndarray else x[(*index, ...) if type(index) is tuple else (index, ...)]


def getitem_backward(x, index, shape):
    return indexing.getitem_backward(x, index, shape)


def index_put_backward(x, index, shape, accumulate=False):
    return indexing.index_put_backward(x, index, shape, accumulate)


def index_put(x, index, value, accumulate=False):
    return index_put_(np.array(x), index, value, accumulate)


def index_put_(x, index, value, accumulate=False):
    if type(value) is np.ndarray and np.may_share_memory(x, value):
        value = value.copy()
    return indexing.index_put_(x, index, value, accumulate)


def copy_(x, source):
    x[...] = source
    return x


def take(x, indices, axis):
    return np.take(x, indices, axis)


def stack(arrays, axis):
    return np.stack(arrays, axis)


def concatenate(arrays, axis):
    return np.concatenate(arrays, axis)


def unstack(x, axis):
    x = np.moveaxis(x, axis, 0)
    return [x[i, ...] for i in range(len(x))]


def concat_backward(x, shapes, axis):
    counts = [math.prod(shape) if axis is None else shape[axis] for shape in shapes]
    parts = np.split(x, np.cumsum(counts)[:-1], 0 if axis is None else axis) if counts else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


def broadcast_to(x, shape):
    return np.broadcast_to(x, shape)


def reshape(x, shape):
    return np.reshape(x, shape)


def expand_dims(x, axis):
    return np.expand_dims(x, axis)


# Matrices.


def matmul(a, b):
    return np.matmul(a, b)


def cholesky(x):
    return np.linalg.cholesky(x)


def det(x):
    return np.linalg.det(x)


def inv(x):
    return np.linalg.inv(x)


def slogdet(x):
    return np.linalg.slogdet(x)


def solve(a, b):
    return np.linalg.solve(a, b)


def solve_triangular(a, b, lower, unit_diagonal):
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = a - a * np.eye(a.shape[-1], dtype=a.dtype) + np.eye(a.shape[-1], dtype=a.dtype)
    return np.linalg.solve(a, b)


def tril(x, k):
    return np.tril(x, k)


def triu(x, k):
    return np.triu(x, k)


def lower_half(x):
    return (np.tril(x) + np.tril(x, -1)) / 2


def hermitian_part(x):
    return (x + np.conjugate(np.swapaxes(x, -1, -2))) / 2


def cholesky_backward(l, grad):  # noqa: E741
    adjoint = np.conjugate(np.swapaxes(l, -1, -2))
    half = hermitian_part(lower_half(adjoint @ grad))
    once = np.conjugate(np.swapaxes(solve_triangular(adjoint, half, False, False), -1, -2))
    return solve_triangular(adjoint, once, False, False)


# Along axes.


def sum_along(x, axis, keepdims):
    return np.sum(x, axis=axis, keepdims=keepdims)


def max_along(x, axis, keepdims):
    return np.max(x, axis=axis, keepdims=keepdims)


def min_along(x, axis, keepdims):
    return np.min(x, axis=axis, keepdims=keepdims)


def mean_along(x, axis, keepdims):
    return np.mean(x, axis=axis, keepdims=keepdims)


def prod(x, axis, keepdims):
    return np.prod(x, axis=axis, keepdims=keepdims)


def sum_to(x, shape):
    x = np.asarray(x)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    extra = x.ndim - len(shape)
    axes = tuple([i for i in range(x.ndim) if i < extra or shape[i - extra] == 1 != x.shape[i]])
    return np.asarray(sum_along(x, axes, True)).reshape(shape)


def std_mean(x, axis, correction, keepdims):
    return std(x, axis, correction, keepdims), mean_along(x, axis, keepdims)


def var_mean(x, axis, correction, keepdims):
    return var(x, axis, correction, keepdims), mean_along(x, axis, keepdims)


# Loops called by kernels in Python, which continue with NumPy if these do nothing.


def add_along(y, axis, indices, values):
    return False


def add_across(y, axis, indices, values):
    return False


def put_across(y, axis, indices, values):
    return False


def last_across(shape, axis, indices):
    return None


def joined_places(indices, lengths):
    return None


def take_across(x, axis, indices):
    return None


def select_along_rows(x, k, largest):
    return None


def add_products(x, weight, y, sought, stride, padding, dilation, groups):
    return False


def correlate(x, weights, bias, groups, inner, layout, parts, y, adds):
    return False


def gather_products(x, y, groups, inner, layout, parts, blocks):
    return False


def differences_weighted(weight, a, b, y):
    return False


def distances_direct(a, b, y):
    return False


# Loops without a fallback in their kernel.


def max_windows(x, first, last, step, y, indices):
    planes, numbers = np.arange(len(x)), np.arange(math.prod(x.shape[1:])).reshape(x.shape[1:])
    for place in np.ndindex(y.shape[1:]):
        window = tuple([slice(first[k, i], last[k, i], step[k]) for k, i in enumerate(place)])
        part = x[(slice(None), *window)].reshape(len(x), -1)
        highest = np.argmax(part, axis=1)
        y[(slice(None), *place)] = part[planes, highest]
        indices[(slice(None), *place)] = numbers[window].reshape(-1)[highest]


def weighted_sums(x, starts, places, weights, y):
    for i, (start, stop) in enumerate(zip(starts[:-1], starts[1:])):
        y[:, i] = np.tensordot(weights[start:stop], x[:, places[start:stop]], (0, 1)) if stop > start else 0
