"""Sparse matrices whose stored elements are tensors: SciPy's arrays beside tensors, and PyTorch's `sparse` namespace."""

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from .construction import coo, csr, from_dense, from_scipy, sparse_coo_tensor, sparse_csr_tensor
from .functions import addmm, log_softmax, matmul, mm, multiply, sampled_addmm, softmax, sum
from .solving import spsolve
from .sparse_tensor import SparseTensor
from ..support.lazy_import import answer

__all__ = [
    "SparseTensor", "addmm", "coo", "csr", "from_dense", "from_scipy", "log_softmax", "matmul", "mm", "multiply", "sampled_addmm",
    "softmax", "sparse_coo_tensor", "sparse_csr_tensor", "spsolve", "sum",
]  # fmt: skip
answer(__name__)
