"""Python's operators between a tensor and a SciPy sparse array, for lower layers, which do not depend on sparse matrices.

Decides which operators are supported, and the meaning of `*` for SciPy's older sparse matrices.
"""

from __future__ import annotations

import operator
from typing import Any

from .sparse_tensor import known

OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "matmul": operator.matmul,
}  # fmt: skip


def of_operator(name: str, a: Any, b: Any) -> Any:
    """Apply the operator with the spec's name to two operands, one of them SciPy's; NotImplemented for unsupported operators.

    For the older `csr_matrix` and the other matrix classes, `*` is the matrix product.
    """
    if name == "multiply" and any(type(value).__name__.endswith("_matrix") for value in (a, b)):
        name = "matmul" if min(getattr(a, "ndim", 0), getattr(b, "ndim", 0)) > 0 else name
    return OPERATORS[name](known(a), known(b)) if name in OPERATORS else NotImplemented
