"""Construct nested tensors from lists, from values and offsets, and from padded arrays; map functions over items.

Checks lengths and offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..func import vmap as dense_vmap
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.precision import jagged
from .nested_tensor import NestedTensor, offsets_of, ranges

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


@answering
def as_nested_tensor(ts: Sequence[Any] | NestedTensor, dtype: npt.DTypeLike = None, *, layout: Any = jagged) -> NestedTensor:
    """Construct a nested tensor from a list of arrays, in their graph.

    Parameters
    ----------
    ts : sequence of array_like
        With equal numbers of axes, at least 1, and equal shapes except for the first axis.
    dtype : dtype, optional
    layout : str
        "jagged", the only one.

    Returns
    -------
    NestedTensor

    Examples
    --------
    >>> a, b = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([3.0])
    >>> gs.nested.as_nested_tensor([a, b]).sum(axis=1)
    tensor([3., 3.], grad_fn=<IndexAddBackward>)
    """
    if layout != jagged:
        raise ValueError(f"as_nested_tensor: layout is {layout!r}, but nested tensors only have the layout 'jagged'")
    if isinstance(ts, NestedTensor):
        return ts if dtype is None else ts.astype(dtype)
    if isinstance(ts, (Tensor, np.ndarray)):
        ts = list(ts)
    if not isinstance(ts, (list, tuple)):
        raise TypeError(f"nested_tensor(): Expected a list of tensors, got {type(ts).__name__}")
    items = [asarray(item, dtype=dtype) for item in ts]
    if not items:
        raise ValueError("nested_tensor(): Cannot construct a nested tensor from an empty tensor list")
    if any(item.ndim == 0 or item.shape[1:] != items[0].shape[1:] for item in items):
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only "
            "represents shapes of the form (B, *, D_0, D_1, ..., D_N) for batch size B and ragged dimension *; got items of the "
            f"shapes {', '.join(str(item.shape) for item in items[:8])}"
        )
    return NestedTensor(ops.concat(items, 0), offsets_of(np.array([len(item) for item in items])))


@answering
def nested_tensor(
    tensor_list: Sequence[Any], *, dtype: npt.DTypeLike = None, layout: Any = jagged, requires_grad: bool = False
) -> NestedTensor:
    """Construct a nested tensor from a list of arrays as a leaf: its values are a copy. `as_nested_tensor` keeps the graph.

    Parameters
    ----------
    tensor_list : sequence of array_like
    dtype : dtype, optional
    layout : str
        "jagged", the only one.
    requires_grad : bool

    Returns
    -------
    NestedTensor
    """
    items = [asarray(item, dtype=dtype).detach() for item in tensor_list]
    nested = as_nested_tensor(items, layout=layout)
    return NestedTensor(ops.copy(nested.values()).requires_grad_(requires_grad), nested._offsets)


def nested_tensor_from_jagged(
    values: Tensor | npt.ArrayLike, offsets: Tensor | npt.ArrayLike | None = None, lengths: Tensor | npt.ArrayLike | None = None
) -> NestedTensor:
    """Construct a nested tensor from an array that contains the items one after the other.

    Parameters
    ----------
    values : array_like
        (total, ...); the result is in its graph.
    offsets : array_like of int, optional
        The start of each item, and the end of the last one.
    lengths : array_like of int, optional
        The length of each item. Together with `offsets`, items may end before the next one begins.

    Returns
    -------
    NestedTensor

    Raises
    ------
    RuntimeError
        Neither is given.
    ValueError
        Offsets decrease, or are beyond the array.
    """
    values = asarray(values)
    if offsets is None and lengths is None:
        raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
    if values.ndim == 0:
        raise ValueError("nested_tensor_from_jagged(): values have at least one axis, got a number")
    sizes = None if lengths is None else _whole("lengths", lengths)
    begins = offsets_of(sizes) if offsets is None else _whole("offsets", offsets)
    if not len(begins) or (np.diff(begins) < 0).any() or begins[0] < 0 or begins[-1] > len(values):
        raise ValueError(f"nested_tensor_from_jagged(): offsets must rise inside of {len(values)} rows, got {begins.tolist()}")
    if sizes is None:
        sizes = np.diff(begins)
    if len(sizes) != len(begins) - 1 or (sizes < 0).any() or (begins[:-1] + sizes > begins[1:]).any():
        raise ValueError(f"nested_tensor_from_jagged(): lengths {sizes.tolist()} do not fit the offsets {begins.tolist()}")
    if begins[0] == 0 and begins[-1] == len(values) and (sizes == np.diff(begins)).all():
        return NestedTensor(values, begins)
    return NestedTensor(ops.take(values, ranges(begins[:-1], sizes), 0), offsets_of(sizes))


def _whole(name: str, numbers: Any) -> np.ndarray:
    found = np.asarray(asarray(numbers).detach().numpy())
    if found.ndim != 1 or found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"nested_tensor_from_jagged(): {name} are a vector of integers, got {found.dtype} of shape {found.shape}")
    return found.astype(np.intp)


def narrow(tensor: Tensor | npt.ArrayLike, dim: int, start: Any, length: Any) -> NestedTensor:
    """The given part of each row of a dense array, as a nested tensor.

    Parameters
    ----------
    tensor : array_like
        (items, longest, ...), padded.
    dim : int
        1, the axis that becomes ragged.
    start, length : int or array_like of int
        For each item, or for all.

    Returns
    -------
    NestedTensor

    Examples
    --------
    >>> gs.nested.narrow([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]], 1, 0, [2, 1]).tolist()
    [[1.0, 2.0], [3.0]]
    """
    tensor = asarray(tensor)
    if tensor.ndim < 2 or dim % tensor.ndim != 1:
        raise RuntimeError(f"narrow: axis 1 of an array of at least 2 axes becomes ragged, got dim={dim} of {tensor.shape}")
    starts, lengths = (np.broadcast_to(np.asarray(asarray(part).detach().numpy()), len(tensor)) for part in (start, length))
    if starts.dtype.kind not in "iu" or lengths.dtype.kind not in "iu":
        raise TypeError(f"narrow: start and length are integers, got {starts.dtype} and {lengths.dtype}")
    if (starts < 0).any() or (lengths < 0).any() or (starts + lengths > tensor.shape[1]).any():
        raise ValueError(f"narrow: start {starts.tolist()} and length {lengths.tolist()} leave the {tensor.shape[1]} rows")
    rows = ops.reshape(tensor, (-1, *tensor.shape[2:]))
    places = ranges(np.arange(len(tensor)) * tensor.shape[1] + starts, lengths)
    return NestedTensor(ops.take(rows, places, 0), offsets_of(lengths))


def masked_select(tensor: Tensor | npt.ArrayLike, mask: Tensor | npt.ArrayLike) -> NestedTensor:
    """The elements of each row of a dense array where a mask is true.

    Parameters
    ----------
    tensor : (items, longest) array_like
    mask : array_like of bool
        Broadcasts to the shape of `tensor`.

    Returns
    -------
    NestedTensor
    """
    tensor, chosen = asarray(tensor), np.asarray(asarray(mask).detach().numpy())
    if tensor.ndim != 2:
        raise RuntimeError(f"masked_select: expected rows of elements, got an array of shape {tensor.shape}")
    if chosen.dtype != bool:
        raise TypeError(f"masked_select: expected BoolTensor for mask, got {chosen.dtype}")
    chosen = np.broadcast_to(chosen, tensor.shape)
    return NestedTensor(ops.take(ops.reshape(tensor, (-1,)), np.flatnonzero(chosen)), offsets_of(chosen.sum(1)))


def to_padded_tensor(input: NestedTensor, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
    """The items as a dense array, with `padding` behind the shorter ones; see `NestedTensor.to_padded_tensor`.

    Parameters
    ----------
    input : NestedTensor
    padding : float
        The value behind the shorter items.
    output_size : sequence of int, optional
        The whole shape; by default the ragged axis has the length of the longest item.

    Returns
    -------
    Tensor
        Dense.
    """
    return input.to_padded_tensor(padding, output_size)


def vmap(function: Callable[..., Any], *, nested_out: bool = True) -> Callable[..., Any]:
    """A function of nested tensors, from a function of one item.

    The function is called once for each occurring length, inside a `gs.vmap` over the items of this length.

    Parameters
    ----------
    function : callable
        Takes one item of each nested tensor, and all other arguments unchanged; returns an array.
    nested_out : bool
        Whether the results are ragged along their first axis; otherwise they have one shape, and are stacked.

    Returns
    -------
    callable

    Examples
    --------
    >>> nt = gs.nested.nested_tensor([[1.0, 2.0], [3.0], [4.0, 5.0]])
    >>> gs.nested.vmap(lambda item: item / item.sum())(nt).sum(axis=1).tolist()
    [1.0, 1.0, 1.0]
    """

    def mapped(*args: Any) -> Any:
        nested = [arg for arg in args if isinstance(arg, NestedTensor)]
        if not nested or any(len(arg) != len(nested[0]) for arg in nested):
            raise ValueError(f"nested.vmap: expected nested tensors of as many items, got {[len(arg) for arg in nested]}")
        kinds, which = np.unique(np.stack([np.diff(arg._offsets) for arg in nested]), axis=1, return_inverse=True)
        groups = [np.flatnonzero(which.ravel() == kind) for kind in range(kinds.shape[1])]
        in_dims = tuple(0 if isinstance(arg, NestedTensor) else None for arg in args)
        found = []
        for items in groups:
            rows = [_stacked(arg, items) if isinstance(arg, NestedTensor) else arg for arg in args]
            found.append(asarray(dense_vmap(function, in_dims=in_dims)(*rows)))
        order = np.argsort(np.concatenate(groups), kind="stable")
        if not nested_out:
            return ops.take(ops.concat(found, 0), order, 0)
        pieces = [piece for batch in found for piece in batch]
        return as_nested_tensor([pieces[place] for place in order])

    return mapped


def _stacked(nested: NestedTensor, items: np.ndarray) -> Tensor:
    """Items of equal length as a batch."""
    length = int(np.diff(nested._offsets)[items[0]])
    return ops.take(nested.values(), nested._offsets[items][:, None] + np.arange(length), 0)
