"""`jax.ops`: reductions over the rows that share a segment, with JAX's parameters.

A row is left out if its segment does not exist.
"""

from typing import Any

import numpy as np

import gradspec as gs

from .jax_at import Place


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False,
                bucket_size: int | None = None, mode: Any = None) -> Any:  # fmt: skip
    """The sum of each segment; 0 for one without rows."""
    return _reduced("add", 0, data, segment_ids, num_segments, mode)


def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False,
                 bucket_size: int | None = None, mode: Any = None) -> Any:  # fmt: skip
    """The product of each segment; 1 for one without rows."""
    return _reduced("multiply", 1, data, segment_ids, num_segments, mode)


def segment_max(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False,
                bucket_size: int | None = None, mode: Any = None) -> Any:  # fmt: skip
    """The largest element of each segment; the dtype's smallest value, -inf of floats, for one without rows."""
    return _reduced("max", -np.inf, data, segment_ids, num_segments, mode)


def segment_min(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False,
                bucket_size: int | None = None, mode: Any = None) -> Any:  # fmt: skip
    """The smallest element of each segment; the dtype's largest value, inf of floats, for one without rows."""
    return _reduced("min", np.inf, data, segment_ids, num_segments, mode)


def _reduced(update: str, identity: float, data: Any, ids: Any, count: int | None, mode: Any) -> Any:
    """Update a tensor of identities, with a further row for the segments that do not exist."""
    if mode not in (None, "drop", "fill", "promise_in_bounds"):
        raise NotImplementedError(f"mode={mode!r}: a segment that does not exist is left out; write "
                                  "gs.clip(segment_ids, 0, num_segments - 1)")  # fmt: skip
    data, ids = gs.asarray(data), gs.asarray(ids)
    if data.dtype.kind == "b":
        raise TypeError("data has truth values, which are not reduced; write data.astype(int)")
    if count is None:
        count = int(gs.amax(ids)) + 1
    if count < 0:
        raise ValueError(f"num_segments={count} is negative; write the number of segments, or None for the largest id and one more")
    if np.isinf(identity) and data.dtype.kind != "f":
        identity = np.iinfo(data.dtype).min if identity < 0 else np.iinfo(data.dtype).max
    start = gs.full((count + 1, *data.shape[ids.ndim :]), identity, dtype=data.dtype)
    places = gs.where((ids >= 0) & (ids < count), ids, count)
    return getattr(Place(start, places), update)(data)[:count]
