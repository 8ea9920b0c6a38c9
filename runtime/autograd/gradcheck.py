"""Derivatives compared with differences, as users import it; the comparison is in `gradspec.gradcheck`."""

from ..errors import GradcheckError
from ..gradcheck import gradcheck
from ..gradgradcheck import gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def __dir__():
    return __all__
