"""Operators from outside the library: of other packages, and of entries given as text.

Exports the names that generated modules import.  `gs.operator` makes an operator of an entry at run time;
`python -m gradspec.codegen` generates a module from the entries of a package.
"""

import gradspec  # noqa: F401 (waits for it)

from ..support.dispatch import ops
from ..support.lazy_import import answer
from .compiled import compiled
from .facts import FORMAT, REQUIRED, Argument, Facts
from .defined import Operator, define, in_place, module
from .rules import dtype_of, minus, ndim_of, plus, shape_of, size_of
from .text import operator

__all__ = ["Argument", "FORMAT", "Facts", "Operator", "REQUIRED", "compiled", "define", "dtype_of", "in_place", "minus", "module",
           "ndim_of", "operator", "ops", "plus", "shape_of", "size_of"]  # fmt: skip
answer(__name__)
