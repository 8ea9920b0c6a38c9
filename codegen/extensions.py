"""Extensions: the modules that a package's setup.py compiles against the headers of the installed gradspec.

Finds these headers and sets the compiler options.  Needs Cython and setuptools, which a build has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import build

_GRADSPEC = Path(__file__).resolve().parents[1]
_FLAGS = ("-O1", "-g0", "-Wno-unused-function")  # generated code is calls and branches
_MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION")]
_DIRECTIVES = {"language_level": 3, "initializedcheck": False, "cdivision": True, "auto_pickle": False}


def headers() -> str:
    """The folder that contains `gradspec/core/node.pxd`: the installation's, or the checkout's build folder."""
    if (_GRADSPEC / "core" / "node.pxd").exists():
        return str(_GRADSPEC.parent)
    folder = build.build_folder(_GRADSPEC)
    if folder is None:
        raise FileNotFoundError("the headers of gradspec are not found: install gradspec")
    return str(folder / "headers")


def extensions(source: str = "src") -> list[Any]:
    """An extension for each Cython module below a folder, kernels and generated modules, for `setup(ext_modules=...)`.

    Parameters
    ----------
    source : str
        Folder that the package is imported from, beside its setup.py.

    Returns
    -------
    list of setuptools.Extension
    """
    import numpy as np
    from Cython.Build import cythonize
    from setuptools import Extension

    top, beside = Path(source), headers()
    found = [
        Extension(".".join(path.relative_to(top).with_suffix("").parts), [path.as_posix()],
                  include_dirs=[np.get_include(), beside], define_macros=_MACROS, extra_compile_args=list(_FLAGS))
        for path in sorted(top.rglob("*.pyx"))
    ]  # fmt: skip
    return cythonize(found, include_path=[beside, source], compiler_directives=_DIRECTIVES)
