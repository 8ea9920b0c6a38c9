"""Data: gradspec.utils.data, datasets, samplers and loaders with PyTorch's names.

Re-exports the classes and functions of its modules.
"""

import gradspec  # noqa: F401 (waits for it)

from ...support.lazy_import import answer
from .collate import default_collate as default_collate
from .collate import default_convert as default_convert
from .datasets import ChainDataset as ChainDataset
from .datasets import ConcatDataset as ConcatDataset
from .datasets import Dataset as Dataset
from .datasets import IterableDataset as IterableDataset
from .datasets import StackDataset as StackDataset
from .datasets import Subset as Subset
from .datasets import TensorDataset as TensorDataset
from .datasets import random_split as random_split
from .loader import DataLoader as DataLoader
from .samplers import BatchSampler as BatchSampler
from .samplers import DistributedSampler as DistributedSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import Sampler as Sampler
from .samplers import SequentialSampler as SequentialSampler
from .samplers import SubsetRandomSampler as SubsetRandomSampler
from .samplers import WeightedRandomSampler as WeightedRandomSampler
from .workers import get_worker_info as get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip
answer(__name__)
