"""scipy.sparse with derivatives: its linear algebra; gradspec.sparse has the sparse matrices of tensors."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..without import without_derivative
from ...support.lazy_import import later

if TYPE_CHECKING:
    from . import csgraph as csgraph
    from . import linalg as linalg
else:
    __getattr__ = later(__name__, {"": ("csgraph", "linalg")})

_without = without_derivative("sparse")
globals().update(_without)
__all__ = sorted(["csgraph", "linalg", *_without])
__dir__ = __all__.copy
