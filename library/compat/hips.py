"""Optimisers and flattening of HIPS autograd's `misc`, with its parameters: a gradient is a function of (x, step number)."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec as gs

Callback = Callable[[Any, int, Any], Any] | None


def _steps(grad: Callable[[Any, int], Any], x0: Any, callback: Callback, num_iters: int, step: Callable[[Any, Any, int], Any]) -> Any:
    """Repeat x = step(x, gradient, number) on a flat vector; returns a pytree like `x0`."""
    x, unflatten = gs.tree_util.ravel_pytree(x0)
    for number in range(num_iters):
        g = gs.tree_util.ravel_pytree(grad(unflatten(x), number))[0]
        if callback:
            callback(unflatten(x), number, unflatten(g))
        x = step(x, g, number)
    return unflatten(x)


def sgd(
    grad: Callable[[Any, int], Any], x0: Any, callback: Callback = None, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Any:
    """Minimise by gradient descent with momentum.

    Parameters
    ----------
    grad : callable
        Gradient at (x, step number).
    x0 : pytree of arrays
    callback : callable, optional
        Called with (x, step number, gradient) before each step.
    num_iters : int
    step_size : float
    mass : float
        Part of the velocity that a step keeps.

    Returns
    -------
    pytree of Tensor
        Like `x0`. It has the history of all steps if `x0` or a gradient has one; `x0.detach()` starts without.
    """
    velocity: Any = 0.0

    def step(x: Any, g: Any, number: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return x + step_size * velocity

    return _steps(grad, x0, callback, num_iters, step)


def rmsprop(grad: Callable[[Any, int], Any], x0: Any, callback: Callback = None, num_iters: int = 100, step_size: float = 0.1,
            gamma: float = 0.9,
            eps: float = 1e-8) -> Any:  # fmt: skip
    """Minimise by steps divided by a running root mean square of the gradients.

    Parameters
    ----------
    grad, x0, callback, num_iters, step_size
        As for `sgd`.
    gamma : float
        Part of the mean square that a step keeps.
    eps : float
        Added to the root.

    Returns
    -------
    pytree of Tensor
    """
    mean_square: Any = 1.0

    def step(x: Any, g: Any, number: int) -> Any:
        nonlocal mean_square
        mean_square = mean_square * gamma + g**2 * (1 - gamma)
        return x - step_size * g / (np.sqrt(mean_square) + eps)

    return _steps(grad, x0, callback, num_iters, step)


def adam(grad: Callable[[Any, int], Any], x0: Any, callback: Callback = None, num_iters: int = 100, step_size: float = 0.001, b1: float = 0.9,
         b2: float = 0.999, eps: float = 1e-8) -> Any:  # fmt: skip
    """Minimise by Adam.

    Parameters
    ----------
    grad, x0, callback, num_iters, step_size
        As for `sgd`.
    b1, b2 : float
        Parts of the means of gradients and of their squares that a step keeps.
    eps : float
        Added to the root of the mean square.

    Returns
    -------
    pytree of Tensor

    References
    ----------
    Kingma and Ba (2015), Adam: A method for stochastic optimization.
    """
    mean: Any = 0.0
    mean_square: Any = 0.0

    def step(x: Any, g: Any, number: int) -> Any:
        nonlocal mean, mean_square
        mean = (1 - b1) * g + b1 * mean
        mean_square = (1 - b2) * g**2 + b2 * mean_square
        return x - step_size * (mean / (1 - b1 ** (number + 1))) / (np.sqrt(mean_square / (1 - b2 ** (number + 1))) + eps)

    return _steps(grad, x0, callback, num_iters, step)


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """A function of a pytree as a function of a vector.

    Returns
    -------
    flat_func : callable
        From a vector to the vector of the results.
    unflatten : callable
        From a vector to a pytree like `example`.
    flat_example : Tensor, shape (n,)
    """
    flat, unflatten = gs.tree_util.ravel_pytree(example)

    def flat_func(x: Any, *args: Any) -> Any:
        return gs.tree_util.ravel_pytree(func(unflatten(x), *args))[0]

    return flat_func, unflatten, flat


def getval(x: Any) -> Any:
    """The values of a tensor without their derivative; anything else unchanged."""
    return x.detach() if gs.is_tensor(x) else x
