"""SciPy's differences, which are refused by name, as exact derivatives exist: gradspec.scipy.differentiate."""

import gradspec  # noqa: F401 (waits for it)

from .without import add_without_derivative

__all__: list[str] = []
add_without_derivative(globals())
