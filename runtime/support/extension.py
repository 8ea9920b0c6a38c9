"""Shared extensions: load all compiled modules of a folder from one file, which speeds up the import.

A folder's `modules.txt` lists the modules; the build links them into one extension, `modules`.  The folder's `__init__`
registers the names with `SharedExtensions`, a finder on `sys.meta_path`.  For a registered name the finder returns the
extension's file, and CPython's own loader calls `PyInit_<last part of the name>` in it.  So each module is initialised when it
is first imported, as if it had its own file.  Imports nothing of the package.
"""

import os.path
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

EXTENSION = "modules"  # the file in a folder, beside its `__init__`


class SharedExtensions:
    """Finds registered modules in their shared files."""

    files: dict[str, str] = {}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        file = cls.files.get(name)
        if file is None:
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, file), origin=file)
        spec.has_location = True
        return spec


def find(name, path):
    """The spec of a module below that path, or None."""
    return next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)), None)


def offer(package):
    """Register each module in the package's `modules.txt` for import from its shared extension.

    A line is a dotted name below the package, followed by words for the build, which reads the same file.
    """
    extension, path = f"{package}.{EXTENSION}", sys.modules[package].__path__
    with open(os.path.join(os.path.dirname(sys.modules[package].__file__), f"{EXTENSION}.txt")) as file:
        names = [line.split()[0] for line in file]
    found = find(extension, path)
    if found is None:
        raise ImportError(f"{extension} is not there: has gradspec been built?", name=extension)
    SharedExtensions.files.update((f"{package}.{name}", found.origin) for name in names)
    if SharedExtensions not in sys.meta_path:
        sys.meta_path.insert(0, SharedExtensions)
