"""Optimisers with PyTorch's formulas, defaults and state, and schedules of their learning rates.

Owns the names.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.later import later
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import Adagrad, RMSprop
from .sgd import SGD

if TYPE_CHECKING:
    from . import lr_scheduler as lr_scheduler
else:
    __getattr__ = later(__name__, {"": ("lr_scheduler",)})

__all__ = ["Adagrad", "Adam", "AdamW", "LBFGS", "Optimizer", "RMSprop", "SGD", "lr_scheduler"]


def __dir__() -> list[str]:
    return list(__all__)
