"""Helpers of formulas: compute shapes, axes, dtypes and other static values.

The formulas of derivatives.yaml call them.  They take and return no arrays, and do not depend on tensors.
"""

from importlib import import_module

from .shapes import *

_REST = ("calculus", "contraction", "fourier", "indices", "linear_algebra", "rows", "statistics", "windows")


def __getattr__(name):
    """Import the other modules when one of their names is first requested: most programs need none of them."""
    for module in _REST if not name.startswith("_") else ():
        found = vars(import_module(f"{__name__}.{module}"))
        globals().update((key, value) for key, value in found.items() if not key.startswith("_"))
    if name in globals():
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
