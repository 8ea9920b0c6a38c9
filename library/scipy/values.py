"""SciPy's numbers as tensors: with explicit derivatives, with derivatives of an equation's solution, or refused by name.

Converts arguments to tensors of one dtype, calls a function of arrays on tensors, and gives its result a derivative.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import Function
from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..func import custom_jvp, custom_vmap, jvp, pure_callback, stop_gradient
from ..func.callbacks import OnArrays, called_back
from ..func.closures import has_tangent
from ..support.dispatch import ops
from ..support.generator import Holder, as_generator, numpy_random
from ..support.pytree import flatten
from ..transforms.batching.vmap_levels import levels_of_one_draw


def numbers(name: str, *values: Any, least: Any = np.float16) -> list[Any]:
    """Arguments as tensors of one dtype, real or complex; Python's numbers take the dtype of the arrays.

    Parameters
    ----------
    name : str
        Name of the caller, for messages.
    *values : array_like or Tensor
    least : dtype
        The least dtype of the result; narrower numbers are widened.

    Returns
    -------
    list of Tensor

    Raises
    ------
    TypeError
        An argument is not numeric.
    """
    arrays = [value if isinstance(value, (TensorBase, int, float, complex)) else array_of(value) for value in values]
    dtype = np.result_type(*(array.dtype if hasattr(array, "dtype") else array * 1.0 for array in arrays), 1.0)
    if dtype.kind not in "fc":
        raise TypeError(f"{name}: expected numbers, got {dtype}")
    dtype = np.result_type(dtype, least)
    return [ops.astype(tensor, dtype) if (tensor := asarray(array)).dtype != dtype else tensor for array in arrays]


def reals(name: str, *values: Any) -> list[Any]:
    """`numbers`, which must be real.

    Raises
    ------
    TypeError
        An argument is complex, or not numeric.
    """
    found = numbers(name, *values)
    if found and found[0].dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got {found[0].dtype}")
    return found


def in_given_precision(names: dict[str, Any], chosen: Sequence[str]) -> None:
    """Functions with results of single precision if all arrays among their arguments are, regardless of their internal precision.

    Parameters
    ----------
    names : dict
        A namespace; the functions in it are replaced, and modules are left.
    chosen : sequence of str
        Names of the functions.
    """
    for name in chosen:
        if callable(names[name]):
            names[name] = _rounded(names[name])


def _rounded(function: Callable[..., Any]) -> Callable[..., Any]:
    def rounded(value: Any) -> Any:
        dtype = _SINGLE.get(value.dtype.char) if isinstance(value, TensorBase) else None
        return value if dtype is None else ops.astype(value, dtype)

    @functools.wraps(function)
    def call(*args: Any, **kwds: Any) -> Any:
        found = function(*args, **kwds)
        dtypes = [value.dtype for value in (*args, *kwds.values()) if isinstance(value, (TensorBase, np.ndarray, np.generic))]
        dtypes = [dtype for dtype in dtypes if dtype.kind in "fc"]
        if not dtypes or np.result_type(*dtypes) not in _SINGLE.values():
            return found
        return tuple(map(rounded, found)) if isinstance(found, tuple) else rounded(found)

    return call


_SINGLE = {"d": np.dtype("f"), "D": np.dtype("F")}


def array_of(value: Any) -> Any:
    """A pytree of numbers as an array; if it contains tensors, a tensor with their graph."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(leaf, TensorBase) for leaf in flatten(value)[0]):
        return ops.stack([asarray(array_of(item)) for item in value])
    return np.asarray(value)


class _Refused(Function):
    """A value whose derivative is refused, although it is computed as a constant."""

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
    """A value whose derivative by any of the inputs raises an error with these words."""
    return _Refused.apply(words, stop_gradient(asarray(value)), *map(asarray, inputs))


def refused_along(tangents: Sequence[Any], zero: Any, words: str) -> Any:
    """The derivative of such a value along tangents: zero if all tangents are zero, else an error."""
    given = [tangent for tangent in tangents if tangent is not None and not is_zero(tangent)]
    if any(np.any(stop_gradient(tangent).numpy()) for tangent in given):
        raise NotImplementedError(words)
    return refused(zero, given, words)


