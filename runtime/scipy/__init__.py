"""Arguments for SciPy's functions, made of differentiable functions.

Owns the names.  Each is imported when somebody asks for it, and SciPy only by functions that need it.
"""

from typing import TYPE_CHECKING

from ..support.later import later

if TYPE_CHECKING:
    from .objective import Objective, objective

__all__ = ["Objective", "objective"]


if not TYPE_CHECKING:  # for a checker nothing is found that is not written above
    __getattr__ = later(__name__, {"objective": ("Objective", "objective")})


def __dir__() -> list[str]:
    return __all__
