"""gradspec: PyTorch's autograd for NumPy arrays, generated from one spec.

Arrays behave as NumPy's do; gradients behave as PyTorch's do.
"""

from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .operand import asarray, tensor
from .generated.tensor import Tensor
from .generated import ops as _ops
from .generated.ops import *
from . import autograd, linalg, nn, optim
from .clip_grad import clip_grad_norm_, clip_grad_value_
from .serialization import load, save

__version__ = "0.1.0"
