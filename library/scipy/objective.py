"""objective: wrap a function of arrays, tuples or dictionaries for scipy.optimize, with its derivatives.

Converts a pytree of parameters to a vector of real numbers and back.  SciPy is imported only for linear operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.functional import jacobian
from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..func import grad, hessian, linearize, sparse_hessian, sparse_jacobian, value_and_grad, vjp
from ..support.dispatch import ops
from ..support.pytree import LEAF, alike, flatten, places, rebuild

if TYPE_CHECKING:  # for type checkers only: the import is slow
    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]


class Objective:
    """The result of `objective`.

    Attributes
    ----------
    x0 : ndarray
        The initial parameters as a vector, or None.
    sparse : bool
        Whether Jacobians of vectors, and Hessians, are `scipy.sparse.csr_array`.
    """

    def __init__(self, func: Callable[..., Any], x0: Any = None, sparse: bool = False):
        self.func, self.sparse = func, sparse
        self._sparse_jac, self._sparse_hess = sparse_jacobian(self._flat), sparse_hessian(self._single)
        self.leaves, self.form = (None, LEAF) if x0 is None else _parameters(x0)
        self.x0: Vector | None = None if x0 is None else np.concatenate([np.zeros(0), *map(_as_reals, self.leaves)])
        self._point = self._pullback = None

    # Methods that scipy.optimize calls.

    def __call__(self, x: npt.ArrayLike, *args: Any) -> tuple[Any, npt.NDArray[Any]]:
        """The value, and the gradient or the Jacobian: for `minimize` and `root` with `jac=True`."""
        value = self.fun(x, *args)
        if np.ndim(value):
            return value, self.jac(x, *args)
        value, gradient = value_and_grad(self._single)(_vector(x), *args)
        return value.item(), gradient.numpy()

    def fun(self, x: npt.ArrayLike, *args: Any) -> Any:
        """The value: a number if the function returns a single number, else a vector."""
        value = self._flat(_vector(x), *args).detach().numpy()
        return value if value.ndim else value.item()

    def jac(self, x: npt.ArrayLike, *args: Any) -> npt.NDArray[Any]:
        """The gradient of a single number, the Jacobian of a vector."""
        if self.sparse:
            found = self._sparse_jac(_vector(x), *args)
            return found if self.is_vector else found.toarray()[0]
        return jacobian(lambda x: self._flat(x, *args), _vector(x)).numpy()

    def jac_operator(self, x: npt.ArrayLike, *args: Any) -> Any:
        """The Jacobian as a `scipy.sparse.linalg.LinearOperator`: products with it and its transpose, and no matrix.
        `least_squares` takes it with `method="trf"` and `tr_solver="lsmr"`."""
        from scipy.sparse.linalg import LinearOperator

        point = _vector(x)
        output, derivative = linearize(lambda x: self._flat(x, *args), point)
        _, pullback = vjp(lambda x: self._flat(x, *args), point)
        return LinearOperator(
            (output.size, point.size), dtype=output.dtype,
            matvec=lambda v: derivative(np.reshape(v, point.shape)).numpy(),
            rmatvec=lambda v: pullback(np.reshape(v, output.shape))[0].numpy(),
        )  # fmt: skip

    def hess(self, x: npt.ArrayLike, *args: Any) -> npt.NDArray[Any]:
        """The Hessian of a single number."""
        if self.sparse:
            return self._sparse_hess(_vector(x), *args)
        return hessian(self._single)(_vector(x), *args).numpy()

    def hessp(self, x: npt.ArrayLike, p: npt.ArrayLike, *args: Any) -> npt.NDArray[Any]:
        """The product of the Hessian with a vector.  The gradient is recorded once for the products at a point that follow each
        other."""
        point = _vector(x)
        asked = (point.tobytes(), *args)
        known = self._point is not None and len(asked) == len(self._point)
        if not known or not all(a is b for a, b in zip(asked[1:], self._point[1:])) or asked[0] != self._point[0]:
            _, self._pullback = vjp(grad(lambda x: self._single(x, *args)), point)
            self._point = asked
        return self._pullback(_vector(p))[0].numpy()

    def rate(self, t: float, y: npt.ArrayLike, *args: Any) -> npt.NDArray[Any]:
        """The function of y at t, its second argument: what `solve_ivp` takes."""
        return self.fun(y, t, *args)

    def rate_jac(self, t: float, y: npt.ArrayLike, *args: Any) -> Any:
        """The Jacobian of `rate`."""
        return self.jac(y, t, *args)

    def curve(self, data: Any, *parameters: float) -> npt.NDArray[Any]:
        """The function at `data`, its second argument, with the parameters one by one: what `curve_fit` takes."""
        return self.fun(parameters, data)

    def curve_jac(self, data: Any, *parameters: float) -> npt.NDArray[Any]:
        """The Jacobian of `curve`."""
        return self.jac(parameters, data)

    # Between parameters and vectors.

    def flatten(self, parameters: Any) -> Vector:
        """A pytree of parameters as a vector; its structure must be the structure of the initial parameters."""
        leaves, form = _parameters(parameters)
        if not alike(form, self.form):
            raise ValueError(f"objective: expected parameters at {', '.join(places(self.form))}, got "
                             f"{', '.join(places(form))}")  # fmt: skip
        return np.concatenate([np.zeros(0), *map(_as_reals, leaves)])

    def unflatten(self, x: npt.ArrayLike) -> Any:
        """A vector as a pytree of parameters, tensors or arrays like the initial parameters."""
        parts = [part.numpy() for part in self._parts(_vector(x))]
        return rebuild(self.form, [asarray(part) if isinstance(leaf, TensorBase) else part if part.ndim else part.item()
                                   for part, leaf in zip(parts, self.leaves or [None])])  # fmt: skip

    def nest(self, x: Any) -> Any:
        """A vector as a pytree of tensors that depend on it."""
        return rebuild(self.form, self._parts(asarray(x)))

    def _parts(self, x):
        """The parameters, with their shapes and dtypes, as differentiable parts of a vector."""
        if self.leaves is None:
            return [x]
        kinds = [(leaf.shape, np.dtype(leaf.dtype)) for leaf in map(_array, self.leaves)]
        sizes = [math.prod(shape) * (2 if dtype.kind == "c" else 1) for shape, dtype in kinds]
        if x.size != sum(sizes):
            raise ValueError(f"objective: expected a vector of {sum(sizes)} numbers, as many as the parameters, got {x.size}")
        parts = []
        for part, (shape, dtype) in zip(ops.split(x, list(np.cumsum(sizes[:-1], dtype=int))), kinds):
            if dtype.kind == "c":
                part = ops.view_as_complex(ops.reshape(part, (*shape, 2)))
            parts.append(ops.reshape(ops.astype(part, dtype), shape))
        return parts

    def _flat(self, x, *args):
        """The result of the function as a number or a vector, for a vector."""
        self._point = None  # captured values may have changed since
        value = self.func(self.nest(x), *args)
        leaves, form = flatten(value)
        for leaf, place in zip(leaves, places(form)):
            if not isinstance(leaf, TensorBase):
                raise TypeError(f"objective: the function must return tensors, but its result{place} is of type "
                                f"{type(leaf).__name__}: what is not computed with tensors has no derivative")  # fmt: skip
            if leaf.dtype.kind == "c":
                raise TypeError(f"objective: the result{place} of the function is complex; return its real and imaginary parts")
        self.is_vector = form is not LEAF or leaves[0].ndim > 0
        if form is LEAF and leaves[0].ndim <= 1:
            return leaves[0]
        return ops.concat([ops.reshape(leaf, (-1,)) for leaf in leaves])

    def _single(self, x, *args):
        value = self._flat(x, *args)
        if value.size != 1:
            raise ValueError(f"objective: this needs a function that returns a single number, and it returned {value.size}")
        return ops.reshape(value, ())


def objective(func: Callable[..., Any], x0: Any = None, *, sparse: bool = False) -> Objective:
    """Wrap a function for the optimisers and solvers of scipy.optimize, with exact derivatives.

    Parameters
    ----------
    func : callable
        Takes the parameters, and SciPy's further arguments `args`.  Returns a Tensor or a pytree of Tensors: a single number for
        `minimize`, residuals for `least_squares` and `root`, predictions for `curve_fit`.
    x0 : array_like, Tensor, or nest of tuples, lists and dictionaries of them, optional
        The parameters to start from, real or complex; they say what `func` gets.  Without it `func` gets the vector that SciPy
        passes.
    sparse : bool
        Give Jacobians of vectors, and Hessians, as `scipy.sparse.csr_array`, from few products with vectors: their pattern is
        found in the first call and kept, see `gradspec.func.sparse_jacobian`.

    Returns
    -------
    Objective
        ::

            minimize(o, o.x0, jac=True)                       value and gradient in one call minimize(o.fun, o.x0, jac=o.jac,
            hessp=o.hessp)   or hess=o.hess least_squares(o.fun, o.x0, jac=o.jac)             or jac=o.jac_operator, without a
            matrix root(o, o.x0, jac=True) curve_fit(o.curve, xdata, ydata, o.x0, jac=o.curve_jac) solve_ivp(o.rate, (0, 1), o.x0,
            "BDF", jac=o.rate_jac)

        Methods that solve linear systems gain by `sparse=True`: `least_squares` with `method="trf"`, `minimize` with
        `method="trust-constr"` and `hess=o.hess`, and `solve_ivp`.  `o.unflatten(result.x)` has the structure of `x0`.

    Examples
    --------
    >>> import gradspec as gs
    >>> from scipy.optimize import minimize
    >>> o = gs.scipy.objective(lambda p: (p["a"] - 1) ** 2 + (p["b"][0] - p["a"]) ** 2, {"a": 0.0, "b": [3.0]})
    >>> found = o.unflatten(minimize(o, o.x0, jac=True).x)
    >>> round(found["a"], 4), [round(b, 4) for b in found["b"]]
    (1.0, [1.0])
    """
    return Objective(func, x0, sparse)


def _parameters(nest):
    leaves, form = flatten(nest)
    for leaf, place in zip(leaves, places(form)):
        dtype = _array(leaf).dtype
        if dtype.kind not in "fciu":
            raise TypeError(f"objective: x0{place} must hold numbers, got {type(leaf).__name__}")
    return [float(leaf) if type(leaf) is int else leaf for leaf in leaves], form


def _array(leaf):
    if isinstance(leaf, TensorBase):
        return leaf.detach().numpy()
    array = np.asarray(leaf)
    return array.astype(float) if array.dtype.kind in "iu" else array


def _as_reals(leaf):
    """The real numbers of a parameter: of a complex one real and imaginary parts, in turn."""
    array = np.ascontiguousarray(_array(leaf)).ravel()
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return array.astype(np.float64)


def _vector(x):
    return np.array(_array(x), dtype=np.float64, ndmin=1)
