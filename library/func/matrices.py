"""Jacobians and Hessians of functions, as functions.

Defines the signatures, which follow `torch.func` and JAX.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.flat_derivatives import columns, filled, gradients, recording, rows
from ..support.error_hints import answering
from ..support.errors import CallValueError
from ..support.pytree import LEAF, rebuild
from .call_context import Point, chosen
from .products import pushed


@answering
def jacrev(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian of a function, row by row in reverse mode, as a function of the same arguments.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    argnums : int or tuple of int
        The positional arguments to differentiate by.
    has_aux : bool
        `func` returns a pair (output, aux); a pair of the Jacobian and aux is returned.
    chunk_size : int, optional
        Number of rows computed at a time; by default as many as keep a batch in the processor's cache.

    Returns
    -------
    callable
        Returns a pytree with the structure of the output, where each Tensor is replaced by a pytree with the structure of the
        argument.  Its Tensors have the shape of the output followed by the shape of the input.  If `argnums` is a tuple, a tuple
        of such pytrees.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.jacrev(lambda x: x[:1] * x)(gs.asarray([2.0, 3.0])).tolist()
    [[4.0, 0.0], [3.0, 2.0]]
    """
    return _jacobian("jacrev", func, argnums, has_aux, _rows, chunk_size)


@answering
def jacfwd(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """`jacrev`, but by columns in forward mode, all in one call of the function: less work if there are more outputs than inputs.

    Parameters
    ----------
    func, argnums, has_aux
        As for `jacrev`.
    chunk_size : int, optional
        Number of columns computed at a time.

    Returns
    -------
    callable

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.jacfwd(lambda t: gs.stack([gs.cos(t), gs.sin(t)]))(0.0).tolist()
    [-0.0, 1.0]
    """
    return _jacobian("jacfwd", func, argnums, has_aux, _columns, chunk_size)


@answering
def jacobian(func: Callable[..., Any], argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """HIPS autograd's name for `jacrev`.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    argnum : int or tuple of int
        The positional arguments to differentiate by.

    Returns
    -------
    callable
        Takes the arguments of `func`.
    """
    return _jacobian("jacobian", func, argnum, False, _rows)


@answering
def hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, argnum: int | tuple[int, ...] | None = None
) -> Callable[..., Any]:
    """The Hessian of a function, as a function of the same arguments.

    Parameters
    ----------
    func : callable
        Returns a Tensor, usually a single number.
    argnums : int or tuple of int
        The positional arguments to differentiate by.
    argnum : int or tuple of int, optional
        HIPS autograd's name for `argnums`.

    Returns
    -------
    callable
        Returns the Jacobian, in the form of `jacrev`, of the Jacobian.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.hessian(lambda x: x[0] ** 2 * x[1])(gs.asarray([2.0, 3.0])).tolist()
    [[6.0, 4.0], [4.0, 0.0]]
    """
    argnums = chosen("hessian", func, argnums, argnum)

    @wraps(func)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        point = Point("hessian", func, args, kwargs, argnums)
        with recording():
            outputs = point.record()
            if point.outputs_form is not LEAF or outputs[0].ndim:
                point.freeze()
                return jacrev(jacrev(func, argnums), argnums)(*args, **kwargs)
            first = filled(gradients(outputs, point.values, None, True), point.values)
            blocks = rows(first, point.values, point.recorded)
            point.freeze()
            return point.by_argument([_row(point, row) for row in blocks])

    return matrix


def _jacobian(caller, func, argnums, has_aux, blocks_of, chunk=None):
    argnums = chosen(caller, func, argnums)
    if chunk is not None and not chunk > 0:
        raise CallValueError(f"{caller}: `chunk_size` should be greater than 0.")

    @wraps(func)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        point = Point(caller, func, args, kwargs, argnums, has_aux)
        blocks = blocks_of(point, chunk)
        found = rebuild(point.outputs_form, [_row(point, row) for row in blocks])
        return (found, point.auxiliary()) if has_aux else found

    return matrix


def _rows(point, chunk):
    with recording():
        blocks = rows(point.record(), point.values, point.recorded, chunk=chunk)
        point.freeze()
    return blocks


def _columns(point, chunk):
    return columns(point, lambda *tangents: pushed(point, *tangents), chunk=chunk)


def _row(point, row):
    return point.by_argument([point.cut(block) for block in row])
