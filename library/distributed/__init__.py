"""Many processes and machines: sums over shards on an executor, and PyTorch's data parallel training over MPI.

Defines the names.  The engines are external: `concurrent.futures`, Dask, Ray, mpi4py.
"""

import gradspec  # noqa: F401 (waits for it)

from .batch_norm import SyncBatchNorm
from .data_parallel import DistributedDataParallel
from .join import Join
from .shards import Step, value_and_grad
from .zero import ZeroRedundancyOptimizer
from ..support.lazy_import import answer

__all__ = ["DistributedDataParallel", "Join", "Step", "SyncBatchNorm", "ZeroRedundancyOptimizer", "value_and_grad"]
answer(__name__)
