"""Axes, indices, and shapes computed from other shapes, for all families of operators."""

import itertools
import math
import operator


def along_axis(index, axis, ndim, source_ndim=-1):
    """The index that applies `index` to `axis` of an array of `ndim` axes, and takes all of the axes before it.

    A single index keeps the axis if the source has as many axes as the array.
    """
    _length((1,) * ndim, axis)
    if source_ndim == ndim and (isinstance(index, int) or getattr(index, "ndim", 1) == 0):
        index = [index] if isinstance(index, int) else index.reshape(1)
    return (slice(None),) * (axis % ndim) + (index,)


def axes_tuple(axis, ndim):
    """Axes counted from the front, as a tuple; None means all of them."""
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not -max(ndim, 1) <= a < max(ndim, 1):
            raise IndexError(f"axis {a} is out of range for an array of dimension {ndim}")
    return tuple(a % max(ndim, 1) for a in axes)


def broadcast_shape(a, b):
    """The shape of the result of broadcasting arrays of shapes `a` and `b`."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    for m, n in zip(a, b):
        if m != n and 1 not in (m, n):
            raise ValueError(f"shapes {a} and {b} do not broadcast")
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def checked_axes(shape, name, least, most=None):
    """`shape`, checked to have the number of axes that the operator requires of its argument `name`."""
    if len(shape) < least or most is not None and len(shape) > most:
        wanted = f"{least} or more" if most is None else f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{name} must have {wanted} axes, its shape is {tuple(shape)}")
    return shape


def checked_number(value, name, least=-math.inf, most=math.inf, zero=True):
    """`value`, checked to be between `least` and `most`, and not 0 unless `zero`."""
    if not least <= value <= most or value == 0 and not zero:
        raise ValueError(f"{name} must be a number from {least} to {most}{'' if zero else ' other than 0'}, got {value}")
    return value


def checked_reduction(reduction):
    """`reduction`, checked to be a reduction of losses."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    return reduction


def checked_rounding(rounding_mode):
    """`rounding_mode`, checked to be a rounding mode of division."""
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")
    return rounding_mode


