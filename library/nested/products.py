"""Products of nested tensors, and attention of nested queries, keys and values.

Items are padded with zeros in products, which contribute nothing, and masked in attention.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _nn
from ..core.conversion import asarray
from ..support.dispatch import ops


class Transposed:
    """The items of a nested tensor, each transposed: an operand of `@`."""

    def __init__(self, nested: Any) -> None:
        if nested.ndim != 3:
            raise RuntimeError(f"mT: the items of a nested tensor of shape {nested.shape} are no matrices")
        self.nested = nested

    mT = property(lambda self: self.nested)

    def __matmul__(self, other: Any) -> Any:
        """Sums over the ragged axis of both operands: (items, m, n), dense."""
        if not is_nested(other):
            raise TypeError("mT @ x: x has to be ragged along the same axis; write (x.mT @ nt).mT")
        if not np.array_equal(self.nested._offsets, other._offsets):
            raise RuntimeError("matmul: the items of the two operands have different lengths: "
                               f"{self.nested.lengths().tolist()} and {other.lengths().tolist()}")  # fmt: skip
        return ops.mT(self.nested.to_padded_tensor(0)) @ other.to_padded_tensor(0)


def is_nested(value: Any) -> bool:
    return getattr(value, "is_nested", False) is True


def matmul(nested: Any, other: Any) -> Any:
    """Rows times a matrix, common or one for each item (nested); times transposed items (dense, padded with zeros)."""
    if isinstance(other, Transposed):
        if len(nested) != len(other.nested) or nested.ndim != 3:
            raise RuntimeError(f"matmul: items of the shapes {nested.shape} and {other.nested.shape}.mT have no products")
        return nested.to_padded_tensor(0) @ ops.mT(other.nested.to_padded_tensor(0))
    if is_nested(other):
        raise TypeError("matmul: the ragged axis of one operand meets none of the other; write a @ b.mT or a.mT @ b")
    other = asarray(other)
    if other.ndim <= 2 and nested.ndim > 2:
        return nested.map_values(ops.matmul, other)
    if other.ndim == 3 and nested.ndim == 3 and len(other) == len(nested):
        return cut(nested.to_padded_tensor(0) @ other, nested)
    raise RuntimeError(
        f"matmul: a nested tensor of shape {nested.shape} takes a vector, a matrix or a matrix for each item, got {other.shape}"
    )


def cut(padded: Any, like: Any) -> Any:
    """The rows of a padded array that belong to items."""
    lengths = np.diff(like._offsets)
    valid = np.arange(padded.shape[1]) < lengths[:, None]
    return type(like)(ops.take(ops.reshape(padded, (-1, *padded.shape[2:])), np.flatnonzero(valid), 0), like._offsets)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """`gs.nn.linear` for each row.

    Parameters
    ----------
    x : NestedTensor
    weight, bias : array_like

    Returns
    -------
    NestedTensor
    """
    return x.map_values(_nn.linear, weight, bias)


def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Any:
    """`gs.nn.layer_norm` for each row, over trailing axes that all items share.

    Parameters
    ----------
    x : NestedTensor
    normalized_shape : sequence of int
        Too few lengths to reach the ragged axis.
    weight, bias : array_like, optional
    eps : float

    Returns
    -------
    NestedTensor
    """
    check_shared("layer_norm", x, normalized_shape)
    return x.map_values(_nn.layer_norm, normalized_shape, weight, bias, eps)


def rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """`gs.nn.rms_norm` for each row, as `layer_norm`."""
    check_shared("rms_norm", x, normalized_shape)
    return x.map_values(_nn.rms_norm, normalized_shape, weight, eps)


def check_shared(name: str, x: Any, normalized_shape: Any) -> None:
    count = 1 if isinstance(normalized_shape, (int, np.integer)) else len(normalized_shape)
    if count > x.ndim - 2:
        raise RuntimeError(f"{name}(): normalizing over the ragged dimension is not supported for a nested tensor; write "
                           "(nt - nt.mean(1, keepdims=True)) and so on")  # fmt: skip


def embedding(indices: Any, weight: Any) -> Any:
    """Rows of `weight`, for nested indices.

    Parameters
    ----------
    indices : NestedTensor of int
    weight : array_like
        (number of embeddings, components).

    Returns
    -------
    NestedTensor
    """
    return indices.map_values(lambda places: _nn.embedding(places, weight))


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, generator: Any = None,
) -> Any:  # fmt: skip
    """Attention within each item: its queries attend to its keys.

    The items are padded, and the padding is masked; there is one result for each row of the queries.

    Parameters
    ----------
    query, key, value : NestedTensor
        (items, ragged, components), or (items, ragged, heads, components); in PyTorch the heads precede the ragged axis.
        `key` and `value` have the same lengths.
    attn_mask : None
        Not supported, as in PyTorch.
    dropout_p : float
    is_causal : bool
        Whether query i of an item attends to its keys up to i only.
    scale : float, optional
    generator : Generator, optional

    Returns
    -------
    NestedTensor
        With the lengths of `query`; zeros if an item has no keys.
    """
    if attn_mask is not None:
        raise ValueError("scaled_dot_product_attention: Mask must not be set when queries are nested: items see themselves")
    if not (is_nested(query) and is_nested(key) and is_nested(value)):
        raise TypeError("scaled_dot_product_attention: Expected query, key, and value to all be nested tensors")
    if not len(query) == len(key) == len(value) or not np.array_equal(key._offsets, value._offsets):
        raise ValueError("scaled_dot_product_attention: query, key and value have as many items, key and value of one length")
    if not 3 <= query.ndim == key.ndim == value.ndim <= 4:
        raise ValueError(
            "scaled_dot_product_attention: items are (ragged, components) or (ragged, heads, components), got the shapes "
            f"{query.shape}, {key.shape} and {value.shape}"
        )
    padded = [one.to_padded_tensor(0) for one in (query, key, value)]
    queries, keys = padded[0].shape[1], padded[1].shape[1]
    seen = (np.arange(keys) < np.diff(key._offsets)[:, None])[:, None]  # (items, 1, keys)
    if is_causal:
        seen = seen & np.tri(queries, keys, dtype=bool)
    if query.ndim == 4:
        padded, seen = [ops.swapaxes(one, 1, 2) for one in padded], seen[:, None]
    y = _nn.scaled_dot_product_attention(*padded, seen, dropout_p, scale=scale, generator=generator)
    return cut(ops.swapaxes(y, 1, 2) if query.ndim == 4 else y, query)
