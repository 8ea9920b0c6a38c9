"""logsumexp with factors, as in SciPy.

Handles factors and signs; without them the function is the operator of the spec.
"""

from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False, *, b: Any = None, return_sign: bool = False) -> Any:
    """log(sum(b * exp(x))) without overflow.

    Parameters
    ----------
    x : array_like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
        Whether to keep the reduced axes, with length 1.
    b : array_like, optional
        Factors, which broadcast with `x`; 1 by default.
    return_sign : bool
        Whether to return the logarithm of the sum's modulus, and its sign.  Otherwise a negative sum gives NaN.

    Returns
    -------
    Tensor or tuple of Tensor
    """
    if b is None and not return_sign:
        return ops.logsumexp(x, axis, keepdims)
    factors = asarray(1.0 if b is None else b)
    x, factors = ops.broadcast_arrays(ops.multiply(x, 1.0), ops.multiply(factors, 1.0))
    if x.dtype.kind == "c":
        raise TypeError("logsumexp: b and return_sign are for real numbers")
    nothing = factors.detach().numpy() == 0
    top = ops.max(ops.where(nothing, -np.inf, x.detach()), axis, True)
    top = ops.where(np.isfinite(top.numpy()), top, 0.0)
    most = np.log(np.finfo(x.dtype).max) - 1  # a term multiplied by 0 may be far above the others, or infinite
    above = x - top
    total = ops.sum(factors * ops.exp(ops.where(nothing, ops.minimum(above, float(most)), above)), axis, keepdims)
    top = top if keepdims else ops.reshape(top, total.shape)
    if not return_sign:
        return ops.log(total) + top
    return ops.log(ops.absolute(total)) + top, ops.sign(total.detach())