def checked_probability(p):
    """`p`, checked to be a probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


def chunk_ends(shape, chunks, axis):
    """The ends of all but the last of at most `chunks` parts along `axis`; the last may be shorter than the others."""
    if chunks < 1:
        raise ValueError(f"chunks must be positive, got {chunks}")
    length = _length(shape, axis)
    size = -(-length // chunks)
    return tuple(range(size, length, size)) if length else (0,) * (chunks - 1)


def diagonal_index(shape):
    """The index of the elements whose coordinates along all axes are equal."""
    if len(shape) < 2 or len(shape) > 2 and min(shape) != max(shape):
        raise ValueError(f"a diagonal needs two axes, or more of one length, the shape is {tuple(shape)}")
    return (tuple(range(min(shape))),) * len(shape)


def difference_order(n, shape, axis):
    """The order of the difference along `axis`, limited to its length, beyond which nothing is left."""
    if n < 0:
        raise ValueError(f"the order of the difference must not be negative, got {n}")
    if not shape:
        raise ValueError("a single number has no differences")
    order = min(n, shape[axis])
    if order > 1000:
        raise OverflowError(f"the coefficients of difference {n} are beyond floating point")
    return order


def expanded_shape(shape, wanted):
    """The wanted shape with each -1 replaced by the length in `shape`; axes are aligned at the end."""
    wanted = tuple(_integers(wanted))
    extra = len(wanted) - len(shape)
    if extra < 0 or any(n < -1 or n == -1 and i < extra for i, n in enumerate(wanted)):
        raise ValueError(f"an array of shape {tuple(shape)} does not expand to {wanted}")
    return tuple(shape[i - extra] if n == -1 else n for i, n in enumerate(wanted))


def flat_shape(shape, start_axis, end_axis):
    """The shape with the axes from `start_axis` to `end_axis` merged into one."""
    ndim = max(len(shape), 1)
    for axis in (start_axis, end_axis):
        if not -ndim <= axis < ndim:
            raise IndexError(f"axis {axis} is out of range for an array of dimension {len(shape)}")
    start, end = start_axis % ndim, end_axis % ndim
    if start > end:
        raise ValueError(f"flatten: start_axis {start_axis} comes after end_axis {end_axis}")
    return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def float_dtype(dtype):
    """The dtype itself if it is inexact, else float64."""
    return dtype if dtype.kind in "fc" else "float64"


def has_fractions(dtype):
    """Whether `dtype` is inexact: float or complex."""
    return dtype.kind in "fc"


def inverse_permutation(axes):
    """The permutation of axes that undoes `axes`; None reverses the axes, and undoes itself."""
    if axes is None:
        return None
    axes = [axis % len(axes) for axis in axes]
    return tuple(axes.index(axis) for axis in range(len(axes)))


def is_complex(dtype):
    """Whether `dtype` is complex."""
    return dtype.kind == "c"


def is_lower(lower, upper):
    """Whether the lower triangle is requested by two arguments that must not contradict each other; by default the upper one."""
    if lower is not None and upper is not None and bool(lower) == bool(upper):
        raise ValueError(f"lower={lower} and upper={upper} contradict each other")
    return bool(lower) if lower is not None else upper is not None and not upper


def len_of(values):
    """The number of values."""
    return len(values)


def lifted_shapes(shapes, kind):
    """Shapes of arrays reshaped for joining: 'flat' at least 1-d, vectors as 'rows' or 'columns', 'depth' 3-d."""
    lifts = {
        "flat": lambda s: s or (1,),
        "rows": lambda s: s if len(s) > 1 else (1, *(s or (1,))),
        "columns": lambda s: s if len(s) > 1 else (*(s or (1,)), 1),
        "depth": lambda s: s if len(s) > 2 else (*s, 1) if len(s) == 2 else (1, *(s or (1,)), 1),
    }
    return tuple(lifts[kind](tuple(shape)) for shape in shapes)


def line_shape(ndim, axis):
    """The shape that puts a vector along one axis of an array of `ndim` axes."""
    return tuple(-1 if place == axis % ndim else 1 for place in range(ndim))


def log_of(count):
    """The natural logarithm of a count, -inf for 0."""
    return math.log(count) if count else -math.inf


def opposite(shift):
    """The negative of an integer, or of each of several."""
    return tuple(-n for n in shift) if isinstance(shift, (tuple, list)) else -shift


def part_ends(shape, sizes, axis):
    """The ends of all but the last part along `axis`, for parts of the given sizes, which must add up to its length."""
    sizes = _integers(sizes)
    length = _length(shape, axis)
    if not sizes or min(sizes) < 0 or sum(sizes) != length:
        raise ValueError(f"sizes {sizes} do not add up to the length {length} of axis {axis}")
    return tuple(itertools.accumulate(sizes[:-1]))


def reduced_count(shape, axis, correction=0):
    """The number of elements of `shape` that a reduction along `axis` combines into one, less `correction`, at least 0."""
    return max(math.prod(shape[a] for a in axes_tuple(axis, len(shape)) if shape) - correction, 0)


def reduced_shape(shape, axis, keepdims):
    """The shape after a reduction."""
    axes = axes_tuple(axis, len(shape))
    return tuple(1 if place in axes else n for place, n in enumerate(shape) if keepdims or place not in axes)


def row_shape(shape, axis):
    """The axes that a reduction keeps, followed by the product of the others."""
    axes = axes_tuple(axis, len(shape))
    return (*reduced_shape(shape, axis, False), math.prod(shape[a] for a in axes if shape))


def slice_along(axis, start, stop):
    """The index that takes the slice start:stop of one axis and all of the others."""
    part = slice(start, stop)
    return (slice(None),) * axis + (part,) if axis >= 0 else (Ellipsis, part) + (slice(None),) * (-axis - 1)


def span(shape, axis, start, length):
    """The slice of `length` elements from `start`, which counts from the end if it is negative."""
    count = _length(shape, axis)
    first = start + count if start < 0 else start
    if not 0 <= first <= first + length <= count:
        raise IndexError(f"start {start} and length {length} are out of range for the length {count} of axis {axis}")
    return slice(first, first + length)


def runs_shape(shape, repeats, axis):
    """The shape of a repeated array with a second axis that counts the copies of each slice; None if the counts differ."""
    if not isinstance(repeats, int):
        return None
    cut = len(shape) if axis is None or not shape else axis % len(shape) + 1
    return (math.prod(shape[:cut]), repeats, *((math.prod(shape[cut:]),) if shape[cut:] else ()))


def tile_axes(shape, reps):
    """The axes of tile_shape that count copies."""
    return tuple(range(0, len(tile_shape(shape, reps)), 2))


def tile_shape(shape, reps):
    """The shape of a tiled array with a separate axis for the copies along each axis."""
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(len(shape), len(reps))
    shape, reps = (1,) * (ndim - len(shape)) + tuple(shape), (1,) * (ndim - len(reps)) + reps
    return tuple(n for pair in zip(reps, shape) for n in pair)


def _integers(values):
    """One integer or several, as a list."""
    try:
        return [operator.index(values)]
    except TypeError:
        return [operator.index(value) for value in values]


def _length(shape, axis):
    """The length of one axis, checked to exist."""
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"axis {axis} is out of range for an array of dimension {len(shape)}")
    return shape[axis]
