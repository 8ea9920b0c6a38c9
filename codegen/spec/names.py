"""Names that an entry may give: to operators, arguments, outputs, aliases, lets and families.

Owns what is no name, because Python or Cython reads it otherwise, and what is reserved, because formulas or the generated
code mean something by it.  Knows nothing of what is named.
"""

from __future__ import annotations

import keyword
import re

from ..errors import SpecError
from .model import Location

_NAME = re.compile(r"_*[A-Za-z]\w*", re.ASCII)
_LENGTH = 60
# What Cython reads as the beginning of something else, and what it reads as the type of an argument.
_KEYWORDS = {"DEF", "ELIF", "ELSE", "IF", "NULL", "cdef", "cimport", "cpdef", "ctypedef", "include", "sizeof"}
_TYPES = {"Py_ssize_t", "bint", "char", "const", "double", "float", "int", "long", "short", "signed", "size_t", "unsigned",
          "void", "volatile"}  # fmt: skip
# What a formula looks into, what generated code calls its modules, and what bindings add to a signature.
_RESERVED = {"np", "kernels", "grad", "formulas", "math", "ops", "self", "out", "requires_grad"}


def check_name(name: str, at: Location) -> None:
    """Refuses what cannot be the name of an operator, a family or an alias."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name in _KEYWORDS:
        raise SpecError(f"'{shortened(name)}' is not a name", at)
    if name.startswith("__"):
        raise SpecError(f"'{shortened(name)}' starts with two underscores", at)
    if len(name) > _LENGTH:
        raise SpecError(f"the name '{shortened(name)}' is longer than {_LENGTH} characters", at)


def check_value_name(name: str, at: Location, *, let: bool = False) -> None:
    """Refuses what cannot be the name of an argument, an output or a let, which alone may end like a tangent."""
    check_name(name, at)
    if name in _TYPES:
        raise SpecError(f"'{name}' is a type of C, not a name", at)
    if name in _RESERVED or name.startswith("grad_") or name.endswith("_") or name.endswith("_t") and not let:
        raise SpecError(f"'{name}' is reserved for formulas", at)


def shortened(text: str) -> str:
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}..."
