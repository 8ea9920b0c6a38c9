"""Axes of convolution, pooling and interpolation windows, and the channels before them."""

import math
from numbers import Integral

from .shapes import _integers, _length


def affine_shape(theta, size):
    """The shape of the sampling grid that affine matrices define for images of the given shape."""
    axes = len(size) - 2
    if axes not in (2, 3) or tuple(theta) != (size[0], axes, axes + 1):
        raise ValueError(f"matrices of shape {tuple(theta)} make no grid for images of shape {tuple(size)}; they are of shape "
                         "(batch, 2, 3), or (batch, 3, 4) for volumes")  # fmt: skip
    return (size[0], *size[2:], axes)


def attention_scale(shape):
    """One over the square root of the number of components, or 1 for an empty axis."""
    return max(_length(shape, -1), 1) ** -0.5


def block_axes(shape, block):
    """The last axes, checked to have the lengths of a block."""
    block = tuple(_integers(block))
    if not block or tuple(shape[-len(block) :]) != block:
        raise ValueError(f"normalized_shape is {block}, the array is of shape {tuple(shape)}")
    return last_axes(len(block))


def block_lengths(shape, block):
    """The lengths of the last axes, as many as `block` has."""
    return tuple(shape[-len(tuple(_integers(block))) :])


def checked_causal(is_causal, unmasked):
    """`is_causal`, checked not to be combined with a mask."""
    if is_causal and not unmasked:
        raise ValueError("is_causal is a mask, and attn_mask must be None beside it")
    return bool(is_causal)


def conv_padding(padding, ndim, weight, stride, dilation):
    """The padding at both ends of each axis, and the further padding behind, as widths for `pad`."""
    if not isinstance(padding, str):
        return padding, ()
    if padding not in ("same", "valid"):
        raise ValueError(f"padding must be 'same', 'valid' or numbers, got {padding!r}")
    if padding == "same" and any(step != 1 for step in stride):
        raise ValueError(f"padding 'same' needs a stride of 1, got {tuple(stride)}")
    lengths = weight[2 : 2 + len(stride)] if padding == "same" else (1,) * len(stride)
    room = [step * (length - 1) for step, length in zip(dilation, lengths)]
    behind = [(0, total % 2) for total in room]
    plain = ((0, 0),) * (ndim - len(behind))
    return tuple(total // 2 for total in room), (*plain, *behind) if any(more for _, more in behind) else ()


def feature_shape(shape, axes):
    """The shape with the last `axes` axes of length 1."""
    if not 0 < axes < len(shape):
        raise ValueError(f"an array of shape {tuple(shape)} has no channels before its last {axes} axes")
    return (*shape[: len(shape) - axes], *(1,) * axes)


def grouped_shape(shape, groups):
    """The shape (examples, groups, channels of a group, elements of a channel)."""
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        raise ValueError(f"num_groups {groups} does not divide the channels of an array of shape {tuple(shape)}")
    return shape[0], groups, shape[1] // groups, math.prod(shape[2:])


def has_probabilities(shape, target, dtype, ignore_index=-100):
    """Whether targets are class probabilities, one for each logit, rather than class indices."""
    if dtype.kind == "f" and ignore_index >= 0:
        raise ValueError(f"ignore_index={ignore_index} is for classes, but the target holds probabilities: set the "
                         "probabilities of the class to 0")  # fmt: skip
    if dtype.kind == "f" and tuple(target) != tuple(shape):
        raise ValueError(f"probabilities of classes have the shape of the logits, {tuple(shape)}, not {tuple(target)}; classes "
                         "are integers")  # fmt: skip
    return dtype.kind == "f"


def is_bool(dtype):
    """Whether `dtype` is bool."""
    return dtype.kind == "b"


def axes_behind(axes):
    """The positions of the given axes after they are moved behind all others."""
    return last_axes(len(axes) if isinstance(axes, tuple) else 1)


def last_axes(count):
    """The last axes, counted from the end."""
    if count > 64:
        raise ValueError(f"no array has {count} axes")
    return tuple(range(-count, 0))


def other_axes(axis, ndim):
    """All axes but one."""
    _length((1,) * ndim, axis)
    return tuple(i for i in range(ndim) if i != axis % ndim)


def no_stride_long(output_padding, stride):
    """Whether the output padding of a transposed convolution is less than one stride along each axis."""
    return all(o < s for o, s in zip(output_padding, stride))


def parts_of(size, shape, count):
    """The number of parts for each of the last axes, from one number for all or one for each; None leaves an axis whole."""
    size = size.tolist() if hasattr(size, "tolist") else size
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,) * count
    known = all(part is None or isinstance(part, Integral) and not isinstance(part, bool) for part in sizes)
    if len(sizes) != count or not known:
        raise TypeError(f"output_size is an int, None or {count} of these, got {size!r}")
    lengths = shape[len(shape) - count :] if len(shape) >= count else (0,) * count
    return tuple(int(length if part is None else part) for part, length in zip(sizes, lengths))


