"""SciPy's hierarchies of clusters, whose values have no derivative: gradspec.scipy.cluster.hierarchy."""

import gradspec  # noqa: F401 (waits for it)

from ...support.lazy_import import answer
from ..without import without_derivative

_without = without_derivative("cluster.hierarchy")
globals().update(_without)
__all__ = sorted(_without)
__dir__ = __all__.copy
answer(__name__)
