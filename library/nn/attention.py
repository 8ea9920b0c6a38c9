"""Multi-head attention with its projections, as a function of all of its weights: PyTorch's multi_head_attention_forward.

Computes the layout of heads and masks; the products are operators, so derivatives of all orders exist.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _nn
from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.error_hints import answering

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["multi_head_attention_forward"]
__dir__ = __all__.copy


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
    """Multi-head attention: project query, key and value, attend in each head, and project the result.

    Parameters
    ----------
    query, key, value : array_like
        (time, batch, components), or (time, components).
    embed_dim_to_check : int
        Number of components of `query`.
    num_heads : int
    in_proj_weight : array_like or None
        The three weights of the projections, stacked; not used if they are given separately.
    in_proj_bias : array_like or None
        The biases of the three projections, concatenated.
    bias_k, bias_v : array_like or None
        One more key and value, (1, 1, components).
    add_zero_attn : bool
        Whether to append a key and value of zeros.
    dropout_p : float
        Probability of dropping a weight, if `training`.
    out_proj_weight : array_like
    out_proj_bias : array_like or None
    training : bool
    key_padding_mask : array_like or None
        (batch, time of the keys): true if a key is masked, or numbers to add to its scores.
    need_weights : bool
        Whether the weights are returned, too.  For a query whose keys are all masked the result is NaN.  Without the weights it
        is the result for heads of zeros, the bias of the last projection, and all derivatives are finite, as in PyTorch.
    attn_mask : array_like or None
        (time, time of the keys), or one such mask for each head of each example: true if a key is masked for a query, or numbers
        to add to the scores.  Masks of PyTorch's modules have this meaning; it is the opposite for scaled_dot_product_attention.
    use_separate_proj_weight : bool
        Whether the weights of the projections are the following three.
    q_proj_weight, k_proj_weight, v_proj_weight : array_like or None
    average_attn_weights : bool
        Whether the weights are averaged over the heads.
    is_causal : bool
        A hint that `attn_mask` is causal; the mask must be given.
    generator : numpy.random.Generator or int, optional
        Source of the random numbers of the dropout, or a seed.

    Returns
    -------
    tuple
        The result, of the shape of `query`, and the weights or None.  The weights are (batch, time, time of the keys), with an
        axis of heads after the batch if they are not averaged.
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
    mask = None
    if attn_mask is not None:
        mask = asarray(attn_mask)
        _check_shape(name, "attn_mask", mask, (count, keys - further), (batch * num_heads, count, keys - further))
        mask = ops.reshape(mask, (batch, num_heads, count, keys - further)) if mask.ndim == 3 else mask
    if key_padding_mask is not None:
        padded = asarray(key_padding_mask)
        _check_shape(name, "key_padding_mask", padded, (keys - further,) if single else (batch, keys - further))
        padded = ops.reshape(padded, (batch, 1, 1, keys - further))
        mask = padded if mask is None else _joined(mask, padded, q.dtype)
    if mask is not None and further:  # the function's own keys are never masked
        mask = ops.pad(mask, ((0, 0),) * (mask.ndim - 1) + ((0, further),))
    dropout = dropout_p if training else 0.0
    shares = None
    if need_weights:
        scores = (q * (1 / math.sqrt(width))) @ ops.mT(k)
        shares = _nn.softmax(scores if mask is None else scores + _summand(mask, scores.dtype), -1)
        if dropout > 0:
            shares = _nn.dropout(shares, dropout, generator=generator)
        heads = shares @ v
    else:
        if mask is not None and mask.dtype.kind == "b":
            mask = ops.logical_not(mask)  # masks of scaled_dot_product_attention are true for keys that are not masked
        heads = _nn.scaled_dot_product_attention(q, k, v, mask, dropout, generator=generator)
    found = ops.reshape(ops.permute_dims(heads, (2, 0, 1, 3)), (count, batch, size))
    y = _nn.linear(found, out_proj_weight, out_proj_bias)
    told = None
    if shares is not None:
        told = ops.mean(shares, 1) if average_attn_weights else shares
        told = told[0] if single else told
    return y[:, 0] if single else y, told


def _check_shape(name: str, argument: str, mask: Tensor, *shapes: tuple[int, ...]) -> None:
    if tuple(mask.shape) not in shapes:
        raise ValueError(f"{name}: {argument} must have the shape {' or '.join(map(str, shapes))}, got {tuple(mask.shape)}")


def _joined(one: Tensor, other: Tensor, dtype: Any) -> Tensor:
    """Combine two masks: true if either is, or the sum if one of them contains numbers."""
    if one.dtype.kind == other.dtype.kind == "b":
        return ops.logical_or(one, other)
    return _summand(one, dtype) + _summand(other, dtype)


def _summand(mask: Tensor, dtype: Any) -> Tensor:
    """The numbers that a mask adds to the scores: -inf if it is true."""
    return ops.where(mask, -math.inf, ops.zeros((), dtype=dtype)) if mask.dtype.kind == "b" else mask
