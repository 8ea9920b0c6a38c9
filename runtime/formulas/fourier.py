"""The axes and lengths of a Fourier transform, and its normalisation."""

from .shapes import axes_tuple


def fourier_axes(ndim, s, axes):
    """The axes of a transform, from the front: the given axes, else the last axes, one for each length of `s`, else all."""
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    axes = axes_tuple(axes if isinstance(axes, (int, range)) else tuple(axes), ndim)
    if s is not None and not isinstance(s, int) and len(s) != len(axes):
        raise ValueError(f"{len(s)} lengths for {len(axes)} axes")
    return axes


def fourier_norm(norm, inverse):
    """The divisor of a transform: 'none', the 'root' of the number of terms, or 'all' of it."""
    divided = {None: inverse, "backward": inverse, "forward": not inverse}
    if norm not in (*divided, "ortho"):
        raise ValueError(f"norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return "root" if norm == "ortho" else "all" if divided[norm] else "none"


def other_norm(norm):
    """The `norm` that makes the transform in the other direction divide by the same number."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")


def fourier_shape(shape, s, axes):
    """The shape that is transformed: lengths `s` along `axes`, -1 or None for unchanged lengths."""
    places = fourier_axes(len(shape), s, axes)
    lengths = list(shape)
    for axis, n in zip(places, (s,) if isinstance(s, int) else s or ()):
        lengths[axis] = lengths[axis] if n == -1 else n
    if any(lengths[axis] < 1 for axis in places):
        raise ValueError(f"a transform needs at least one element along each of its axes, the shape is {tuple(lengths)}")
    return tuple(lengths)


def half_length(shape, s, axes):
    """The length of the real signal whose half spectrum is along the last of `axes`."""
    length = shape[fourier_axes(len(shape), s, axes)[-1]]
    if s is None:
        return 2 * (length - 1)
    n = s if isinstance(s, int) else s[-1]
    return length if n == -1 else n


def half_shape(shape, s, axes):
    """fourier_shape if the last of `axes` is a half spectrum."""
    last, n = fourier_axes(len(shape), s, axes)[-1], half_length(shape, s, axes)
    if n < 1:
        raise ValueError(f"a transform needs at least one element along each of its axes, here {n}")
    return tuple(n // 2 + 1 if axis == last else m for axis, m in enumerate(fourier_shape(shape, s, axes)))
