"""SciPy's orthogonal distance regression, which is refused by name: gradspec.scipy.odr."""

import gradspec  # noqa: F401 (waits for it)

from .without import add_without_derivative

__all__: list[str] = []
add_without_derivative(globals())
