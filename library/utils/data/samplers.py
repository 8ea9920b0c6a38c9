"""Samplers: the indices of an epoch, in order or at random, one by one or in batches.

A random sampler draws when its iteration begins, so that each epoch has an order of its own.
"""

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from math import ceil
from typing import Any, Generic, TypeVar

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ...random import fold_in, key, permutation
from ...support.dispatch import ops
from ...support.errors import CallTypeError, CallValueError
from ...support.generator import as_generator

T = TypeVar("T", covariant=True)


def _positive(value: Any, name: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value <= 0:
        raise CallValueError(f"{name}: {what} must be a positive whole number, got {value!r}")
    return int(value)


def _flag(value: Any, name: str, what: str) -> bool:
    if not isinstance(value, bool):
        raise CallTypeError(f"{name}: {what} must be a bool, got {value!r}")
    return value


class Sampler(Generic[T]):
    """Indices of samples, or lists of indices: a subclass has `__iter__`, and `__len__` if its number is known."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__} needs a method __iter__(self)")


class SequentialSampler(Sampler[int]):
    """All indices in order.

    Parameters
    ----------
    data_source : sized
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order.

    Parameters
    ----------
    data_source : sized
    replacement : bool
        Whether an index may be drawn more than once.
    num_samples : int, optional
        Number of indices; the length of `data_source` by default.  Without replacement, more than that are several orders.
    generator : numpy.random.Generator, Generator, int or None
        Source of random numbers, or a seed; the default generator of `manual_seed` when it is None.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source, self.replacement = data_source, _flag(replacement, "RandomSampler", "replacement")
        self._num_samples = num_samples
        self.generator = generator if generator is None else as_generator(generator, "RandomSampler", "generator")
        if num_samples is not None:
            _positive(num_samples, "RandomSampler", "num_samples")

    @property
    def num_samples(self) -> int:
        """The number of indices of an epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, source = len(self.data_source), as_generator(self.generator, "RandomSampler", "generator")
        if not count:
            return iter(())
        if self.replacement:
            return iter(source.integers(count, size=self.num_samples).tolist())
        orders = (i for _ in range(ceil(self.num_samples / count)) for i in source.permutation(count).tolist())
        return islice(orders, self.num_samples)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Parameters
    ----------
    indices : sequence of int
    generator : numpy.random.Generator, Generator, int or None
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator if generator is None else as_generator(generator, "SubsetRandomSampler", "generator")

    def __iter__(self) -> Iterator[int]:
        order = as_generator(self.generator, "SubsetRandomSampler", "generator").permutation(len(self.indices)).tolist()
        return (self.indices[i] for i in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities proportional to weights.

    Parameters
    ----------
    weights : sequence of float
        One for each sample; they need not sum to 1.
    num_samples : int
    replacement : bool
        Whether an index may be drawn more than once.
    generator : numpy.random.Generator, Generator, int or None
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        self.weights = np.asarray(weights, np.float64)
        if self.weights.ndim != 1:
            raise CallValueError(f"WeightedRandomSampler: weights have one axis, got shape {self.weights.shape}")
        self.num_samples = _positive(num_samples, "WeightedRandomSampler", "num_samples")
        self.replacement = _flag(replacement, "WeightedRandomSampler", "replacement")
        self.generator = generator if generator is None else as_generator(generator, "WeightedRandomSampler", "generator")

    def __iter__(self) -> Iterator[int]:
        return iter(ops.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Lists of the indices of another sampler.

    Parameters
    ----------
    sampler : Sampler or iterable
    batch_size : int
    drop_last : bool
        Whether a last list that is shorter is left out.

    Examples
    --------
    >>> import gradspec as gs
    >>> list(gs.utils.data.BatchSampler(range(5), 2, False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size = sampler, _positive(batch_size, "BatchSampler", "batch_size")
        self.drop_last = _flag(drop_last, "BatchSampler", "drop_last")

    def __iter__(self) -> Iterator[list]:
        rest = iter(self.sampler)
        while batch := list(islice(rest, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else ceil(count / self.batch_size)


class DistributedSampler(Sampler[int]):
    """The part of one process among several: every process calls this with its own rank, and no index is another's.

    Parameters
    ----------
    dataset : sized
    num_replicas : int
        Number of processes.
    rank : int
        Number of this process.
    shuffle : bool
        Whether the order is random; it depends on `seed` and on the epoch of `set_epoch` only.
    seed : int
    drop_last : bool
        Whether indices that do not fill all parts are left out; by default some are repeated.

    Examples
    --------
    >>> import gradspec as gs
    >>> [list(gs.utils.data.DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in range(2)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True, seed: int = 0,
        drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            raise CallValueError("DistributedSampler: there is no process group to ask: give num_replicas and rank")
        if not 0 <= rank < num_replicas:
            raise CallValueError(f"DistributedSampler: rank {rank} is not one of {num_replicas} processes")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.num_samples = len(dataset) // num_replicas if drop_last else ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch.

        Parameters
        ----------
        epoch : int
            The same number in all processes.
        """
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order: Iterable[int] = range(count)
        if self.shuffle:
            order = permutation(fold_in(key(self.seed), self.epoch), count).tolist()
        order = list(order)
        order = (order * ceil(self.total_size / max(count, 1)))[: self.total_size]
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples
