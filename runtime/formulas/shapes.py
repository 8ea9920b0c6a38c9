"""Axes, indices, and shapes that follow from other shapes, for all families."""

import itertools
import math
import operator


def along_axis(index, axis, ndim):
    """The index that stands at `axis` of an array of `ndim` axes, behind whole ones."""
    _length((1,) * ndim, axis)
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
    """The shape of two arrays of shapes `a` and `b` that meet element by element."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    for m, n in zip(a, b):
        if m != n and 1 not in (m, n):
            raise ValueError(f"shapes {a} and {b} do not broadcast")
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def checked_axes(shape, name, least, most=None):
    """`shape`, if it has as many axes as the operator takes of what it calls `name`."""
    if len(shape) < least or most is not None and len(shape) > most:
        wanted = f"{least} or more" if most is None else f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{name} must have {wanted} axes, its shape is {tuple(shape)}")
    return shape


def checked_number(value, name, least=-math.inf, most=math.inf, zero=True):
    """`value`, if it lies from `least` to `most`, 0 included where `zero`."""
    if not least <= value <= most or value == 0 and not zero:
        raise ValueError(f"{name} must be a number from {least} to {most}{'' if zero else ' other than 0'}, got {value}")
    return value


def checked_reduction(reduction):
    """`reduction`, if a loss knows it."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    return reduction


def checked_rounding(rounding_mode):
    """`rounding_mode`, if a quotient is rounded in it."""
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")
    return rounding_mode


