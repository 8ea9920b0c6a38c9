"""SciPy's hierarchies of clusters, whose values have no derivative: gradspec.scipy.cluster.hierarchy."""

import gradspec  # noqa: F401 (waits for it)

from ..without import add_without_derivative

__all__: list[str] = []
add_without_derivative(globals())
