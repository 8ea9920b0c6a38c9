"""Operators of your own, as in HIPS autograd: `primitive`, and functions that define its rules."""

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from .func.primitives import def_linear, defjvp, defjvp_argnum, defjvp_argnums, defvjp, defvjp_argnum, defvjp_argnums, primitive
from .support.lazy_import import answer

__all__ = ["def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "primitive"]
answer(__name__)
