"""SciPy's rotations, which are refused by name: gradspec.scipy.spatial.transform."""

import gradspec  # noqa: F401 (waits for it)

from ...support.lazy_import import answer
from ..without import without_derivative

_without = without_derivative("spatial.transform")
globals().update(_without)
__all__ = sorted(_without)
__dir__ = __all__.copy
answer(__name__)
