"""Names that are imported when they are first used: what most programs never use should not lengthen every import.

Owns the `__getattr__` (PEP 562) of the packages that have such names.  Python looks up every name of such a module more slowly,
also those that are there: its specialised instruction for the names of a module leaves such modules out.
"""

import sys
from importlib import import_module


def later(package, places):
    """The `__getattr__` of a package that imports some of its names when they are asked for.

    Parameters
    ----------
    package : str
    places : dict of str to tuple of str
        Module of the package -> names that it holds; "" for names that are modules themselves.
    """
    owners = {name: module for module, names in places.items() for name in names}

    def __getattr__(name):
        if name not in owners:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])  # the two by which Python finds a name nearby
        module = import_module(f"{package}.{owners[name] or name}")  # Python makes it an attribute, perhaps only after this line
        if not owners[name]:
            return module
        names = {other: getattr(module, other) for other in places[owners[name]]}
        vars(sys.modules[package]).update(names)
        return names[name]

    return __getattr__
