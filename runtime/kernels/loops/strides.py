"""Views by strides: an array's elements where they lie in memory, and the way back from what was read there.

No other module knows where elements lie in memory.  A layout records the places of an array's elements; another array of the
same shape, in any order in memory, gives the elements at the same places.
"""

import math

import numpy as np

__all__ = [
    "as_strided", "as_strided_backward", "own_layout", "view", "view_as_complex", "view_as_real", "windows", "windows_backward",
]  # fmt: skip


_FEWEST = 64  # elements of a slice from which an addition by slices is quicker than one by places


def own_layout(x):
    """Where the elements of `x` stand in the memory that it lies in.

    Parameters
    ----------
    x : ndarray
        In memory that is one block.

    Returns
    -------
    ndarray of int
        The strides in elements, and the place of the first element.
    """
    start = _memory(x)[1]
    if start % x.itemsize or any(step % x.itemsize for step in x.strides):
        raise ValueError("the array does not lie on multiples of its element's size")
    return np.array([*(step // x.itemsize for step in x.strides), start // x.itemsize], np.intp)


def as_strided(x, layout, shape, strides, offset):
    """The elements that stand at the given strides and offset in the memory of an array of the given layout.

    Parameters
    ----------
    x : ndarray
    layout : sequence of int
        As own_layout gives it, of `x` itself or of an array of the same shape.
    shape, strides : tuple of int
        Strides count elements.
    offset : int or None
        Where the first element stands in memory, in elements; where that of the array stands when it is None.

    Returns
    -------
    ndarray
        A view of `x` if it has that layout, or where strides express one; a copy otherwise.  Read-only where elements repeat.
    """
    if x.flags.forc and (view := _viewed(x, layout, shape, strides, offset)) is not None:
        return view
    places = _places(x.shape, layout, shape, strides, offset)
    view = _expressed(x, places) if places.size else x.reshape(-1)[:0].reshape(shape)
    return x.reshape(-1)[places] if view is None else view


def as_strided_backward(x, layout, shape, strides, offset):
    """Zeros of the given shape with `x` added where as_strided takes its elements from.

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


def view(x, shape):
    """``x.reshape(shape)``, refused where that would be a copy.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int

    Returns
    -------
    ndarray
    """
    y = x.reshape(shape)
    if y.size and not np.may_share_memory(x, y):
        raise ValueError(f"an array of shape {x.shape} and strides {x.strides} has no view of shape {y.shape}; reshape() copies")
    return y


def view_as_complex(x):
    """The pairs of real numbers along the last axis as complex ones, in the same memory.

    Parameters
    ----------
    x : ndarray
        Of shape ``(..., 2)``, the two numbers of a pair beside each other in memory.

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
    """Real and imaginary part along a new last axis, in the same memory.

    Parameters
    ----------
    x : ndarray of complex

    Returns
    -------
    ndarray
    """
    return x[..., None].view(x.real.dtype)


def windows(x, axis, size, step):
    """What windows along an axis show, as a last axis.

    Parameters
    ----------
    x : ndarray
    axis, size, step : int

    Returns
    -------
    ndarray
        A view of `x`, read-only where windows overlap.
    """
    axis = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
    if not 0 <= size <= x.shape[axis] or step < 1:
        raise ValueError(f"no windows of {size} elements, {step} apart, fit into the length {x.shape[axis]}")
    shape, strides = [*x.shape, size], [*x.strides, x.strides[axis]]
    shape[axis], strides[axis] = (shape[axis] - size) // step + 1, strides[axis] * step
    return _strided(x, shape, strides, 0)


def windows_backward(x, shape, axis, step):
    """Zeros of the given shape with each window added where it stands.

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
    """The block of memory that `x` lies in, as one axis, and how many bytes into it the first element stands."""
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
    """Where the elements stand."""
    found = np.full(shape, first, np.intp)
    for axis, (n, step) in enumerate(zip(shape, strides)):
        found += (np.arange(n) * step).reshape((-1,) + (1,) * (len(shape) - 1 - axis))
    return found


def _span(shape, strides, first):
    """The lowest position and the highest."""
    ends = [(n - 1) * step for n, step in zip(shape, strides)]
    return first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends)


def _places(x_shape, layout, shape, strides, offset):
    """For each element of the view, which one of the array's it is, in C order; refused where it is none of them."""
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
    """The view of an `x` without gaps where the layout is its own; None where it is not, or where there is none."""
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
    """A view of x's memory; in bytes, counted from where `x` starts."""
    memory, start = _memory(x)
    y = np.ndarray(shape, x.dtype, memory, start + offset, tuple(strides))
    y.flags.writeable = x.flags.writeable and not _repeats(y)
    return y


def _repeats(x):
    """Whether two elements of an array stand in one place: what was written to the one would be read as the other.

    None do if no step lies within the reach of smaller ones; two do if some steps along two axes lead equally far.
    Any other array is asked place by place.
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
    """Add to a view by slices in which no two elements stand in one place; False where those would be many."""
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
    """The view of `x` whose elements are those of the given numbers; None where strides do not express it."""
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
