"""Traces: record a call as a program of operators that can be read, changed, saved and run.

Defines `gs.trace`.  The name is also NumPy's for the sum over a diagonal; a callable first argument selects the trace of a call.
`help(gs.trace)` describes the operator; `traced.trace_call` documents the trace of a function.
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
    from .traced import trace_of  # imported only by callers that trace

    return trace_of(x, *args, **keywords)
