"""Read the parameters of NumPy's functions, such as the parameters of `np.sum`, from numpy_signatures.txt.

The table has one function on each line and is committed, so the generated code does not depend on the installed NumPy.
`python -m codegen.spec.numpy_signatures` writes the table from the installed NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("numpy_signatures.txt")
_MODULES = ("", "linalg", "fft")  # modules whose functions dispatch on their arguments, or on `like=`
_HEAD = """\
# The parameters of NumPy {version}'s functions, one a line: "*" as in Python, "?" for a default that is no plain value.
# Universal functions have the numbers of their inputs and outputs.  `python -m codegen.spec.numpy_signatures` writes this file.
"""


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # "positional" (or by name), "keyword" (only), "*" or "**"
    default: str | None = None  # Python source, "?" for a default that cannot be written; None for a required parameter


@dataclass(frozen=True)
class NumpyFunction:
    name: str
    parameters: tuple[Parameter, ...] = ()
    inputs: int = 0  # of a universal function
    outputs: int = 0

    @property
    def is_universal(self) -> bool:
        return self.inputs > 0


@functools.cache
def numpy_signatures() -> dict[str, NumpyFunction]:
    """Each function by its dotted name, such as "linalg.svd"."""
    lines = _FILE.read_text().splitlines()
    return {f.name: f for f in (_parsed(line) for line in lines if line and not line.startswith("#"))}


def _parsed(line: str) -> NumpyFunction:
    if universal := re.fullmatch(r"(\S+) ufunc (\d+) (\d+)", line):
        return NumpyFunction(universal[1], inputs=int(universal[2]), outputs=int(universal[3]))
    name, _, rest = line.partition(" ")
    parameters, kind = [], "positional"
    for word in rest.split("  "):
        if word == "*":
            kind = "keyword"
        elif word.startswith("*"):
            parameters.append(Parameter(word.lstrip("*"), "**" if word.startswith("**") else "*"))
            kind = "keyword"
        elif word:
            own, equals, default = word.partition("=")
            parameters.append(Parameter(own, kind, default if equals else None))
    return NumpyFunction(name, tuple(parameters))


def text_of(numpy: Any) -> str:
    """The text of the table, for this NumPy."""
    return _HEAD.format(version=numpy.__version__) + "".join(f"{line}\n" for line in sorted(_lines(numpy)))


def _lines(numpy: Any) -> Iterator[str]:
    for module in _MODULES:
        for name, function in vars(getattr(numpy, module) if module else numpy).items():
            dotted = f"{module}.{name}".lstrip(".")
            if isinstance(function, numpy.ufunc):
                yield f"{dotted} ufunc {function.nin} {function.nout}"
            elif callable(function) and not isinstance(function, type) and not name.startswith("_"):
                with contextlib.suppress(ValueError):
                    parameters = inspect.signature(function).parameters
                    if "like" in parameters or type(function).__name__ == "_ArrayFunctionDispatcher":
                        yield f"{dotted} {'  '.join(_words(parameters.values()))}"


def _words(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        default = "" if parameter.default is parameter.empty else f"={_written(parameter.default)}"
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        yield f"{stars}{parameter.name}{default}"


def _written(value: object) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str, type(None), tuple)) else "?"


if __name__ == "__main__":
    import numpy

    _FILE.write_text(text_of(numpy))
