"""Special functions under SciPy's names: SciPy's array-API code looks here for the special functions of a namespace.

What gradspec.special has is the function.  Otherwise the values are SciPy's and the derivative is not implemented: backward
says so when a gradient arrives there, so that a statistic has its gradient though the p-value beside it has none.  SciPy
composes the remaining functions itself.
"""

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..engine.function import Function
from ..generated.numpy_table import SPECIAL
from ..support.dispatch import ops


class Values(Function):
    """A function of SciPy's without a rule."""

    @staticmethod
    def forward(ctx, function, *arguments):
        ctx.name = function.__name__
        return asarray(function(*(x.detach().numpy() if isinstance(x, TensorBase) else x for x in arguments)))

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError(f"the derivative for 'special.{ctx.name}' is not implemented: gradspec has no operator for it; "
                                  "use another formula, or a gradspec.autograd.Function of your own")


def composed_by_scipy(name):
    """Whether SciPy makes the function of others, by the array API."""
    try:
        from scipy.special._support_alternative_backends import _special_funcs
    except ImportError:
        return False
    return any(found.name == name and found.generic_impl is not None for found in _special_funcs)


def of_scipy(name):
    """The function of tensors that SciPy's is; None where it has none of that name, or composes it."""
    try:
        from scipy.special import _ufuncs
    except ImportError:
        return None
    function = getattr(_ufuncs, name, None)
    if not isinstance(function, np.ufunc) or function.nout != 1 or composed_by_scipy(name):
        return None

    def special(*arguments):
        return Values.apply(function, *arguments)

    special.__name__ = name
    return special


def __getattr__(name):
    found = getattr(ops, SPECIAL[name]) if name in SPECIAL else None if name.startswith("_") else of_scipy(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
