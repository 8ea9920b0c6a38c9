"""Integrals and differential equations under SciPy's names: gradspec.scipy.integrate.

Owns the names.  The algorithms are SciPy's, which is imported when a function is called.
"""

from .ivp import odeint, solve_ivp
from ...support.later import answer

__all__ = ["odeint", "solve_ivp"]
answer(__name__)
