"""Helpers of formulas, which compute with shapes, axes, dtypes and other static values.

Owns the helpers that derivatives.yaml calls.  They take and return no arrays, and know nothing of tensors.
"""

from importlib import import_module

from .shapes import *

_REST = ("calculus", "contraction", "fourier", "indices", "linear_algebra", "rows", "statistics", "windows")


def __getattr__(name):
    """The other modules are imported when the first of their names is asked for: most programs get by without."""
    for module in _REST if not name.startswith("_") else ():
        found = vars(import_module(f"{__name__}.{module}"))
        globals().update((key, value) for key, value in found.items() if not key.startswith("_"))
    if name in globals():
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
