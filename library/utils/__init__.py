"""PyTorch's utils: gradspec.utils.checkpoint, and gradspec.utils.data.

`autograd.checkpoint` has the functions of the first.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import later

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from . import data as data
else:
    __getattr__ = later(__name__, {"": ("checkpoint", "data")})

__all__ = ["checkpoint", "data"]
