"""Replay: a call that ran once runs again without Python, graph and allocation."""

from .compiled import Compiled, compile, jit

__all__ = ["Compiled", "compile", "jit"]
