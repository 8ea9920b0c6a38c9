"""Names that are imported when they are first used: what most programs never use should not lengthen every import.

Owns the `__getattr__` of the namespaces that have such names, and modules that run when they are first used: with a
`__getattr__` of its own, a module's names are looked up the slow way, always.
"""

import sys
from _thread import RLock
from importlib import import_module
from types import ModuleType

from .extension import find


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


class Postponed(ModuleType):
    """A module that runs when the first of its names is asked for, and is a module as any other from then on."""

    def __getattr__(self, name):
        _run(self)
        if type(self) is ModuleType:
            return getattr(self, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} yet", name=name, obj=self)

    def __dir__(self):
        _run(self)
        return ModuleType.__dir__(self)


_locks = {}  # of the postponed modules: name -> lock
_running = set()


def postponed(name):
    """The module of that name, as if it had been imported; it is when it is first used."""
    if name not in sys.modules:
        _locks[name] = RLock()
        sys.modules[name] = Postponed(name)
    return sys.modules[name]


def _run(module):
    name = module.__name__
    with _locks[name]:  # of this module alone: another thread may wait for another one
        if type(module) is not Postponed or name in _running:
            return
        spec = find(name, sys.modules[name.rpartition(".")[0]].__path__)
        module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
        module.__file__, module.__cached__ = spec.origin, spec.cached
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        _running.add(name)
        try:
            spec.loader.exec_module(module)
            module.__class__ = ModuleType
        finally:
            _running.discard(name)
