"""SciPy's distances with derivatives, and geometry without: gradspec.scipy.spatial."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from .geometry import distance_matrix, geometric_slerp, minkowski_distance, minkowski_distance_p
from ..without import add_without_derivative
from ...support.lazy_import import later

if TYPE_CHECKING:
    from . import distance as distance
    from . import transform as transform
else:
    __getattr__ = later(__name__, {"": ("distance", "transform")})

__all__ = ["distance", "distance_matrix", "geometric_slerp", "minkowski_distance", "minkowski_distance_p", "transform"]
add_without_derivative(globals())
