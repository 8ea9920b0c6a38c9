"""Imports a mutant in the place of one file, in every Python process that has this folder in PYTHONPATH.

Owns nothing but that exchange: the checkout and its build are left as they are.  MUTANT_OF is the file and MUTANT what is loaded
for it, a Python source or an extension.
"""

import os
import sys
from importlib.machinery import ExtensionFileLoader, SourceFileLoader

_OF, _BY = os.environ.get("MUTANT_OF"), os.environ.get("MUTANT")
_get_code, _create_module = SourceFileLoader.get_code, ExtensionFileLoader.create_module


def _get_code_of_mutant(self, fullname):
    if os.path.abspath(self.path) != _OF:
        return _get_code(self, fullname)
    with open(_BY, encoding="utf-8") as file:
        return compile(file.read(), self.path, "exec", dont_inherit=True)


def _create_mutant(self, spec):
    origin = spec.origin
    if os.path.abspath(origin) == _OF:
        spec.origin = _BY
    try:
        return _create_module(self, spec)
    finally:
        spec.origin = origin


if _OF and _BY:
    SourceFileLoader.get_code, ExtensionFileLoader.create_module = _get_code_of_mutant, _create_mutant
for _finder in sys.meta_path:  # the editable install asks ninja in each process whether there is something to build
    if getattr(_finder, "_name", None) == "gradspec" and hasattr(_finder, "_build_cmd"):
        _finder._build_cmd = [sys.executable, "-S", "-c", ""]
