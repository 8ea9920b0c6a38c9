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
from .ranks import maximum_filter, maximum_filter1d, median_filter, minimum_filter, minimum_filter1d, percentile_filter
from .ranks import rank_filter
from ..values import in_given_precision
from ...support.lazy_import import answer

__all__ = [
    *fourier.__all__, *measurements.__all__,
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace",
    "map_coordinates", "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d",
    "percentile_filter", "prewitt", "rank_filter", "rotate", "shift", "sobel", "spline_filter", "spline_filter1d",
    "uniform_filter", "uniform_filter1d", "zoom",
]  # fmt: skip
__dir__ = __all__.copy

_WITHOUT = (
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "distance_transform_bf", "distance_transform_cdt", "distance_transform_edt", "find_objects", "label",
    "watershed_ift",
)  # fmt: skip


def _refusing(name):
    def refused(*args, **kwargs):
        raise NotImplementedError(f"gs.scipy.ndimage.{name}: what it gives changes in jumps and has no derivative; call "
                                  f"scipy.ndimage.{name}(x.detach().numpy())")  # fmt: skip

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"Refused: what scipy.ndimage.{name} gives changes in jumps and has no derivative."
    return refused


for _name in _WITHOUT:
    globals()[_name] = _refusing(_name)
in_given_precision(globals(), __all__)
answer(__name__)
