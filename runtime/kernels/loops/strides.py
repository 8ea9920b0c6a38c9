"""Strided views of an array's memory, and their adjoints.

No other module depends on the positions of elements in memory.  A layout records these positions for an array; the layout can be
applied to another array of the same shape, whatever its order in memory, to select the corresponding elements.
"""

import math

import numpy as np

__all__ = [
    "as_strided", "as_strided_backward", "own_layout", "reshape", "view", "view_as_complex", "view_as_real", "windows",
    "windows_backward",
]  # fmt: skip


_FEWEST = 64  # elements per slice that make adding by slices faster than adding by positions


def own_layout(x):
    """The positions of the elements of `x` in its block of memory.

    Parameters
    ----------
    x : ndarray
        Its memory is one block.

    Returns
    -------
    ndarray of int
        The strides, in elements, and the position of the first element.
    """
    start = _memory(x)[1]
    if start % x.itemsize or any(step % x.itemsize for step in x.strides):
        raise ValueError("the array does not lie on multiples of its element's size")
    return np.array([*(step // x.itemsize for step in x.strides), start // x.itemsize], np.intp)


def as_strided(x, layout, shape, strides, offset):
    """The elements at the given strides and offset in the memory of an array of the given layout.

    Parameters
    ----------
    x : ndarray
    layout : sequence of int
        As own_layout returns it, for `x` or for an array of the same shape.
    shape, strides : tuple of int
        Strides are in elements.
    offset : int or None
        Position of the first element in memory, in elements; None for the position of the array's first element.

    Returns
    -------
    ndarray
        A view of `x` if it has that layout, or if strides can express one; else a copy.  Read-only if elements repeat.
    """
    if x.flags.forc and (view := _viewed(x, layout, shape, strides, offset)) is not None:
        return view
    places = _places(x.shape, layout, shape, strides, offset)
    view = _expressed(x, places) if places.size else x.reshape(-1)[:0].reshape(shape)
    return x.reshape(-1)[places] if view is None else view


def as_strided_backward(x, layout, shape, strides, offset):
    """The adjoint of as_strided: zeros of the given shape with `x` added at the positions that as_strided reads.

    Parameters
    ----------
    x : ndarray
    layout, strides, offset
        As in as_strided.
    shape : tuple of int

    Returns
    -------
    ndarray
    """
    y = np.zeros(shape, x.dtype)
    view = _viewed(y, layout, x.shape, strides, offset)
    if view is None or not _add_by_slices(view, x):
        np.add.at(y.reshape(-1), _places(shape, layout, x.shape, strides, offset), x)
    return y


def reshape(x, shape):
    """``np.reshape``, which takes ten times as long as the method."""
    return x.reshape(shape) if type(x) is np.ndarray else np.reshape(x, shape)


def view(x, shape):
    """``x.reshape(shape)``, refused if it would copy."""
    y = x.reshape(shape)
    if y.size and not np.may_share_memory(x, y):
        raise ValueError(f"an array of shape {x.shape} and strides {x.strides} has no view of shape {y.shape}; reshape() copies")
    return y


def view_as_complex(x):
    """Pairs of real numbers along the last axis as complex numbers, in the same memory.

    Parameters
    ----------
    x : ndarray
        Of shape ``(..., 2)``, the two numbers of a pair adjacent in memory.

    Returns
    -------
    ndarray
    """
    dtype = np.result_type(x.dtype, np.complex64)
    if x.dtype.kind != "f" or dtype.itemsize != 2 * x.itemsize:
        raise TypeError(f"pairs of {x.dtype} are not complex numbers")
    if x.shape[-1:] != (2,):
        raise ValueError(f"the last axis has to hold pairs, but the shape is {x.shape}")
    if x.strides[-1] != x.itemsize and x.size:
        raise ValueError("the numbers of a pair do not lie beside each other in memory; copy(), or x[..., 0] + 1j * x[..., 1]")
    return x.view(dtype if x.dtype.isnative else dtype.newbyteorder())[..., 0]


def view_as_real(x):
    """Real and imaginary parts along a new last axis, in the same memory.

    Parameters
    ----------
    x : ndarray of complex

    Returns
    -------
    ndarray
    """
    x = np.asarray(x)
    return x[..., None].view(x.real.dtype)


def windows(x, axis, size, step):
    """Sliding windows along an axis, with the elements of each window along a new last axis.

    Parameters
    ----------
    x : ndarray
    axis, size, step : int

    Returns
    -------
    ndarray
        A view of `x`, read-only if windows overlap.
    """
    axis = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
    if not 0 <= size <= x.shape[axis] or step < 1:
        raise ValueError(f"no windows of {size} elements, {step} apart, fit into the length {x.shape[axis]}")
    shape, strides = [*x.shape, size], [*x.strides, x.strides[axis]]
    shape[axis], strides[axis] = (shape[axis] - size) // step + 1, strides[axis] * step
    return _strided(x, shape, strides, 0)


def windows_backward(x, shape, axis, step):
    """The adjoint of windows: zeros of the given shape with each window added at its position.

    Parameters
    ----------
    x : ndarray
        The windows, their elements along the last axis.
    shape : tuple of int
    axis, step : int

    Returns
    -------
    ndarray
    """
    y = np.zeros(shape, x.dtype)
    axis = np.lib.array_utils.normalize_axis_index(axis, y.ndim)
    reach = step * (x.shape[axis] - 1) + 1
    for first in range(x.shape[-1]):
        y[(slice(None),) * axis + (slice(first, first + reach, step),)] += x[..., first]
    return y


def _memory(x):
    """The block of memory of `x`, as one axis, and the offset of the first element in bytes."""
    block = x
    while isinstance(block.base, np.ndarray):
        block = block.base
    block = block.transpose(sorted(range(block.ndim), key=lambda axis: -block.strides[axis]))
    if not block.flags.c_contiguous:
        raise ValueError("the memory of the array is not one block; copy() makes one of it")
    return block.reshape(-1), _address(x) - _address(block)


def _address(x):
    return x.__array_interface__["data"][0]


def _positions(shape, strides, first):
    """The positions of the elements."""
    found = np.full(shape, first, np.intp)
    for axis, (n, step) in enumerate(zip(shape, strides)):
        found += (np.arange(n) * step).reshape((-1,) + (1,) * (len(shape) - 1 - axis))
    return found


def _span(shape, strides, first):
    """The lowest and the highest position."""
    ends = [(n - 1) * step for n, step in zip(shape, strides)]
    return first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends)


def _places(x_shape, layout, shape, strides, offset):
    """For each element of the view, the index of the array's element, in C order; refused if no element is at its position."""
    *steps, first = np.asarray(layout).tolist()
    if len(steps) != len(x_shape):
        raise ValueError(f"layout {layout} is not one of {len(x_shape)} axes")
    if len(shape) != len(strides):
        raise ValueError(f"{len(shape)} lengths in shape, but {len(strides)} strides")
    if any(n < 0 for n in shape):
        raise ValueError(f"a length is negative: {shape}")
    if 0 in shape:
        return np.zeros(shape, np.intp)
    start = first if offset is None else offset
    outside = ValueError(f"shape {shape}, strides {strides} and offset {offset} leave the array")
    if 0 in x_shape:
        raise outside
    low, high = _span(x_shape, steps, first)
    bottom, top = _span(shape, strides, start)
    if bottom < low or top > high:
        raise outside
    numbers = np.full(high - low + 1, -1, np.intp)
    numbers[_positions(x_shape, steps, first - low)] = np.arange(math.prod(x_shape)).reshape(x_shape)
    if np.count_nonzero(numbers >= 0) != math.prod(x_shape):
        raise ValueError("the array has several elements in one place; copy() gives each its own")
    places = numbers[_positions(shape, strides, start - low)]
    if places.min() < 0:  # the array has gaps
        raise outside
    return places


def _viewed(x, layout, shape, strides, offset):
    """The view of an `x` without gaps if the layout is that of `x`; None if it is not, or if the view leaves the array."""
    try:
        own = own_layout(x).tolist()
    except ValueError:
        return None
    start = own[-1] if offset is None else offset
    if own != list(layout) or len(shape) != len(strides) or min(shape, default=1) < 1 or not x.size:
        return None
    bottom, top = _span(shape, strides, start)
    if bottom < own[-1] or top >= own[-1] + x.size:
        return None
    return _strided(x, shape, [step * x.itemsize for step in strides], (start - own[-1]) * x.itemsize)


def _strided(x, shape, strides, offset):
    """A view of the memory of x; strides and offset are in bytes, from the first element of `x`."""
    memory, start = _memory(x)
    y = np.ndarray(shape, x.dtype, memory, start + offset, tuple(strides))
    y.flags.writeable = x.flags.writeable and not _repeats(y)
    return y


def _repeats(x):
    """Whether two elements of an array share a position: writing to one would change the other.

    They do not if each step exceeds the reach of all smaller steps.  They do if multiples of the steps along two axes within
    their lengths coincide.  In all other cases the positions are compared.
    """
    axes, reach, apart = sorted((abs(step), n) for step, n in zip(x.strides, x.shape) if n > 1), 0, True
    for step, n in axes:
        apart = apart and step > reach
        reach += step * (n - 1)
    if apart or not x.size:
        return False
    for place, (step, n) in enumerate(axes):
        for other, m in axes[:place]:
            common = math.gcd(step, other)
            if not other or step // common < m and other // common < n:
                return True
    return np.unique(_positions(x.shape, x.strides, 0)).size < x.size


def _add_by_slices(view, x):
    """Add to a view by slices without shared positions; False if there would be too many slices."""
    view.flags.writeable = True
    order = sorted(range(x.ndim), key=lambda axis: x.shape[axis])
    for count in range(x.ndim + 1):
        looped = order[:count]
        index = tuple([0 if axis in looped else slice(None) for axis in range(x.ndim)])
        if _repeats(view[(*index, ...)]):
            continue
        slices = math.prod(x.shape[axis] for axis in looped)
        if slices * _FEWEST > x.size and slices > 1:
            return False
        for place in np.ndindex(*[x.shape[axis] for axis in looped]):
            at = dict(zip(looped, place))
            part = (*[at.get(axis, slice(None)) for axis in range(x.ndim)], ...)
            view[part] += x[part]
        return True
    return False


def _expressed(x, places):
    """The view of `x` whose elements have the given indices in C order; None if strides cannot express it."""
    try:
        _memory(x)
    except ValueError:
        return None
    corner = np.array(np.unravel_index(places.flat[0], x.shape), np.intp)
    steps = np.array(x.strides, np.intp)
    first = int(corner @ steps)
    strides = []
    for axis, n in enumerate(places.shape):
        second = places[(0,) * axis + (min(1, n - 1),) + (0,) * (places.ndim - 1 - axis)]
        strides.append(int(np.array(np.unravel_index(second, x.shape), np.intp) @ steps) - first)
    found = _positions(places.shape, strides, first)
    if not np.array_equal(found, _positions(x.shape, x.strides, 0).reshape(-1)[places]):
        return None
    return _strided(x, places.shape, strides, first)
