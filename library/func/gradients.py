"""Gradients of functions: grad, value_and_grad, and other functions of one backward pass.

Defines the signatures; `call_context` sets up each call.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.flat_derivatives import filled, gradients, recording, refuse_real
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallTypeError
from ..support.pytree import LEAF
from .call_context import Point, chosen


@answering
def grad(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    argnum: int | tuple[int, ...] | None = None,
) -> Callable[..., Any]:
    """The gradient of a function, as a function of the same arguments.

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    argnums : int or tuple of int
        The positional arguments to differentiate by.  Each may be a number, an ndarray, a Tensor, or a pytree of tuples, lists
        and dictionaries of them; all other arguments are passed on unchanged.
    has_aux : bool
        `func` returns a pair (output, aux); a pair of the gradient and aux is returned.
    argnum : int or tuple of int, optional
        HIPS autograd's name for `argnums`.

    Returns
    -------
    callable
        Returns Tensors with the structure of the argument; a tuple of them if `argnums` is a tuple.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.grad(lambda x: x**3)(2.0).item()
    12.0
    >>> gs.func.grad(gs.func.grad(lambda x: x**3))(2.0).item()
    12.0
    >>> loss = lambda p, x: ((p["w"] * x + p["b"]) ** 2).sum()
    >>> gs.func.grad(loss)({"w": 1.0, "b": 0.5}, gs.ones((2,)))["b"].item()
    6.0
    """
    argnums = chosen("grad", func, argnums, argnum)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, found, aux = _value_and_grad("grad", func, args, kwargs, argnums, has_aux)
        return (found, aux) if has_aux else found

    return gradient


@answering
def value_and_grad(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    argnum: int | tuple[int, ...] | None = None,
) -> Callable[..., Any]:
    """The value of a function and its gradient, as a function of the same arguments.

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    argnums : int or tuple of int
        The positional arguments to differentiate by, as for `grad`.
    has_aux : bool
        `func` returns a pair (output, aux).
    argnum : int or tuple of int, optional
        HIPS autograd's name for `argnums`.

    Returns
    -------
    callable
        Returns (value, gradient); with `has_aux`, ((value, aux), gradient).

    Examples
    --------
    >>> import gradspec as gs
    >>> value, gradient = gs.func.value_and_grad(lambda x: (x * x).sum())(gs.asarray([1.0, 2.0]))
    >>> value.item(), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    argnums = chosen("value_and_grad", func, argnums, argnum)

    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        value, found, aux = _value_and_grad("value_and_grad", func, args, kwargs, argnums, has_aux)
        return ((value, aux), found) if has_aux else (value, found)

    return both


@answering
def grad_and_value(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """PyTorch's `value_and_grad`: (gradient, value); with `has_aux`, (gradient, (value, aux)).

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    argnums : int or tuple of int
        The positional arguments to differentiate by.
    has_aux : bool
        `func` returns a pair (output, aux).

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """

    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        value, found, aux = _value_and_grad("grad_and_value", func, args, kwargs, argnums, has_aux)
        return (found, (value, aux)) if has_aux else (found, value)

    return both


@answering
def grad_and_aux(func: Callable[..., Any], argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """HIPS autograd's `grad` with `has_aux=True`.

    Parameters
    ----------
    func : callable
        Returns a pair (output, aux); the output is one real number.
    argnum : int or tuple of int
        The positional arguments to differentiate by.

    Returns
    -------
    callable
        Returns (gradient, aux).
    """
    return grad(func, argnum, True)


@answering
def elementwise_grad(func: Callable[..., Any], argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The elementwise derivative of a function that acts element by element; for any other, the column sums of its Jacobian.

    Parameters
    ----------
    func : callable
        Returns a Tensor of any shape.
    argnum : int or tuple of int
        As `argnums` for `grad`.

    Returns
    -------
    callable

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.elementwise_grad(lambda x: x**3)(gs.asarray([1.0, 2.0])).tolist()
    [3.0, 12.0]
    """

    @wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        point = Point("elementwise_grad", func, args, kwargs, argnum)
        with recording():
            outputs = point.record()
            if point.outputs_form is not LEAF:
                raise CallTypeError("elementwise_grad: the function must return a single Tensor")
            point.refuse_unless(outputs[0], "fc", "elementwise_grad is of floating point or complex outputs")
            if outputs[0].dtype.kind == "c":
                refuse_real(point.values)
            found = gradients(outputs, point.values, [ops.ones_like(outputs[0])], point.recorded)
            return _finished(point, found)

    return derivative


def _value_and_grad(caller, func, args, kwargs, argnums, has_aux):
    """The value, the gradients in the form of `argnums`, and aux."""
    point = Point(caller, func, args, kwargs, argnums, has_aux)
    with recording():
        output = point.record_single()
        found = gradients([output], point.values, None, point.recorded)
        return point.cut(output), _finished(point, found), point.auxiliary() if has_aux else None


def _finished(point, found):
    found = filled(found, point.values)
    point.freeze()
    return point.by_argument([point.cut(value) for value in found])
