"""Special functions under SciPy's names: SciPy's array-API code looks up a namespace's special functions here.

A name of gradspec.special is that function.  For other names the values are SciPy's, and the derivative is not implemented:
backward raises an error when a gradient arrives there.  So a statistic has a gradient although its p-value does not.  SciPy
composes the remaining functions itself.
"""

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..engine.function import Function
from ..generated.numpy_table import SPECIAL
from ..support.dispatch import ops


class Values(Function):
    """A function of SciPy without a derivative rule."""

    @staticmethod
    def forward(ctx, function, *arguments):
        ctx.name = function.__name__
        return asarray(function(*(x.detach().numpy() if isinstance(x, TensorBase) else x for x in arguments)))

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError(f"the derivative for 'special.{ctx.name}' is not implemented: gradspec has no operator for it; "
                                  "use another formula, or a gradspec.autograd.Function of your own")


def composed_by_scipy(name):
    """Whether SciPy composes the function from others, by the array API."""
    try:
        from scipy.special._support_alternative_backends import _special_funcs
    except ImportError:
        return False
    return any(found.name == name and found.generic_impl is not None for found in _special_funcs)


def of_scipy(name):
    """SciPy's function as a function of tensors; None if SciPy has no function of that name, or composes it."""
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
