"""PyTorch's nn.utils: gradient clipping, parameters as one vector, and parameters that are computed from others."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ...api.clip_grad import clip_grad_norm_ as clip_grad_norm_
from ...api.clip_grad import clip_grad_value_ as clip_grad_value_
from ...api.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from ...api.clip_grad import get_total_norm as get_total_norm
from ...support.lazy_import import later
from ..parameters import parameters_to_vector as parameters_to_vector
from ..parameters import vector_to_parameters as vector_to_parameters

# Functions that change modules are imported on first access, like modules.
_norms = "remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"
_fused = "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"
_namespaces = "fusion", "parametrizations", "parametrize", "prune", "rnn", "stateless"

if TYPE_CHECKING:
    from . import fusion as fusion, parametrizations as parametrizations, parametrize as parametrize, prune as prune, rnn as rnn
    from . import stateless as stateless
    from .fusion import fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_conv_bn_weights as fuse_conv_bn_weights
    from .fusion import fuse_linear_bn_eval as fuse_linear_bn_eval, fuse_linear_bn_weights as fuse_linear_bn_weights
    from .norms import remove_spectral_norm as remove_spectral_norm, remove_weight_norm as remove_weight_norm
    from .norms import spectral_norm as spectral_norm, weight_norm as weight_norm
else:
    __getattr__ = later(__name__, {"": _namespaces, "fusion": _fused, "norms": _norms})

__all__ = sorted([
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
    "vector_to_parameters", *_namespaces, *_fused, *_norms,
])  # fmt: skip
