"""Forward mode as users call it: dual levels, and tensors that carry tangents at them.

Owns the names; what they do is in `gradspec.methods.dual_level` and `gradspec.core.grad_mode`.
"""

from ..core.grad_mode import _set_fwd_grad_enabled  # noqa: F401 (PyTorch's name for it, found but not shown)
from ..methods.dual_level import (
    UnpackedDualTensor,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)
from ..support.later import answer

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
answer(__name__)


def __dir__():
    return __all__