def must_be_constant(who: str, tensors: Sequence[Any]) -> None:
    """Refuse tensors with derivatives if the result cannot have any: they would be detached silently.

    Raises
    ------
    RuntimeError
        A tensor requires grad, or has a tangent.
    """
    if is_grad_enabled() and any(tensor.requires_grad for tensor in tensors) or any(map(has_tangent, tensors)):
        raise RuntimeError(f"{who}, which have no derivative; pass x.detach()")


def generator_for(name: str, random_state: Any) -> Any:
    """A generator for SciPy's random numbers; inside a vmap only if all rows have the same numbers, which SciPy generates once.

    Parameters
    ----------
    name : str
        Name of the caller, for messages.
    random_state : None, int, numpy.random.Generator, numpy.random.RandomState or gradspec.random's generator

    Raises
    ------
    RuntimeError
        A vmap is open whose `randomness` is not "same", or whose chunks a RandomState would not draw the same for.
    """
    levels, random = levels_of_one_draw(), numpy_random()
    if levels is None:
        raise RuntimeError(f"vmap: called random operation {name}, which draws once for all rows; say randomness='same', draw "
                           "before the vmap and map over the numbers, or take the distributions of gs.random")  # fmt: skip
    if isinstance(random_state, (int, np.integer)):
        return random.RandomState(random_state)
    if random_state is None or isinstance(random_state, (Holder, random.Generator)):
        generator = as_generator(random_state, name, "random_state")
        for level in levels:
            level.rewind(generator)
        return generator
    if levels:
        raise RuntimeError(f"vmap: {name} draws from a {type(random_state).__name__}, which is not put back between chunks; pass "
                           "a numpy.random.Generator")  # fmt: skip
    return random_state


def computed(function: Callable[..., Any], *tensors: Any) -> Any:
    """The result of a function of NumPy's arrays, inside a Function's `forward`; a compiled call runs it at each replay."""
    return called_back(OnArrays(function, scalars=False), tensors, {})


