"""PyTorch's nn.utils: limits on gradients, and parameters as one vector.

Owns nothing: it re-exports functions from elsewhere.
"""

from ..api.clip_grad import clip_grad_norm_, clip_grad_value_
from ..support.later import answer
from .parameters import parameters_to_vector, vector_to_parameters

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]
answer(__name__)


def __dir__() -> list[str]:
    return list(__all__)
