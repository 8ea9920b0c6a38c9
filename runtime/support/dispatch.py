"""The operators by name, for layers below them that compute on tensors.

Owns the namespace `ops`: the generated wrappers enter themselves when they are imported, and formulas that run while a graph is
recorded call them from here.  Imports nothing of the package before somebody asks, so every layer may use it.
"""

class Operators:
    """Every operator's wrapper as an attribute, under its Python name."""

    _captured_ = None  # no state of a user's: compiled functions guard nothing of it

    def __getattr__(self, name):
        raise AttributeError(f"no operator named {name!r}; is it in derivatives.yaml, and gradspec fully imported?")


ops = Operators()


_OF_PACKAGES: dict[str, Operators] = {}
_WRAPPERS: set = set()


def operators_of(place):
    """The operators of another package, which the library's own formulas do not see, by the module in which they stand."""
    return _OF_PACKAGES.setdefault(place, Operators())


def is_operator(item):
    """Whether a function is the wrapper of an operator, of this library or of another package."""
    return item in _WRAPPERS


def register(namespace, place=""):
    """Enter all wrappers of a module: a mapping of name to function.

    Those of another package have their dotted names here, as events have them, which is no name of a formula.
    """
    _WRAPPERS.update(namespace.values())
    if place:
        operators_of(place).__dict__.update(namespace)
        namespace = {f"{place}.{name}": wrapper for name, wrapper in namespace.items()}
    ops.__dict__.update(namespace)
