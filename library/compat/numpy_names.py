"""NumPy's functions whose forms gradspec's function of the same name does not have."""

from typing import Any

import gradspec as gs


def where(condition: Any, *choices: Any) -> Any:
    """Elements of two arrays; with the condition alone the indices where it is true, one tensor for each axis."""
    return gs.where(condition, *choices) if choices else gs.nonzero(condition)
