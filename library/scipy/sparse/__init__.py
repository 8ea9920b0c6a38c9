"""scipy.sparse with derivatives: its linear algebra; gradspec.sparse has the sparse matrices of tensors."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ...support.lazy_import import later

if TYPE_CHECKING:
    from . import linalg as linalg
else:
    __getattr__ = later(__name__, {"": ("linalg",)})

__all__ = ["linalg"]
__dir__ = __all__.copy
