"""Derivatives of hypergeometric and Struve functions, those in their parameters among them, of SciPy's values.

Derivatives in the argument are the same functions at other parameters.  Those in a parameter are differences of tenth order: of
steps that shrink, two neighbours have to agree, else there is no number.  A first one is right to some 1e-10 of the value and
the derivative, a second one to 1e-7.
"""

import functools
import itertools
import math

import numpy as np

from ..loops.elsewhere import scipy_function

__all__ = ["hyp0f1_derivative", "hyp1f1_derivative", "hyp2f1_derivative", "hyperu_derivative", "struve_derivative"]

STEPS = (0.08, 0.03, 0.012, 0.005)
REACH = 5  # nodes on either side
AGREE = (0.0, 1e-10, 1e-7)  # by the order


def hyp0f1_derivative(v, z, i, n):
    """Derivative `i` in `v` and `n` in `z` of hyp0f1. Needs SciPy.

    Parameters
    ----------
    v, z : ndarray or scalar
        Real.
    i, n : int
        `i` is 2 at most.

    Returns
    -------
    ndarray
        NaN where differences do not settle.
    """
    return _of_parameters(lambda v, z: scipy_function("hyp0f1")(v + n, z) / _rising(v, n), (v,), z, (i,))


def hyp1f1_derivative(a, b, x, i, j, n):
    """Derivative `i` in `a`, `j` in `b` and `n` in `x` of hyp1f1. Needs SciPy.

    Parameters
    ----------
    a, b, x : ndarray or scalar
        Real.
    i, j, n : int
        `i` + `j` is 2 at most.

    Returns
    -------
    ndarray
        NaN where differences do not settle.
    """
    return _of_parameters(lambda a, b, x: scipy_function("hyp1f1")(a + n, b + n, x) * (_rising(a, n) / _rising(b, n)), (a, b), x, (i, j))


def hyp2f1_derivative(a, b, c, z, i, j, k, n):
    """Derivative `i` in `a`, `j` in `b`, `k` in `c` and `n` in `z` of hyp2f1. Needs SciPy.

    Parameters
    ----------
    a, b, c, z : ndarray or scalar
        Real.
    i, j, k, n : int
        `i` + `j` + `k` is 2 at most.

    Returns
    -------
    ndarray
        NaN where differences do not settle.
    """

    def function(a, b, c, z):
        return scipy_function("hyp2f1")(a + n, b + n, c + n, z) * (_rising(a, n) * _rising(b, n) / _rising(c, n))

    return _of_parameters(function, (a, b, c), z, (i, j, k))


def hyperu_derivative(a, b, x, i, j, n):
    """Derivative `i` in `a`, `j` in `b` and `n` in `x` of hyperu. Needs SciPy.

    Parameters
    ----------
    a, b, x : ndarray or scalar
        Real.
    i, j, n : int
        `i` + `j` is 2 at most.

    Returns
    -------
    ndarray
        NaN where differences do not settle.
    """
    return _of_parameters(lambda a, b, x: scipy_function("hyperu")(a + n, b + n, x) * ((-1) ** n * _rising(a, n)), (a, b), x, (i, j))


def struve_derivative(v, x, i, n, sign):
    """Derivative `i` in `v` and `n` in `x` of Struve's function, or of the modified one. Needs SciPy.

    Parameters
    ----------
    v, x : ndarray or scalar
        Real.
    i, n : int
        `i` is 2 at most.
    sign : {-1, 1}
        -1 for struve, 1 for modstruve.

    Returns
    -------
    ndarray
        NaN where differences do not settle.
    """
    return _of_parameters(lambda v, x: _struve(v, x, n, sign), (v,), x, (i,))


def _struve(v, x, n, sign):
    if n == 0:
        return scipy_function("struve" if sign < 0 else "modstruve")(v, x)
    falling = math.prod((v - k for k in range(n - 1)), start=1.0)  # of derivatives of the power
    rest = falling * np.power(x / 2, v - n + 1) * scipy_function("rgamma")(v + 1.5) / (2 ** (n - 1) * math.sqrt(math.pi))
    return (_struve(v - 1, x, n - 1, sign) + sign * _struve(v + 1, x, n - 1, sign) + rest) / 2


def _rising(a, n):
    return math.prod((a + k for k in range(n)), start=1.0)


def _of_parameters(function, parameters, argument, orders):
    """Derivatives in parameters, by differences with ever smaller steps."""
    if sum(orders) > 2:
        raise NotImplementedError(f"derivatives in parameters are offered up to the second, got {orders}")
    dtype = np.result_type(np.result_type(*parameters, argument), np.float16)
    *parameters, argument = (np.asarray(array, np.float64) for array in (*parameters, argument))
    with np.errstate(all="ignore"):
        value = function(*parameters, argument)
        if not any(orders):
            return value.astype(dtype)
        best, least = np.full(np.shape(value), np.nan), np.full(np.shape(value), AGREE[sum(orders)])
        tried = [_differences(function, parameters, argument, orders, step) for step in STEPS]
        for coarse, fine in itertools.pairwise(tried):
            apart = np.abs(coarse - fine) / (np.abs(fine) + np.abs(value))
            better = apart < least
            best, least = np.where(better, fine, best), np.where(better, apart, least)
        return np.where((tried[-1] == 0) & (value == 0) & (tried[0] == 0), 0.0, best).astype(dtype)


def _differences(function, parameters, argument, orders, step):
    places = [_stencil(order) if order else [(0, 1.0)] for order in orders]
    total = 0.0
    for nodes in itertools.product(*places):
        weight = math.prod(w for _, w in nodes)
        moved = [p + step * at for p, (at, _) in zip(parameters, nodes)]
        total = total + weight * function(*moved, argument)
    return total / step ** sum(orders)


@functools.cache
def _stencil(order):
    """Nodes and weights of a derivative at 0, exact for polynomials of degree 2 * REACH."""
    nodes = np.arange(-REACH, REACH + 1)
    powers = np.vander(nodes.astype(float), increasing=True).T
    right = np.zeros(len(nodes))
    right[order] = math.factorial(order)
    weights = np.linalg.solve(powers, right)
    return [(int(node), float(weight)) for node, weight in zip(nodes, weights) if abs(weight) > 1e-12]
