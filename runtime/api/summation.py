"""Einstein summation with NumPy's alternative arguments: lists of axis numbers instead of letters.

Converts the numbers to letters; the operator only takes subscripts.
"""

from __future__ import annotations

from typing import Any

from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallTypeError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of the axis numbers


@answering
def einsum(*operands: Any) -> Tensor:
    """Einstein summation, pairwise in the order with the fewest multiplications; a view if axes are only permuted.

    Parameters
    ----------
    *operands
        The subscripts, as in 'ij,jk->ik', and one array for each group of letters.  As in NumPy, also each array followed
        by the list of its axes (numbers below 52 or an ellipsis), and finally the list of the result's axes.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        A list of axes is invalid.

    Examples
    --------
    >>> a, b = gs.ones((2, 3)), gs.ones((3, 4))
    >>> gs.einsum("ij,jk->ik", a, b).shape, gs.einsum(a, [0, 1], b, [1, 2], [0, 2]).shape
    ((2, 4), (2, 4))
    """
    if not operands or isinstance(operands[0], str):
        return ops.einsum(*operands)
    pairs = len(operands) // 2
    inputs = ",".join(map(_letters, operands[1 : 2 * pairs : 2]))
    result = f"->{_letters(operands[-1])}" if len(operands) % 2 else ""
    return ops.einsum(inputs + result, *operands[: 2 * pairs : 2])


def _letters(axes: Any) -> str:
    if not isinstance(axes, (list, tuple)) or not all(axis is ... or axis in range(len(LETTERS)) for axis in axes):
        raise CallTypeError("einsum: expected subscripts such as 'ij,jk->ik' and then the arrays, or each array and the list of "
                            f"its axes, numbers from 0 to {len(LETTERS) - 1} or an ellipsis; got {axes!r}")  # fmt: skip
    return "".join("..." if axis is ... else LETTERS[axis] for axis in axes)
