"""Helpers of convolution, gradient and polynomials: the part of a convolution to keep, and the layout of samples and terms."""

from .shapes import _length


def checked_order(edge_order):
    """`edge_order`, checked to be supported."""
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2, got {edge_order}")
    return edge_order


def checked_times(m):
    """The number of derivatives or integrals, checked to be in a sensible range."""
    if not 0 <= m <= 100:
        raise ValueError(f"m must be from 0 to 100, got {m}")
    return m


def complex_dtype(dtype):
    """The complex dtype of the same precision."""
    return "complex64" if dtype.name in ("float16", "float32", "complex64") else "complex128"


def convolved_part(m, n, mode):
    """The slice of the full convolution of vectors of lengths `m` and `n` that `mode` keeps."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be 'full', 'same' or 'valid', got {mode!r}")
    longer, shorter = max(m, n), min(m, n)
    if mode == "full":
        return slice(None)
    start = (shorter - 1) // 2 if mode == "same" else shorter - 1
    return slice(start, start + (longer if mode == "same" else longer - shorter + 1))


def gradient_axis(shape, axis, edge_order):
    """The axis of a gradient, checked to have enough samples for the differences at its ends."""
    if axis is None and len(shape) != 1:
        raise ValueError(f"axis must be given for an array of {len(shape)} dimensions; np.gradient(x) goes along all of them")
    if _length(shape, axis or 0) <= edge_order:
        raise ValueError(f"edge_order {edge_order} wants more than the {shape[axis or 0]} samples along axis {axis or 0}")
    return axis or 0


def toeplitz_places(rows, terms):
    """Indices into a list of terms followed by one 0, for a square matrix whose column k is the terms moved down by k."""
    return tuple(tuple(i - j if 0 <= i - j < terms else terms for j in range(rows)) for i in range(rows))
