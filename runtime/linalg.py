"""Linear algebra: gradspec.linalg."""

from .generated.linalg import *
from .generated.linalg import __all__ as __all__
