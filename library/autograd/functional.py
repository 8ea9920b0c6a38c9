"""Derivatives of functions: vjp, jvp, jacobian, hessian, vhp and hvp.

Owns which mode computes what.  Forward mode: jvp, and the columns of matrices.  Reverse mode: vjp, and the rows.  Forward over
reverse mode: hvp.  Reverse mode twice: vhp and Hessians, whose rows one pass takes together.  The passes themselves, and what
users may pass in, are in `passes`.
"""

from collections.abc import Callable
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..support.dispatch import ops
from ..support.lazy_import import answer
from ..support.pytree import LEAF, rebuild
from .flat_derivatives import (
    UserFunction,
    columns,
    filled,
    gradients,
    push,
    push_by_reverse,
    push_forward,
    recording,
    refuse_constant,
    refuse_constant_blocks,
    refuse_independent,
    refuse_linear,
    refuse_unused,
    rows,
)

ROWS_FOR_A_COLUMN = 4  # of small functions, for whose sake there is a default
__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
answer(__name__)


def __dir__() -> list[str]:
    return __all__


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector with the Jacobian of a function, by one backward pass.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a Tensor or a nest of them.
    inputs : Tensor, ndarray, or a nest of them
        Where to differentiate.  A tuple holds the arguments of `func`; anything else is its only argument.
    v : Tensor, ndarray, or a nest of them, optional
        Of the form and the shapes of what `func` returns; may be left out where that is a single element.
    create_graph : bool
        Record how the results were computed, so that they can be differentiated; otherwise they are detached.
    strict : bool
        Refuse a function whose outputs are independent of an input, instead of answering with zeros.

    Returns
    -------
    outputs
        What `func` returned.
    vjp
        Of the form of `inputs`.
    """
    function = UserFunction("vjp", func, inputs, create_graph)
    with recording():
        variables = function.variables()
        outputs = function(variables, strict)
        if v is None and (function.outputs_form is not LEAF or outputs[0].size != 1):
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a "
                               "single element.")  # fmt: skip
        cotangents = None if v is None else function.vector(v, outputs, function.outputs_form)
        found = gradients(outputs, variables, cotangents, create_graph)
        if strict:
            refuse_independent(found, "The output")
        found = filled(found, variables)
        if strict and create_graph:
            refuse_constant(found, "jacobian")
    return function.finished(outputs, function.outputs_form), function.finished(found, function.inputs_form)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Jacobian of a function with a vector, by one pass in forward mode.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    v : Tensor, ndarray, or a nest of them, optional
        Of the form and the shapes of `inputs`; may be left out where that is a single element.

    Returns
    -------
    outputs
        What `func` returned.
    jvp
        Of the form of `outputs`.

    Notes
    -----
    Where the function calls a custom Function without a jvp, two backward passes take the place of forward mode.
    """
    function = UserFunction("jvp", func, inputs, create_graph)
    tangents = function.input_vector(v)
    with recording():
        if strict:
            variables = function.variables()
            outputs = function(variables, strict)
            refuse_independent(gradients(outputs, variables, [ops.zeros_like(o) for o in outputs], False), "The output")
        try:
            outputs, found = push_forward(function, tangents)
        except NotImplementedError:
            outputs, found = push_by_reverse(function, function.variables(), tangents, create_graph)
        if strict and create_graph:
            refuse_constant(found, "jacobian")
    form = function.outputs_form
    return function.finished(outputs, form), function.finished(found, form)


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str | None = None,
) -> Any:  # fmt: skip
    """The Jacobian of a function.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    vectorize : bool
        Compute all rows of an output, or all columns, in one pass, whatever memory it takes; otherwise as many at a time as fit
        in the processor's cache.  The result is the same.
    strategy : {"reverse-mode", "forward-mode"}, optional
        Rows, with one call of `func`; or columns, with one call for as many as one pass takes.  By default what takes less, and
        reverse mode where numbers are complex.

    Returns
    -------
    A nest of the form of the outputs that holds, in place of each, a nest of the form of the inputs, whose tensors have the
    shape of the output followed by that of the input.

    Notes
    -----
    With complex numbers a row is the gradient of the real part of one output, as in PyTorch: the conjugate of the derivative
    of a holomorphic function.  A column, in forward mode, is the derivative itself.
    """
    _check_strategy(strategy)
    function = UserFunction("jacobian", func, inputs, create_graph)
    with recording():
        blocks = None
        if strategy != "forward-mode" or strict:
            variables = function.variables()
            outputs = function(variables, strict)
            if strict:
                refuse_unused(outputs, variables)
        if strategy == "forward-mode" or (strategy is None and _is_tall(outputs, variables)):
            blocks = _columns_or_none(function, strategy, vectorize)
        if blocks is None:
            blocks = rows(outputs, variables, create_graph, vectorize)
        if strict and create_graph:
            refuse_constant_blocks(blocks)
    return rebuild(function.outputs_form, [function.finished(row, function.inputs_form) for row in blocks])


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function that returns a single element.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    vectorize : bool
        Compute all rows, or all columns, in one pass, whatever memory it takes; otherwise as many at a time as fit in the
        processor's cache.  The result is the same.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode"}
        How the gradient is differentiated: by backward passes through a gradient that is recorded once; or by forward mode,
        which computes the gradient and its tangents together, in a little more time.

    Returns
    -------
    A nest of the form of the inputs that holds, in place of each, a nest of the same form, whose tensors have the shape of
    the first input followed by that of the second.
    """
    _check_strategy(outer_jacobian_strategy)
    function = UserFunction("hessian", func, inputs, create_graph)

    def gradient(duals):
        output = function.single_output(duals)
        return filled(gradients([output], duals, None, create_graph), duals)

    with recording():
        if strict:
            variables, _, first = _gradient(function, strict)
            refuse_linear(first)
            refuse_unused(first, variables)
        if outer_jacobian_strategy == "forward-mode":
            blocks = columns(function, lambda *tangents: push(gradient, function.variables(), *tangents), vectorize)
        else:
            variables, _, first = _gradient(function, False)
            blocks = rows(filled(first, variables), variables, create_graph, vectorize)
        if strict and create_graph:
            refuse_constant_blocks(blocks)
    form = function.inputs_form
    return rebuild(form, [function.finished(row, form) for row in blocks])


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector with the Hessian of a function, by a backward pass through a backward pass.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`; `func` returns a single element.
    v : Tensor, ndarray, or a nest of them, optional
        Of the form and the shapes of `inputs`; may be left out where that is a single element.

    Returns
    -------
    output
        What `func` returned.
    vhp
        Of the form of `inputs`.
    """
    function = UserFunction("vhp", func, inputs, create_graph)
    v = function.input_vector(v)
    with recording():
        output, found = _vector_hessian(function, v, strict)
    return function.finished([output], LEAF), function.finished(found, function.inputs_form)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Hessian of a function with a vector, by a backward pass in forward mode.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`; `func` returns a single element.
    v : Tensor, ndarray, or a nest of them, optional
        Of the form and the shapes of `inputs`; may be left out where that is a single element.

    Returns
    -------
    output
        What `func` returned.
    hvp
        Of the form of `inputs`.

    Notes
    -----
    With `strict` or `create_graph`, and where the function calls a custom Function without a jvp, a backward pass through a
    backward pass gives the same of a symmetric Hessian, as second derivatives that are continuous make it.
    """
    function = UserFunction("hvp", func, inputs, create_graph)
    v = function.input_vector(v)
    with recording():
        try:
            twice = strict or create_graph
            output, found = _vector_hessian(function, v, strict) if twice else _pushed_gradient(function, v)
        except NotImplementedError:
            output, found = _vector_hessian(function, v, strict)
    return function.finished([output], LEAF), function.finished(found, function.inputs_form)


def _gradient(function, strict):
    """Variables, the output there and its gradients, recorded; None where there is none."""
    variables = function.variables()
    output = function.single_output(variables, strict)
    return variables, output, gradients([output], variables, None, True)


def _vector_hessian(function, v, strict):
    """The output, and the product of `v` with the Hessian, by reverse mode twice."""
    variables, output, first = _gradient(function, strict)
    if strict:
        refuse_independent(first, "The output")
        refuse_linear(first)
    found = gradients(filled(first, variables), variables, v, function.create_graph)
    if strict:
        refuse_independent(found, "The jacobian")
    found = filled(found, variables)
    if strict and function.create_graph:
        refuse_constant(found, "hessian")
    return output, found


def _pushed_gradient(function, tangents):
    """The output, and the tangent of the gradient: forward mode over reverse mode."""
    outputs = []

    def gradient(duals):
        outputs[:] = [function.single_output(duals)]
        return filled(gradients(outputs, duals, None, False), duals)

    _, found = push(gradient, function.variables(), tangents)
    return outputs[0], found


def _columns_or_none(function, strategy, whole):
    """The blocks of a Jacobian by forward mode; None where a custom Function without a jvp is in the way, if that may be."""
    try:
        return columns(function, lambda *tangents: push_forward(function, *tangents), whole)
    except NotImplementedError:
        if strategy == "forward-mode":
            raise
        return None


def _is_tall(outputs, variables):
    """Whether columns take less than rows, although `func` is called again for them, and nothing is complex."""
    if any(value.dtype.kind == "c" for value in (*outputs, *variables)):
        return False
    return ROWS_FOR_A_COLUMN * sum(x.size for x in variables) < sum(output.size for output in outputs)


def _check_strategy(strategy):
    if strategy not in (None, "forward-mode", "reverse-mode"):
        raise ValueError(f'Expected strategy to be either "forward-mode" or "reverse-mode", or None, but got {strategy!r}. Hint: '
                         'with more outputs than inputs "forward-mode" takes fewer passes.')  # fmt: skip
