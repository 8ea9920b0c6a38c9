"""vmap: convert a function of one example to a function of a batch.

Defines the signature, which follows `torch.func.vmap` and also accepts JAX's names, and assigns a batch axis to each leaf of the
pytrees of arguments and results.  The batching rules of operators are in `gradspec.transforms.batching`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.events import current_mapping, set_mapping
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import Attribute, flatten, paired, parts, rebuild
from ..transforms.batching.batched import Batched, Level, batched
from ..transforms.batching.vmap_levels import Mapping

RANDOMNESS = ("error", "different", "same")
_ARRAYS = (TensorBase, np.ndarray)


@answering
def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    in_axes: Any = ...,
    out_axes: Any = ...,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """Convert a function of one example to a function of a batch: each operator is called once for all rows.

    Parameters
    ----------
    func : callable
        Takes and returns pytrees (tuples, lists, dictionaries, dataclasses, registered classes) of tensors, arrays and numbers,
        for one row of the batch.  Inside it a tensor has the shape of a row.
    in_dims : int, None, or nest of them
        The batch axis of each argument; None for an argument that is the same for all rows.  A tuple has an item for each
        positional argument.  The item may be a pytree that is a prefix of the argument.  Keyword arguments are the same for all
        rows.
    out_dims : int, None, or nest of them
        The batch axis of each result; None for a result that is the same for all rows.
    randomness : {'error', 'different', 'same'}
        Behaviour of random operators inside: raise an error, draw for each row, or draw once for all rows.
    chunk_size : int, optional
        Number of rows per chunk; all rows by default.
    in_axes, out_axes : optional
        JAX's names for `in_dims` and `out_dims`, which they replace if they are given.
    axis_size : int, optional
        Number of rows, for a function whose arguments do not determine it.

    Returns
    -------
    callable
        Takes the arguments with their batch axes, and returns the results with theirs.

    Raises
    ------
    ValueError
        The batch axes differ in length, or `in_dims` does not fit the arguments.
    RuntimeError
        The function reads a single number (`if x > 0`, `x.item()`), has a shape that depends on values, or draws random numbers
        although `randomness` does not allow it.

    Notes
    -----
    `vmap` nests, and works inside and around `grad`, `jvp`, `jacrev` and similar functions.  A result may differ from the result
    of a loop in its last digits, because sums and products of matrices are computed in a different order.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.vmap(gs.dot)(gs.ones((3, 2)), gs.ones((3, 2))).tolist()
    [2.0, 2.0, 2.0]
    >>> gs.vmap(gs.grad(lambda w, x: (w * x).sum()), in_dims=(None, 0))(gs.ones(2), gs.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if not callable(func):
        raise CallTypeError(f"vmap: the first argument must be a function, got {type(func).__name__}")
    if randomness not in RANDOMNESS:
        raise CallValueError(f"Only allow randomness modes 'error', 'different', and 'same'. Got {randomness!r}")
    if chunk_size is not None and not chunk_size > 0:
        raise CallValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    in_dims = in_dims if in_axes is ... else in_axes
    out_dims = out_dims if out_axes is ... else out_axes

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, form = _taken_apart(args, in_dims, func, axis_size is None)
        size = _size(leaves, dims, axis_size)
        if chunk_size is None or chunk_size >= size:
            return _run(func, leaves, dims, form, kwargs, size, out_dims, randomness)
        return _in_chunks(func, leaves, dims, form, kwargs, size, out_dims, randomness, chunk_size)

    return mapped


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", type(func).__name__)


def _taken_apart(args: tuple, in_dims: Any, func: Callable[..., Any], wanted: bool) -> tuple[list, list, Any]:
    """The leaves of the arguments, the batch axis of each, and the structure of the arguments."""
    head = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple, list, type(None))) or isinstance(in_dims, bool):
        raise CallValueError(head + "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                                    f"inputs, got: {type(in_dims)}.")  # fmt: skip
    if not args and wanted:
        raise CallValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
                             "trying to vmap over a function with no inputs. The latter is unsupported.")  # fmt: skip
    leaves, form = flatten(list(args))
    dims = spread_out(list(in_dims) if isinstance(in_dims, tuple) else in_dims, list(args)) if args else []
    if dims is None:
        raise CallValueError(head + "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                                    f"{in_dims!r} but inputs has structure {_structure(list(args))}.")  # fmt: skip
    for i, (leaf, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise CallValueError(head + f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(leaf, _ARRAYS):
            raise CallValueError(head + f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot "
                                        "vmap over non-Tensor arguments, please use None as the respective in_dim")  # fmt: skip
        if not -leaf.ndim <= dim < leaf.ndim:
            raise CallValueError(head + f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                                        f"{leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}.")
        dims[i] = dim % leaf.ndim
    return leaves, dims, form


def spread_out(dims: Any, nest: Any) -> list | None:
    """An axis for each leaf of a pytree, from a prefix of this pytree; None if `dims` is not a prefix."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(flatten(nest)[0])
    here, there = parts(nest), parts(dims)
    if here is None or there is None:
        return [dims] if here is there else None
    if type(dims) is type(nest) and any(type(key) is Attribute for key in here[1] or ()):
        found = [getattr(dims, key, None) for key in here[1]]  # parts of None are not listed, but None is an axis here
    else:
        found = paired(here, there)
    if found is None:
        return None
    every = [spread_out(dim, item) for dim, item in zip(found, here[2])]
    return None if None in every else [dim for part in every if part is not None for dim in part]


def _structure(nest: Any) -> Any:
    leaves, form = flatten(nest)
    return rebuild(form, [_Star()] * len(leaves))


class _Star:
    def __repr__(self) -> str:
        return "*"


def _size(leaves: list, dims: list, axis_size: int | None) -> int:
    """The number of rows."""
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None]
    if axis_size is not None:
        sizes.append(axis_size)
    if not sizes:
        raise CallValueError("vmap: at least one Tensor has to be mapped over: in_dims is None for every input. Give one an "
                             "axis, or axis_size the number of rows")  # fmt: skip
    if len(set(sizes)) > 1:
        raise CallValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} "
                             "for the mapped dimension")  # fmt: skip
    return sizes[0]


def _run(func: Any, leaves: list, dims: list, form: Any, kwargs: dict, size: int, out_dims: Any, randomness: str,
         starts: dict | None = None) -> Any:  # fmt: skip
    if size == 0:
        raise CallValueError("vmap: the batch has no rows, and a function of a row is called for one at least")
    mapping = current_mapping()
    if mapping is None:
        mapping = Mapping()
        set_mapping(mapping)
    level = Level(size, len(mapping.levels) + 1, randomness, starts)
    mapping.levels.append(level)
    try:  # keep no reference to a row here: the level lives as long as its last row
        return _results(func, _called(func, leaves, dims, form, kwargs, level), level, out_dims)
    finally:
        mapping.levels.remove(level)
        level.is_open = False
        mapping.left = [one for one in (*mapping.left, level) if one.alive]
        if not mapping.levels and not mapping.left:
            set_mapping(None)


def _called(func: Any, leaves: list, dims: list, form: Any, kwargs: dict, level: Level) -> Any:
    given = [leaf if dim is None else batched(_led(asarray(leaf), dim), level) for leaf, dim in zip(leaves, dims)]
    for row, dim in zip(given, dims):
        if dim:
            row.taken_along = dim
    row = None  # the function decides how long a row lives
    return func(*rebuild(form, given), **kwargs)


def _led(value: Any, dim: int) -> Any:
    """A batch with its axis in front; never the tensor itself, because the function may set `requires_grad` of its argument."""
    return ops.moveaxis(value, dim, 0) if dim else value[...]


def _results(func: Any, value: Any, level: Level, out_dims: Any) -> Any:
    """The function's results, with batch axes."""
    head = f"vmap({_name(func)}, ..., out_dims={out_dims}): "
    leaves, form = flatten(value)
    dims = spread_out(out_dims, value)
    if dims is None and isinstance(out_dims, (tuple, list)) and len(out_dims) == 1 and len(leaves) == 1:
        dims = list(out_dims)
    if dims is None:
        raise CallValueError(head + "out_dims is not compatible with the structure of `outputs`. out_dims has structure "
                                    f"{out_dims!r} but outputs has structure {_structure(value)}.")  # fmt: skip
    found = []
    for leaf, dim in zip(leaves, dims):
        if dim is not None and not isinstance(leaf, (*_ARRAYS, np.generic, int, float, complex)):
            raise CallValueError(head + f"`{_name(func)}` must only return Tensors, got type {type(leaf)}. Did you mean to "
                                        "set out_dims= to None for output?")  # fmt: skip
        is_batch = type(leaf) is Batched and leaf.level is level
        if dim is None:
            if is_batch:
                raise CallValueError(head + f"`{_name(func)}` can not return a BatchedTensor when out_dim is None: the "
                                            "result differs between rows")  # fmt: skip
            found.append(leaf)
            continue
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise CallValueError(head + "out_dims must be an int, None or a python collection of ints that fits the outputs, "
                                        f"got {dim!r}")  # fmt: skip
        if is_batch:
            whole = leaf.inside
        else:
            whole = asarray(leaf)
            whole = ops.copy(ops.broadcast_to(whole, (level.size, *whole.shape)))
        if not -whole.ndim <= dim < whole.ndim:
            raise IndexError(head + f"Dimension out of range: an output has {whole.ndim} axes with the batch axis, got "
                                    f"out_dim {dim}")
        found.append(ops.moveaxis(whole, 0, dim) if dim % whole.ndim else whole)
    return rebuild(form, found)


def _in_chunks(func: Any, leaves: list, dims: list, form: Any, kwargs: dict, size: int, out_dims: Any, randomness: str,
               chunk_size: int) -> Any:  # fmt: skip
    parts, ends, starts = [], None, {}
    for start in range(0, size, chunk_size):
        rows = slice(start, min(start + chunk_size, size))
        some = [leaf if dim is None else leaf[(*[slice(None)] * dim, rows)] for leaf, dim in zip(leaves, dims)]
        value = _run(func, some, dims, form, kwargs, rows.stop - start, out_dims, randomness, starts)
        found, out_form = flatten(value)
        ends = spread_out(out_dims, value) or [0] * len(found)
        parts.append(found)
    assert ends is not None
    whole = [columns[0] if dim is None else ops.concat(list(columns), dim) for dim, columns in zip(ends, zip(*parts))]
    return rebuild(out_form, whole)
