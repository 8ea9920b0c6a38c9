"""gradspec: PyTorch's autograd for NumPy arrays, generated from one spec.

Arrays behave as NumPy's do; gradients behave as PyTorch's do.
"""

from .support.extension import offer

offer(__name__)

from .core.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .kernels.loops.memory import empty_cache, memory_stats
from .kernels.loops.threads import get_num_threads, set_num_threads
from .core.conversion import asarray, tensor
from .generated.tensor import Tensor
from .generated import ops
from .generated.ops import *
from .support.devices import accelerator, backends, cuda, device, get_default_device, mps, set_default_device, xpu
from .support.precision import *
from .support.generator import manual_seed
from .api.arrays import array, from_dlpack, is_tensor, ndim, shape, size
from .api.clip_grad import clip_grad_norm_, clip_grad_value_
from .api.configuration import show_config
from .api.conversion import as_tensor, from_numpy, is_complex, is_floating_point, is_inference
from .api.kinds import *
from .api.pieces import (
    block,
    c_,
    choose,
    float_power,
    is_nonzero,
    is_same_size,
    put_along_axis,
    r_,
    real_if_close,
    segment_reduce,
    unique_consecutive,
)
from .api.promotion import (
    broadcast_shapes,
    can_cast,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    result_type,
    set_default_dtype,
    tril_indices,
    triu_indices,
)
from .api.ranges import geomspace
from .api.ranges import arange as arange, full as full, full_like as full_like  # around their operators
from .api.ranges import gradient as gradient, linspace as linspace, logspace as logspace, pad as pad  # as well
from .api.serialization import load, save
from .api.spectrum import istft, stft
from .api.summation import einsum as einsum  # as well
from .transforms import batching, taylor  # which are private, and would be seen if they were imported later
from .compiler.tracing import trace as trace  # around the operator of that name
from .api import kinds
from .support import constants, devices, precision
from .support.constants import *
from .support.einops import offer_backend
from .support.error_hints import answer_imports
from .support.lazy_import import later

__version__ = "0.1.0"

# A namespace is imported at its first use, never by this file, and begins with `import gradspec`.  Python may run `gradspec.nn`
# for one thread while a second still runs this file and has defined half of the names; `import gradspec` waits for the rest.
_namespaces = (
    *ops.namespaces, "autograd", "compat", "debug", "distributed", "distributions", "extend", "func", "nested", "nn", "operators", "optim",
    "profiler", "random", "scipy", "signal", "sparse", "special", "test_util", "tree_util", "utils",
)  # fmt: skip
# The names of `gradspec.func` are found here as well: programs begin with `from gradspec import grad`.
_func = (
    "associative_scan", "checkpoint", "closure_convert", "cond", "custom_jvp", "custom_linear_solve", "custom_root",
    "custom_vjp", "custom_vmap", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum",
    "defvjp_argnums", "deriv", "elementwise_grad", "fisher_operator", "fixed_point", "fori_loop", "functional_call",
    "gauss_newton_operator", "grad", "grad_and_aux", "grad_and_value", "grad_named", "hessian", "hessian_operator",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "hvp", "implicit", "io_callback", "jacfwd",
    "jacobian", "jacobian_operator", "jacrev", "jet", "jvp", "laplacian", "linear_transpose", "linearize", "make_ggnvp",
    "make_hvp", "make_jvp", "make_vjp", "map", "multigrad_dict", "primitive", "pure", "pure_callback", "register_nest",
    "replace_all_batch_norm_modules_", "scan", "sequential_vmap", "sparse_hessian", "sparse_jacobian", "sparse_plan",
    "SparsePlan", "sparsity", "stack_module_state", "stop_gradient", "switch", "tensor_jacobian_product", "value_and_grad",
    "value_and_laplacian", "vector_jacobian_product", "vjp", "vmap", "while_loop",
)  # fmt: skip
_sparse = "sparse_coo_tensor", "sparse_csr_tensor"
_late = {
    "operators": ("operator",), "compiler.compiled_function": ("compile", "jit"),
    "compiler.files.loaded_program": ("load_program",), "compiler.native.module": ("export_c",), "random": ("Generator",),
    "sparse": _sparse,
}  # fmt: skip
__getattr__ = later(__name__, {"": _namespaces, "func": _func, **_late})
answer_imports()
offer_backend()

__all__ = sorted([
    "Generator", "Tensor", "array", "as_tensor", "asarray", "block", "broadcast_shapes", "c_", "can_cast", "choose",
    "clip_grad_norm_", "clip_grad_value_", "compile", "empty_cache", "enable_grad", "export_c", "finfo", "float_power",
    "from_dlpack", "from_numpy", "geomspace", "get_default_dtype", "get_num_threads", "iinfo", "inference_mode",
    "is_complex", "is_floating_point", "is_grad_enabled", "is_inference", "is_inference_mode_enabled", "is_nonzero", "is_same_size",
    "is_tensor", "istft", "jit", "load", "load_program", "manual_seed", "memory_stats", "ndim", "no_grad", "operator",
    "promote_types", "put_along_axis", "r_", "real_if_close", "result_type", "save", "segment_reduce",
    "set_default_dtype", "set_grad_enabled", "set_num_threads", "shape", "show_config", "size", "stft", "tensor",
    "tril_indices", "triu_indices", "unique_consecutive",
    *_func, *_namespaces, *_sparse, *constants.__all__, *devices.__all__, *kinds.__all__,
    *ops.__all__, *precision.__all__,
])  # fmt: skip


def __dir__():
    return [*__all__, "__version__"]


# A private module is found by `from gradspec.engine.engine import ...`, but is not an attribute of the package.
for _name in [name for name, value in globals().items() if type(value) is type(ops) and name not in __all__]:
    del globals()[_name]
del _name
