"""SciPy's special functions with derivatives: gradspec.scipy.special.

Defines the names: the names of gradspec.special, and further functions of SciPy.
"""

import gradspec  # noqa: F401 (waits for it)

from ... import special as _operators
from ...special import *  # noqa: F403
from ...generated.ops import log1p, expm1, exp2, cbrt, round, sinc
from . import compositions, elliptic, equations, inverses, legendre, orthogonal, parameters, scaled, smooth_functions
from .compositions import *  # noqa: F403
from .elliptic import *  # noqa: F403
from .equations import *  # noqa: F403
from .inverses import *  # noqa: F403
from .legendre import *  # noqa: F403
from .orthogonal import *  # noqa: F403
from .parameters import *  # noqa: F403
from .scaled import *  # noqa: F403
from .smooth_functions import *  # noqa: F403
from ..without import add_without_derivative

_parts = (compositions, elliptic, equations, inverses, legendre, orthogonal, parameters, scaled, smooth_functions)
__all__ = sorted({"round", *_operators.__all__, *(name for part in _parts for name in part.__all__)})
add_without_derivative(globals())
