"""ctc_loss: connectionist temporal classification (Graves, Fernandez, Gomez and Schmidhuber, 2006).

Computes the recursion over time in logarithms, with operators, so that derivatives of any order exist in both modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["ctc_loss"]
__dir__ = __all__.copy


def ctc_loss(
    log_probs: Tensor | npt.ArrayLike,
    targets: Tensor | npt.ArrayLike,
    input_lengths: Tensor | npt.ArrayLike,
    target_lengths: Tensor | npt.ArrayLike,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-probability of the target: of all sequences of classes that equal it without blanks and repetitions.

    The derivative is with respect to the given log-probabilities; composed with log_softmax it equals PyTorch's.  If no sequence
    yields the target, the loss is infinite and its derivative NaN, or both are 0 with `zero_infinity`, as in PyTorch.

    Parameters
    ----------
    log_probs : array_like
        Log-probabilities, (time, batch, classes) or (time, classes).
    targets : array_like of int
        (batch, longest target), or all targets one after the other.
    input_lengths, target_lengths : array_like of int
        Number of steps, and number of the target's classes, of each example.
    blank : int
        The class that means no output.
    reduction : str
        'mean' of the losses, each divided by the length of its target; 'sum' or 'none'.
    zero_infinity : bool
        Whether infinite losses count as 0.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.ctc_loss(np.log([[[0.5, 0.5]], [[0.5, 0.5]]]), [[1]], [2], [1], reduction="none")
    tensor([0.28768207])
    """
    x = asarray(log_probs)
    single = x.ndim == 2
    if single:
        x = ops.expand_dims(x, 1)
    if x.ndim != 3 or x.dtype.kind != "f" or 0 in x.shape[::2]:
        raise ValueError(f"ctc_loss: log_probs must be floats, (time, batch, classes) or (time, classes), got {x.dtype} "
                         f"of shape {tuple(asarray(log_probs).shape)}")  # fmt: skip
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"ctc_loss: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    steps, batch, classes = x.shape
    long = _lengths("input_lengths", input_lengths, batch, steps)
    rows, lengths = _padded_targets(targets, target_lengths, batch, classes, blank)

    extended = np.full((batch, 2 * rows.shape[1] + 1), blank)  # a blank before each class, and after the last
    extended[:, 1::2] = rows
    skipped = np.full(extended.shape, -np.inf, x.dtype)  # a blank may be skipped between different classes
    skipped[:, 3::2] = np.where(extended[:, 3::2] != extended[:, 1:-2:2], 0, -np.inf)
    begun = np.full(extended.shape, -np.inf, x.dtype)
    begun[:, :2] = 0

    chosen = ops.unstack(ops.take_along_axis(x, np.broadcast_to(extended, (steps, *extended.shape)), 2))
    paths = chosen[0] + begun
    for step in range(1, steps):
        before = ops.pad(paths, ((0, 0), (2, 0)), constant_values=-np.inf)
        reached = ops.stack([paths, before[:, 1:-1], before[:, :-2] + skipped])
        moved = ops.logsumexp(reached, 0) + chosen[step]
        paths = moved if step < long.min(initial=steps) else ops.where((step < long)[:, None], moved, paths)

    # The last class, or the blank after it; for an empty target the blank alone, and for no steps nothing else.
    last = 2 * lengths[:, None] - np.array([0, 1])
    none = np.where(last < 0, -np.inf, 0).astype(x.dtype)
    losses = -ops.logsumexp(ops.take_along_axis(paths, np.maximum(last, 0), 1) + none, 1)
    if not long.all():
        losses = ops.where(long == 0, np.where(lengths == 0, 0, np.inf).astype(x.dtype), losses)
    infinite = losses == np.inf
    if zero_infinity:
        losses = ops.where(infinite, 0, losses)
    else:  # adds 0; its derivative is infinity times 0, that is, NaN
        losses = losses + (ops.sqrt(ops.where(infinite, 0.0 * ops.sum(ops.exp(x), (0, 2)), 1.0)) - 1.0)
    if reduction == "mean":
        return ops.mean(losses / np.maximum(lengths, 1).astype(x.dtype))
    return ops.sum(losses) if reduction == "sum" else losses[0] if single else losses


def _lengths(name: str, lengths: Tensor | npt.ArrayLike, batch: int, limit: int) -> np.ndarray:
    found = asarray(lengths).detach().numpy().reshape(-1)
    if found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"ctc_loss: {name} must be integers, got {found.dtype}")
    if len(found) != batch or found.size and not 0 <= found.min() <= found.max() <= limit:
        raise ValueError(f"ctc_loss: {name} must be {batch} numbers from 0 to {limit}, got {found.tolist()}")
    return found.astype(np.intp)


def _padded_targets(
    targets: Tensor | npt.ArrayLike, target_lengths: Tensor | npt.ArrayLike, batch: int, classes: int, blank: int
) -> tuple[np.ndarray, np.ndarray]:
    """The targets as rows padded with blanks, and their lengths."""
    if not 0 <= blank < classes:
        raise ValueError(f"ctc_loss: blank must be one of {classes} classes, got {blank}")
    given = asarray(targets).detach().numpy()
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"ctc_loss: targets must be integers, got {given.dtype}")
    if given.ndim == 1:
        lengths = _lengths("target_lengths", target_lengths, batch, given.size)
        if lengths.sum() != given.size:
            raise ValueError(f"ctc_loss: targets hold {given.size} classes, target_lengths ask for {lengths.sum()}")
        rows = np.full((batch, lengths.max(initial=0)), blank)
        rows[np.arange(rows.shape[1]) < lengths[:, None]] = given
    elif given.ndim == 2 and len(given) == batch:
        lengths = _lengths("target_lengths", target_lengths, batch, given.shape[1])
        rows = np.where(np.arange(given.shape[1]) < lengths[:, None], given, blank)[:, : lengths.max(initial=0)]
    else:
        raise ValueError(f"ctc_loss: targets must be of shape ({batch}, classes) or one row, got {given.shape}")
    real = rows[np.arange(rows.shape[1]) < lengths[:, None]]
    if real.size and not (0 <= real.min() <= real.max() < classes and (real != blank).all()):
        raise ValueError(f"ctc_loss: targets must be classes from 0 to {classes - 1}, and not the blank {blank}")
    return rows.astype(np.intp), lengths