def pooled_length(shape, axis, kernel, stride, padding, dilation, ceil_mode):
    """The number of windows along one axis; with `ceil_mode` the last window may extend beyond the padding behind it."""
    if min(kernel, stride, dilation) < 1 or not 0 <= padding <= (dilation * (kernel - 1) + 1) // 2:
        raise ValueError(f"kernel_size {kernel}, stride {stride}, dilation {dilation} and padding {padding} make no windows: "
                         "they must be positive, and the padding at most half of the window")  # fmt: skip
    length = _length(shape, axis)
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= length + padding:
        count -= 1
    if count < 1:
        raise ValueError(f"a window of length {kernel}, dilation {dilation}, does not fit into the length {length}")
    return count


def pooled_lengths(shape, kernel, stride, padding, dilation, ceil_mode):
    """pooled_length of each of the last axes."""
    windows = zip(range(-len(kernel), 0), kernel, stride, padding, dilation, strict=True)
    return tuple(pooled_length(shape, *window, ceil_mode) for window in windows)


def resized(shape, size, scale, recompute=None):
    """The lengths after the first two axes that a size, or scale factors, request."""
    inner = shape[2:]
    if (size is None) == (scale is None) or not inner:
        raise ValueError("either size or scale_factor has to be given, and an array of three axes or more")
    if recompute and size is not None:
        raise ValueError("recompute_scale_factor has no meaning beside size")
    if size is None:
        sizes = [math.floor(n * one) if 0 < one < math.inf else 0 for n, one in zip(inner, _factors(scale, len(inner)))]
    else:
        sizes = list(size) * len(inner) if len(size) == 1 else list(size)
    if len(sizes) != len(inner) or min(sizes) < 1 or min(inner) < 1:
        raise ValueError(f"size {size} and scale_factor {scale} ask for lengths {sizes} of {tuple(inner)}")
    return tuple(sizes)


def _factors(scale, count):
    """One factor for each axis; a single number is used for all."""
    try:
        found = [float(one) for one in scale] if isinstance(scale, (tuple, list)) else [float(scale)] * count
    except TypeError:
        raise TypeError(f"argument 'scale_factor' must be a real number, or one for each axis, got {scale!r}") from None
    if len(found) != count:
        raise ValueError(f"scale_factor has {len(found)} numbers, and the array {count} axes behind batch and channels")
    return found


def resized_kind(mode, align_corners, ndim, antialias=False):
    """The kind of resampling along one axis for a mode of interpolate."""
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"antialias is for the modes 'bilinear' and 'bicubic', got {mode!r}")
    kinds = {"linear": (3, "linear"), "bilinear": (4, "linear"), "trilinear": (5, "linear"), "bicubic": (4, "cubic")}
    if mode in ("nearest", "nearest-exact", "area"):
        if align_corners is not None:
            raise ValueError(f"align_corners is for the modes 'linear', 'bilinear', 'trilinear' and 'bicubic', got {mode!r}")
        return mode
    if mode not in kinds or kinds[mode][0] != ndim:
        raise ValueError(f"mode {mode!r} is not one for {ndim} axes; it is one of 'nearest', 'nearest-exact', 'area', 'linear' "
                         "(3 axes), 'bilinear' (4), 'trilinear' (5) and 'bicubic' (4)")  # fmt: skip
    return kinds[mode][1] + (" smooth" if antialias else "") + (" aligned" if align_corners else "")


def resized_steps(shape, sizes, kind, scale):
    """The distance along each axis between the source positions of adjacent resampled elements."""
    inner = shape[len(shape) - len(sizes) :]
    if kind.endswith("aligned"):
        return tuple((length - 1) / (size - 1) if size > 1 else 0.0 for length, size in zip(inner, sizes))
    if scale is None:
        return tuple(length / size for length, size in zip(inner, sizes))
    return tuple(1 / factor for factor in _factors(scale, len(sizes)))


def sampled_rows(grid):
    """The shape of a sampling grid with its places merged into one axis."""
    return grid[0], math.prod(grid[1:-1]), grid[-1]


def sampled_taps(mode, padding, shape, grid):
    """The number of pixels along an axis that each sample uses, for images and a grid whose shapes fit."""
    taps = {"nearest": 1, "bilinear": 2, "bicubic": 4}.get(mode)
    if taps is None or padding not in ("zeros", "border", "reflection"):
        raise ValueError(f"mode {mode!r} must be 'bilinear', 'nearest' or 'bicubic', padding_mode {padding!r} 'zeros', 'border' "
                         "or 'reflection'")  # fmt: skip
    axes = len(shape) - 2
    if axes not in (2, 3) or len(grid) != len(shape) or grid[0] != shape[0] or grid[-1] != axes or taps == 4 and axes == 3:
        raise ValueError(f"a grid of shape {tuple(grid)} is none for {mode} of images of shape {tuple(shape)}: these are (batch, "
                         "channels, rows, columns), and the grid (batch, ..., 2), or of volumes one more each")  # fmt: skip
    if min(shape[2:]) < 1:
        raise ValueError(f"images of shape {tuple(shape)} hold no pixel")
    return taps


