"""Optimisers with PyTorch's formulas, defaults and state, and schedules of their learning rates.

Owns the names.  Each is imported when it is named.
"""

from typing import TYPE_CHECKING

from ..support.later import later
if TYPE_CHECKING:
    from . import lr_scheduler
    from .adam import Adam, AdamW
    from .lbfgs import LBFGS
    from .optimizer import Optimizer
    from .rmsprop import Adagrad, RMSprop
    from .sgd import SGD

__all__ = ["Adagrad", "Adam", "AdamW", "LBFGS", "Optimizer", "RMSprop", "SGD", "lr_scheduler"]

if not TYPE_CHECKING:  # for a checker nothing is found that is not written above
    __getattr__ = later(__name__, {
        "": ("lr_scheduler",), "adam": ("Adam", "AdamW"), "lbfgs": ("LBFGS",), "optimizer": ("Optimizer",),
        "rmsprop": ("Adagrad", "RMSprop"), "sgd": ("SGD",),
    })  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)
