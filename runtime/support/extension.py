"""Extensions that hold many compiled modules each: one file is loaded for all modules of a folder, which keeps an import short.

Owns how such a module is found.  A folder's `modules.txt` lists the modules; the build links them into one extension, `modules`,
and the folder's `__init__` offers the names to `SharedExtensions`, a finder on `sys.meta_path`.  For an offered name the finder
answers with the file of the extension, where CPython's own loader looks up `PyInit_<last part of the name>`: so each module is
initialised when it is first imported, as if it had a file of its own.  Imports nothing of the package.
"""

import os.path
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

EXTENSION = "modules"  # the file of a folder, beside its `__init__`


class SharedExtensions:
    """Finds the modules that were offered, in the files that they share."""

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
    """Let each module that the package's `modules.txt` lists be imported from its shared extension.

    A line is a name below the package, with dots, and words for the build. The build reads the same file.
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
