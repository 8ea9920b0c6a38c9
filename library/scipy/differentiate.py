"""SciPy's differences, which are refused by name, as exact derivatives exist: gradspec.scipy.differentiate."""

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import answer
from .without import without_derivative

_without = without_derivative("differentiate")
globals().update(_without)
__all__ = sorted(_without)
__dir__ = __all__.copy
answer(__name__)
