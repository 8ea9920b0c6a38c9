"""Optimisers with PyTorch's formulas, defaults and state, and schedules of their learning rates.

Owns the names.
"""

import gradspec  # noqa: F401 (waits for it)

from . import lr_scheduler
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import Adagrad, RMSprop
from .sgd import SGD

__all__ = ["Adagrad", "Adam", "AdamW", "LBFGS", "Optimizer", "RMSprop", "SGD", "lr_scheduler"]


def __dir__() -> list[str]:
    return list(__all__)
