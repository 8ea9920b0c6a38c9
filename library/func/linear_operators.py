"""Linear operators: Jacobians, Hessians and curvature matrices as `scipy.sparse.linalg.LinearOperator`, without a matrix.

Defines the signatures, and the products behind them.  A function is recorded once for all products with single vectors; a product
with a matrix is one batched pass.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.flat_derivatives import filled, gradients, push_transposed, recording, roots_of, transposed
from ..engine.backward import get_gradient_edge
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from .call_context import Point, chosen
from .closures import has_tangent
from .compressed_jacobians import joined, jvps, pulled, split
from .sparsity_patterns import refuse_closed, taken_apart
from .sparsity_probing import scipy_sparse

# The log-partition function of the natural parameters; its Hessian is the Fisher information.
FAMILIES = {
    "gaussian": lambda eta: (eta * eta).sum() / 2,
    "bernoulli": lambda eta: ops.softplus(eta).sum(),
    "categorical": lambda eta: ops.logsumexp(eta, -1).sum(),
    "poisson": lambda eta: ops.exp(eta).sum(),
}


def jacobian_operator(func: Callable[..., Any], *args: Any, argnums: int | tuple[int, ...] = 0, **kwargs: Any) -> Any:
    """The Jacobian of a function at one point as a linear operator.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    *args
        Its positional arguments.
    argnums : int or tuple of int
        The positional arguments to differentiate by: real floating point numbers.
    **kwargs
        Its keyword arguments.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator, shape (outputs, inputs)
        `matvec` is a product from the right, `rmatvec` one from the left; each is a backward pass.  `matmat` and `rmatmat` are
        one batched pass.  The elements of all outputs, and of the chosen arguments, are concatenated.

    Notes
    -----
    The function is called once for all products with vectors, and once for each `matmat`.  The operator keeps the saved values of
    a backward pass.  Its products are numbers, which cannot be differentiated.

    Examples
    --------
    >>> import gradspec as gs
    >>> jacobian = gs.func.jacobian_operator(lambda x: x[1:] * x[:-1], gs.asarray([1.0, 2.0, 3.0]))
    >>> jacobian.matvec([1.0, 0.0, 0.0]).tolist(), jacobian.rmatvec([0.0, 1.0]).tolist()
    ([2.0, 0.0], [0.0, 3.0, 2.0])
    """
    at = _Recorded("jacobian_operator", func, args, kwargs, argnums)
    return _operator((at.height, at.width), at.dtype, at.forward, at.backward)


def hessian_operator(func: Callable[..., Any], *args: Any, argnums: int | tuple[int, ...] = 0, **kwargs: Any) -> Any:
    """The Hessian of a function at one point as a linear operator.

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    *args, argnums, **kwargs
        As for `jacobian_operator`.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator, shape (inputs, inputs)
        A product is a backward pass through the gradient, which is recorded once; a product with a matrix is one batched pass.

    Examples
    --------
    >>> import gradspec as gs
    >>> hessian = gs.func.hessian_operator(lambda x: (x**3).sum(), gs.asarray([1.0, 2.0]))
    >>> hessian.matvec([1.0, 1.0]).tolist()
    [6.0, 12.0]
    """
    at = _Recorded("hessian_operator", func, args, kwargs, argnums, gradient=True)
    return _operator((at.width, at.width), at.dtype, at.backward, at.backward)


def gauss_newton_operator(
    func: Callable[..., Any], *args: Any, loss: Callable[..., Any] | None = None, argnums: int | tuple[int, ...] = 0,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The Gauss-Newton matrix of a function at one point as a linear operator.

    Parameters
    ----------
    func : callable
        Returns residuals, or the argument of `loss`: a Tensor or a pytree of them.
    *args
        As for `jacobian_operator`, like `argnums` and `**kwargs`.
    loss : callable, optional
        A convex function from the result of `func` to one real number.  By default half of the sum of squares.
    argnums : int or tuple of int
    **kwargs

    Returns
    -------
    scipy.sparse.linalg.LinearOperator, shape (inputs, inputs)
        J^T H J, with J the Jacobian of `func` and H the Hessian of `loss` at the result of `func`; J^T J without a `loss`
        (Schraudolph: Fast curvature matrix-vector products for second-order gradient descent, Neural Computation 14, 2002).

    Examples
    --------
    >>> import gradspec as gs
    >>> curvature = gs.func.gauss_newton_operator(lambda x: x**2, gs.asarray([1.0, 3.0]))
    >>> curvature.matvec([1.0, 1.0]).tolist()
    [4.0, 36.0]
    """
    at = _Recorded("gauss_newton_operator", func, args, kwargs, argnums)
    if loss is None:
        return _operator((at.width, at.width), at.dtype, *2 * [lambda v: at.backward(at.forward(v))])
    of = _Recorded("gauss_newton_operator", lambda nest: loss(nest), (at.output(),), {}, 0, gradient=True)
    return _operator((at.width, at.width), at.dtype, *2 * [lambda v: at.backward(of.backward(at.forward(v)))])


