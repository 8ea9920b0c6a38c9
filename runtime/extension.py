"""Extensions that hold many compiled modules each: loading one file for all of a folder is what keeps an import short.

Owns how such a module is found.  A folder's `__init__` offers the names that its extension holds; each is initialised when
it is first imported, as if it had a file of its own.  Also what keeps the collector away from an import: it would look many
times through all that is being made, a tenth of the time, and find no garbage.  Imports nothing of the package.
"""

import gc
import sys
from contextlib import contextmanager
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


def offer(package, names):
    """Let `package.name` be imported from the package's shared extension, for each of the names."""
    extension, path = f"{package}.{EXTENSION}", sys.modules[package].__path__
    found = next(filter(None, (finder.find_spec(extension, path) for finder in sys.meta_path)), None)
    if found is None:
        raise ImportError(f"{extension} is not there: has gradspec been built?", name=extension)
    SharedExtensions.files.update((f"{package}.{name}", found.origin) for name in names)
    if SharedExtensions not in sys.meta_path:
        sys.meta_path.insert(0, SharedExtensions)


@contextmanager
def no_collection():
    """Run a block without the cyclic collector, and leave the collector as it was."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
