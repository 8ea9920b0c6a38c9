"""Callbacks: call Python functions from a program, with the current numbers.

A callback receives copies of its arguments, which it may keep.  Its results are checked.  Compiled functions replay the call.
Numbers that are only printed or logged should be passed to a callback: if Python reads a number in any other way, its value
becomes a guard.  A function without side effects can be declared pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled, no_grad
from ..core.non_operator_events import array_of, tell_of_callback
from ..core.tensor import TensorBase
from ..support.pytree import flatten, rebuild, without_leaves
from ..transforms.batching.batched import innermost
from ..transforms.batching.level_tensor import LevelTensor
from .closures import has_tangent
from .custom_batching import sequential_vmap

__all__ = ["Callback", "OnArrays", "called_back", "io_callback", "pure", "pure_callback"]


class Callback:
    """A function that a program calls back.

    Attributes
    ----------
    kind : str
        "debug" (no results), "io" (results and side effects) or "pure" (results without side effects).
    function : callable
    wanted : nest
        Pytree of objects with the shapes and dtypes of the expected results; None if there are no results.
    """

    def __init__(self, kind: str, function: Callable[..., Any], wanted: Any = None) -> None:
        self.kind, self.function = kind, function
        leaves, self.form = flatten(wanted)
        self.wanted = [] if kind == "debug" else [(tuple(leaf.shape), np.dtype(leaf.dtype)) for leaf in leaves]

    def __repr__(self) -> str:
        return f"<{self.kind} callback {self.name}>"

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def __call__(self, args: tuple, keywords: dict) -> Any:
        """Call the function with copies, and convert its results to tensors."""
        leaves, form = flatten((args, keywords))
        args, keywords = rebuild(form, [copy_of(leaf) for leaf in leaves])
        if self.kind == "debug":
            with no_grad():
                self.function(*args, **keywords)
            return None
        return rebuild(self.form, self.checked(self.outputs(*args, **keywords)[0]))

    def outputs(self, *args: Any, **keywords: Any) -> tuple[list, Any]:
        """The leaves and the structure of the function's result.

        The current grad modes stay in force, so a result shows whether the function has read a differentiable tensor.
        """
        found, form = flatten(self.function(*args, **keywords))
        for leaf in found:
            if isinstance(leaf, TensorBase) and (isinstance(leaf, LevelTensor) or leaf.requires_grad or has_tangent(leaf)):
                raise RuntimeError(f"{self.name}: a function that gets numbers reads a tensor that requires grad or has a "
                                   "tangent, or a row of a vmap, which would be lost; make it an argument, or read x.detach()")
        return found, form

    def checked(self, found: list[Any]) -> list[Any]:
        """The results as tensors with their own memory, checked against the expected shapes and dtypes."""
        if len(found) != len(self.wanted):
            raise ValueError(f"{self.kind}_callback: {self.name} gave {len(found)} results where result_shape_dtypes has "
                             f"{len(self.wanted)}")  # fmt: skip
        arrays = []
        for item, (shape, dtype) in zip(found, self.wanted):
            array = np.asarray(array_of(item) if isinstance(item, TensorBase) else item)
            if array.shape != shape or array.dtype != dtype:
                raise ValueError(f"{self.kind}_callback: {self.name} gave {array.dtype}{list(array.shape)} where "
                                 f"result_shape_dtypes has {dtype}{list(shape)}")  # fmt: skip
            arrays.append(asarray(np.array(array, order="C")))
        return arrays


class OnArrays(Callback):
    """A function of NumPy's arrays.  Its first result sets the shapes and dtypes of later results.

    Parameters
    ----------
    function : callable
    scalars : bool, default True
        Whether it receives NumPy's scalars instead of 0-d arrays.
    """

    def __init__(self, function: Callable[..., Any], scalars: bool = True) -> None:
        super().__init__("pure", function, ())
        self.met, self.scalars = False, scalars

    def __call__(self, args: tuple, keywords: dict) -> Any:
        leaves, form = flatten((args, keywords))
        given = [self._plain(copy_of(leaf) if self.met else leaf) for leaf in leaves]
        args, keywords = rebuild(form, given)
        found, form = self.outputs(*args, **keywords)
        if not self.met:
            tensors = [asarray(_apart(leaf, given)) for leaf in found]
            self.met, self.wanted = True, [(tensor.shape, tensor.dtype) for tensor in tensors]
            self.form = without_leaves(form)
            return rebuild(form, tensors)
        return rebuild(self.form, self.checked(found))

    def _plain(self, value: Any) -> Any:
        if not isinstance(value, TensorBase):
            return value
        array = value.detach().numpy()
        return array[()] if self.scalars else array


def _apart(leaf: Any, given: list) -> Any:
    """A result with its own memory."""
    if isinstance(leaf, np.ndarray) and any(isinstance(one, np.ndarray) and np.may_share_memory(leaf, one) for one in given):
        return leaf.copy()
    return leaf


def copy_of(leaf: Any) -> Any:
    """A copy of an argument for a callback: its current numbers, in memory that no operator writes to."""
    if isinstance(leaf, TensorBase):
        return asarray(np.array(array_of(leaf), order="C"))
    return np.array(leaf) if isinstance(leaf, np.ndarray) else leaf


def called_back(callback: Callback, args: tuple, keywords: dict) -> Any:
    """Call a callback and notify the listeners; inside of vmap it is called for one row after the other."""
    if innermost(flatten((args, keywords))[0]) is None:
        return tell_of_callback(callback.name, callback, args, keywords)

    def of_row(args: tuple, keywords: dict) -> Any:
        found = called_back(callback, args, keywords)
        return () if callback.kind == "debug" else found

    of_row.__name__ = callback.name
    return sequential_vmap(of_row)(args, keywords)


def refuse_derivatives(name: str, leaves: list[Any]) -> None:
    """Raise an error for arguments that would lose their derivative silently."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
    if is_grad_enabled() and any(leaf.requires_grad for leaf in tensors) or any(has_tangent(leaf) for leaf in tensors):
        raise RuntimeError(f"{name}: what a callback gives has no derivative; pass x.detach(), or write a function with a "
                           "derivative of its own around it: gs.custom_vjp, gs.custom_jvp")  # fmt: skip


