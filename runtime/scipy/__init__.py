"""Arguments for SciPy's functions, made of differentiable functions.

Owns the names.  A function that needs SciPy imports it when it is called.
"""

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .objective import Objective, objective
from ..support.later import answer

__all__ = ["Objective", "objective"]
answer(__name__)


def __dir__() -> list[str]:
    return __all__
