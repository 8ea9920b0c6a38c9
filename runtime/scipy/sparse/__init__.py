"""scipy.sparse with derivatives: its linear algebra; sparse matrices of tensors are those of gradspec.sparse.

Owns the name.
"""

import gradspec  # noqa: F401 (waits for it)

from . import linalg
from ...support.later import answer

__all__ = ["linalg"]
answer(__name__)


def __dir__() -> list[str]:
    return __all__
