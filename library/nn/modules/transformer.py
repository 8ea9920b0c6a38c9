"""Transformers: encoders and decoders as stacks of attention layers (Vaswani and others, 2017).

Defines the order of norms and residual sums in a layer, and the stacks of layers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec as gs

from .. import functional as F
from .. import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalisation import LayerNorm

Activation = str | Callable[[gs.Tensor], gs.Tensor]
Mask = gs.Tensor | None


def activation_of(name: Activation) -> Callable[[gs.Tensor], gs.Tensor]:
    """The function for 'relu' or 'gelu'; a function is returned unchanged."""
    if callable(name):
        return name
    if name not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    return F.relu if name == "relu" else F.gelu


class _Layer(Module):
    """One or two attention blocks and two linear layers, each with a residual connection and a norm.

    Parameters
    ----------
    d_model, nhead, dim_feedforward : int
        Number of components, of heads, and of components between the linear layers.
    dropout : float
    activation : {'relu', 'gelu'} or callable
    layer_norm_eps : float
    batch_first : bool
        Whether arrays are (batch, time, components) instead of (time, batch, components).
    norm_first : bool
        Whether norms precede attention and linear layers, instead of following the sums.
    bias : bool
    device : str, optional
    dtype : dtype, optional
    """

    _blocks: tuple[str, ...] = ()

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for name in self._blocks:
            setattr(
                self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype)
            )
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first, self.activation = norm_first, activation_of(activation)
        for number in range(1, len(self._blocks) + 2):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype))
        for number in range(1, len(self._blocks) + 2):
            setattr(self, f"dropout{number}", Dropout(dropout))

    def _run(self, x: gs.Tensor, *blocks: Callable[[gs.Tensor], gs.Tensor]) -> gs.Tensor:
        """Apply the blocks in order, the linear layers last."""
        for number, block in enumerate((*blocks, self._feed_forward), 1):
            norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
            x = x + drop(block(norm(x))) if self.norm_first else norm(x + drop(block(x)))
        return x

    def _feed_forward(self, x: gs.Tensor) -> gs.Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    __doc__ = _Layer.__doc__

    _blocks = ("self_attn",)

    def forward(
        self, src: gs.Tensor, src_mask: Mask = None, src_key_padding_mask: Mask = None, is_causal: bool = False
    ) -> gs.Tensor:
        """The result of the layer for `src`; masks are true, or -inf, if a key is masked."""

        def attended(x: gs.Tensor) -> gs.Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]

        return self._run(src, attended)


class TransformerDecoderLayer(_Layer):
    __doc__ = _Layer.__doc__

    _blocks = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: gs.Tensor, memory: gs.Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> gs.Tensor:  # fmt: skip
        """The result of the layer for `tgt` and the encoder's result; masks are true, or -inf, if a key is masked."""

        def attended(x: gs.Tensor) -> gs.Tensor:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]

        def crossed(x: gs.Tensor) -> gs.Tensor:
            return self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )[0]

        return self._run(tgt, attended, crossed)


class TransformerEncoder(Module):
    """Copies of a layer in sequence.

    Parameters
    ----------
    encoder_layer : Module
    num_layers : int
    norm : Module, optional
        Applied after the last layer.
    enable_nested_tensor, mask_check : bool
        Without effect: batches are not converted to nested tensors.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, src: gs.Tensor, mask: Mask = None, src_key_padding_mask: Mask = None, is_causal: bool | None = None
    ) -> gs.Tensor:
        """The result of all layers for `src`; `is_causal` is a hint that `mask` is causal."""
        causal = bool(is_causal) and mask is not None
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=causal)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a layer in sequence; each also receives the encoder's result.

    Parameters
    ----------
    decoder_layer : Module
    num_layers : int
    norm : Module, optional
        Applied after the last layer.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(decoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: gs.Tensor, memory: gs.Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> gs.Tensor:  # fmt: skip
        """The result of all layers for `tgt`; `tgt_is_causal` and `memory_is_causal` are hints that the masks are causal."""
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask,
                        tgt_is_causal=bool(tgt_is_causal) and tgt_mask is not None,
                        memory_is_causal=memory_is_causal)  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder.

    Parameters
    ----------
    d_model, nhead : int
    num_encoder_layers, num_decoder_layers, dim_feedforward : int
    dropout : float
    activation : {'relu', 'gelu'} or callable
    custom_encoder, custom_decoder : Module, optional
        Replace the default encoder and decoder.
    layer_norm_eps : float
    batch_first, norm_first, bias : bool
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu", custom_encoder: Module | None = None,
        custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        given = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(TransformerEncoderLayer(*given), num_encoder_layers, norm())
        self.decoder = custom_decoder or TransformerDecoder(TransformerDecoderLayer(*given), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for weight in self.parameters():
            if weight.ndim > 1:
                init.xavier_uniform_(weight)

    def forward(
        self, src: gs.Tensor, tgt: gs.Tensor, src_mask: Mask = None, tgt_mask: Mask = None, memory_mask: Mask = None,
        src_key_padding_mask: Mask = None, tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> gs.Tensor:  # fmt: skip
        """The decoder's result for `tgt` and the encoder's result for `src`."""
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                            memory_is_causal=memory_is_causal)  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> gs.Tensor:
        """A causal mask: -inf above the diagonal, 0 elsewhere.

        Parameters
        ----------
        sz : int
        device : str, optional
        dtype : dtype, optional

        Returns
        -------
        Tensor
            (sz, sz)
        """
        return gs.asarray(np.triu(np.full((sz, sz), -np.inf), 1), dtype=dtype)
