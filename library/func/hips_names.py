"""HIPS autograd's own names, composed of the other functions of `func`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallTypeError
from .gradients import grad
from .matrices import jacrev
from .products import hvp, jvp, linearize, vjp


@answering
def make_vjp(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function that takes the arguments and returns (pullback, output), as `vjp`, for argument `argnum` alone.

    Parameters
    ----------
    func : callable
        Returns an array.
    argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """

    @wraps(func)
    def at(*args: Any, **kwargs: Any) -> Any:
        output, pullback = vjp(_by(func, args, kwargs, argnum), args[argnum])
        return lambda vector: pullback(vector)[0], output

    return at


@answering
def make_jvp(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments that returns a function from a tangent of argument `argnum` to (output, tangent).

    Parameters
    ----------
    func : callable
        Returns an array.
    argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """

    @wraps(func)
    def at(*args: Any, **kwargs: Any) -> Any:
        return lambda tangent: jvp(_by(func, args, kwargs, argnum), (args[argnum],), (tangent,))

    return at


@answering
def make_hvp(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """`make_vjp` of the gradient: its pullback multiplies a vector with the Hessian.

    Parameters
    ----------
    func : callable
        Returns a number.
    argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`; returns (product with a vector, gradient).
    """
    return make_vjp(grad(func, argnum), argnum)


def make_ggnvp(func: Callable[..., Any], g: Callable[..., Any] | None = None, f_argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments that returns a function of a vector: the product with the generalised Gauss-Newton matrix.

    The matrix is that of `g(func(...))`; `g` is half the sum of squares by default.

    Parameters
    ----------
    func : callable
        Returns an array.
    g : callable, optional
        Returns a number for the output of `func`.
    f_argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """

    @wraps(func)
    def at(*args: Any, **kwargs: Any) -> Any:
        inner = _by(func, args, kwargs, f_argnum)
        output, derivative = linearize(inner, args[f_argnum])
        _, pullback = vjp(inner, args[f_argnum])
        return lambda v: pullback(hvp(g or _half_square, output, derivative(v)))[0]

    return at


@answering
def hessian_tensor_product(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments and a vector of the shape of argument `argnum` that returns the product with the Hessian.

    Parameters
    ----------
    func : callable
        Returns a number.
    argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func` and the vector.
    """

    @wraps(func)
    def product(*args: Any, **kwargs: Any) -> Any:
        *args, vector = args
        return hvp(_by(func, args, kwargs, argnum), args[argnum], vector)

    return product


hessian_vector_product = hessian_tensor_product


@answering
def deriv(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The derivative along a tangent of ones: for a function of a number its derivative, whatever the shape of the output.

    Parameters
    ----------
    func : callable
    argnum : int
        The argument that is differentiated.

    Returns
    -------
    callable
    """

    @wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        return jvp(_by(func, args, kwargs, argnum), (args[argnum],), (ops.ones_like(args[argnum]),))[1]

    return derivative


@answering
def holomorphic_grad(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """The complex derivatives of a holomorphic function with a single output: f'(z), where `grad` has its conjugate.

    Parameters
    ----------
    func : callable
    argnum : int
        The argument that is differentiated, which is complex.

    Returns
    -------
    callable
    """

    def real(*args: Any, **kwargs: Any) -> Any:
        return ops.real(func(*args, **kwargs))

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        if np.result_type(args[argnum]).kind != "c":
            raise CallTypeError("holomorphic_grad: the argument must be complex; write grad for a real one")
        return ops.conj(grad(real, argnum)(*args, **kwargs))

    return gradient


@answering
def vector_jacobian_product(func: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments and a vector of the output's shape that returns the vector times the Jacobian.

    The Jacobian is by argument `argnum`.  A vector with fewer axes is multiplied along the leading axes of the output.

    Parameters
    ----------
    func : callable
        Returns an array.
    argnum : int
        The argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func` and the vector.
    """

    @wraps(func)
    def product(*args: Any, **kwargs: Any) -> Any:
        *args, vector = args
        by = _by(func, args, kwargs, argnum)
        output, pullback = vjp(by, args[argnum])
        if isinstance(output, TensorBase) and (rank := np.ndim(vector)) < output.ndim:
            return jacrev(lambda x: ops.tensordot(vector, by(x), rank))(args[argnum])
        return pullback(vector)[0]

    return product


tensor_jacobian_product = vector_jacobian_product


def grad_named(func: Callable[..., Any], argname: str) -> Callable[..., Any]:
    """The gradient by the positional argument with this name.

    Parameters
    ----------
    func : callable
        Returns a number.
    argname : str
        The name of the argument to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """
    names = list(inspect.signature(func).parameters)
    if argname not in names:
        raise ValueError(f"grad_named: the function has no argument {argname!r}; it has {', '.join(names)}")
    return grad(func, names.index(argname))


def multigrad_dict(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes the arguments and returns a dictionary of the gradients by all of them, by name.

    Parameters
    ----------
    func : callable
        Returns a number.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """
    signature = inspect.signature(func)

    @wraps(func)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()

        def called(named: dict[str, Any]) -> Any:
            bound = inspect.BoundArguments(signature, dict(named))
            return func(*bound.args, **bound.kwargs)

        return grad(called)(dict(given.arguments))

    return gradients


def _by(func, args, kwargs, argnum):
    """`func` as a function of one of its arguments."""

    def of(x: Any) -> Any:
        given = list(args)
        given[argnum] = x
        return func(*given, **kwargs)

    return of


def _half_square(x):
    return ops.sum(ops.square(x)) / 2
