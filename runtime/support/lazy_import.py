"""Names that are imported when they are first used: what most programs never use should not lengthen every import.

Owns the `__getattr__` (PEP 562) of the packages that have such names, and of all namespaces, which say what to write for a name
that they have not.  Python looks up every name of such a module more slowly, also those that are there: its specialised
instruction for the names of a module leaves such modules out.
"""

import sys
from importlib import import_module

from .error_hints import MissingAttribute, of_name


def later(package, places, rest=None, names=()):
    """The `__getattr__` of a package that imports some of its names when they are asked for.

    Parameters
    ----------
    package : str
    places : dict of str to tuple of str
        Module of the package -> names that it holds; "" for names that are modules themselves.
    rest : str, optional
        A module of the package whose `__all__` has further names: it is imported for a name that is nowhere else.
    names : sequence of str
        The public names beside those; then `__all__` of the package is made when it is asked for.
    """
    owners = {name: module for module, names in places.items() for name in names}

    def __getattr__(name):
        if name not in owners:
            if rest is not None and (name == "__all__" or not name.startswith("__")):
                module, here = import_module(f"{package}.{rest}"), vars(sys.modules[package])
                further = getattr(module, "__all__", ())  # none while it is imported
                here.update({other: getattr(module, other) for other in further})
                if further and "__all__" not in here:
                    here["__all__"] = sorted([*names, *further])
                if name in here:
                    return here[name]
            raise missing(package, name)
        module = import_module(f"{package}.{owners[name] or name}")  # Python makes it an attribute, perhaps only after this line
        if not owners[name]:
            return module
        found = {other: getattr(module, other) for other in places[owners[name]]}
        vars(sys.modules[package]).update(found)
        return found[name]

    return __getattr__


def answer(package, computed=None):
    """Let a namespace whose names are all there say of others what to write.

    A call, and no `__getattr__` that type checkers see: they would take every name for one that is there.

    Parameters
    ----------
    package : str
    computed : dict of str to callable, optional
        Names whose value changes, with the function that returns the value.
    """

    def __getattr__(name):
        if computed and name in computed:
            return computed[name]()
        raise missing(package, name)

    vars(sys.modules[package])["__getattr__"] = __getattr__


def missing(package, name):
    """The error where a module's `__getattr__` does not know a name.

    Of an AttributeError `from package import name` makes an ImportError with words of its own, so here it is that one.
    """
    from opcode import opmap

    frame = sys._getframe(2)
    here = f"{package}.{name}" in sys.modules  # a module that is no attribute: Python looks for it there after an AttributeError
    if not here and frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name {name!r} from {package!r}{of_name(sys.modules[package], name)}", name=package)
    return MissingAttribute(sys.modules[package], name)
