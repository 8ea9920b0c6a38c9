"""`jax.experimental.ode`: an initial value problem, with JAX's parameters."""

from collections.abc import Callable
from typing import Any

import gradspec as gs


def odeint(func: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1.4e-8, atol: float = 1.4e-8, mxstep: float | None = None,
           hmax: float | None = None) -> Any:  # fmt: skip
    """The solution of dy/dt = func(y, t, *args) at each of the times `t`.

    Parameters
    ----------
    func : callable
        The derivative of `y` at a time.
    y0 : array_like or pytree of arrays
    t : array_like, shape (n,)
    rtol, atol : float
        Relative and absolute error of a step.
    mxstep, hmax : float, optional
        Bounds of the number of steps and of a step.

    Returns
    -------
    Tensor or pytree of Tensor
        `y0`'s shape behind an axis of length n.
    """
    flat, unravel = gs.tree_util.ravel_pytree(y0)
    options = {name: value for name, value in (("mxstep", mxstep), ("hmax", hmax)) if value is not None}

    def slope(y: Any, time: Any, *args: Any) -> Any:
        return gs.tree_util.ravel_pytree(func(unravel(y), time, *args))[0]

    found = gs.scipy.integrate.odeint(slope, flat, t, args, rtol=rtol, atol=atol, **options)
    return gs.vmap(unravel)(found)
