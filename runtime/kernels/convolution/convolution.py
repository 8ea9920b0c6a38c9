"""Convolutions with any number of axes as matrix products, and the patches that they multiply.

Arrays are (batch, channels, ...) or (channels, ...); weights are (channels out, channels in of a group, ...).  Chooses the
method: with few places a block of examples is one matrix product, with many places each example is one.  For float32 and float64
many places are left to `convolution_loops`, whose tables are built here, and few products to `convolution_few`.
"""

import functools
import itertools
import math

import numpy as np

from . import convolution_loops as direct
from .convolution_few import add_products

__all__ = ["convolve", "convolve_input", "convolve_weight", "fold", "unfold"]

_BLOCK = 1 << 21  # bytes of patches built at a time: the size of a core's cache
_MOST_PARTS = 64  # limit of the parts into which strides may split a result
_MOST_BLOCKS = 8  # blocks of examples with separate sums
_MANY = 128  # places that make one product per example as fast as one for several examples
_LITTLE = 1 << 20  # limit of products below which building patches costs more than multiplying
_FEW = 1 << 13  # limit of products below which building tables does, too


def convolve(x, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation: at each place of the kernel, the sum of the elements under it times its weights.

    Parameters
    ----------
    x : ndarray
        (batch, channels, ...) or (channels, ...).
    weight : ndarray
        (channels out, channels in / groups, ...).
    bias : ndarray or None
        One number for each channel of the result.
    stride, padding, dilation : tuple of int
        One number for each axis after the channels.
    groups : int

    Returns
    -------
    ndarray
    """
    stride, padding, dilation = map(tuple, (stride, padding, dilation))
    x, batched = _batched(x, len(stride), "x")
    sizes = output_sizes(x.shape[2:], _kernel(weight, len(stride)), stride, padding, dilation)
    outer, inner = _grouped(weight.shape, groups)
    if x.shape[1] != inner * groups:
        raise ValueError(f"weight is for {inner * groups} channels, x has {x.shape[1]}")
    if bias is not None and bias.shape != (outer,):
        raise ValueError(f"bias must be of shape ({outer},), got {bias.shape}")
    dtype = np.result_type(x, weight) if bias is None else np.result_type(x, weight, bias)
    places = math.prod(sizes)
    shifted, few = _ways(len(x), weight.size, places, dtype)
    if few:
        y = np.zeros((len(x), outer, *sizes), dtype)
        if bias is not None:
            y += bias.reshape(-1, *(1,) * len(sizes))
        if add_products(x, weight, y, 0, stride, padding, dilation, groups):
            return y if batched else y[0]
    x = x.astype(dtype, copy=False)
    rows = weight.astype(dtype, copy=False).reshape(groups, outer // groups, inner * math.prod(weight.shape[2:]))
    y = np.empty((len(x), outer, places), dtype)
    if shifted:
        layout, parts = _forward_tables(inner, x.shape[2:], weight.shape[2:], sizes, stride, padding, dilation)
        arrays = np.require(x, dtype, "CA"), [np.require(rows, dtype, "CA")]
        offset = None if bias is None else np.require(bias, dtype, "CA")
        if direct.correlate(*arrays, offset, groups, outer // groups, layout, parts, y, False):
            y = y.reshape(len(x), outer, *sizes)
            return y if batched else y[0]
    for block, patches in _blocks(x, weight.shape[2:], sizes, stride, padding, dilation):
        found = y[block].reshape(len(patches), groups, outer // groups, places)
        if places >= _MANY:
            np.matmul(rows, _apart(patches, groups, places), out=found)
        else:
            product = rows @ _merged(patches, groups, places)
            found[...] = product.reshape(groups, outer // groups, len(patches), places).transpose(2, 0, 1, 3)
        if bias is not None:
            y[block] += bias[:, None]
    y = y.reshape(len(x), outer, *sizes)
    return y if batched else y[0]


def convolve_input(x, weight, shape, stride, padding, dilation, groups):
    """The adjoint of convolve with respect to its input.

    Parameters
    ----------
    x : ndarray
        Of the shape of the result.
    shape : tuple of int
        Of the input.
    weight, stride, padding, dilation, groups
        As in convolve.

    Returns
    -------
    ndarray
    """
    stride, padding, dilation = map(tuple, (stride, padding, dilation))
    x, batched = _batched(x, len(stride), "x")
    kernel = _kernel(weight, len(stride))
    outer, inner = _grouped(weight.shape, groups)
    length = shape[-len(stride) :]
    sizes = output_sizes(tuple(length), kernel, stride, padding, dilation)
    if x.shape[1:] != (outer, *sizes):
        raise ValueError(f"x is of shape {x.shape}, weight makes {outer} channels of {sizes}")
    dtype, places = np.result_type(x, weight), math.prod(sizes)
    shifted, few = _ways(len(x), weight.size, places, dtype)
    if few:
        y = np.zeros((len(x), groups * inner, *length), dtype)
        if add_products(y, weight, x, 1, stride, padding, dilation, groups):
            return y if batched else y[0]
    if shifted and math.prod(stride) <= _MOST_PARTS:
        y = _convolve_input(x.astype(dtype, copy=False), weight, length, sizes, stride, padding, dilation, groups)
        if y is not None:
            return y if batched else y[0]
    columns = weight.astype(dtype, copy=False).reshape(groups, outer // groups, inner * math.prod(kernel)).transpose(0, 2, 1)
    x = x.astype(dtype, copy=False).reshape(len(x), groups, outer // groups, places)
    y = np.zeros((len(x), groups, inner, *(n + 2 * p for n, p in zip(length, padding))), dtype)
    step = _step(inner * groups * math.prod(kernel) * places * dtype.itemsize, len(x))
    for start in range(0, len(x), step):
        part = x[start : start + step]
        if places >= _MANY:
            patches = (columns @ part).reshape(len(part), groups, inner, *kernel, *sizes)
        else:
            merged = part.transpose(1, 2, 0, 3).reshape(groups, outer // groups, len(part) * places)
            patches = np.moveaxis((columns @ merged).reshape(groups, inner, *kernel, len(part), *sizes), len(kernel) + 2, 0)
        _add_patches(y[start : start + step], patches, kernel, sizes, stride, dilation)
    y = y.reshape(len(x), groups * inner, *y.shape[3:])
    y = _inside(y, length, padding)
    return y if batched else y[0]


def convolve_weight(grad, x, shape, stride, padding, dilation, groups):
    """The adjoint of convolve with respect to its weight.

    Parameters
    ----------
    grad : ndarray
        Of the shape of the result.
    x : ndarray
        As in convolve.
    shape : tuple of int
        Of the weight.
    stride, padding, dilation, groups
        As in convolve.

    Returns
    -------
    ndarray
    """
    stride, padding, dilation = map(tuple, (stride, padding, dilation))
    x, _ = _batched(x, len(stride), "x")
    grad, _ = _batched(grad, len(stride), "grad")
    outer, inner = _grouped(shape, groups)
    sizes = output_sizes(x.shape[2:], tuple(shape[2:]), stride, padding, dilation)
    if grad.shape != (len(x), outer, *sizes) or x.shape[1] != inner * groups:
        raise ValueError(f"a weight of shape {shape} makes no {grad.shape} of {x.shape}")
    dtype, places = np.result_type(grad, x), math.prod(sizes)
    shifted, few = _ways(len(x), math.prod(shape), places, dtype)
    if few:
        y = np.zeros(shape, dtype)
        if add_products(x, y, grad, 2, stride, padding, dilation, groups):
            return y
    x, grad = x.astype(dtype, copy=False), grad.astype(dtype, copy=False)
    if shifted:
        layout, parts = _forward_tables(inner, x.shape[2:], tuple(shape[2:]), sizes, stride, padding, dilation)
        blocks = np.zeros((min(_MOST_BLOCKS, len(x)), groups, outer // groups, inner * math.prod(shape[2:])), dtype)
        arrays = np.require(x, dtype, "CA"), np.require(grad, dtype, "CA")
        if direct.gather_products(*arrays, groups, outer // groups, layout, parts, blocks):
            return np.add.reduce(blocks).reshape(shape)
    y = np.zeros((groups, outer // groups, inner * math.prod(shape[2:])), dtype)
    for block, patches in _blocks(x, shape[2:], sizes, stride, padding, dilation):
        left = grad[block].reshape(len(patches), groups, outer // groups, places).transpose(1, 2, 0, 3)
        left = left.reshape(groups, outer // groups, len(patches) * places)
        y += left @ _merged(patches, groups, places).transpose(0, 2, 1)
    return y.reshape(shape)


def fold(x, size, kernel, dilation, padding, stride):
    """The adjoint of unfold: each column of `x` added at the places that unfold reads for it.

    Parameters
    ----------
    x : ndarray
        (batch, channels * elements of the kernel, places), or without the batch axis.
    size, kernel, dilation, padding, stride : tuple of int

    Returns
    -------
    ndarray
        (batch, channels, *size)
    """
    x, batched = _batched(x, 1, "x")
    size, kernel, stride, padding, dilation = map(tuple, (size, kernel, stride, padding, dilation))
    sizes = output_sizes(size, kernel, stride, padding, dilation)
    if x.shape[1] % math.prod(kernel) or x.shape[2] != math.prod(sizes):
        raise ValueError(f"x is of shape {x.shape}; a kernel of {kernel} stands in {sizes} places of {size}")
    patches = x.reshape(len(x), x.shape[1] // math.prod(kernel), *kernel, *sizes)
    y = np.zeros((*patches.shape[:2], *(n + 2 * p for n, p in zip(size, padding))), x.dtype)
    _add_patches(y, patches, kernel, sizes, stride, dilation)
    y = _inside(y, size, padding)
    return y if batched else y[0]


def unfold(x, kernel, dilation, padding, stride):
    """The elements under the kernel, one column for each place of the kernel.

    Parameters
    ----------
    x : ndarray
        (batch, channels, ...), or without the batch axis.
    kernel, dilation, padding, stride : tuple of int

    Returns
    -------
    ndarray
        (batch, channels * elements of the kernel, places)
    """
    kernel, stride, padding, dilation = map(tuple, (kernel, stride, padding, dilation))
    x, batched = _batched(x, len(kernel), "x")
    sizes = output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    y = np.array(_patches(_padded(x, padding), kernel, sizes, stride, dilation), order="C")
    y = y.reshape(len(x), x.shape[1] * math.prod(kernel), math.prod(sizes))
    return y if batched else y[0]


@functools.lru_cache(512)
def output_sizes(lengths, kernel, stride, padding, dilation):
    """The number of places of the kernel along each axis."""
    for name, values, least in (("kernel", kernel, 1), ("stride", stride, 1), ("dilation", dilation, 1), ("padding", padding, 0)):
        if len(values) != len(lengths):
            raise ValueError(f"{name} has {len(values)} numbers for {len(lengths)} axes: {tuple(values)}")
        if min(values) < least:
            raise ValueError(f"{name} must be at least {least}, got {tuple(values)}")
        if max(values) > 2**31:
            raise ValueError(f"{name} is too large: {tuple(values)}")
    sizes = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(lengths, kernel, stride, padding, dilation))
    if min(sizes) < 1:
        raise ValueError(f"a kernel of {tuple(kernel)}, dilation {tuple(dilation)}, does not fit into {tuple(lengths)}, "
                         f"padding {tuple(padding)}")  # fmt: skip
    return sizes


def _ways(examples, weights, places, dtype):
    """Whether loops over shifted images are faster than products of patches, and loops over single products faster than both."""
    products = examples * weights * places if dtype.char in "fd" else 0
    return products > 0 and (places >= _MANY or products <= _LITTLE), 0 < products <= _FEW


def _convolve_input(x, weight, length, sizes, stride, padding, dilation, groups):
    """convolve_input without patches; None if that is not possible."""
    outer, inner = weight.shape[0] // groups, weight.shape[1]
    layout, parts, taps = _input_tables(outer, tuple(length), weight.shape[2:], sizes, stride, padding, dilation)
    columns = weight.reshape(groups, outer, inner, -1).transpose(0, 2, 1, 3)
    weights = [np.array(columns[..., tap], x.dtype, order="C").reshape(groups, inner, -1) for tap in taps]
    covered = sum(math.prod(grid) for *_, grid in parts) == math.prod(length)
    y = (np.empty if covered else np.zeros)((len(x), groups * inner, *length), x.dtype)
    if not parts:  # the kernel covers nothing but padding
        return y
    done = direct.correlate(np.require(x, None, "CA"), weights, None, groups, inner, layout, parts, y, True)
    return y if done else None


def _in_three(*values):
    """Tuples of one number for each axis, padded in front to three."""
    return [(fill,) * (3 - len(value)) + tuple(value) for fill, value in values]


def _offsets(channels, image, dims, phases, places):
    """Offsets of each product's operand in an image of several channels: `places` are (phase, row) along each axis."""
    taps = []
    for a, b, c in itertools.product(*places):
        phase = (a[0] * phases[1] + b[0]) * phases[2] + c[0]
        taps.append(phase * math.prod(dims) + (a[1] * dims[1] + b[1]) * dims[2] + c[1])
    found = (np.arange(channels, dtype=np.intp)[:, None] * image + np.array(taps, np.intp)).reshape(-1)
    found.flags.writeable = False
    return found


@functools.lru_cache(128)
def _forward_tables(channels, lengths, kernel, sizes, stride, padding, dilation):
    """The layout and the only part of a result of convolve."""
    lengths, kernel, sizes, stride, padding, dilation = _in_three(
        (1, lengths), (1, kernel), (1, sizes), (1, stride), (0, padding), (1, dilation))  # fmt: skip
    dims = tuple(-(-((n - 1) * s + d * (k - 1) + 1) // s) for n, s, d, k in zip(sizes, stride, dilation, kernel))
    places = [[(t * d % s, t * d // s) for t in range(k)] for k, d, s in zip(kernel, dilation, stride)]
    offsets = _offsets(channels, math.prod(stride) * math.prod(dims), dims, stride, places)
    return (lengths, padding, stride, dims, sizes), [(offsets, (0, 0, 0), (1, 1, 1), sizes)]


@functools.lru_cache(128)
def _input_tables(channels, lengths, kernel, sizes, stride, padding, dilation):
    """The same for convolve_input: one part for each residue of the stride, and the elements of the kernel for each part."""
    lengths, kernel, sizes, stride, padding, dilation = _in_three(
        (1, lengths), (1, kernel), (1, sizes), (1, stride), (0, padding), (1, dilation))  # fmt: skip
    axes, low, dims = [], [], []
    for n, k, s, p, d in zip(lengths, kernel, stride, padding, dilation):
        # Element r + s * m of the input met element t of the kernel at place m + (r + p - t * d) / s, if that is an integer.
        met = [[(t, (r + p - t * d) // s) for t in range(k) if (r + p - t * d) % s == 0] for r in range(min(s, n))]
        low.append(max([0, *(-e for taps in met for _, e in taps)]))
        axes.append([(r, -(-(n - r) // s), [(t, e + low[-1]) for t, e in taps]) for r, taps in enumerate(met) if taps])
        dims.append(max((m - 1 + e + 1 for _, m, taps in axes[-1] for _, e in taps), default=1))
    parts, kernels = [], []
    for part in itertools.product(*axes):
        start, grid, taps = zip(*part)
        offsets = _offsets(channels, math.prod(dims), dims, (1, 1, 1), [[(0, e) for _, e in some] for some in taps])
        parts.append((offsets, start, stride, grid))
        kernels.append([(a * kernel[1] + b) * kernel[2] + c for (a, _), (b, _), (c, _) in itertools.product(*taps)])
    return (sizes, tuple(low), (1, 1, 1), tuple(dims), lengths), parts, kernels


def _batched(x, spatial, name):
    """The array with a batch axis, and whether it had one."""
    if x.ndim not in (spatial + 1, spatial + 2):
        raise ValueError(f"{name} must have {spatial + 1} or {spatial + 2} axes, got {x.ndim}")
    return (x, True) if x.ndim == spatial + 2 else (x[None], False)


def _kernel(weight, spatial):
    if weight.ndim != spatial + 2:
        raise ValueError(f"weight must have {spatial + 2} axes, got {weight.ndim}")
    return weight.shape[2:]


def _grouped(shape, groups):
    """The channels of the result, and the channels of the input that each of them uses."""
    if groups < 1 or shape[0] % groups:
        raise ValueError(f"groups must divide the {shape[0]} channels, got {groups}")
    return shape[:2]


def _padded(x, padding):
    if not any(padding):
        return x
    y = np.zeros((*x.shape[:2], *(n + 2 * p for n, p in zip(x.shape[2:], padding))), x.dtype)
    y[(..., *(slice(p, p + n) for n, p in zip(x.shape[2:], padding)))] = x
    return y


def _inside(y, lengths, padding):
    """The array without its padding, as a copy."""
    if not any(padding):
        return y
    return y[(..., *(slice(p, p + n) for n, p in zip(lengths, padding)))].copy()


def _patches(x, kernel, sizes, stride, dilation):
    """A view (batch, channels, *kernel, *places) of a padded array."""
    steps = x.strides[2:]
    strides = (*x.strides[:2], *(d * s for d, s in zip(dilation, steps)), *(n * s for n, s in zip(stride, steps)))
    return np.lib.stride_tricks.as_strided(x, (*x.shape[:2], *kernel, *sizes), strides, writeable=False)


def _blocks(x, kernel, sizes, stride, padding, dilation):
    """Blocks of examples with their patches; the elements themselves if the kernel has one element."""
    if math.prod(kernel) == 1 and not any(padding) and max(stride) == 1:
        yield slice(None), x.reshape(*x.shape[:2], *kernel, *sizes)
        return
    step = _step(x.shape[1] * math.prod(kernel) * math.prod(sizes) * x.itemsize, len(x))
    for start in range(0, len(x), step):
        block = slice(start, start + step)
        yield block, _patches(_padded(x[block], padding), kernel, sizes, stride, dilation)


def _apart(patches, groups, places):
    """(batch, groups, elements under a kernel, places)"""
    spatial = patches.ndim // 2 - 1
    elements = math.prod(patches.shape[1 : 2 + spatial]) // groups
    return patches.reshape(len(patches), groups, elements, places)


def _merged(patches, groups, places):
    """(groups, elements under a kernel, batch * places), in one copy."""
    spatial = patches.ndim // 2 - 1
    elements = math.prod(patches.shape[1 : 2 + spatial]) // groups
    split = patches.reshape(len(patches), groups, patches.shape[1] // groups, *patches.shape[2:])
    return np.moveaxis(split, 0, spatial + 2).reshape(groups, elements, len(patches) * places)


def _step(size, examples):
    """The number of examples in a block; each has `size` bytes."""
    return max(1, min(_BLOCK // max(size, 1), examples))


def _add_patches(y, patches, kernel, sizes, stride, dilation):
    """Add patches at the positions they were taken from, one element of the kernel after the other."""
    lead = (slice(None),) * (patches.ndim - 2 * len(kernel))
    for place in np.ndindex(*kernel):
        target = (..., *(slice(k * d, k * d + n * s, s) for k, d, n, s in zip(place, dilation, sizes, stride)))
        y[target] += patches[(*lead, *place)]
