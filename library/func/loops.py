"""Loops with one body: scan, fori_loop, while_loop, map and associative_scan, with JAX's signatures.

Decides the order of the steps and how their results are stacked.  Each step consists of ordinary operators, so loops are
differentiable in both modes and to any order.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..autograd.checkpoint import checkpoint as checkpointed
from ..core.grad_mode import no_grad
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import alike, flatten, places, rebuild
from .pytree_arguments import Carry, as_leaves, tensors_of, type_of, versions


def scan(
    f: Callable[[Any, Any], Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False,
    unroll: int | bool = 1, *, checkpoint: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Call a function for each slice of arrays in turn, passing on a carry.

    `carry, y = f(carry, x)` for each `x` along the first axis of `xs`; the results `y` are stacked.

    Parameters
    ----------
    f : callable
        Takes a carry and a slice; returns a pair of the next carry and a result, each a pytree.
    init
        The first carry: a pytree of arrays, tensors and numbers.  All later carries have its structure, shapes and dtypes; a
        number takes the dtype of the second carry.
    xs
        A pytree of arrays with first axes of equal length; None if `f` takes no slices and `length` is the number of calls.
    length : int, optional
        The number of steps.
    reverse : bool
        Start at the end; each result keeps the position of its slice.
    unroll : int or bool
        Has no effect: each step is a call of `f`.
    checkpoint : bool
        Keep only the carry of each step, and call `f` a second time for each step in the backward pass.

    Returns
    -------
    carry
        The last carry.
    ys
        A pytree with the structure of a result, and a first axis for the steps.

    Notes
    -----
    Time and memory are proportional to the number of steps, in the backward pass too.  Without any step `f` is called once,
    with zeros for a slice, to determine the shapes of its results.

    Examples
    --------
    >>> import gradspec as gs
    >>> total, sums = gs.scan(lambda total, x: (total + x, total + x), 0.0, gs.asarray([1.0, 2.0, 3.0]))
    >>> total.item(), sums.tolist()
    (6.0, [1.0, 3.0, 6.0])
    """
    step = partial(checkpointed, f, use_reentrant=False) if checkpoint else f
    return run("scan", step, Carry("scan", "f", init), xs, length, reverse)


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[int, Any], Any], init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """Call a function for each number of a range in turn, passing on a carry: `val = body_fun(i, val)`.

    Parameters
    ----------
    lower, upper : int
        The range `range(lower, upper)`.
    body_fun : callable
        Takes a number and a carry; returns the next carry.
    init_val
        The first carry: a pytree of arrays, tensors and numbers.  All later carries have its structure, shapes and dtypes; a
        number takes the dtype of the second carry.
    unroll : int or bool, optional
        Has no effect: each step is a call of `body_fun`.

    Returns
    -------
    carry
        The last carry.

    Notes
    -----
    Reverse mode is supported, even if the bounds are tensors.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.fori_loop(0, 5, lambda i, total: total + i, 0).item()
    10
    """
    carry = Carry("fori_loop", "body_fun", init_val)
    for i in range(operator.index(lower), operator.index(upper)):
        carry.take(body_fun(i, carry.given()))
    return carry.result()


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Call a function as long as a condition is true, passing on a carry: `while cond_fun(val): val = body_fun(val)`.

    Parameters
    ----------
    cond_fun : callable
        Takes a carry; returns a bool, or an array or tensor with one element.
    body_fun : callable
        Takes a carry; returns the next carry.
    init_val
        The first carry: a pytree of arrays, tensors and numbers.  All later carries have its structure, shapes and dtypes; a
        number takes the dtype of the second carry.

    Returns
    -------
    carry
        The last carry.

    Notes
    -----
    Reverse mode is supported, unlike in JAX: the executed steps are recorded and differentiated; their number counts as constant.

    Examples
    --------
    >>> import gradspec as gs
    >>> double = lambda x: gs.while_loop(lambda x: x < 10, lambda x: 2 * x, x)
    >>> double(3.0).item(), gs.grad(double)(3.0).item()
    (12.0, 4.0)
    """
    carry = Carry("while_loop", "body_fun", init_val)
    while truth(cond_fun(carry.result()), "while_loop: cond_fun must return"):
        carry.take(body_fun(carry.given()))
    return carry.result()


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each slice of arrays along their first axis, and stack the results.

    Parameters
    ----------
    f : callable
        Takes a slice; returns a pytree of arrays, tensors and numbers.
    xs
        A pytree of arrays with first axes of equal length.
    batch_size : int, optional
        Has no effect: each slice is a call of `f`.

    Returns
    -------
    ys
        A pytree with the structure of a result, and a first axis for the slices.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.map(gs.sum, gs.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    return run("map", lambda _, x: (None, f(x)), Carry("map", "f", None), xs)[1]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The cumulative results of an associative operation along an axis: each includes the slice at its place.

    Parameters
    ----------
    fn : callable
        Takes two pytrees with any number of slices along `axis`; returns the result of the operation for each pair of slices.
    elems
        A pytree of arrays with equal numbers of slices along `axis`.
    reverse : bool
        Start at the end: for `m` with three slices the first result is `fn(fn(m[2], m[1]), m[0])`.
    axis : int

    Returns
    -------
    nest
        With the structure of `elems`.

    Notes
    -----
    `fn` is called about 2 log2(n) times for n slices, with fewer and fewer slices.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.associative_scan(gs.multiply, gs.asarray([1.0, 2.0, 3.0, 4.0])).tolist()
    [1.0, 2.0, 6.0, 24.0]
    """
    leaves, form, names = tensors_of(elems, "associative_scan", "elems")
    leaves = [leaf if leaf is None or not axis else ops.moveaxis(leaf, axis, 0) for leaf in leaves]
    count = steps("associative_scan", leaves, names, None)

    def halved(parts):
        """The results for some slices, computed from the results for pairs of slices."""
        if len(parts[0]) < 2:
            return parts
        evens, odds = [part[::2] for part in parts], [part[1::2] for part in parts]
        odd_results = halved(of_pairs([even[: len(odd)] for even, odd in zip(evens, odds)], odds))
        rest = [even[1:] for even in evens]
        later = of_pairs([result[: len(even)] for result, even in zip(odd_results, rest)], rest) if len(rest[0]) else rest
        return [alternated(ops.concat([even[:1], one]), other) for even, one, other in zip(evens, later, odd_results)]

    def of_pairs(first, second):
        found = fn(rebuild(form, restored(first)), rebuild(form, restored(second)))
        found, found_form, _ = tensors_of(found, "associative_scan", "the result of fn")
        if not alike(found_form, form) or [type_of(leaf) for leaf in found] != [type_of(leaf) for leaf in restored(second)]:
            raise CallTypeError("associative_scan: fn must return a pytree of the structure, shapes and dtypes of each of its "
                                f"arguments, {', '.join(type_of(leaf) for leaf in restored(second))}; it returned "
                                f"{', '.join(type_of(leaf) for leaf in found)}")  # fmt: skip
        return [ops.moveaxis(leaf, axis, 0) if axis else leaf for leaf in found if leaf is not None]

    def restored(parts):
        """Leaves with the user's axis and direction."""
        given = iter(parts)
        return [None if leaf is None else ops.moveaxis(next(given), 0, axis) if axis else next(given) for leaf in leaves]

    parts = [leaf for leaf in leaves if leaf is not None]
    turned = [ops.flip(part, 0) for part in parts] if reverse else parts
    found = halved(turned) if count else turned
    return rebuild(form, restored([ops.flip(part, 0) for part in found] if reverse else found))


