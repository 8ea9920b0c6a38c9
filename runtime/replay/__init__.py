"""Replay: a call that ran once runs again without Python, graph and allocation.

Owns the names that users meet; `gradspec.compile` and `gradspec.jit` are those of here.
"""

import gradspec  # noqa: F401 (waits for it)

from ..support.later import answer
from .compiled import Compiled, compile, jit

__all__ = ["Compiled", "compile", "jit"]
answer(__name__)


def __dir__():
    return __all__
