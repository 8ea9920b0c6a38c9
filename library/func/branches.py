"""Branches: cond and switch, with JAX's signatures.

Decides which function is called.  Only this function runs, and only its operators are recorded.  If the choice differs between
the rows of a vmap, all functions run, and each row takes the result of the function that it chooses.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import alike, rebuild
from ..transforms.batching.batched import Batched
from .pytree_arguments import NUMBERS, TensorBase, as_tensors, tensors_of, type_key


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions: `true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    Parameters
    ----------
    pred : bool or number or Tensor
        A single one; a number is true if it is not 0.
    true_fun, false_fun : callable
        Each takes the operands, and returns a pytree of arrays, tensors and numbers.
    *operands
        Pytrees of arrays, tensors and numbers, which are passed to the function as tensors.

    Returns
    -------
    nest
        The function's result, with tensors for its arrays and numbers.

    Notes
    -----
    The other function is not called, so the shapes of the two results are not compared.  Only the called function is
    differentiated; `gs.where` computes both sides, and chooses element by element.

    If the rows of a `vmap` choose differently, both functions are called with all rows, and must return pytrees of the same
    structure.  Neither may write to tensors that it closes over.  If the derivative of the function that a row does not choose is
    infinite or NaN, the gradient of this row is NaN, as with `gs.where`.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.cond(True, gs.sin, gs.cos, 0.0).item()
    0.0
    """
    if not isinstance(pred, (*NUMBERS, TensorBase)) or getattr(pred, "shape", ()) != ():
        got = f"shape {tuple(pred.shape)}" if hasattr(pred, "shape") else type(pred).__name__
        raise CallTypeError(f"cond: pred must be a single bool or number, got {got}; write gs.where(pred, a, b) for a choice "
                            "element by element")  # fmt: skip
    if type(pred) is Batched:
        return chosen_by_row("cond", [pred != 0], [true_fun, false_fun], operands)
    return chosen_one("cond", true_fun if pred else false_fun, operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions: `branches[index](*operands)`.

    Parameters
    ----------
    index : int or Tensor
        A single integer, clamped to the range of `branches`.
    branches : sequence of callable
        Each takes the operands, and returns a pytree of arrays, tensors and numbers.
    *operands
        Pytrees of arrays, tensors and numbers, which are passed to the function as tensors.

    Returns
    -------
    nest
        The function's result, with tensors for its arrays and numbers.

    Notes
    -----
    If the rows of a `vmap` choose differently, all functions are called, as with `cond`.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.switch(5, [gs.sin, gs.cos], 0.0).item()
    1.0
    """
    if not branches:
        raise CallValueError("switch: branches is empty: there is no function to call")
    if type(index) is Batched and index.dtype.kind in "iu" and index.shape == ():
        last = len(branches) - 1
        places = [index <= 0, *[index == i for i in range(1, last)]][:last]
        return chosen_by_row("switch", places, branches, operands)
    try:
        number = operator.index(index)
    except TypeError:
        got = f"{index.dtype}{list(index.shape)}" if hasattr(index, "dtype") else type(index).__name__
        raise CallTypeError(f"switch: index must be a single integer, got {got}") from None
    return chosen_one("switch", branches[min(max(number, 0), len(branches) - 1)], operands)


def chosen_one(caller, function, operands):
    """Call a function with the operands as tensors; convert its result to tensors."""
    given = as_tensors(operands, caller, "operands")
    return as_tensors(function(*given), caller, "the result")


def chosen_by_row(caller, conditions, functions, operands):
    """For each row of a vmap, the result of the first function whose condition is true, else of the last function.

    Each function receives copies of the operands, so it may write to them.
    """
    given, given_form, _ = tensors_of(operands, caller, "operands")
    results = []
    for function in functions:
        copies = [leaf if leaf is None else ops.copy(leaf) for leaf in given]
        results.append(tensors_of(function(*rebuild(given_form, copies)), caller, "the result")[:2])
    found, form = results.pop()
    for condition, (leaves, other) in zip(reversed(conditions), reversed(results), strict=True):
        if not alike(other, form) or [*map(type_key, leaves)] != [*map(type_key, found)]:
            raise CallTypeError(f"{caller}: rows of a vmap choose for themselves, and the functions return pytrees of different "
                                "forms, shapes or dtypes; return the same of all")  # fmt: skip
        found = [leaf if leaf is None else ops.where(condition, leaf, rest) for leaf, rest in zip(leaves, found)]
    return rebuild(form, found)
