"""gradspec: PyTorch's autograd for NumPy arrays, generated from one spec.

Arrays behave as NumPy's do; gradients behave as PyTorch's do.
"""

from .extension import offer, undisturbed
from .later import postponed

offer(__name__, [
    "accumulate_grad", "anomaly", "arguments", "array_tensor", "backward", "batched_pass", "copy_slices", "dual", "engine",
    "engine_hooks", "error_nodes", "forward_ad", "function", "function_node", "grad_mode", "graph_task", "inplace",
    "input_buffer", "node", "numpy_protocol", "operand", "provenance", "put_off", "pytorch_tensor", "ready_queue",
    "saved_tensors_hooks", "saved_variable", "snapshot", "tensor", "version", "view",
])  # fmt: skip

with undisturbed(__spec__):
    from .grad_mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        is_inference_mode_enabled,
        no_grad,
        set_grad_enabled,
    )
    from .kernels.memory import empty_cache, memory_stats
    from .kernels.threads import get_num_threads, set_num_threads
    from .operand import asarray, tensor
    from .generated.tensor import Tensor
    from .generated import ops
    from .generated.ops import *
    from . import autograd

    func, nn, optim, random, scipy, signal, special = (
        postponed(f"{__name__}.{name}") for name in ("func", "nn", "optim", "random", "scipy", "signal", "special")
    )
    from .generator import manual_seed
    from .clip_grad import clip_grad_norm_, clip_grad_value_
    from .conversion import as_tensor, from_numpy, is_complex, is_floating_point
    from .promotion import broadcast_shapes, can_cast, promote_types, result_type, tril_indices, triu_indices
    from .serialization import load, save
    from .spectrum import istft, multinomial, stft
    from . import constants
    from .constants import *

__version__ = "0.1.0"

__all__ = sorted([
    "Tensor", "as_tensor", "asarray", "autograd", "broadcast_shapes", "can_cast", "clip_grad_norm_", "clip_grad_value_",
    "empty_cache", "enable_grad", "from_numpy", "func", "get_num_threads", "inference_mode", "is_complex",
    "is_floating_point", "is_grad_enabled", "is_inference_mode_enabled", "istft", "load", "manual_seed", "memory_stats",
    "multinomial", "nn", "no_grad", "optim", "promote_types", "random", "result_type", "save", "scipy", "set_grad_enabled",
    "set_num_threads", "signal", "special", "stft", "tensor", "tril_indices", "triu_indices",
    *constants.__all__, *ops.__all__,
])  # fmt: skip


def __dir__():
    return [*__all__, "__version__"]


# A module that is not public is found by `from gradspec.engine import ...`, and is no attribute that a user meets.
for _name in [name for name, value in globals().items() if type(value) is type(ops) and name not in __all__]:
    del globals()[_name]
del _name