def elementwise(function: Callable[..., Any], dtype: Any = None) -> Callable[..., Any]:
    """A function of arrays that broadcast, as a function of tensors without a derivative; a batch of `vmap` passes it whole.

    Its result has the dtype of the arguments, or of `dtype` if that is wider.
    """

    def of_arrays(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.asarray(function(*(array.numpy() for array in arrays)))
        return found.astype(np.result_type(*(array.dtype for array in arrays), *widened), copy=False)

    widened = [] if dtype is None else [np.dtype(dtype)]

    @custom_vmap
    def of_tensors(arguments: Any) -> Any:
        given = [stop_gradient(asarray(argument)) for argument in arguments]
        like = functools.reduce(ops.add, [ops.zeros_like(argument) for argument in given])
        like = ops.astype(like, np.result_type(like.dtype, *widened))
        return pure_callback(of_arrays, like, *given)

    @of_tensors.def_vmap
    def of_batches(size: int, batched: Any, arguments: Any) -> Any:
        flags = batched[0]
        ranks = [argument.ndim - flag for argument, flag in zip(arguments, flags)]
        rows = [ops.reshape(argument, (size, *(1,) * (max(ranks) - rank), *argument.shape[1:])) if flag else argument
                for argument, flag, rank in zip(arguments, flags, ranks)]  # fmt: skip
        return of_tensors(rows), True

    return lambda *arguments: of_tensors(list(arguments))


def smooth(name: str, *slopes: Callable[..., Any] | None, dtype: Any = None, part: Any = ()) -> Callable[..., Any]:
    """An elementwise function of scipy.special with its derivatives.

    Parameters
    ----------
    name : str
        SciPy's.
    *slopes : callable or None
        For each argument, the derivative by it, as a function of the value and the arguments; None to refuse a derivative.
    dtype : dtype, optional
        The least dtype of the result: complex64 for a function of real numbers whose values are complex.
    part : int or ()
        The place of the result, if SciPy returns several.

    Returns
    -------
    callable
        Takes tensors of one dtype.
    """

    def of_arrays(*arrays: Any) -> Any:
        import scipy.special

        # SciPy's functions take no complex parameters; some of single precision are NaN, and some never return from NaN.
        given = [array.real if slope is None else array for slope, array in zip(slopes or arrays, arrays)]
        given = np.broadcast_arrays(*(array.astype(np.result_type(array, np.float64), copy=False) for array in given))
        known = ~functools.reduce(np.logical_or, map(np.isnan, given))
        whole = known.all()
        found = getattr(scipy.special, name)(*(given if whole else [array[known] for array in given]))
        found = found if part == () else found[part]
        if whole:
            return found
        result = np.full(known.shape, np.nan * (1 + 1j) if found.dtype.kind == "c" else np.nan, found.dtype)
        result[known] = found
        return result

    words = f"scipy.special.{name} has no derivative in its argument {{}} here; pass it as a number, or detached"
    return with_slopes(elementwise(of_arrays, dtype), slopes, words)


def with_slopes(values: Callable[..., Any], slopes: Sequence[Callable[..., Any] | None], words: str = "") -> Callable[..., Any]:
    """A function of tensors with given values, and with a derivative by each argument.

    Parameters
    ----------
    values : callable
        Takes the arguments, returns a Tensor without a derivative.
    slopes : sequence of callable or None
        As for `smooth`.
    words : str
        The message of a refused derivative, with the argument's place for {}.
    """

    @custom_jvp
    def function(arguments: Any) -> Any:
        return values(*arguments)

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (arguments,), (tangents,) = primals, tangents
        value = function(arguments)
        moved = ops.zeros_like(value)
        for place, (slope, tangent) in enumerate(zip(slopes, tangents), 1):
            if is_zero(tangent):
                continue
            if slope is None:
                moved = moved + refused_along([tangent], ops.zeros_like(value), words.format(place))
            else:
                moved = moved + slope(value, *arguments) * tangent
        return value, moved

    return lambda *arguments: function(list(arguments))


def is_zero(tangent: Any) -> bool:
    """Whether a tangent is zero for sure, so that nothing is multiplied by it: a slope may be infinite."""
    try:
        return not tangent.requires_grad and not np.any(tangent.numpy())
    except (RuntimeError, TypeError):  # a batch or a deeper level: unknown
        return False


def named(name: str, arguments: str, doc: str, function: Callable[..., Any], real: bool = True) -> Callable[..., Any]:
    """A function of tensors as one of array_likes, with a name, parameters and a docstring.

    Parameters
    ----------
    name : str
        SciPy's.
    arguments : str
        Their names, separated by spaces.
    doc : str
        One line.
    function : callable
        Takes tensors of one dtype.
    real : bool
        Whether complex numbers are refused.
    """
    names = arguments.split()
    convert = reals if real else numbers

    def public(*args: Any, **kwds: Any) -> Any:
        bound = signature.bind(*args, **kwds)
        with np.errstate(all="ignore"):
            return function(*convert(name, *bound.args))

    signature = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    public.__name__ = public.__qualname__ = name
    public.__signature__ = signature  # type: ignore[attr-defined]
    kind = "array_like, real" if real else "array_like, real or complex"
    public.__doc__ = f"{doc}\n\nParameters\n----------\n{', '.join(names)} : {kind}\n\nReturns\n-------\nTensor"
    return public


def implicit(value: Callable[..., Any], condition: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
    """The solution y of condition(y, *parameters) == target as a function of target and parameters, with its derivatives.

    Parameters
    ----------
    value : callable
        Takes the target and the parameters, returns the solution without a derivative.
    condition : callable
        Takes y and the parameters, elementwise.
    slope : callable
        Its derivative in y.

    Returns
    -------
    callable
        Takes the target and the parameters.  Its derivatives, in both modes and of any order, follow from the implicit function
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
