"""SciPy's linear algebra with derivatives: gradspec.scipy.linalg.

Defines the names, with SciPy's arguments; gradspec.linalg has the arguments of NumPy and PyTorch.
"""

import gradspec  # noqa: F401 (waits for it)

from . import equations, factorizations, matrix_functions, special_matrices
from .equations import *  # noqa: F403
from .factorizations import *  # noqa: F403
from .matrix_functions import *  # noqa: F403
from .special_matrices import *  # noqa: F403
from ..without import add_without_derivative

__all__ = sorted(name for part in (equations, factorizations, matrix_functions, special_matrices) for name in part.__all__)
add_without_derivative(globals())