def shared_heads(query, key):
    """The number of queries along axis -3 that share a key."""
    if min(len(query), len(key)) < 3 or key[-3] < 1 or query[-3] % key[-3]:
        raise ValueError(f"the heads of {tuple(query)} along axis -3 must be a multiple of the heads of {tuple(key)}")
    return query[-3] // key[-3]


def shuffled_groups(shape, groups):
    """The shape with the channels along axis 1 split into groups."""
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        raise ValueError(f"the channels of {tuple(shape)} are no {groups} groups")
    return (shape[0], groups, shape[1] // groups, *shape[2:])


def shuffle_plan(shape, factor):
    """For channels that contain squares: the shape that splits them, the axes to move and their targets, and the final shape."""
    if len(shape) < 3 or factor < 1 or shape[-3] % factor**2:
        raise ValueError(f"the channels of {tuple(shape)} hold no squares of {factor} by {factor}")
    *lead, channels, rows, columns = shape
    at, channels = len(lead), channels // factor**2
    apart = (*lead, channels, factor, factor, rows, columns)
    return apart, (at + 1, at + 2), (at + 2, at + 4), (*lead, channels, rows * factor, columns * factor)


def spacing(dtype):
    """The distance from 1 to the next larger number of the dtype."""
    return {"e": 2.0**-10, "f": 2.0**-23}.get(dtype.char, 2.0**-52)


def strides_behind(output_padding, stride, ndim):
    """The whole strides in the output padding of a transposed convolution, for each axis, as widths for `pad`."""
    if any(s < 1 for s in stride):
        raise ValueError(f"a stride is at least 1, got {tuple(stride)}")
    behind = [(0, o // s) for o, s in zip(output_padding, stride)]
    return ((0, 0),) * (ndim - len(behind)) + tuple(behind)


def transposed_shape(shape, weight, stride, padding, output_padding, dilation, groups):
    """The shape of the result of a transposed convolution."""
    spatial = len(stride)
    if len(weight) != spatial + 2 or len(shape) not in (spatial + 1, spatial + 2) or groups < 1:
        raise ValueError(f"there are not {spatial} axes behind the channels of {tuple(shape)} and of the weight, {tuple(weight)}")
    if any(not 0 <= o < max(s, d) for o, s, d in zip(output_padding, stride, dilation)):
        raise ValueError(f"output_padding {output_padding} must be smaller than the stride, {stride}, or the dilation, "
                         f"{dilation}; `padding` leaves less out")  # fmt: skip
    ends = zip(shape[-spatial:], weight[2:], stride, padding, output_padding, dilation)
    lengths = tuple((n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, o, d in ends)
    if min(lengths) < 1:
        raise ValueError(f"padding {padding} leaves nothing of the result")
    return (*shape[: -spatial - 1], weight[1] * groups, *lengths)


def planes_shape(shape, axes):
    """The shape with the last axes merged into one plane, and one row for each plane."""
    return math.prod(shape[: len(shape) - axes]), math.prod(shape[len(shape) - axes :])


def unpooled_shape(shape, kernel, stride, padding, wanted=None):
    """The shape whose pooling windows have the given shape as their number; or `wanted`, checked to be within a stride of it."""
    lengths = [(n - 1) * s - 2 * p + k for n, k, s, p in zip(shape[-len(kernel) :], kernel, stride, padding)]
    if len(shape) <= len(kernel) or min(*kernel, *stride, *lengths) < 1 or min(padding) < 0:
        raise ValueError(f"windows of {kernel}, stride {stride}, padding {padding}, make no array of shape {tuple(shape)}")
    if wanted is not None:
        least, lengths = lengths, tuple(wanted[-len(kernel) :])
        whole = len(wanted) == len(kernel) or tuple(wanted) == (*shape[: -len(kernel)], *lengths)
        if not whole or any(not n - s < m < n + s for n, m, s in zip(least, lengths, stride)):
            raise ValueError(f"output_size {tuple(wanted)} is not within a stride, {tuple(stride)}, of {tuple(least)}")
    return (*shape[: -len(kernel)], *lengths)


def unshuffle_plan(shape, factor):
    """The inverse of shuffle_plan."""
    if len(shape) < 3 or factor < 1 or shape[-2] % factor or shape[-1] % factor:
        raise ValueError(f"the last two axes of {tuple(shape)} are not made of squares of {factor} by {factor}")
    *lead, channels, rows, columns = shape
    at, rows, columns = len(lead), rows // factor, columns // factor
    apart = (*lead, channels, rows, factor, columns, factor)
    return apart, (at + 2, at + 4), (at + 1, at + 2), (*lead, channels * factor**2, rows, columns)
