"""Special functions under SciPy's names: where SciPy's array-API code looks for those of a namespace."""

from ..dispatch import ops

# SciPy's name: the operator's, where they differ.
SPELLED = {"gammaln": "lgamma", "psi": "digamma", "expit": "sigmoid"}


def __getattr__(name):
    function = None if name.startswith("_") else vars(ops).get(SPELLED.get(name, name))
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function
