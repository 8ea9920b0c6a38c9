"""Which parts of a convolution are asked for, and how samples and polynomials lie in arrays."""

from .shapes import _length


def checked_order(edge_order):
    """`edge_order`, if differences at the ends know it."""
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2, got {edge_order}")
    return edge_order


def convolved_part(m, n, mode):
    """The places of the full convolution of vectors of lengths `m` and `n` that `mode` keeps."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be 'full', 'same' or 'valid', got {mode!r}")
    longer, shorter = max(m, n), min(m, n)
    if mode == "full":
        return slice(None)
    start = (shorter - 1) // 2 if mode == "same" else shorter - 1
    return slice(start, start + (longer if mode == "same" else longer - shorter + 1))


def gradient_axis(ndim, axis):
    """The one axis along which a gradient is taken."""
    if axis is None and ndim != 1:
        raise ValueError(f"axis must be given for an array of {ndim} dimensions")
    _length((1,) * ndim, axis or 0)
    return axis or 0
