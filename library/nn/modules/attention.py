"""Multi-head attention as a layer.

Defines MultiheadAttention and its weights; the function `multi_head_attention_forward` computes it.
"""

from __future__ import annotations

from typing import Any

import gradspec as gs

from .. import functional as F
from .. import init
from ..parameter import Parameter, parameter
from .linear import Linear
from .module import Module


class MultiheadAttention(Module):
    """Multi-head attention with its projections.

    Parameters
    ----------
    embed_dim, num_heads : int
        Number of components of queries and of the result, and number of heads.
    dropout : float
        Probability of dropping a weight in training.
    bias : bool
    add_bias_kv : bool
        Whether to append a trained key and value.
    add_zero_attn : bool
        Whether to append a key and value of zeros.
    kdim, vdim : int, optional
        Number of components of keys and of values; `embed_dim` by default.
    batch_first : bool
        Whether arrays are (batch, time, components) instead of (time, batch, components).
    device : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    in_proj_weight : Parameter or None
        The stacked weights of the three projections; if the numbers of components differ, `q_proj_weight`, `k_proj_weight` and
        `v_proj_weight` replace it.
    out_proj : Linear
    """

    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        for name, columns in (("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
            apart = None if self._qkv_same_embed_dim else parameter((embed_dim, columns), device, dtype)
            self.register_parameter(name, apart)
        whole = parameter((3 * embed_dim, embed_dim), device, dtype) if self._qkv_same_embed_dim else None
        self.register_parameter("in_proj_weight", whole)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim, device, dtype) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, parameter((1, 1, embed_dim), device, dtype) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for further in (self.bias_k, self.bias_v):
            if further is not None:
                init.xavier_normal_(further)

    def forward(
        self, query: gs.Tensor, key: gs.Tensor, value: gs.Tensor, key_padding_mask: gs.Tensor | None = None,
        need_weights: bool = True,
        attn_mask: gs.Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[gs.Tensor, gs.Tensor | None]:  # fmt: skip
        """The result and the weights, as from `multi_head_attention_forward`."""
        swapped = self.batch_first and query.ndim == 3
        if swapped:
            query, key, value = (gs.swapaxes(x, 0, 1) for x in (query, key, value))
        y, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights, is_causal,
        )  # fmt: skip
        return gs.swapaxes(y, 0, 1) if swapped else y, weights
