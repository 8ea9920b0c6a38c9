"""Integrals and differential equations under SciPy's names: gradspec.scipy.integrate.

Defines the names.  The algorithms are SciPy's; SciPy is imported when a function is called.
"""

import gradspec  # noqa: F401 (waits for it)

from .boundary import solve_bvp
from .ivp import odeint, solve_ivp
from .quadrature import dblquad, fixed_quad, nquad, quad, quad_vec, tplquad
from .sampled import cumulative_simpson, cumulative_trapezoid, romb, simpson, trapezoid
from ..without import add_without_derivative

__all__ = [
    "cumulative_simpson", "cumulative_trapezoid", "dblquad", "fixed_quad", "nquad", "odeint", "quad", "quad_vec", "romb",
    "simpson", "solve_bvp", "solve_ivp", "tplquad", "trapezoid",
]  # fmt: skip
add_without_derivative(globals())
