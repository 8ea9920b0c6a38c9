"""Derivatives of functions, as functions: PyTorch's `torch.func`, JAX's transformations, and HIPS autograd's names for them.

Each transformation takes a function of arrays, numbers, or pytrees of them, and returns a function, or a result, that can be
differentiated again, to any order: `grad(grad(f))`, `jvp` of a `grad`, a `grad` inside the function of another `grad`.

The namespace also has JAX's loops and branches (`scan`, `fori_loop`, `while_loop`, `map`, `cond`, `switch`), which are as
differentiable as the functions that they call.  Callbacks call Python functions (`pure_callback`, `io_callback`).  Users can
define derivative rules, and register classes as pytrees.  Sparse Jacobians and Hessians are SciPy's matrices and linear
operators.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .batching import vmap
from .branches import cond, switch
from .callbacks import io_callback, pure, pure_callback
from .closures import closure_convert
from .compressed_jacobians import SparsePlan, sparse_hessian, sparse_jacobian, sparse_plan
from .custom import custom_jvp, custom_vjp, stop_gradient
from .custom_batching import custom_vmap, sequential_vmap
from .gradients import elementwise_grad, grad, grad_and_aux, grad_and_value, value_and_grad
from .implicit import custom_linear_solve, custom_root, fixed_point, implicit
from .jet import jet, laplacian, value_and_laplacian
from .linear_operators import fisher_operator, gauss_newton_operator, hessian_operator, jacobian_operator
from .loops import associative_scan, fori_loop, map, scan, while_loop
from .matrices import hessian, jacfwd, jacobian, jacrev
from .hips_names import deriv, grad_named, hessian_tensor_product, hessian_vector_product, make_ggnvp, make_hvp, make_jvp, make_vjp
from .hips_names import holomorphic_grad, multigrad_dict, tensor_jacobian_product, vector_jacobian_product
from .sparsity_patterns import sparsity
from .primitives import def_linear, defjvp, defjvp_argnum, defjvp_argnums, defvjp, defvjp_argnum, defvjp_argnums, primitive
from .products import hvp, jvp, linear_transpose, linearize, vjp
from .pytree_registry import register_nest
from .remat import checkpoint
from ..support.lazy_import import later

if TYPE_CHECKING:
    from .modules import functional_call as functional_call
    from .modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
    from .modules import stack_module_state as stack_module_state
else:
    __getattr__ = later(  # `nn` is imported with them
        __name__, {"modules": ("functional_call", "replace_all_batch_norm_modules_", "stack_module_state")}
    )

__all__ = [
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
]  # fmt: skip
