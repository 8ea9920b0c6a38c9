"""SciPy's Fourier transforms with derivatives: gradspec.scipy.fft.

Defines the names: the names of gradspec.fft, cosine and sine transforms, and Hankel transforms.
"""

import gradspec  # noqa: F401 (waits for it)

from ... import fft as _operators
from ...fft import *  # noqa: F403
from . import cosine_sine, hankel
from .cosine_sine import *  # noqa: F403
from .hankel import *  # noqa: F403
from ..values import in_given_precision
from ..without import add_without_derivative

__all__ = sorted([*_operators.__all__, *cosine_sine.__all__, *hankel.__all__])
in_given_precision(globals(), ["fht", "ifht"])
add_without_derivative(globals())
