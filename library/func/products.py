"""Products with Jacobians and Hessians: vjp, jvp, linearize, linear_transpose and hvp.

Defines `torch.func`'s signatures, and decides which mode computes each product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from ..autograd.differences import normal_like
from ..autograd.flat_derivatives import (
    filled,
    gradients,
    push,
    push_transposed,
    recording,
    roots_of,
    transposed,
    with_tangents,
    without_history,
)  # fmt: skip
from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled
from ..engine.backward import get_gradient_edge
from ..methods.dual_level import innermost_level
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError, NotBatched
from ..support.generator import numpy_random
from ..support.pytree import flatten, rebuild
from ..transforms.batching.level_tensor import whole_of
from .call_context import Point


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Call a function; return its output and its pullback, which multiplies a vector with the Jacobian from the left.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    *primals
        Its arguments, each a number, an ndarray, a Tensor, or a pytree of tuples, lists and dictionaries of them.
    has_aux : bool
        `func` returns a pair (output, aux).

    Returns
    -------
    output
        The output of `func`.
    pullback : callable
        Takes a pytree with the structure and shapes of the output; returns a tuple of gradients with the structures of the
        arguments.  It may be called any number of times.
    aux
        Only with `has_aux`.

    Examples
    --------
    >>> import gradspec as gs
    >>> output, pullback = gs.func.vjp(lambda x, y: x * y, gs.asarray([1.0, 2.0]), 3.0)
    >>> by_x, by_y = pullback(gs.ones((2,)))
    >>> by_x.tolist(), by_y.item()
    ([3.0, 3.0], 3.0)
    """
    point = _at("vjp", func, primals, has_aux)
    enabled, point.enabled = point.enabled, True  # a product may be computed outside a no_grad that encloses this call
    with recording():
        outputs = point.record()
        edges, roots = point.edges(), roots_of(outputs)
    point.freeze(released=False)
    form = point.outputs_form

    def pullback(cotangents: Any) -> Any:
        vectors = point.vector(cotangents, outputs, form, "cotangents")
        kept, recorded = _keeps(point, vectors, is_grad_enabled())
        with recording():
            found = filled(gradients(roots, edges, vectors, recorded, True), point.values)
            return point.nest([value if kept else without_history(value) for value in found], point.inputs_form)

    return _with_product(point, outputs, enabled, pullback, has_aux)


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """Call a function; return its output and the product of its Jacobian with a vector, by one pass in forward mode.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    primals
        A tuple contains the arguments of `func`; any other value except a list is its only argument.
    tangents
        With the structure and shapes of `primals`.
    strict : bool
        Refuse an output that does not depend on the arguments; otherwise its tangent is 0.
    has_aux : bool
        `func` returns a pair (output, aux).

    Returns
    -------
    output
        The output of `func`.
    tangent
        With the structure of the output.
    aux
        Only with `has_aux`.

    Notes
    -----
    If the function calls a custom Function without a jvp, two backward passes replace forward mode.
    If the function writes to a Tensor among `primals` that does not require grad, it writes to that tensor, as in PyTorch; any
    other tensor and an ndarray are copied first.

    Examples
    --------
    >>> import gradspec as gs
    >>> value, slope = gs.func.jvp(gs.sin, (0.0,), (2.0,))
    >>> value.item(), slope.item()
    (0.0, 2.0)
    """
    args = primals if _are_several("jvp", primals) else (primals,)
    point = _at("jvp", func, args, has_aux)
    directions = _tangents(point, tangents if isinstance(primals, tuple) else (tangents,))
    outputs, found = pushed(point, directions, 0, strict)
    form = point.outputs_form
    results = point.result(outputs, form), point.result(found, form)
    return (*results, point.auxiliary()) if has_aux else results