def pure_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a Python function without side effects; a compiled function calls it again at each replay.

    Parameters
    ----------
    callback : callable
        Receives copies of the arguments as tensors, and returns arrays, tensors or numbers.  It may be called any number of
        times, or not at all if its results are not used.  Inside vmap it is called for one row after the other.
    result_shape_dtypes : nest
        Objects with the `shape` and `dtype` of the results: arrays, tensors or others.
    *args, **kwargs
        Pytrees of tensors, arrays and numbers.

    Returns
    -------
    nest of Tensor

    Raises
    ------
    RuntimeError
        An argument, or another tensor that the callback reads, requires grad or has a tangent: a callback has no derivative.
    ValueError
        The results have different shapes or dtypes.

    Examples
    --------
    >>> import gradspec as gs, numpy as np
    >>> x = gs.asarray([3.0, 1.0, 2.0])
    >>> gs.pure_callback(lambda x: np.sort(x.numpy()), x, x).tolist()
    [1.0, 2.0, 3.0]
    """
    refuse_derivatives("pure_callback", flatten((args, kwargs))[0])
    return called_back(Callback("pure", callback, result_shape_dtypes), args, kwargs)


def pure(f: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a hook has no side effects: compiled functions then record its operators, instead of running uncompiled.

    A class derived from `autograd.Function` is declared pure by `pure = True` in its body, or by this decorator.

    Parameters
    ----------
    f : callable
        A hook, or a custom Function.

    Returns
    -------
    callable
        `f`, whose attribute `pure` is True.

    Examples
    --------
    >>> import gradspec as gs
    >>> @gs.func.pure
    ... def halve(grad):
    ...     return grad / 2
    >>> w = gs.ones(2, requires_grad=True)
    >>> handle = w.register_hook(halve)
    >>> @gs.compile(strict=True)
    ... def gradient(x):
    ...     return gs.autograd.grad((w * x).sum(), w)[0]
    >>> gradient(gs.asarray([2.0, 4.0])).tolist()
    [1.0, 2.0]
    """
    f.pure = True  # type: ignore[attr-defined]
    return f


def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, ordered: bool = False, **kwargs: Any
) -> Any:
    """Call a Python function with side effects; a compiled function calls it once at each replay.

    Parameters
    ----------
    callback : callable
        Receives copies of the arguments as tensors, and returns arrays, tensors or numbers.  Inside vmap it is called for one
        row after the other.
    result_shape_dtypes : nest
        Objects with the `shape` and `dtype` of the results: arrays, tensors or others.  None if there are no results.
    *args
        Pytrees of tensors, arrays and numbers.
    ordered : bool
        For compatibility with JAX; calls are always made in program order.
    **kwargs
        Pytrees, as `*args`.

    Returns
    -------
    nest of Tensor

    Raises
    ------
    RuntimeError
        An argument, or another tensor that the callback reads, requires grad or has a tangent: a callback has no derivative.
    ValueError
        The results have different shapes or dtypes.

    Examples
    --------
    >>> import gradspec as gs, numpy as np
    >>> batches = iter([[1.0, 2.0], [3.0, 4.0]])
    >>> gs.func.io_callback(lambda: np.array(next(batches)), gs.zeros(2)).tolist()
    [1.0, 2.0]
    """
    if result_shape_dtypes is None:
        called_back(Callback("debug", callback), args, kwargs)
        return None
    refuse_derivatives("io_callback", flatten((args, kwargs))[0])
    return called_back(Callback("io", callback, result_shape_dtypes), args, kwargs)
