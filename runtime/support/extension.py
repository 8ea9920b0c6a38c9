"""Extensions that hold many compiled modules each: loading one file for all of a folder is what keeps an import short.

Owns how such a module is found.  A folder's `__init__` offers the names that its extension holds; each is initialised when
it is first imported, as if it had a file of its own.  Also keeps off an import what is not its work.  Imports nothing of the
package.
"""

import gc
import os.path
import sys
from _thread import get_ident  # `threading` would be one more module to import
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


class InOtherThreads:
    """False in the thread that made it."""

    def __init__(self):
        self.thread = get_ident()

    def __bool__(self):
        return get_ident() != self.thread


@contextmanager
def undisturbed(spec):
    """Run a package's imports without two things that take a fifth of their time.

    The cyclic collector would look many times through all that is being made, and find no garbage; it is left as it was.  And
    each import of a module from a package that is still being imported asks for the package's lock, which another thread may
    hold: a thousand times here, where this thread holds it.  Other threads still wait.
    """
    if getattr(spec, "_initializing", False) is True:  # importlib's own flag, which it clears at the end
        spec._initializing = InOtherThreads()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
