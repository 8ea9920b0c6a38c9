"""SciPy's rotations, which are refused by name: gradspec.scipy.spatial.transform."""

import gradspec  # noqa: F401 (waits for it)

from ..without import add_without_derivative

__all__: list[str] = []
add_without_derivative(globals())
