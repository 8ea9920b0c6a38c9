"""pad with the arguments of PyTorch's `nn.functional`: pairs of widths from the last axis on, and PyTorch's names of modes.

Converts the order of the widths; the padding itself is an operator of the spec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["pad"]
__dir__ = __all__.copy

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@answering
def pad(x: Tensor | npt.ArrayLike, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Lengthen or shorten axes at both ends.

    Parameters
    ----------
    x : array_like
    pad : sequence of int
        Widths before and after the last axis, then before and after its predecessor, and so on.  Negative widths remove elements.
    mode : {'constant', 'reflect', 'replicate', 'circular'}
        The kind of the new elements.
    value : float, optional
        The value of the new elements if `mode` is 'constant'; 0 by default.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.pad(gs.ones((1, 2)), (1, 0, 0, 1)).tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """
    x, widths = asarray(x), [int(width) for width in pad]
    if mode not in MODES:
        raise ValueError(f"pad: mode is one of {', '.join(MODES)}, not {mode!r}; gs.pad has NumPy's modes and order of widths")
    if value and mode != "constant":
        raise ValueError(f"pad: mode {mode!r} takes no value")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(f"pad: expected pairs of widths for at most {x.ndim} axes, from the last one on, got {widths}")
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2) + list(zip(widths[::2], widths[1::2]))[::-1]
    for axis, (before, after) in enumerate(pairs):
        first, last = max(-before, 0), x.shape[axis] - max(-after, 0)
        if last < first:
            raise ValueError(f"pad: more is cut off axis {axis} than its {x.shape[axis]} elements")
        if (first, last) != (0, x.shape[axis]):
            x = ops.narrow(x, axis, first, last - first)
    return ops.pad(x, [(max(before, 0), max(after, 0)) for before, after in pairs], MODES[mode], constant_values=value or 0)
