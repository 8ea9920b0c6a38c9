"""Filters and interpolation of images under SciPy's names: gradspec.scipy.ndimage.

Defines the names, and which of SciPy's functions have no derivative.  All functions are built from operators, except the
prefilter of splines, which is SciPy's.
"""

import gradspec  # noqa: F401 (waits for it)

from .filters import convolve, convolve1d, correlate, correlate1d, gaussian_filter, gaussian_filter1d, gaussian_gradient_magnitude
from .filters import gaussian_laplace, generic_gradient_magnitude, generic_laplace, laplace, prewitt, sobel, uniform_filter
from .filters import uniform_filter1d
from . import fourier, measurements
from .fourier import *  # noqa: F403
from .measurements import *  # noqa: F403
from .interpolation import affine_transform, map_coordinates, rotate, shift, spline_filter, spline_filter1d, zoom
from .ranks import black_tophat, grey_closing, grey_dilation, grey_erosion, grey_opening, morphological_gradient
from .ranks import morphological_laplace, white_tophat
from .ranks import maximum_filter, maximum_filter1d, median_filter, minimum_filter, minimum_filter1d, percentile_filter
from .ranks import rank_filter
from ..values import in_given_precision
from ..without import add_without_derivative

__all__ = [
    *fourier.__all__, *measurements.__all__,
    "black_tophat", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "morphological_gradient",
    "morphological_laplace", "white_tophat",
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace",
    "map_coordinates", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d",
    "percentile_filter", "prewitt", "rank_filter", "rotate", "shift", "sobel", "spline_filter", "spline_filter1d",
    "uniform_filter", "uniform_filter1d", "zoom",
]  # fmt: skip

in_given_precision(globals(), __all__)
add_without_derivative(globals())