def fisher_operator(
    func: Callable[..., Any], *args: Any, family: str = "gaussian", argnums: int | tuple[int, ...] = 0, **kwargs: Any
) -> Any:
    """The Fisher information of a model in its parameters, as a linear operator.

    Parameters
    ----------
    func : callable
        Returns the natural parameters of independent distributions: one Tensor.
    *args
        As for `jacobian_operator`, like `argnums` and `**kwargs`.
    family : {'gaussian', 'bernoulli', 'categorical', 'poisson'}
        The meaning of the natural parameters: means at variance 1, log-odds, logits along the last axis, logarithms of rates.
    argnums : int or tuple of int
    **kwargs

    Returns
    -------
    scipy.sparse.linalg.LinearOperator, shape (inputs, inputs)
        J^T F J, with J the Jacobian of `func` and F the Fisher information of the natural parameters.  F is the Hessian of the
        log-partition function (Martens: New insights and perspectives on the natural gradient method, JMLR 21, 2020).  The
        operator is the exact sum over the distributions, not an estimate from samples or labels.

    Examples
    --------
    >>> import gradspec as gs
    >>> fisher = gs.func.fisher_operator(lambda w: gs.asarray([1.0, 2.0]) * w, 0.0, family="bernoulli")
    >>> fisher.matvec([1.0]).tolist()
    [1.25]
    """
    if family not in FAMILIES:
        raise CallValueError(f"fisher_operator: family must be one of {', '.join(map(repr, FAMILIES))}, got {family!r}; for any "
                             "other use gauss_newton_operator with the log-partition function as loss")  # fmt: skip
    return gauss_newton_operator(func, *args, loss=FAMILIES[family], argnums=argnums, **kwargs)


class _Recorded:
    """A function, or its gradient, recorded at one point; vectors are columns of ndarrays with one or two axes."""

    def __init__(self, caller, func, args, kwargs, argnums, gradient=False):
        scipy_sparse(caller)
        argnums = chosen(caller, func, argnums)
        taken_apart(caller, func, args, kwargs, argnums)
        self.point = point = Point(caller, func, args, kwargs, argnums)
        self.transposed = None
        with recording():
            if gradient:
                self.outputs = filled(gradients([point.record_single()], point.values, None, True), point.values)
            else:
                self.outputs = point.record()
                cotangents, found = transposed(self.outputs, point.values)
                point.leaves += [value for value in cotangents if value.requires_grad]
                edges = [get_gradient_edge(value) if value.requires_grad else None for value in cotangents]
                self.transposed = edges, point.apart(found)
        self.roots, self.edges = roots_of(self.outputs), point.edges()
        point.freeze(released=False)
        refuse_closed(caller, point.kept or any(map(has_tangent, self.outputs)))
        for output in self.outputs:
            if output.dtype.kind == "c":
                raise CallTypeError(f"{caller}: the function returns complex numbers; return their real and imaginary parts")
        self.form = point.outputs_form
        self.height, self.width = (sum(x.size for x in several) for several in (self.outputs, point.values))
        self.dtype = np.result_type(*[x.dtype for x in (*self.outputs, *point.values)])

    def output(self):
        """The result of the function, as numbers."""
        return self.point.nest([output.detach() for output in self.outputs], self.form)

    def backward(self, v):
        """J^T v."""
        batch = np.reshape(v, (self.height, -1)).T
        found = pulled(self.roots, self.edges, split(batch, self.outputs), self.point.values, True)
        return joined(found, len(batch)).numpy().T

    def forward(self, v):
        """J v."""
        batch = np.reshape(v, (self.width, -1)).T
        if len(batch) > 1:
            return jvps(self.point, batch).numpy().T
        with recording():
            tangents = [part[0] for part in split(batch, self.point.values)]
            found = push_transposed(self.outputs, *self.transposed, tangents, False, True)
        return joined([value[None] for value in found], 1).numpy().T


def _operator(shape, dtype, forward, backward):
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(shape, dtype=dtype, matvec=lambda v: forward(v)[:, 0], rmatvec=lambda v: backward(v)[:, 0],
                          matmat=forward, rmatmat=backward)  # fmt: skip