def alternated(evens, odds):
    """Interleave the slices of two arrays; the first has as many as the second, or one more."""
    count = len(odds)
    both = ops.reshape(ops.stack([evens[:count], odds], 1), (2 * count, *odds.shape[1:]))
    return both if len(evens) == count else ops.concat([both, evens[count:]])


# Shared by all loops.


def run(caller, f, carry, xs, length=None, reverse=False):
    """Run all steps; return the last carry, and the stacked results."""
    leaves, form, names = tensors_of(xs, caller, "xs")
    count = steps(caller, leaves, names, length)
    before = versions(leaves)
    slices = [[None] * count if leaf is None else ops.unstack(leaf) for leaf in leaves]
    results = Results(caller, count)
    for i in reversed(range(count)) if reverse else range(count):
        results.put(i, advance(caller, f, carry, rebuild(form, [part[i] for part in slices])))
    if not count:
        zeros = [None if leaf is None else ops.zeros(leaf.shape[1:], dtype=leaf.dtype) for leaf in leaves]
        with carry.on_trial(), no_grad(), np.errstate(all="ignore"):
            results.put(0, advance(caller, f, carry, rebuild(form, zeros)))
    if versions(leaves) != before:
        raise RuntimeError(f"{caller}: f wrote in place to its argument from {', '.join(names)}, which is the caller's "
                           "memory; write x = x + 1 instead of x += 1")  # fmt: skip
    return carry.result(), results.stacked()


