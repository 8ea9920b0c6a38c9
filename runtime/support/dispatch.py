"""Dispatch: the operators by name, for lower layers that compute on tensors.

Holds the namespace `ops`: the generated wrappers register themselves at import, and formulas that run while a graph is recorded
call them from here.  Imports nothing of the package at import time, so every layer may use it.
"""

class Operators:
    """Every operator's wrapper as an attribute, under its Python name."""

    _captured_ = None  # not state of the user's: compiled functions need no guards on it

    def __getattr__(self, name):
        raise AttributeError(f"no operator named {name!r}; is it in derivatives.yaml, and gradspec fully imported?")


ops = Operators()


_OF_PACKAGES: dict[str, Operators] = {}
_WRAPPERS: set = set()


def operators_of(place):
    """The operators of another package, by the name of their module; the library's own formulas do not use them."""
    return _OF_PACKAGES.setdefault(place, Operators())


def is_operator(item):
    """Whether a function is the wrapper of an operator, of this library or of another package."""
    return item in _WRAPPERS


def register(namespace, place=""):
    """Register all wrappers of a module: a mapping of name to function.

    Wrappers of another package are registered under dotted names, as in events; formulas do not use these names.
    """
    _WRAPPERS.update(namespace.values())
    if place:
        operators_of(place).__dict__.update(namespace)
        namespace = {f"{place}.{name}": wrapper for name, wrapper in namespace.items()}
    ops.__dict__.update(namespace)
