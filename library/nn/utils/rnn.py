"""Sequences of different lengths, under PyTorch's path.

Defines `pack_sequence`, `unpad_sequence` and `unpack_sequence`; the other names are re-exported from `nn`.
"""

import gradspec  # noqa: F401 (waits for it)

from ...generated.tensor import Tensor
from ...support.lazy_import import answer
from ..packing import PackedSequence, pack_padded_sequence, pad_packed_sequence
from ..recurrent import pad_sequence

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence", "unpad_sequence",
    "unpack_sequence",
]  # fmt: skip
answer(__name__)


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Parameters
    ----------
    sequences : list of Tensor of shape (length, ...)
    enforce_sorted : bool
        Whether they must be sorted by decreasing length; otherwise they are sorted here.

    Returns
    -------
    PackedSequence
    """
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Unpad sequences to their own lengths.

    Parameters
    ----------
    padded_sequences : Tensor of shape (longest, batch, ...), or (batch, longest, ...) if `batch_first`
    lengths : sequence of int
    batch_first : bool

    Returns
    -------
    list of Tensor of shape (length, ...)
    """
    rows = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Unpack a packed sequence into its sequences, in their original order.

    Parameters
    ----------
    packed_sequences : PackedSequence

    Returns
    -------
    list of Tensor of shape (length, ...)
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
