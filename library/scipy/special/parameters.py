"""Hypergeometric and Struve functions of real numbers, with derivatives in their parameters.

Computes these derivatives.  The derivative in the argument is the same function at other parameters.  Derivatives in a parameter
are differences of tenth order with shrinking steps: two successive results have to agree, else the result is NaN.

References
----------
NIST Digital Library of Mathematical Functions, chapters 11, 13, 15 and 16.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..values import elementwise, named, with_slopes

__all__ = ["hyperu", "modstruve", "struve"]

STEPS = (0.08, 0.03, 0.012, 0.005)
REACH = 5  # nodes on either side
AGREE = (0.0, 1e-10, 1e-7, 1e-5)  # of the value and the derivative, by the order


def _rising(a: Any, n: int) -> Any:
    return math.prod((a + k for k in range(n)), start=1.0)


def _struve(name: str, n: int, v: Any, x: Any) -> Any:
    """Derivative n in x of Struve's function, or of the modified one."""
    import scipy.special

    if n == 0:
        return getattr(scipy.special, name)(v, x)
    falling = math.prod((v - k for k in range(n - 1)), start=1.0)  # of derivatives of the power
    rest = falling * np.power(x / 2, v - n + 1) * scipy.special.rgamma(v + 1.5) / (2 ** (n - 1) * math.sqrt(math.pi))
    sign = -1 if name == "struve" else 1
    return (_struve(name, n - 1, v - 1, x) + sign * _struve(name, n - 1, v + 1, x) + rest) / 2


def _shifted(factor: Callable[..., Any]) -> Callable[..., Any]:
    """Derivative n in the argument, for a function whose derivative is itself with parameters n higher, times a factor."""

    def slope(name: str, n: int, *arguments: Any) -> Any:
        import scipy.special

        *parameters, x = arguments
        return getattr(scipy.special, name)(*(p + n for p in parameters), x) * factor(n, *parameters)

    return slope


# Takes a name, an order and arrays; returns the derivative of that order in the last array.
SLOPES = {
    "hyp0f1": _shifted(lambda n, v: 1 / _rising(v, n)),
    "hyp1f1": _shifted(lambda n, a, b: _rising(a, n) / _rising(b, n)),
    "hyp2f1": _shifted(lambda n, a, b, c: _rising(a, n) * _rising(b, n) / _rising(c, n)),
    "hyperu": _shifted(lambda n, a, b: (-1) ** n * _rising(a, n)),
    "modstruve": _struve,
    "struve": _struve,
}


def differentiated(name: str, arrays: Sequence[Any], orders: tuple[int, ...], n: int) -> np.ndarray:
    """Derivatives of SciPy's values, `orders` in the parameters and `n` in the argument.

    Parameters
    ----------
    name : str
        A key of `SLOPES`.
    arrays : sequence of array_like
        The parameters, and the argument.
    orders : tuple of int
        For each parameter, at most 3 together.
    n : int

    Returns
    -------
    ndarray
        Of double precision; NaN if the differences do not converge.

    Raises
    ------
    NotImplementedError
        Higher derivatives in parameters.
    """
    if sum(orders) > 3:
        raise NotImplementedError(f"scipy.special.{name} has no derivative in its parameters beyond the third here; one of the "
                                  f"orders {orders} is asked for")  # fmt: skip
    *parameters, argument = (np.asarray(array, np.float64) for array in arrays)
    function = functools.partial(SLOPES[name], name, n)
    value = np.asarray(function(*parameters, argument))
    if not any(orders):
        return value
    best, least = np.full(value.shape, np.nan), np.full(value.shape, AGREE[sum(orders)])
    tried = [_differences(function, parameters, argument, orders, step) for step in STEPS]
    for coarse, fine in itertools.pairwise(tried):
        apart = np.abs(coarse - fine) / (np.abs(fine) + np.abs(value))
        better = apart < least
        best, least = np.where(better, fine, best), np.where(better, apart, least)
    return np.where((tried[-1] == 0) & (value == 0) & (tried[0] == 0), 0.0, best)


def _differences(function: Any, parameters: list[Any], argument: Any, orders: tuple[int, ...], step: float) -> Any:
    places = [_stencil(order) if order else [(0, 1.0)] for order in orders]
    total: Any = 0.0
    for nodes in itertools.product(*places):
        weight = math.prod(w for _, w in nodes)
        moved = [p + step * at for p, (at, _) in zip(parameters, nodes)]
        total = total + weight * function(*moved, argument)
    return total / step ** sum(orders)


@functools.cache
def _stencil(order: int) -> list[tuple[int, float]]:
    """Nodes and weights of a derivative at 0, exact for polynomials of degree 2 * REACH."""
    nodes = np.arange(-REACH, REACH + 1)
    powers = np.vander(nodes.astype(float), increasing=True).T
    right = np.zeros(len(nodes))
    right[order] = math.factorial(order)
    weights = np.linalg.solve(powers, right)
    return [(int(node), float(weight)) for node, weight in zip(nodes, weights) if abs(weight) > 1e-12]


@functools.cache
def of_reals(name: str, orders: tuple[int, ...], n: int = 0) -> Any:
    """That derivative as a function of real tensors; its derivatives have one order that is higher by 1."""

    def slope(place: int) -> Any:
        raised = tuple(order + (i == place) for i, order in enumerate(orders))
        return lambda value, *arguments: of_reals(name, raised, n + (place == len(orders)))(*arguments)

    values = elementwise(lambda *arrays: differentiated(name, arrays, orders, n))
    return with_slopes(values, [slope(place) for place in range(len(orders) + 1)])


_WORDS = "; derivatives in {} are finite differences."
hyperu = named("hyperu", "a b x", "Tricomi's function" + _WORDS.format("a and b"), of_reals("hyperu", (0, 0)))
modstruve = named("modstruve", "v x", "Modified Struve function" + _WORDS.format("v"), of_reals("modstruve", (0,)))
struve = named("struve", "v x", "Struve's function" + _WORDS.format("v"), of_reals("struve", (0,)))
