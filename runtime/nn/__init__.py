"""The functions of neural networks: gradspec.nn, and PyTorch's paths `nn.functional` and `nn.utils` to what is here.

Owns the names.  The functions are operators of the spec, batch_norm and instance_norm with what they write to; the two paths are
imported when they are named.
"""

from typing import TYPE_CHECKING

from .. import _nn
from .._nn import *  # noqa: F403
from ..later import later
from .running import batch_norm as batch_norm
from .running import instance_norm as instance_norm

if TYPE_CHECKING:
    from . import functional, utils

__all__ = sorted(["functional", "utils", *_nn.__all__])

if not TYPE_CHECKING:  # for a checker nothing is found that is not written above
    __getattr__ = later(__name__, {"": ("functional", "utils")})


def __dir__() -> list[str]:
    return list(__all__)
