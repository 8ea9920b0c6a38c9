"""Batches of arrays with different lengths: PyTorch's `nested` namespace in its jagged layout."""

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .construction import (
    as_nested_tensor,
    masked_select,
    narrow,
    nested_tensor,
    nested_tensor_from_jagged,
    to_padded_tensor,
    vmap,
)
from .nested_tensor import NestedTensor
from .products import embedding, layer_norm, linear, scaled_dot_product_attention
from ..core.overrides import let_operands_answer
from ..support.dispatch import ops
from ..support.lazy_import import answer

__all__ = [
    "NestedTensor", "as_nested_tensor", "embedding", "layer_norm", "linear", "masked_select", "narrow", "nested_tensor",
    "nested_tensor_from_jagged", "scaled_dot_product_attention", "to_padded_tensor", "vmap",
]  # fmt: skip
answer(__name__)
let_operands_answer(vars(ops).values())
