"""Optimisers with PyTorch's formulas, defaults and state, and schedules of their learning rates."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import later
from .adam import Adam, AdamW
from .adaptive import Adadelta, Adamax, NAdam, RAdam
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .others import ASGD, Adafactor, Muon, Rprop
from .rmsprop import Adagrad, RMSprop
from .sgd import SGD
from .sparse_adam import SparseAdam

if TYPE_CHECKING:
    from . import lr_scheduler as lr_scheduler
    from . import swa_utils as swa_utils
else:
    __getattr__ = later(__name__, {"": ("lr_scheduler", "swa_utils")})

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip
