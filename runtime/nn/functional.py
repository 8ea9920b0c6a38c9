"""The functions of gradspec.nn under PyTorch's path: `import gradspec.nn.functional as F`.

Owns nothing: a function has one place, and this is a second way to it.
"""

from .. import _nn
from .._nn import *  # noqa: F403
from .running import batch_norm as batch_norm
from .running import instance_norm as instance_norm

__all__ = list(_nn.__all__)


def __dir__() -> list[str]:
    return list(__all__)