def advance(caller, f, carry, x):
    """Run one step; return its result."""
    value = f(carry.given(), x)
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        what = f"a {type(value).__name__} of {len(value)}" if isinstance(value, (tuple, list)) else type(value).__name__
        raise CallTypeError(f"{caller}: f must return a pair, the carry and the result of its step, and it returned {what}; "
                            "return (carry, None) where there is no result")  # fmt: skip
    carry.take(value[0])
    return value[1]


def steps(caller, leaves, names, length):
    """The number of steps: the length of all first axes, which `length` must equal if it is given."""
    lengths = {}
    for leaf, name in zip(leaves, names):
        if leaf is not None:
            if not leaf.ndim:
                raise CallValueError(f"{caller}: {name} is a number and has no leading axis to go along; a list of numbers "
                                     "is a pytree of them: write gs.asarray(xs)")  # fmt: skip
            lengths[name] = leaf.shape[0]
    shown = ", ".join(f"{name} has {count}" for name, count in lengths.items())
    if len(set(lengths.values())) > 1:
        raise CallValueError(f"{caller}: got values with different leading axis sizes: {shown}")
    if not lengths and length is None:
        raise CallValueError(f"{caller}: there are no arrays to go along; give xs" + ", or length" * (caller == "scan"))
    if length is None:
        return next(iter(lengths.values()))
    length = operator.index(length)
    if length < 0:
        raise CallValueError(f"{caller}: length must be 0 or more, got {length}")
    if lengths and length not in lengths.values():
        raise CallValueError(f"{caller}: got length={length}, which disagrees with leading axis sizes: {shown}; leave length out")
    return length


class Results:
    """The results of the steps, each a pytree with the same structure.

    Parameters
    ----------
    caller : str
        The public function's name, for messages.
    count : int
        Number of results; if it is 0, one result is recorded for its types.
    """

    def __init__(self, caller, count):
        self.caller, self.count = caller, count
        self.form, self.places = None, []
        self.columns = []  # for each leaf its tensors, one for each step
        self.versions = [()] * max(count, 1)

    def put(self, i, nest):
        """Record the result of step `i`."""
        leaves, form = flatten(nest)
        if not self.columns:
            self.form, self.places = form, places(form, "y")
            self.columns = [[None] * max(self.count, 1) for _ in leaves]
        elif not alike(form, self.form):
            now, before = (", ".join(names) or "nothing" for names in (places(form, "y"), self.places))
            raise CallTypeError(f"{self.caller}: f must return results of one form, and it returned one with {now} after "
                                f"one with {before}")  # fmt: skip
        leaves = as_leaves(leaves, self.caller, self.places)
        for column, leaf in zip(self.columns, leaves):
            column[i] = leaf
        self.versions[i] = versions(leaves)

    def stacked(self):
        """The pytree of results: for each leaf its values in all steps, stacked."""
        for i, before in enumerate(self.versions):
            if versions([column[i] for column in self.columns]) != list(before):
                raise RuntimeError(f"{self.caller}: the result of step {i} was written to in place after f had returned it; "
                                   "return a copy of it")  # fmt: skip
        return rebuild(self.form, [self.stack(column, place) for column, place in zip(self.columns, self.places)])

    def stack(self, column, place):
        if all(leaf is None for leaf in column):
            return None
        shapes = dict.fromkeys("no array" if leaf is None else f"shape {leaf.shape}" for leaf in column)
        if len(shapes) > 1:
            raise CallValueError(f"{self.caller}: f must return results of one shape, and {place} has {' and '.join(shapes)}")
        return ops.stack(column) if self.count else ops.zeros((0, *column[0].shape), dtype=column[0].dtype)


def truth(value, what):
    """A condition as a bool; it must be a single value, of Python, NumPy or a tensor."""
    if not isinstance(value, bool):
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        if getattr(dtype, "kind", None) != "b" or shape != ():
            got = type(value).__name__ if dtype is None else f"{dtype}{list(shape)}"
            raise CallTypeError(f"{what} a single bool, got {got}; write a comparison, with .all() or .any() where it is one of "
                                "arrays")  # fmt: skip
    return bool(value)
