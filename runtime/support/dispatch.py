"""The operators by name, for layers below them that compute on tensors.

Owns the namespace `ops`: the generated wrappers enter themselves when they are imported, and formulas that run while a graph is
recorded call them from here.  Imports nothing of the package before somebody asks, so every layer may use it.
"""

from importlib import import_module

_postponed = []  # modules whose operators enter when the first of them is wanted


class Operators:
    """Every operator's wrapper as an attribute, under its Python name."""

    def __getattr__(self, name):
        if not name.startswith("__"):  # what protocols look for is no operator
            for module in _postponed:
                dir(import_module(module))  # a postponed one runs when it is looked at
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"no operator named {name!r}; is it in derivatives.yaml, and gradspec fully imported?")


ops = Operators()


def register(namespace):
    """Enter all wrappers of a module: a mapping of name to function."""
    ops.__dict__.update(namespace)


def postpone(*modules):
    """Import these modules, which bring operators, when an operator is wanted that is not there yet."""
    _postponed.extend(modules)
