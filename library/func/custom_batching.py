"""Functions with batching rules by users, as in JAX: `custom_vmap`, and `sequential_vmap`.

Passes whole batches to a rule on pytrees, and converts its results to rows.  A rule consists of operators, so it has derivatives
of all orders, inside the vmap and around it.
"""

import functools
from collections.abc import Callable
from typing import Any

from ..core.conversion import asarray
from ..core.events import current_mapping
from ..support.dispatch import ops
from ..support.pytree import flatten, rebuild
from ..transforms.batching.batched import batched, innermost, inside_of, is_other, is_row
from .batching import spread_out
from .closures import closed_over, with_closed
from .custom import Signature


class custom_vmap:
    """A function with a user's rule for `vmap`.

    Parameters
    ----------
    fun : callable
        Function of arrays, numbers, or pytrees of them.

    Examples
    --------
    >>> import gradspec as gs
    >>> @gs.func.custom_vmap
    ... def product(a, b):
    ...     return a @ b
    >>> @product.def_vmap
    ... def rule(axis_size, in_batched, a, b):
    ...     assert in_batched == [True, False]
    ...     return a @ b, True
    >>> gs.vmap(product, in_axes=(0, None))(gs.ones((3, 2)), gs.ones((2, 4))).shape
    (3, 4)
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.rule, self.signature = fun, None, Signature(fun)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule.

        Parameters
        ----------
        rule : callable
            Takes the number of rows, a list with a pytree of bools for each argument, and the arguments.  A bool says whether the
            leaf is a batch; batches have the rows along their first axis.  Returns the result, and a pytree of bools that is a
            prefix of the result's structure; a bool applies to all leaves below.

        Returns
        -------
        callable
            The rule.
        """
        self.rule = rule  # type: ignore[assignment]
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = self.signature.bound(args, kwargs)
        leaves, form = flatten(list(args))
        level = innermost(leaves)
        if level is None or not level.is_open:
            return self.fun(*args)
        name = getattr(self.fun, "__name__", repr(self.fun))
        if is_other(level):
            level.refuse(name, "write it with operators")
        if self.rule is None:
            raise AttributeError(f"No batching rule defined for custom_vmap function {name} using def_vmap: write "
                                 f"@{name}.def_vmap above one")  # fmt: skip
        mine = rebuild(form, [is_row(leaf, level) for leaf in leaves])
        with current_mapping().without(level):
            found = self.rule(level.size, mine, *rebuild(form, [inside_of(leaf, level) for leaf in leaves]))
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise TypeError(f"{name}: its rule must return a pair: the result, and which leaves of it are batches")
        outputs, out_form = flatten(found[0])
        which = spread_out(found[1], found[0])
        if which is None:
            raise ValueError(f"{name}: structure of output value and output batching specification must match, got {found[1]!r} "
                             f"for {len(outputs)} leaves")  # fmt: skip
        results = []
        for output, is_batch in zip(outputs, which):
            if is_batch:
                output = asarray(output)
                if output.shape[:1] != (level.size,):
                    raise ValueError(f"{name}: a result of its rule has shape {output.shape}, and is said to be a batch of "
                                     f"{level.size} rows, which lie along the first axis")  # fmt: skip
                output = batched(output, level)
            results.append(output)
        return rebuild(out_form, results)


def by_rows(caller: str, function: Callable[..., Any], inner: Callable[..., Any], values: tuple, *example: Any) -> Any:
    """Call a function of a function inside an open vmap, for one row after the other.

    Parameters
    ----------
    caller : str
        For messages.
    function : callable
        Takes `inner`, or a function that reads rows instead of batches, and `values`; returns a pytree of tensors.
    inner : callable
        May close over rows.
    values : tuple of Tensor
    *example
        Arguments for one call of `inner`, which finds the tensors that it closes over.

    Returns
    -------
    nest
        A pytree of rows; NotImplemented if no tensor is a row.
    """
    _, closed = closed_over(inner, *example)
    if innermost([*values, *closed]) is None:
        return NotImplemented

    def of_row(*given: Any) -> Any:
        now = given[len(values) :]
        return function(lambda *args: with_closed(inner, closed)(*args, *now), *given[: len(values)])

    of_row.__name__ = caller
    return sequential_vmap(of_row)(*values, *closed)


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Convert a function so that `vmap` calls it for each row, one after the other.

    Parameters
    ----------
    f : callable

    Returns
    -------
    custom_vmap

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.vmap(gs.func.sequential_vmap(lambda x: x * 2))(gs.ones(3)).tolist()
    [2.0, 2.0, 2.0]
    """
    function = custom_vmap(f)

    def rule(axis_size: int, in_batched: list, *args: Any) -> tuple:
        leaves, form = flatten(list(args))
        which = flatten(in_batched)[0]
        results, out_form = [], None
        for i in range(axis_size):
            row = [ops.getitem(leaf, i) if is_batch else leaf for leaf, is_batch in zip(leaves, which)]
            found, out_form = flatten(function(*rebuild(form, row)))  # the function may return rows of an outer vmap
            level = innermost(found)
            if level is not None and level not in current_mapping().levels:
                raise RuntimeError(f"sequential_vmap: {getattr(f, '__name__', repr(f))} closes over a row of the vmap that calls "
                                   "it for each row; make that an argument of it")  # fmt: skip
            results.append(found)
        whole = [ops.stack([asarray(item) for item in column]) for column in zip(*results)]
        return rebuild(out_form, whole), rebuild(out_form, [True] * len(whole))

    function.def_vmap(rule)
    return function

