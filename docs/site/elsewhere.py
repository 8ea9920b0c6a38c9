"""Names of other libraries: what gradspec has in the place of each public name of PyTorch, JAX, HIPS autograd, NumPy and SciPy.

The lists in `tests/elsewhere` hold the names, so that the site is built without the other libraries.  The namespace of gradspec
that corresponds to a module has the function of a name; a name without a function has the answer of its error.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradspec.compat import NUMPYS, found
from gradspec.support import error_hints
from tests.elsewhere.listed import counterpart, home, modules

LIBRARIES = {"numpy": "NumPy", "scipy": "SciPy", "torch": "PyTorch", "jax": "JAX", "autograd": "HIPS autograd"}


@dataclass(frozen=True)
class Name:
    """A public name elsewhere: gradspec's object, or None and the answer."""

    module: str
    name: str
    value: object
    answer: str

    @property
    def library(self) -> str:
        return LIBRARIES[self.module.partition(".")[0]]

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@functools.cache
def names() -> list[Name]:
    """Every name of the lists."""
    return [Name(module, name, *meant(module, name)) for module, listed in modules() for name in listed]


def meant(module: str, name: str) -> tuple[object, str]:
    """The object of gradspec for a name of another library's module, and the answer of the error for that name."""
    here = counterpart(module)
    if module.endswith("numpy") and name in NUMPYS:
        return None, f"gs.{name} is another function; np.{name} is NumPy's"
    value = None if here is None else getattr(namespace(here), name, None)
    if value is not None:
        return value, ""
    answer = error_hints.of_name(namespace(home(module)), name).removeprefix("; ")
    only = re.fullmatch(r"write gs\.([\w.]+)", answer)
    return (found(only[1]), answer) if only else (None, answer)


def namespace(path: str) -> object:
    return importlib.import_module(f"gradspec.{path}".rstrip("."))


def of_objects() -> dict[int, list[str]]:
    """Identity of an object of gradspec -> its names elsewhere."""
    result: dict[int, list[str]] = {}
    for name in names():
        if name.value is not None and not name.answer:
            result.setdefault(id(name.value), []).append(str(name))
    return result


def by_library(found: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Library -> its names among some full names, NumPy's under `np`; HIPS autograd's are NumPy's and SciPy's."""
    for start, library in LIBRARIES.items():
        own = [re.sub(r"^numpy\b", "np", name) for name in found if name.partition(".")[0] == start]
        if own and start != "autograd":
            yield library, own
