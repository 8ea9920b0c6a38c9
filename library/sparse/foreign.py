"""Python's operators between a tensor and a SciPy sparse array, for the layers below, which know neither.

Owns which operators there are, and what a sparse matrix of SciPy's older kind means by `*`.
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
    """What an operator of the spec's name gives for two operands, one of which is SciPy's; NotImplemented of any other operator.

    The product of the older `csr_matrix` and its kin with `*` is that of matrices.
    """
    if name == "multiply" and any(type(value).__name__.endswith("_matrix") for value in (a, b)):
        name = "matmul" if min(getattr(a, "ndim", 0), getattr(b, "ndim", 0)) > 0 else name
    return OPERATORS[name](known(a), known(b)) if name in OPERATORS else NotImplemented
