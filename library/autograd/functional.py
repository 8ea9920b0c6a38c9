"""Differentiate functions: vjp, jvp, jacobian, hessian, vhp and hvp.

Decides which mode computes each result.  Forward mode: jvp, and the columns of matrices.  Reverse mode: vjp, and the rows.
Forward over reverse mode: hvp.  Reverse mode twice: vhp and Hessians, with all rows in one pass.  The passes themselves, and the
checks of arguments, are in `flat_derivatives`.
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

ROWS_FOR_A_COLUMN = 4  # for small functions, where the default makes a difference
__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
answer(__name__)


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector with the Jacobian of a function, by one backward pass.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a Tensor or a pytree of Tensors.
    inputs : Tensor, ndarray, or a nest of them
        The point of differentiation.  A tuple holds the arguments of `func`; any other value is its only argument.
    v : Tensor, ndarray, or a nest of them, optional
        Has the structure and the shapes of the result of `func`; optional if that is a single element.
    create_graph : bool
        Record the computation of the results, so that they can be differentiated; otherwise they are detached, except inside of
        a function that `gradspec.func` differentiates.
    strict : bool
        Refuse a function whose outputs are independent of an input, instead of returning zeros.

    Returns
    -------
    outputs
        The result of `func`.
    vjp
        Has the structure of `inputs`.
    """
    function = UserFunction("vjp", func, inputs, create_graph)
    with recording():
        variables = function.variables()
        outputs = function(variables, strict)
        if v is None and (function.outputs_form is not LEAF or outputs[0].size != 1):
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a "
                               "single element.")  # fmt: skip
        cotangents = None if v is None else function.vector(v, outputs, function.outputs_form)
        found = gradients(outputs, variables, cotangents, function.create_graph)
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
    func, inputs
        As for `vjp`.
    v : Tensor, ndarray, or a nest of them, optional
        Has the structure and the shapes of `inputs`; optional if that is a single element.
    create_graph, strict : bool
        As for `vjp`.

    Returns
    -------
    outputs
        The result of `func`.
    jvp
        Has the structure of `outputs`.

    Notes
    -----
    If the function calls a custom Function without a jvp, two backward passes replace forward mode.
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
            outputs, found = push_by_reverse(function, function.variables(), tangents, function.create_graph)
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
        Compute all rows of an output, or all columns, in one pass, regardless of memory; otherwise as many at a time as fit in
        the processor's cache.  The result is the same.
    strategy : {"reverse-mode", "forward-mode"}, optional
        Rows, with one call of `func`; or columns, with one call of `func` in each pass.  The default is the cheaper one; reverse
        mode for complex numbers.

    Returns
    -------
    A pytree with the structure of the outputs.  It contains, for each output, a pytree with the structure of the inputs. Each of
    its tensors has the shape of the output followed by the shape of the input.

    Notes
    -----
    For complex numbers a row is the gradient of the real part of one output, as in PyTorch: the conjugate of the derivative of a
    holomorphic function.  A column, in forward mode, is the derivative itself.
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
            blocks = rows(outputs, variables, function.create_graph, vectorize)
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
        Compute all rows, or all columns, in one pass, regardless of memory; otherwise as many at a time as fit in the processor's
        cache.  The result is the same.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode"}
        Method of differentiating the gradient.  Reverse mode: backward passes through a gradient that is recorded once.  Forward
        mode: the gradient and its tangents together, which takes a little more time.

    Returns
    -------
    A pytree with the structure of the inputs.  It contains, for each input, a pytree with the same structure.  Each of its
    tensors has the shape of the first input followed by the shape of the second.
    """
    _check_strategy(outer_jacobian_strategy)
    function = UserFunction("hessian", func, inputs, create_graph)

    def gradient(duals):
        output = function.single_output(duals)
        return filled(gradients([output], duals, None, function.create_graph), duals)

    with recording():
        if strict:
            variables, _, first = _gradient(function, strict)
            refuse_linear(first)
            refuse_unused(first, variables)
        if outer_jacobian_strategy == "forward-mode":
            blocks = columns(function, lambda *tangents: push(gradient, function.variables(), *tangents), vectorize)
        else:
            variables, _, first = _gradient(function, False)
            blocks = rows(filled(first, variables), variables, function.create_graph, vectorize)
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
    func, inputs
        As for `vjp`; `func` returns a single element.
    v : Tensor, ndarray, or a nest of them, optional
        Has the structure and the shapes of `inputs`; optional if that is a single element.
    create_graph, strict : bool
        As for `vjp`.

    Returns
    -------
    output
        The result of `func`.
    vhp
        Has the structure of `inputs`.
    """
    function = UserFunction("vhp", func, inputs, create_graph)
    v = function.input_vector(v)
    with recording():
        output, found = _vector_hessian(function, v, strict)
    return function.finished([output], LEAF), function.finished(found, function.inputs_form)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Hessian of a function with a vector, by forward mode over a backward pass.

    Parameters
    ----------
    func, inputs, v
        As for `vhp`.
    create_graph, strict : bool
        As for `vjp`.

    Returns
    -------
    output, hvp
        The result of `func`; and the product, with the structure of `inputs`.

    Notes
    -----
    A backward pass through a backward pass computes the product instead with `strict`, with `create_graph`, and if the function
    calls a custom Function without a jvp.  It relies on a symmetric Hessian: second derivatives have to be continuous.
    """
    function = UserFunction("hvp", func, inputs, create_graph)
    v = function.input_vector(v)
    with recording():
        try:
            twice = strict or function.create_graph
            output, found = _vector_hessian(function, v, strict) if twice else _pushed_gradient(function, v)
        except NotImplementedError:
            output, found = _vector_hessian(function, v, strict)
    return function.finished([output], LEAF), function.finished(found, function.inputs_form)


def _gradient(function, strict):
    """Variables, the output at them and its gradients, recorded; None for a gradient that does not exist."""
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
    if strict and function.create_graph and not function.inside:
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
    """The blocks of a Jacobian by forward mode; None if a custom Function lacks a jvp and the strategy permits reverse mode."""
    try:
        return columns(function, lambda *tangents: push_forward(function, *tangents), whole)
    except NotImplementedError:
        if strategy == "forward-mode":
            raise
        return None


def _is_tall(outputs, variables):
    """Whether columns are cheaper than rows, although they call `func` again, and no value is complex."""
    if any(value.dtype.kind == "c" for value in (*outputs, *variables)):
        return False
    return ROWS_FOR_A_COLUMN * sum(x.size for x in variables) < sum(output.size for output in outputs)


def _check_strategy(strategy):
    if strategy not in (None, "forward-mode", "reverse-mode"):
        raise ValueError(f'Expected strategy to be either "forward-mode" or "reverse-mode", or None, but got {strategy!r}. Hint: '
                         'with more outputs than inputs "forward-mode" takes fewer passes.')  # fmt: skip
