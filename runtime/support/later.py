"""Names that are imported when they are first used: what most programs never use should not lengthen every import.

Owns the `__getattr__` (PEP 562) of the packages that have such names.  Python looks up all names of a module that has one more
slowly, also those that are there: the main namespace has none.
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
        module = import_module(f"{package}.{owners[name] or name}")  # which the package has as an attribute from now on
        namespace = vars(sys.modules[package])
        if owners[name]:
            namespace.update((other, getattr(module, other)) for other in places[owners[name]])
        return namespace[name]

    return __getattr__
