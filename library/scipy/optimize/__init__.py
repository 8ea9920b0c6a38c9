"""scipy.optimize with derivatives: minima, roots, fits and programs as functions of their data and parameters.

Defines the names, which are SciPy's.  SciPy's algorithms receive exact derivatives.  The implicit function theorem gives the
derivative of their results, by all arguments and closed-over tensors of the functions.
"""

import gradspec  # noqa: F401 (waits for it)

from .fitting import curve_fit, least_squares, lsq_linear, nnls
from .minimizing import basinhopping, differential_evolution, dual_annealing, minimize, minimize_scalar, rosen, shgo
from .programs import linear_sum_assignment, linprog
from .roots import bisect, brenth, brentq, fixed_point, fsolve, newton, ridder, root, root_scalar, toms748
from ..without import add_without_derivative

__all__ = [
    "basinhopping", "bisect", "brenth", "brentq", "curve_fit", "differential_evolution", "dual_annealing", "fixed_point",
    "fsolve", "least_squares", "linear_sum_assignment", "linprog", "lsq_linear", "minimize", "minimize_scalar", "newton",
    "nnls", "ridder", "root", "root_scalar", "rosen", "shgo", "toms748",
]  # fmt: skip
add_without_derivative(globals())
