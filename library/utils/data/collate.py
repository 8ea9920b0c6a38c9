"""Collation: the samples of a batch become tensors with a new first axis, in the structure of a sample."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ...core.conversion import asarray, tensor
from ...core.tensor import TensorBase
from ...support.dispatch import ops
from ...support.errors import CallTypeError, CallValueError


def _like(old: Any, items: Any) -> Any:
    """The items in a mapping or sequence of the class of `old`, if that can be built, else in a dictionary or list."""
    try:
        if isinstance(old, (MutableMapping, MutableSequence)):
            new = copy.copy(old)
            if isinstance(old, MutableMapping):
                new.update(items)  # type: ignore[attr-defined]
            else:
                new[:] = items
            return new
        return type(old)(items)
    except (TypeError, ValueError):
        return items


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _has_numbers(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc"


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch of several samples.

    Parameters
    ----------
    batch : sequence
        Samples of one structure: tensors, arrays, numbers and text, also in mappings, named tuples and sequences.

    Returns
    -------
    object
        Tensors and arrays are stacked along a new first axis, numbers become a tensor, and text becomes a list.  A mapping, a
        named tuple or a sequence is one of batches; for a tuple it is a list.

    Raises
    ------
    TypeError
        A sample contains anything else; a `collate_fn` of your own says what to do with it.
    ValueError
        Sequences have different lengths, or arrays different shapes.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.utils.data.default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
    {'x': tensor([1., 2.]), 'name': ['a', 'b']}
    """
    first = batch[0]
    if isinstance(first, TensorBase):
        return ops.stack(batch, 0)
    if _has_numbers(first):
        return asarray(np.stack([np.asarray(one) for one in batch]))
    if isinstance(first, (bool, int, float)):
        return tensor(batch if isinstance(batch, list) else list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {name: default_collate([one[name] for one in batch]) for name in first})
    if _is_named(first):
        return type(first)(*(default_collate(items) for items in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(one) != len(first) for one in batch):
            raise CallValueError("default_collate: the samples are sequences of different lengths: "
                                 f"{sorted({len(one) for one in batch})}; write a collate_fn that pads them")  # fmt: skip
        items = [default_collate(items) for items in zip(*batch)]
        return items if isinstance(first, tuple) else _like(first, items)
    raise CallTypeError("default_collate: samples consist of tensors, arrays, numbers, text, mappings and sequences, got "
                        f"{type(first).__name__}; write a collate_fn")  # fmt: skip


def default_convert(data: Any) -> Any:
    """A sample with tensors instead of arrays, which a loader without batches returns.

    Parameters
    ----------
    data : object

    Returns
    -------
    object
        Arrays as tensors that share their memory, in mappings, named tuples and sequences; a tuple becomes a list.  Anything
        else is unchanged.
    """
    if _has_numbers(data):
        return asarray(data)
    if isinstance(data, Mapping):
        return _like(data, {name: default_convert(value) for name, value in data.items()})
    if _is_named(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(value) for value in data])
    return data
