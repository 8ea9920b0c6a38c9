"""Attention of several heads with its projections, as a function of all of its weights: PyTorch's multi_head_attention_forward.

Owns the layout of heads and masks; the products are operators, so all derivatives are there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _nn
from ..core.operand import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


@answering
def multi_head_attention_forward(
    query: Tensor | npt.ArrayLike,
    key: Tensor | npt.ArrayLike,
    value: Tensor | npt.ArrayLike,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | npt.ArrayLike | None,
    in_proj_bias: Tensor | npt.ArrayLike | None,
    bias_k: Tensor | npt.ArrayLike | None,
    bias_v: Tensor | npt.ArrayLike | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor | npt.ArrayLike,
    out_proj_bias: Tensor | npt.ArrayLike | None,
    training: bool = True,
    key_padding_mask: Tensor | npt.ArrayLike | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | npt.ArrayLike | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | npt.ArrayLike | None = None,
    k_proj_weight: Tensor | npt.ArrayLike | None = None,
    v_proj_weight: Tensor | npt.ArrayLike | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    *,
    generator: Any = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads: projections of query, key and value, attention in each head, a projection of the result.

    Parameters
    ----------
    query, key, value : array_like
        (time, batch, components), or (time, components).
    embed_dim_to_check : int
        How many components `query` has.
    num_heads : int
    in_proj_weight : array_like or None
        The three weights of the projections above each other; unread where they are given one by one.
    in_proj_bias : array_like or None
        Their biases behind each other.
    bias_k, bias_v : array_like or None
        One more key and value, (1, 1, components).
    add_zero_attn : bool
        Whether there is one more key and value of zeros.
    dropout_p : float
        Probability with which a weight is dropped, where `training`.
    out_proj_weight : array_like
    out_proj_bias : array_like or None
    training : bool
    key_padding_mask : array_like or None
        (batch, time of the keys): true where a key does not count, or what is added to its scores.
    need_weights : bool
        Whether the weights are returned too.
    attn_mask : array_like or None
        (time, time of the keys), or one for each head of each example: true where a key does not count for a query, or what is
        added to the score.  Masks of PyTorch's modules have this meaning; scaled_dot_product_attention's have the opposite one.
    use_separate_proj_weight : bool
        Whether the weights of the projections are the following three.
    q_proj_weight, k_proj_weight, v_proj_weight : array_like or None
    average_attn_weights : bool
        Whether the weights are averaged over the heads.
    is_causal : bool
        A hint that `attn_mask` is causal, which it has to be.
    generator : numpy.random.Generator or int, optional
        Where the random numbers of the dropout come from, or a seed.

    Returns
    -------
    tuple
        The result, of the shape of `query`, and the weights, (batch, time, time of the keys) with the heads behind the batch
        where they are not averaged, or None.
    """
    name = "multi_head_attention_forward"
    arrays = [asarray(array) for array in (query, key, value)]
    single = arrays[0].ndim == 2
    if any(array.ndim != (2 if single else 3) for array in arrays):
        raise ValueError(f"{name}: query, key and value must all be of shape (time, batch, components) or (time, components)")
    if arrays[0].shape[-1] != embed_dim_to_check or embed_dim_to_check % num_heads:
        raise ValueError(f"{name}: {arrays[0].shape[-1]} components are not {embed_dim_to_check}, in {num_heads} heads")
    if is_causal and attn_mask is None:
        raise ValueError(f"{name}: is_causal wants the causal attn_mask as well")
    if single:
        arrays = [ops.expand_dims(array, 1) for array in arrays]
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        weights = ops.split(asarray(in_proj_weight), 3, 0)
    biases = [None] * 3 if in_proj_bias is None else ops.split(asarray(in_proj_bias), 3, 0)
    q, k, v = (_nn.linear(array, weight, bias) for array, weight, bias in zip(arrays, weights, biases))
    count, batch, size = q.shape
    further = 0
    if bias_k is not None and bias_v is not None:
        k, v = (ops.concat([array, ops.broadcast_to(one, (1, batch, size))]) for array, one in ((k, bias_k), (v, bias_v)))
        further += 1
    if add_zero_attn:
        k, v = (ops.concat([array, ops.zeros((1, batch, size), dtype=array.dtype)]) for array in (k, v))
        further += 1
    keys, width = k.shape[0], size // num_heads
    # (batch, heads, time, components of a head)
    q, k, v = (ops.permute_dims(ops.reshape(a, (a.shape[0], batch, num_heads, width)), (1, 2, 0, 3)) for a in (q, k, v))
    scores = (q * (1 / math.sqrt(width))) @ ops.mT(k)
    if attn_mask is not None:
        mask = asarray(attn_mask)
        mask = ops.reshape(mask, (batch, num_heads, count, keys - further)) if mask.ndim == 3 else mask
        scores = _masked(scores, mask, further)
    if key_padding_mask is not None:
        mask = asarray(key_padding_mask)
        scores = _masked(scores, ops.reshape(mask, (batch, 1, 1, keys - further)), further)
    shares = _nn.softmax(scores, -1)
    if training and dropout_p > 0:
        shares = _nn.dropout(shares, dropout_p, generator=generator)
    found = ops.reshape(ops.permute_dims(shares @ v, (2, 0, 1, 3)), (count, batch, size))
    y = _nn.linear(found, out_proj_weight, out_proj_bias)
    told = None
    if need_weights:
        told = ops.mean(shares, 1) if average_attn_weights else shares
        told = told[0] if single else told
    return y[:, 0] if single else y, told


def _masked(scores: Tensor, mask: Tensor, further: int) -> Tensor:
    """The scores, -inf where the mask is true, or plus the mask; keys of the function's own are never masked."""
    bare = mask.dtype.kind == "b"
    if further:
        mask = ops.pad(mask.astype(scores.dtype) if bare else mask, ((0, 0),) * (mask.ndim - 1) + ((0, further),))
        mask = mask.astype(bool) if bare else mask
    return ops.where(mask, -math.inf, scores) if bare else scores + mask


def __dir__() -> list[str]:
    return ["multi_head_attention_forward"]
