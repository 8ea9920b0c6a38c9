"""Extensions: what the setup.py of a package of operators compiles, against the headers of the gradspec that is installed.

Owns where these headers are, and how the modules are compiled.  Needs Cython and setuptools, as a build has them.
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
    """The folder in which `gradspec/core/node.pxd` stands: that of the installation, or of a checkout's build."""
    if (_GRADSPEC / "core" / "node.pxd").exists():
        return str(_GRADSPEC.parent)
    folder = build.build_folder(_GRADSPEC)
    if folder is None:
        raise FileNotFoundError("the headers of gradspec are not found: install gradspec")
    return str(folder / "headers")


def extensions(source: str = "src") -> list[Any]:
    """An extension for each module in Cython below a folder, kernels and what is generated alike, for `setup(ext_modules=...)`.

    Parameters
    ----------
    source : str
        The folder from which the package is imported, beside its setup.py.

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
