"""What SciPy's functions take, made of differentiable functions.

Owns the names; what they stand for is imported when it is asked for, and SciPy itself only by what needs it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .objective import Objective, objective

__all__ = ["Objective", "objective"]


if not TYPE_CHECKING:  # for a checker nothing is found that is not written above

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .objective import Objective, objective

        globals().update(Objective=Objective, objective=objective)
        return globals()[name]


def __dir__() -> list[str]:
    return __all__
