"""Forward mode for users: dual levels, and tensors that carry tangents at them.

Defines the names; the implementation is in `gradspec.methods.dual_level` and `gradspec.core.grad_mode`.
"""

import gradspec  # noqa: F401 (waits for it)

from ..core.grad_mode import _is_fwd_grad_enabled, _set_fwd_grad_enabled  # noqa: F401 (PyTorch's names, found but not shown)
from ..methods.dual_level import (
    UnpackedDualTensor,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    innermost_level,
    make_dual,
    unpack_dual,
)
from ..support.lazy_import import answer

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
answer(__name__, {"_current_level": lambda: innermost_level() - 1})
