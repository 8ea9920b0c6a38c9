"""Traces: what a call does, as a program of operators that can be read, changed, saved and run.

Owns the name `gs.trace`, which is NumPy's for the sum over a diagonal, too: a function is no array, so it says which is meant.
What the words of help are for is the operator; `traced.trace_call` has those of a function's trace.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, overload

from ...generated import ops

if TYPE_CHECKING:
    from ...generated.tensor import Tensor
    from .traced import Trace


@overload
def trace(
    x: Callable[..., Any], *args: Any, check: bool = True, shapes: Mapping[str, tuple] | None = None, **keywords: Any
) -> "Trace": ...
@overload
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Tensor": ...
@wraps(ops.trace, assigned=("__doc__",))
def trace(x: Any, *args: Any, **keywords: Any) -> Any:
    if not callable(x):
        return ops.trace(x, *args, **keywords)
    from .traced import trace_of  # for those who trace

    return trace_of(x, *args, **keywords)
