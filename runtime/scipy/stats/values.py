"""SciPy's numbers as tensors: a derivative that is refused by name, and one that follows from an equation.

Owns how arguments become tensors of one dtype, how an elementwise function of arrays is called on tensors, and the two ways to
give what it returns a derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...autograd import Function
from ...autograd.nest import flatten
from ...core.grad_mode import is_grad_enabled
from ...core.operand import asarray
from ...core.tensor import TensorBase
from ...func import custom_jvp, custom_vmap, jvp, pure_callback, stop_gradient
from ...func.callbacks import has_tangent
from ...support.dispatch import ops


def reals(name: str, *values: Any) -> list[Any]:
    """Arguments as tensors of one real dtype; Python's numbers take that of the arrays.

    Parameters
    ----------
    name : str
        Who asks, for messages.
    *values : array_like or Tensor

    Returns
    -------
    list of Tensor

    Raises
    ------
    TypeError
        An argument is complex, or holds no numbers.
    """
    arrays = [value if isinstance(value, (TensorBase, int, float)) else array_of(value) for value in values]
    dtype = np.result_type(*(array.dtype if hasattr(array, "dtype") else 1.0 for array in arrays), 1.0)
    if dtype.kind != "f":
        raise TypeError(f"{name}: expected real numbers, got {dtype}")
    return [ops.astype(tensor, dtype) if (tensor := asarray(array)).dtype != dtype else tensor for array in arrays]


def array_of(value: Any) -> Any:
    """A nest of numbers as an array; one that holds tensors as a tensor, with their graph."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(leaf, TensorBase) for leaf in flatten(value)[0]):
        return ops.stack([asarray(array_of(item)) for item in value])
    return np.asarray(value)


class _Refused(Function):
    """A constant that is none: its derivative is not offered."""

    generate_vmap_rule = True
    pure = True

    @staticmethod
    def forward(ctx, words, value, *inputs):
        ctx.words, ctx.shape, ctx.dtype = words, value.shape, value.dtype
        return value.clone()

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError(ctx.words)

    @staticmethod
    def jvp(ctx, _, value_t, *tangents):
        return refused_along(tangents, ops.zeros(ctx.shape, dtype=ctx.dtype), ctx.words)


def refused(value: Any, inputs: Sequence[Any], words: str) -> Any:
    """A value whose derivative by any of the inputs is an error with these words, where somebody asks for it."""
    return _Refused.apply(words, stop_gradient(asarray(value)), *map(asarray, inputs))


def refused_along(tangents: Sequence[Any], zero: Any, words: str) -> Any:
    """The derivative of such a value along tangents: zero where they are, else an error."""
    given = [tangent for tangent in tangents if tangent is not None]
    if any(np.any(stop_gradient(tangent).numpy()) for tangent in given):
        raise NotImplementedError(words)
    return refused(zero, given, words)


def must_be_constant(who: str, tensors: Sequence[Any]) -> None:
    """Refuse what would be detached silently, where a result can hold no derivative.

    Raises
    ------
    RuntimeError
        A tensor requires grad, or has a tangent.
    """
    if is_grad_enabled() and any(tensor.requires_grad for tensor in tensors) or any(map(has_tangent, tensors)):
        raise RuntimeError(f"{who}, which have no derivative; pass x.detach()")


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that broadcast, as a function of tensors without a derivative; a batch of `vmap` passes it whole."""

    def of_arrays(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.asarray(function(*(array.numpy() for array in arrays)))
        return found.astype(np.result_type(*(array.dtype for array in arrays)), copy=False)

    @custom_vmap
    def of_tensors(arguments: Any) -> Any:
        given = [stop_gradient(asarray(argument)) for argument in arguments]
        like = functools.reduce(ops.add, [ops.zeros_like(argument) for argument in given])
        return pure_callback(of_arrays, like, *given)

    @of_tensors.def_vmap
    def of_batches(size: int, batched: Any, arguments: Any) -> Any:
        flags = batched[0]
        ranks = [argument.ndim - flag for argument, flag in zip(arguments, flags)]
        rows = [ops.reshape(argument, (size, *(1,) * (max(ranks) - rank), *argument.shape[1:])) if flag else argument
                for argument, flag, rank in zip(arguments, flags, ranks)]  # fmt: skip
        return of_tensors(rows), True

    return lambda *arguments: of_tensors(list(arguments))


def implicit(value: Callable[..., Any], condition: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
    """The solution y of condition(y, *parameters) == target as a function of target and parameters, with its derivatives.

    Parameters
    ----------
    value : callable
        Of the target and the parameters: the solution, which has no derivative of its own.
    condition : callable
        Of y and the parameters, elementwise.
    slope : callable
        Its derivative in y.

    Returns
    -------
    callable
        Of the target and the parameters.  Its derivatives, in both modes and of any order, are those of the implicit function
        theorem: slope * dy + d(condition) / d(parameters) = d(target).
    """

    @custom_jvp
    def solution(target: Any, parameters: Any) -> Any:
        return ops.copy(value(target, *parameters))

    @solution.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (target, parameters), (target_t, parameters_t) = primals, tangents
        y = solution(target, parameters)
        moved = jvp(lambda *p: condition(y, *p), tuple(parameters), tuple(parameters_t))[1] if parameters else 0.0
        return y, (target_t - moved) / slope(y, *parameters)

    return lambda target, *parameters: solution(target, list(parameters))
