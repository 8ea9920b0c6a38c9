"""scipy.interpolate with derivatives: by values, by knots and by evaluation points, in both modes and to any order.

Defines the names, which are SciPy's.  Interpolation is built from operators: gathers, polynomials and banded solves.
"""

import gradspec  # noqa: F401 (waits for it)

from .bsplines import BSpline, make_interp_spline, make_smoothing_spline, splev, splint
from .cubic import Akima1DInterpolator, CubicHermiteSpline, CubicSpline, PchipInterpolator, pchip_interpolate
from .grids import RegularGridInterpolator, interp1d, interpn
from .piecewise import PPoly
from .scattered import LinearNDInterpolator, NearestNDInterpolator, RBFInterpolator, griddata
from ..without import add_without_derivative

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "LinearNDInterpolator", "NearestNDInterpolator",
    "PPoly", "PchipInterpolator", "RBFInterpolator", "RegularGridInterpolator", "griddata", "interp1d", "interpn",
    "make_interp_spline", "make_smoothing_spline",
    "pchip_interpolate", "splev", "splint",
]  # fmt: skip
add_without_derivative(globals())
