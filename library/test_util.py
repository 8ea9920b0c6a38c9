"""Compare derivatives with finite differences: `check_grads` of HIPS autograd and JAX, by `autograd.gradcheck`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.random

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .autograd import gradcheck
from .autograd.differences import normal_like
from .core.conversion import asarray
from .func import jvp, vjp
from .support.dispatch import ops
from .support.errors import GradcheckError
from .support.lazy_import import answer
from .support.pytree import flatten

__all__ = ["check_grads"]
answer(__name__)


def check_grads(f: Callable[..., Any], args: Any = None, order: int = 2, modes: Sequence[str] = ("fwd", "rev"),
                atol: float = 1e-5, rtol: float = 1e-3, eps: float = 1e-6) -> Any:  # fmt: skip
    """Compare the derivatives of a function with differences.

    Parameters
    ----------
    f : callable
        A function of arrays, numbers, or pytrees of them.
    args : tuple, optional
        The point of comparison.  Without it, the result is a function of the arguments that compares, as in HIPS autograd;
        `modes` is then the second parameter.
    order : int
        Highest order.  From the second order on, derivatives by the cotangent of a backward pass are compared as well, or by the
        tangent if `modes` is forward mode alone.
    modes : sequence of {'fwd', 'rev'}
        Forward mode, backward passes, or both.
    atol, rtol : float
        Tolerances.
    eps : float
        Step of the differences.

    Returns
    -------
    None or callable
        None with `args`, else the function that compares.

    Raises
    ------
    GradcheckError
        The derivatives differ; it is an AssertionError, as in the two libraries.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.test_util import check_grads
    >>> check_grads(gs.sin, (0.5,), order=2)
    >>> check_grads(gs.sin, modes=["rev"])(0.5)
    """
    if isinstance(args, (tuple, list)) and args and all(isinstance(item, str) for item in args):
        args, modes = None, args
    unknown = [mode for mode in modes if mode not in ("fwd", "rev")]
    if unknown or not modes:
        raise ValueError(f"check_grads: modes are 'fwd' and 'rev', got {list(modes)}")

    def check(*args: Any) -> None:
        leaves, unflatten = _variables(args)
        flat = lambda *x: tuple(map(asarray, flatten(f(*unflatten(x)))[0]))  # noqa: E731
        name = getattr(f, "__name__", type(f).__name__)
        _check(flat, leaves, name, order, tuple(modes), dict(atol=atol, rtol=rtol, eps=eps))

    return check if args is None else check(*args)


def _check(f: Callable[..., Any], x: tuple, name: str, order: int, modes: tuple, how: dict) -> None:
    """Up to `order`; the cotangents, or tangents, of one order are variables of the next."""
    try:
        gradcheck(f, x, check_forward_ad="fwd" in modes, check_backward_ad="rev" in modes, **how)
    except GradcheckError as error:
        raise GradcheckError(f"check_grads of {name}: {error}") from error
    if order < 2:
        return
    random, count = np.random.default_rng(0), len(x)
    if "rev" in modes:
        vectors = tuple(_like(y, random) for y in f(*x))
        derivative = lambda *xv: _tuple(vjp(f, *xv[:count])[1](xv[count:]))  # noqa: E731
    else:
        vectors = tuple(_like(leaf, random) for leaf in x)
        derivative = lambda *xv: jvp(f, xv[:count], xv[count:])[1]  # noqa: E731
    _check(derivative, x + vectors, f"{'vjp' if 'rev' in modes else 'jvp'} of {name}", order - 1, modes, how)


def _variables(args: tuple) -> Any:
    from .tree_util import tree_flatten

    leaves, structure = tree_flatten(args)
    kinds = [asarray(leaf).dtype.kind in "fc" for leaf in leaves]
    variables = tuple(ops.copy(asarray(leaf)).detach().requires_grad_() for leaf, kind in zip(leaves, kinds) if kind)
    if not variables:
        raise TypeError("check_grads: none of the arguments holds floating point numbers")

    def unflatten(x: Any) -> Any:
        rest = iter(x)
        return structure.unflatten([next(rest) if kind else leaf for leaf, kind in zip(leaves, kinds)])

    return variables, unflatten


def _like(x: Any, random: np.random.Generator) -> Any:
    """Random numbers in the form of a tensor, as a variable where they can be one."""
    return asarray(normal_like(x, random)).requires_grad_(x.dtype.kind in "fc")


def _tuple(found: Any) -> tuple:
    return found if isinstance(found, tuple) else (found,)
