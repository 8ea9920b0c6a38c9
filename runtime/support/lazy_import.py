"""Lazy imports: import rarely used names on first use, so that they do not slow down the import of the package.

Defines `__getattr__` and `__dir__` (PEP 562) of packages with such names, and of all namespaces, which suggest a replacement for
a missing name.  In a module with `__getattr__` every lookup of a name is slower, even of an existing one: Python's specialised
instruction for module attributes does not handle such modules.
"""

import sys
from importlib import import_module

from .error_hints import MissingAttribute, of_name


def later(package, places, rest=None, names=()):
    """The `__getattr__` of a package that imports some of its names on first use.

    Parameters
    ----------
    package : str
    places : dict of str to tuple of str
        Module of the package -> its names; "" for names that are modules themselves.
    rest : str, optional
        A module of the package whose `__all__` has further names: it is imported for a name found nowhere else.
    names : sequence of str
        The public names beside those; if given, `__all__` of the package is computed on first use.
    """
    owners = {name: module for module, names in places.items() for name in names}
    list_names(package)

    def __getattr__(name):
        if name not in owners:
            if rest is not None and (name == "__all__" or not name.startswith("__")):
                module, here = import_module(f"{package}.{rest}"), vars(sys.modules[package])
                further = getattr(module, "__all__", ())  # empty while it is being imported
                here.update({other: getattr(module, other) for other in further})
                if further and "__all__" not in here:
                    here["__all__"] = sorted([*names, *further])
                if name in here:
                    return here[name]
            found = None if name.startswith("_") else elsewhere(package, name)
            if found is None:
                raise missing(package, name)
            return found
        module = import_module(f"{package}.{owners[name] or name}")  # Python makes it an attribute, perhaps only after this line
        if not owners[name]:
            return module
        found = {other: getattr(module, other) for other in places[owners[name]]}
        vars(sys.modules[package]).update(found)
        return found[name]

    return __getattr__


def elsewhere(package, name):
    """A module or a class under another library's name, from the tables of `gradspec.compat`; None if they lack it."""
    if package == "gradspec.compat" or package.partition(".")[0] != "gradspec":
        return None
    compat, path = import_module("gradspec.compat"), f"{package}.{name}".partition(".")[2]
    if path in compat.MODULES:
        return import_module(f"{package}.{name}")
    return compat.found(compat.CLASSES[path]) if path in compat.CLASSES else None


def answer(package, computed=None):
    """Have a namespace without lazy names list `__all__` in `dir()`, and suggest replacements for missing names.

    This is a call instead of a `__getattr__` in the source, because type checkers would then accept every name.

    Parameters
    ----------
    package : str
    computed : dict of str to callable, optional
        Names with changing values, and the function that returns the value.
    """

    def __getattr__(name):
        if computed and name in computed:
            return computed[name]()
        raise missing(package, name)

    list_names(package)
    vars(sys.modules[package])["__getattr__"] = __getattr__


def list_names(package):
    """Have `dir()` of a module list `__all__`, if it has that."""
    module = sys.modules[package]
    vars(module).setdefault("__dir__", lambda: list(getattr(module, "__all__", vars(module))))


def missing(package, name):
    """The error of a module's `__getattr__` for an unknown name.

    For `from package import name`, Python replaces an AttributeError by an ImportError with its own message; so raise that here.
    """
    from opcode import opmap

    frame = sys._getframe(2)
    here = f"{package}.{name}" in sys.modules  # a submodule that is not an attribute: after an AttributeError Python finds it
    if not here and frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name {name!r} from {package!r}{of_name(sys.modules[package], name)}", name=package)
    return MissingAttribute(sys.modules[package], name)