def linearize(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Call a function; return its output and the linear function that is its derivative at this point.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    *primals
        Its arguments, as for `vjp`.
    has_aux : bool
        `func` returns a pair (output, aux).

    Returns
    -------
    output
        The output of `func`.
    derivative : callable
        Takes a tangent for each of `primals`, and returns the tangent of the output.  It does not call `func` again: each call
        takes the time of one backward pass.
    aux
        Only with `has_aux`.

    Examples
    --------
    >>> import gradspec as gs
    >>> output, derivative = gs.func.linearize(gs.sin, 0.0)
    >>> derivative(1.0).item(), derivative(2.0).item()
    (1.0, 2.0)
    """
    point = _at("linearize", func, primals, has_aux)
    enabled, point.enabled = point.enabled, True  # as in vjp
    with recording():
        outputs = point.record()
        cotangents, found = transposed(outputs, point.values)
        found = point.apart(found)
    edges = [get_gradient_edge(value) if value.requires_grad else None for value in cotangents]
    point.leaves += [value for value in cotangents if value.requires_grad]
    point.freeze(released=False)
    form = point.outputs_form

    def derivative(*tangents: Any) -> Any:
        directions = _tangents(point, tangents)
        kept, recorded = _keeps(point, directions, is_grad_enabled())
        with recording():
            values = push_transposed(outputs, edges, found, directions, recorded, True)
            return point.nest([value if kept else without_history(value) for value in values], form)

    return _with_product(point, outputs, enabled, derivative, has_aux)


def linear_transpose(func: Callable[..., Any], *primals: Any) -> Callable[..., Any]:
    """The transpose of a linear function, as a function.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them, and is linear in all its arguments together.
    *primals
        Arguments with the structure, shapes and dtypes that it takes; their values do not matter.

    Returns
    -------
    callable
        Takes a pytree with the structure and shapes of the output; returns a tuple of pytrees, each with an argument's structure.

    Raises
    ------
    ValueError
        The function is not linear, as a test with random arguments shows.
    TypeError
        An argument contains integers.

    Notes
    -----
    The matrix is transposed without conjugation, as in JAX: for complex matrices the pullback of `vjp` is the conjugate.  The
    sum of y * func(x) equals the sum of x * transpose(y) for all x and y; this is tested for one random pair.

    Examples
    --------
    >>> import gradspec as gs
    >>> a = gs.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> gs.func.linear_transpose(lambda x: a @ x, gs.zeros(2))(gs.ones(2))[0].tolist()
    [4.0, 6.0]
    """
    leaves, form = flatten(primals)
    _, pullback = vjp(func, *rebuild(form, [ops.zeros_like(asarray(leaf)) for leaf in leaves]))

    def transpose(cotangents: Any) -> Any:
        return _conjugate(pullback(_conjugate(cotangents)))

    random = numpy_random().default_rng(0)
    xs = [asarray(normal_like(asarray(leaf), random)) for leaf in leaves]
    outputs, outputs_form = flatten(func(*rebuild(form, xs)))
    ys = [asarray(normal_like(output, random)) for output in outputs]
    pairs = [*zip(outputs, ys)], [*zip(xs, flatten(transpose(rebuild(outputs_form, ys)))[0])]
    one, other = (sum(whole_of(ops.sum(a * b)).detach().numpy() for a, b in some) for some in pairs)
    size = sum(whole_of(ops.sum(abs(a * b))).detach().numpy() for some in pairs for a, b in some)
    if not (abs(one - other) <= np.finfo(np.asarray(size).dtype).eps ** 0.5 * size).all():
        raise CallValueError("linear_transpose: the function is not linear: the sum of y * f(x) is not that of x * f'(0)^T(y). "
                             "Write vjp(f, *primals) for the transpose of its derivative")  # fmt: skip
    return transpose


def _conjugate(nest):
    leaves, form = flatten(nest)
    return rebuild(form, [ops.conj(leaf) if getattr(leaf, "dtype", np.dtype(float)).kind == "c" else leaf for leaf in leaves])


def hvp(func: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The product of the Hessian of a function with a vector, by a backward pass through a backward pass.

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    primals
        A tuple contains the arguments of `func`; any other value except a list is its only argument.
    tangents
        With the structure and shapes of `primals`.

    Returns
    -------
    product
        With the structure of `primals`.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.hvp(lambda x: (x**3).sum(), gs.asarray([1.0, 2.0]), gs.asarray([1.0, 1.0])).tolist()
    [6.0, 12.0]
    """
    several = _are_several("hvp", primals)
    point = _at("hvp", func, primals if several else (primals,))
    directions = _tangents(point, tangents if several else (tangents,))
    with recording():
        output = point.record_single()
        first = filled(gradients([output], point.values, None, True), point.values)
        kept, recorded = _keeps(point, directions, point.enabled)
        found = filled(gradients(first, point.values, directions, recorded), point.values)
        point.freeze()
        nest = point.nest([value if kept else without_history(value) for value in found], point.inputs_form)
    return nest if several else nest[0]


def pushed(point, tangents, count=0, strict=False):
    """The outputs of a function and their tangents, by forward mode, or by reverse mode twice if that is not implemented."""
    try:
        outputs, found = push(point, [ops.copy(x) if count else point.shared(x) for x in point.inputs], tangents, count, strict)
    except NotImplementedError:
        if count:
            raise NotBatched from None
        with recording():
            zeros = [ops.zeros_like(x) if t is None else t for x, t in zip(point.inputs, tangents)]
            outputs = point.record()
            found = push_transposed(outputs, *transposed(outputs, point.values), zeros, True)
            point.freeze()
    else:
        point.kept = True  # forward mode does not change a graph
    return outputs, found


def _at(caller, func, primals, has_aux=False):
    if not primals:
        raise CallTypeError(f"{caller}: there is nothing to differentiate by: give the arguments of the function, at least one "
                            "Tensor or number")  # fmt: skip
    numbers = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return Point(caller, func, primals, None, numbers, has_aux)


def _are_several(caller, primals):
    """Whether `primals` is a tuple of arguments.  A list is refused, because JAX would read it as the arguments."""
    if type(primals) is list:
        raise CallTypeError(f"{caller}: primals is a list; write a tuple of the arguments, {caller}(f, (x,), (t,)), or ([...],) "
                            "for one argument that is a list")  # fmt: skip
    return isinstance(primals, tuple)


def _tangents(point, tangents):
    count = len(point.args)
    if not isinstance(tangents, (tuple, list)):
        raise CallTypeError(f"{point.caller}: Expected primals and tangents to have the same python structure: the arguments are "
                            f"a tuple of {count}, so the tangents must be one, too, with one for each; got "
                            f"{type(tangents).__name__}")  # fmt: skip
    if len(tangents) != count:
        raise CallTypeError(f"{point.caller}: Expected primals and tangents to have the same python structure: expected {count} "
                            f"tangents, one for each argument, got {len(tangents)}")  # fmt: skip
    return point.vector(tangents, point.inputs, point.inputs_form, "tangents")


def _with_product(point, outputs, enabled, product, has_aux):
    """The function's result, without a graph unless recording was `enabled`; the products decide about their own graphs."""
    connected = point.kept
    point.enabled, point.kept = enabled, connected and enabled
    value = point.result(outputs, point.outputs_form)
    found = (value, product, point.auxiliary()) if has_aux else (value, product)
    point.kept = connected
    return found


def _keeps(point, vectors, enabled):
    """Whether a product with `vectors` keeps its graph, if recording is `enabled` for it, and whether it is recorded."""
    kept = enabled and (point.kept or any(value.requires_grad for value in with_tangents(vectors)))
    return kept, kept or innermost_level() > 0
