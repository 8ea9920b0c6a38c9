"""Optimisers with PyTorch's formulas, defaults and state, and schedules of their learning rates.

Owns the names.  The less common ones are imported when they are named.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

if TYPE_CHECKING:
    from . import lr_scheduler
    from .lbfgs import LBFGS
    from .rmsprop import Adagrad, RMSprop

_LATER = {"Adagrad": "rmsprop", "LBFGS": "lbfgs", "RMSprop": "rmsprop", "lr_scheduler": ""}

__all__ = ["Adagrad", "Adam", "AdamW", "LBFGS", "Optimizer", "RMSprop", "SGD", "lr_scheduler"]

if not TYPE_CHECKING:  # for a checker nothing is found that is not written above

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_LATER[name] or name}")
        found = globals()[name] = getattr(module, name) if _LATER[name] else module
        return found


def __dir__() -> list[str]:
    return list(__all__)