def checked_probability(p):
    """`p`, if elements can be dropped with this probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


def chunk_ends(shape, chunks, axis):
    """Where all but the last of at most `chunks` parts end along `axis`; the last may be shorter than the others."""
    if chunks < 1:
        raise ValueError(f"chunks must be positive, got {chunks}")
    length = _length(shape, axis)
    size = -(-length // chunks)
    return tuple(range(size, length, size)) if length else (0,) * (chunks - 1)


def diagonal_index(shape):
    """The index of the places whose coordinates along all axes are equal."""
    if len(shape) < 2 or len(shape) > 2 and min(shape) != max(shape):
        raise ValueError(f"a diagonal needs two axes, or more of one length, the shape is {tuple(shape)}")
    return (tuple(range(min(shape))),) * len(shape)


def difference_order(n, shape, axis):
    """How many differences along `axis` give what `n` of them give: beyond its length there is nothing left."""
    if n < 0:
        raise ValueError(f"the order of the difference must not be negative, got {n}")
    if not shape:
        raise ValueError("a single number has no differences")
    order = min(n, shape[axis])
    if order > 1000:
        raise OverflowError(f"the coefficients of difference {n} are beyond floating point")
    return order


def expanded_shape(shape, wanted):
    """The shape that -1 in `wanted` leaves as `shape` has it; axes are counted from the last."""
    wanted = tuple(_integers(wanted))
    extra = len(wanted) - len(shape)
    if extra < 0 or any(n < -1 or n == -1 and i < extra for i, n in enumerate(wanted)):
        raise ValueError(f"an array of shape {tuple(shape)} does not expand to {wanted}")
    return tuple(shape[i - extra] if n == -1 else n for i, n in enumerate(wanted))


def flat_shape(shape, start_axis, end_axis):
    """The shape in which the axes from `start_axis` to `end_axis` are one."""
    ndim = max(len(shape), 1)
    for axis in (start_axis, end_axis):
        if not -ndim <= axis < ndim:
            raise IndexError(f"axis {axis} is out of range for an array of dimension {len(shape)}")
    start, end = start_axis % ndim, end_axis % ndim
    if start > end:
        raise ValueError(f"flatten: start_axis {start_axis} comes after end_axis {end_axis}")
    return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def float_dtype(dtype):
    """The dtype itself where it has fractions, float64 for others."""
    return dtype if dtype.kind in "fc" else "float64"


def has_fractions(dtype):
    """Whether `dtype` is one of floats or of complex numbers."""
    return dtype.kind in "fc"


def inverse_permutation(axes):
    """The order of axes that undoes `axes`; None reverses, and undoes itself."""
    if axes is None:
        return None
    axes = [axis % len(axes) for axis in axes]
    return tuple(axes.index(axis) for axis in range(len(axes)))


def is_complex(dtype):
    """Whether `dtype` is complex, known before any value is."""
    return dtype.kind == "c"


def is_lower(lower, upper):
    """Which triangle two arguments ask for that must not contradict each other; the upper one where neither says."""
    if lower is not None and upper is not None and bool(lower) == bool(upper):
        raise ValueError(f"lower={lower} and upper={upper} contradict each other")
    return bool(lower) if lower is not None else upper is not None and not upper


def len_of(values):
    """How many values there are."""
    return len(values)


def lifted_shapes(shapes, kind):
    """The shapes under which arrays join: at least 1-d ('flat'), vectors as 'rows', as 'columns', or all 3-d ('depth')."""
    lifts = {
        "flat": lambda s: s or (1,),
        "rows": lambda s: s if len(s) > 1 else (1, *(s or (1,))),
        "columns": lambda s: s if len(s) > 1 else (*(s or (1,)), 1),
        "depth": lambda s: s if len(s) > 2 else (*s, 1) if len(s) == 2 else (1, *(s or (1,)), 1),
    }
    return tuple(lifts[kind](tuple(shape)) for shape in shapes)


def line_shape(ndim, axis):
    """The shape under which a vector lies along one axis of an array."""
    return tuple(-1 if place == axis % ndim else 1 for place in range(ndim))


def log_of(count):
    """Its natural logarithm, -inf for 0."""
    return math.log(count) if count else -math.inf


def opposite(shift):
    """Minus each of one or several integers."""
    return tuple(-n for n in shift) if isinstance(shift, (tuple, list)) else -shift


def part_ends(shape, sizes, axis):
    """Where all but the last of the parts of the given sizes end along `axis`, which they have to fill."""
    sizes = _integers(sizes)
    length = _length(shape, axis)
    if not sizes or min(sizes) < 0 or sum(sizes) != length:
        raise ValueError(f"sizes {sizes} do not add up to the length {length} of axis {axis}")
    return tuple(itertools.accumulate(sizes[:-1]))


def reduced_count(shape, axis, correction=0):
    """How many elements a reduction of `shape` along `axis` makes one, less `correction` and not below 0."""
    return max(math.prod(shape[a] for a in axes_tuple(axis, len(shape)) if shape) - correction, 0)


def reduced_shape(shape, axis, keepdims):
    """The shape after a reduction."""
    axes = axes_tuple(axis, len(shape))
    return tuple(1 if place in axes else n for place, n in enumerate(shape) if keepdims or place not in axes)


def row_shape(shape, axis):
    """The axes that a reduction keeps, then the others as one."""
    axes = axes_tuple(axis, len(shape))
    return (*reduced_shape(shape, axis, False), math.prod(shape[a] for a in axes if shape))


def slice_along(axis, start, stop):
    """The index that takes slice start:stop of one axis and all of the others."""
    part = slice(start, stop)
    return (slice(None),) * axis + (part,) if axis >= 0 else (Ellipsis, part) + (slice(None),) * (-axis - 1)


def span(shape, axis, start, length):
    """The slice of `length` places from `start`, which counts from the end where it is negative."""
    count = _length(shape, axis)
    first = start + count if start < 0 else start
    if not 0 <= first <= first + length <= count:
        raise IndexError(f"start {start} and length {length} are out of range for the length {count} of axis {axis}")
    return slice(first, first + length)


def tensordot_adjoint(a_ndim, b_ndim, axes, operand):
    """Which axes to sum, and how to order what remains, to carry a cotangent back to `a` (operand 0) or `b` (1).

    The cotangent has the free axes of `a` and then those of `b`.  Against `b` its last ones are summed, which leaves
    the free axes of `a` and, in the order of `b`, the axes that were summed; likewise against `a`.
    """
    if isinstance(axes, int):
        axes = range(a_ndim - axes, a_ndim), range(axes)
    a_axes, b_axes = map(_integers, axes)
    a_axes, b_axes = [axis % a_ndim for axis in a_axes], [axis % b_ndim for axis in b_axes]
    a_free = [axis for axis in range(a_ndim) if axis not in a_axes]
    b_free = [axis for axis in range(b_ndim) if axis not in b_axes]
    if operand:
        summed = tuple(a_free), tuple(range(len(a_free)))
        order = [b_axes[a_axes.index(axis)] for axis in sorted(a_axes)] + b_free
    else:
        summed = tuple(range(len(a_free), len(a_free) + len(b_free))), tuple(b_free)
        order = a_free + [a_axes[b_axes.index(axis)] for axis in sorted(b_axes)]
    return summed, inverse_permutation(order)


def tensordot_subscripts(a_ndim, b_ndim, axes):
    """The summation of einsum that tensordot is."""
    if isinstance(axes, int):
        axes = range(a_ndim - axes, a_ndim), range(axes)
    letters = [*map(chr, range(ord("a"), ord("z") + 1)), *map(chr, range(ord("A"), ord("Z") + 1))]
    left, right = letters[:a_ndim], letters[a_ndim : a_ndim + b_ndim]
    gone = set()
    for i, j in zip(*map(_integers, axes), strict=True):
        right[j] = left[i]
        gone.add(left[i])
    return f"{''.join(left)},{''.join(right)}->{''.join(i for i in (*left, *right) if i not in gone)}"


def tile_axes(shape, reps):
    """The axes of tile_shape that count copies."""
    return tuple(range(0, len(tile_shape(shape, reps)), 2))


def tile_shape(shape, reps):
    """The shape of a tiled array with an axis of its own for the copies along each axis."""
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(len(shape), len(reps))
    shape, reps = (1,) * (ndim - len(shape)) + tuple(shape), (1,) * (ndim - len(reps)) + reps
    return tuple(n for pair in zip(reps, shape) for n in pair)


def _integers(values):
    """One integer, or several, as a list."""
    try:
        return [operator.index(values)]
    except TypeError:
        return [operator.index(value) for value in values]


def _length(shape, axis):
    """The length of one axis."""
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"axis {axis} is out of range for an array of dimension {len(shape)}")
    return shape[axis]
