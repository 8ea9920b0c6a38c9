"""scipy.sparse with derivatives: its linear algebra; gradspec.sparse has the sparse matrices of tensors."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..without import add_without_derivative
from ...support.lazy_import import later

if TYPE_CHECKING:
    from . import csgraph as csgraph
    from . import linalg as linalg
else:
    __getattr__ = later(__name__, {"": ("csgraph", "linalg")})

__all__ = ["csgraph", "linalg"]
add_without_derivative(globals())
