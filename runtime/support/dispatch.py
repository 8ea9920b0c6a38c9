"""The operators by name, for layers below them that compute on tensors.

Owns the namespace `ops`: the generated wrappers enter themselves when they are imported, and formulas that run while a graph is
recorded call them from here.  Imports nothing of the package before somebody asks, so every layer may use it.
"""

class Operators:
    """Every operator's wrapper as an attribute, under its Python name."""

    def __getattr__(self, name):
        raise AttributeError(f"no operator named {name!r}; is it in derivatives.yaml, and gradspec fully imported?")


ops = Operators()


def register(namespace):
    """Enter all wrappers of a module: a mapping of name to function."""
    ops.__dict__.update(namespace)
