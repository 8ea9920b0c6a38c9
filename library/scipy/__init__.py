"""SciPy's functions with derivatives: gradspec.scipy, with SciPy's submodules and names.

Defines the names.  A function that needs SciPy imports it when called; a submodule is imported on first access.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .objective import Objective, objective
from ..support.lazy_import import later

# SciPy's submodules.
_modules = (
    "cluster",
    "differentiate",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "odr",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)  # fmt: skip

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import differentiate as differentiate
    from . import fft as fft
    from . import integrate as integrate
    from . import interpolate as interpolate
    from . import linalg as linalg
    from . import ndimage as ndimage
    from . import odr as odr
    from . import optimize as optimize
    from . import signal as signal
    from . import sparse as sparse
    from . import spatial as spatial
    from . import special as special
    from . import stats as stats
else:
    __getattr__ = later(__name__, {"": _modules})

__all__ = ["Objective", "objective", *_modules]
