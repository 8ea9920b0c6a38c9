"""Packed sequences: sequences of different lengths without padding, as in PyTorch.

Defines the order of packed elements: step by step, and in each step the sequences that have this step, longest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["PackedSequence", "pack_padded_sequence", "pad_packed_sequence"]
__dir__ = __all__.copy


class PackedSequence(NamedTuple):
    """The elements of sequences, step by step.

    Parameters
    ----------
    data : Tensor
        The elements, along axis 0.
    batch_sizes : Tensor of int
        Number of sequences that have each step.
    sorted_indices, unsorted_indices : Tensor of int or None
        The order of sequences, longest first, and its inverse; None if the sequences were given in this order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


@answering
def pack_padded_sequence(
    x: Tensor | npt.ArrayLike, lengths: Tensor | npt.ArrayLike, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences, removing their padding.

    Parameters
    ----------
    x : array_like
        (time, batch, ...), or (batch, time, ...) if `batch_first`.
    lengths : array_like of int
        One for each sequence.
    batch_first : bool
    enforce_sorted : bool
        Whether sequences must be sorted by decreasing length.

    Returns
    -------
    PackedSequence
    """
    x, counts = asarray(x), asarray(lengths).detach().numpy()
    if x.ndim < 2:
        raise ValueError(f"pack_padded_sequence: x has a time and a batch, got shape {tuple(x.shape)}")
    x = ops.swapaxes(x, 0, 1) if batch_first else x
    if counts.dtype.kind not in "iu" or counts.shape != (x.shape[1],) or not counts.size:
        raise ValueError(f"pack_padded_sequence: lengths must be {x.shape[1]} integers, got shape {counts.shape}")
    if (counts < 1).any() or counts.max() > x.shape[0]:
        raise ValueError(f"pack_padded_sequence: lengths must be from 1 to {x.shape[0]}, got {counts.tolist()}")
    order = None
    if enforce_sorted:
        if (np.diff(counts) > 0).any():
            raise ValueError("pack_padded_sequence: lengths must not rise; pass enforce_sorted=False to have them sorted")
    else:
        order = np.argsort(-counts, kind="stable")
        counts = counts[order]
    steps, places = np.nonzero(np.arange(counts[0])[:, None] < counts)
    data = x[steps, places if order is None else order[places]]
    sizes = asarray(np.bincount(steps))
    if order is None:
        return PackedSequence(data, sizes)
    return PackedSequence(data, sizes, asarray(order), asarray(np.argsort(order)))


@answering
def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Unpack sequences, padded to one length.

    Parameters
    ----------
    sequence : PackedSequence
    batch_first : bool
        Whether the result is (batch, time, ...) instead of (time, batch, ...).
    padding_value : float
    total_length : int, optional
        Length of the result; the length of the longest sequence by default.

    Returns
    -------
    tuple of Tensor
        The sequences, and their lengths.
    """
    sizes = asarray(sequence.batch_sizes).detach().numpy()
    count, longest = int(sizes[0]), len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(f"pad_packed_sequence: total_length {total_length} is less than {longest}, the longest length")
    held = np.arange(count) < sizes[:, None]
    lengths = held.sum(0)
    order = None if sequence.unsorted_indices is None else asarray(sequence.unsorted_indices).detach().numpy()
    if order is not None:
        held = held[:, order]
    places = np.cumsum(np.concatenate([[0], sizes[:-1]]))[:, None] + (np.arange(count) if order is None else order)
    data = asarray(sequence.data)
    shape = (longest if total_length is None else total_length, count, *data.shape[1:])
    empty = ops.full(shape, padding_value, dtype=data.dtype)
    steps, columns = np.nonzero(held)
    y = ops.index_put(empty, (steps, columns), data[places[steps, columns]])
    return ops.swapaxes(y, 0, 1) if batch_first else y, asarray(lengths if order is None else lengths[order])
