"""Replay: a call that ran once runs again without Python, graph and allocation.

Owns the names that users meet; `gradspec.compile`, `gradspec.jit` and `gradspec.load_program` are those of here.
"""

import gradspec  # noqa: F401 (waits for it)

from ..support.later import answer
from .compiled import Compiled, compile, jit
from .loaded import LoadedProgram, load_program

__all__ = ["Compiled", "LoadedProgram", "compile", "jit", "load_program"]
answer(__name__)


def __dir__():
    return __all__
