"""Operators for gradspec."""

from .operators import *
from .operators import __all__ as __all__
