"""Trusted classes: the libraries, packages and C classes whose objects a walk of captured state need not look into.

Says which code belongs to libraries, which classes hide state from Python, and which attributes of an object are read.
"""

from __future__ import annotations

import datetime
import functools
import operator
import os
import re
import sysconfig
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import numpy as np

from ...core.tensor import TensorBase
from ...support.dispatch import is_operator
from ...support.generator import numpy_random
from ..guards.state_guards import NUMBERS, is_made_by_python
from .code_names import names_of

# Packages whose functions depend only on their arguments and on random generators.
LIBRARIES = {"gradspec", "numpy", "scipy", "builtins", "functools", "itertools", "math", "cmath", "operator", "contextlib",
             "copy", "abc", "collections", "dataclasses", "enum", "numbers", "types", "typing", "heapq", "bisect", "string",
             "_operator", "_functools", "_collections", "_abc", "_bisect", "_heapq", "_collections_abc"}  # fmt: skip
# C classes whose objects never change, or have no state besides the parts that are walked.
STATELESS = (*NUMBERS, np.generic, type(Ellipsis), type(NotImplemented), range, slice, np.dtype, np.ufunc, re.Pattern,
             types.CodeType, types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
             types.GetSetDescriptorType, types.MemberDescriptorType, types.GenericAlias,
             operator.itemgetter, operator.attrgetter, operator.methodcaller,
             type(namedtuple("_Fields", "field").field), types.UnionType, datetime.date, datetime.time, datetime.timedelta,
             datetime.tzinfo)  # fmt: skip
WALKED = (object, type, list, dict, tuple, set, frozenset, deque, OrderedDict, defaultdict, int, float, complex, str, bytes,
          BaseException, types.SimpleNamespace, np.ndarray)  # fmt: skip
NUMPY_FUNCTION = type(np.sum)
NUMPY_GENERATORS = (numpy_random().Generator, numpy_random().RandomState, numpy_random().BitGenerator)
PLACES = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_users(module: types.ModuleType) -> bool:
    """Whether a module is neither a library's nor of an installed package."""
    return not is_library(module) and not is_installed(getattr(module, "__file__", None) or "")


def is_library(item: Any) -> bool:
    """Whether a function, a class or a module belongs to a library whose state is not the user's."""
    if isinstance(item, types.FunctionType):
        name = item.__globals__.get("__name__")
    else:
        name = item.__name__ if isinstance(item, types.ModuleType) else getattr(item, "__module__", None)
    return is_library_name(name)


def is_library_name(name: Any) -> bool:
    return isinstance(name, str) and (name.partition(".")[0] in LIBRARIES or name.startswith("namedtuple_"))


@functools.lru_cache(maxsize=1024)
def is_installed(filename: str) -> bool:
    """Whether code belongs to Python itself or to an installed package."""
    path = filename if filename.startswith("<frozen") else os.path.realpath(filename)
    return path.startswith((*PLACES, "<frozen"))


def package_of(function: Any) -> str:
    """The top-level package or module of a function, or of the function inside a method."""
    name = getattr(getattr(function, "__func__", function), "__module__", None)
    return str(name).partition(".")[0]


def is_compiled_function(item: Any) -> bool:
    """Whether an object is a Cython function of the library, or an operator of a different package."""
    return type(item).__name__ == "cython_function_or_method" and (is_library(item) or is_operator(item))


def hides_state(cls: type) -> bool:
    """Whether objects of a class contain state that is neither an attribute nor an element."""
    return any(not (kind in WALKED or is_made_by_python(kind) or is_trusted(kind)
                    or issubclass(kind, (BaseException, TensorBase))) for kind in cls.__mro__)  # fmt: skip


def is_trusted(cls: type) -> bool:
    """Whether a C class belongs to the library, or to NumPy or SciPy and keeps no state between calls."""
    return cls.__module__.partition(".")[0] in ("gradspec", "scipy") or cls.__module__ == "numpy" and not issubclass(
        cls, (np.flatiter, np.nditer, np.void))  # fmt: skip


def attributes_in(item: Any) -> dict | None:
    """The attribute dictionary of an object, read without running code of its class."""
    try:
        found = object.__getattribute__(item, "__dict__")
    except (AttributeError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def slots_of(cls: type) -> list[str]:
    """The names of an object's slots, private ones with Python's name mangling."""
    found: list[str] = []
    for kind in cls.__mro__:
        names = () if is_library(kind) else vars(kind).get("__slots__", ())
        private = f"_{kind.__name__.lstrip('_')}"
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                found.append(f"{private}{name}" if name.startswith("__") and not name.endswith("__") else name)
    return found


@functools.lru_cache(maxsize=1024)
def names_of_libraries(cls: type) -> frozenset:
    """The names in functions of a class's library bases, which read such attributes although the user's code does not."""
    return frozenset(name for kind in cls.__mro__ if is_library(kind) and kind is not object for value in vars(kind).values()
                     for part in (value, getattr(value, "__func__", None), getattr(value, "fget", None))
                     if isinstance(part, types.FunctionType) for name in names_of(part.__code__))  # fmt: skip
