"""Activations, losses and normalisers: gradspec.nn."""

from .generated.nn import *
from .generated.nn import __all__ as __all__
