"""Write a new package of operators, for `python -m gradspec.codegen new-package`.

Copies files of `examples/operators/` under another name.  Without Cython it leaves out the compiled parts.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from .package import Package
from .packages import package_at

_HERE = Path(__file__).parent
_PLACES = (_HERE / "starter_files", _HERE.parent / "examples" / "operators")  # in an installation, and in a checkout
_NAME = "tutorial_operators"  # the name of the example
_FILES = ("README.md", "pyproject.toml", f"src/{_NAME}/__init__.py", f"src/{_NAME}/py.typed", f"src/{_NAME}/derivatives.yaml",
          f"src/{_NAME}/kernels/__init__.py", f"src/{_NAME}/kernels/spreading.py")  # fmt: skip
_COMPILED = ("setup.py", f"src/{_NAME}/kernels/leaking.pyx")
_WITHOUT = {  # patterns of the text in each file that only the Cython kernel needs
    "pyproject.toml": r', "Cython[^"]*", "gradspec"(?=\])|# The operators are compiled.*\n\[tool.*\n.*\n\n',
    "derivatives.yaml": r"---\nfamily: filters\n(?s:.*)",
    "__init__.py": r"from \.leaking .*\n", "README.md": r"(?m)^.*setup\.py.*\n",
}  # fmt: skip


def write(name: str, folder: Path, cython: bool) -> Package:
    """Write the package `name` into a new or empty folder; ValueError if this is not possible."""
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii() or name == Package.name:
        raise ValueError(f"'{name}' cannot be imported as a package of operators")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already")
    for path, text in files(name, cython).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    package = package_at(folder.resolve())
    assert package is not None
    return package


def files(name: str, cython: bool) -> dict[str, str]:
    """The text of each file by its path, without the generated files."""
    top = next(place for place in _PLACES if place.exists())
    found = {path: (top / path).read_text(encoding="utf-8") for path in (*_FILES, *(_COMPILED if cython else ()))}
    if not cython:
        found = {path: re.sub(_WITHOUT.get(Path(path).name, "(?!)"), "", text) for path, text in found.items()}
    return {path.replace(_NAME, name): text.replace(_NAME, name) for path, text in found.items()}
