"""Datasets: samples by index, or one after the other, and datasets that are built from others.

Nothing here copies an array: a sample of a memory-mapped array is a view, whose pages are read when it is used.
"""

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import floor, isclose
from typing import Any, Generic, TypeVar

import gradspec  # noqa: F401 (waits for it)

from ...core.conversion import asarray
from ...support.errors import CallTypeError, CallValueError
from ...support.generator import as_generator

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Samples by index: a subclass has `__getitem__`, and `__len__` for most samplers and loaders.

    A method `__getitems__(indices)`, if there is one, reads the samples of a whole batch.
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError(f"{type(self).__name__} needs a method __getitem__(self, index)")

    def __add__(self, other: "Dataset[Any]") -> "Dataset[Any]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Samples one after the other: a subclass has `__iter__`.

    Each worker of a loader iterates by itself; `get_worker_info` tells it which part of the samples is its own.
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__} needs a method __iter__(self)")

    def __add__(self, other: Dataset[Any]) -> "ChainDataset":
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Tuples of the elements of tensors at one index of their first axes.

    Parameters
    ----------
    *tensors : array_like
        At least one axis each, all of one first length.  ndarrays become tensors that share their memory.

    Raises
    ------
    ValueError
        The first lengths differ.

    Examples
    --------
    >>> import gradspec as gs
    >>> data = gs.utils.data.TensorDataset(gs.arange(3.0), gs.arange(3))
    >>> data[1]
    (tensor(1.), tensor(1))
    """

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(asarray(one) for one in tensors)
        if not tensors or any(one.shape[:1] != self.tensors[0].shape[:1] or not one.shape for one in self.tensors):
            raise CallValueError("TensorDataset: tensors of one first length are needed, got shapes "
                                 f"{[tuple(one.shape) for one in self.tensors]}")  # fmt: skip

    def __getitem__(self, index: Any) -> tuple:
        return tuple(one[index] for one in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Tuples, or dictionaries, of the samples of several datasets at one index.

    Parameters
    ----------
    *args, **kwargs : Dataset
        Datasets of one length, either all by position or all by name.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise CallValueError("StackDataset: give datasets by position, for tuples, or by name, for dictionaries")
        self.datasets: Any = args or kwargs
        lengths = {len(one) for one in (args or kwargs.values())}
        if len(lengths) > 1:
            raise CallValueError(f"StackDataset: the datasets have different lengths: {sorted(lengths)}")
        self._length = lengths.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: one[index] for name, one in self.datasets.items()}
        return tuple(one[index] for one in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T]):
    """The samples of several datasets, one dataset after the other.

    Parameters
    ----------
    datasets : iterable of Dataset

    Raises
    ------
    ValueError
        The list is empty.
    TypeError
        One is an `IterableDataset`: use `ChainDataset`.
    """

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise CallValueError("ConcatDataset: at least one dataset is needed")
        if any(isinstance(one, IterableDataset) for one in self.datasets):
            raise CallTypeError("ConcatDataset: an IterableDataset has no index: write ChainDataset(datasets)")
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T:
        if not -len(self) <= index < len(self):
            raise IndexError(f"ConcatDataset: index {index} is out of range for {len(self)} samples")
        index %= len(self)
        place = bisect_right(self.cumulative_sizes, index)
        return self.datasets[place][index - self.cumulative_sizes[place - 1] if place else index]


class ChainDataset(IterableDataset[Any]):
    """The samples of several iterable datasets, one dataset after the other.

    Parameters
    ----------
    datasets : iterable of IterableDataset
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets: Any = datasets

    def __iter__(self) -> Iterator[Any]:
        for one in self.datasets:
            if not isinstance(one, IterableDataset):
                raise CallTypeError("ChainDataset: all datasets must be IterableDatasets; write ConcatDataset for others")
            yield from one

    def __len__(self) -> int:
        return sum(map(len, self.datasets))


class Subset(Dataset[T]):
    """Some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int
    """

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> T:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        return samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def samples(dataset: Any, indices: Iterable[Any]) -> Any:
    """The samples at several indices, by `__getitems__` if the dataset has it."""
    together = getattr(dataset, "__getitems__", None)
    return together(indices) if together else [dataset[i] for i in indices]


def random_split(dataset: Dataset[T], lengths: Sequence[int | float], generator: Any = None) -> list[Subset[T]]:
    """Split a dataset at random into subsets without common samples.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int or of float
        Lengths, or fractions whose sum is 1; the samples that rounding leaves go to the first subsets, one to each.
    generator : numpy.random.Generator, Generator, int or None
        Source of random numbers, or a seed; the default generator of `manual_seed` when it is None.

    Returns
    -------
    list of Subset

    Raises
    ------
    ValueError
        The sum of the lengths is not the length of the dataset.

    Examples
    --------
    >>> import gradspec as gs
    >>> train, test = gs.utils.data.random_split(range(10), [0.75, 0.25], generator=0)
    >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
    (8, 2, True)
    """
    count: int = len(dataset)  # type: ignore[arg-type]
    if isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for fraction in lengths:
            if not 0 <= fraction <= 1:
                raise CallValueError(f"random_split: fractions are between 0 and 1, got {fraction}")
        sizes = [floor(count * fraction) for fraction in lengths]
        for i in range(count - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i in [i for i, size in enumerate(sizes) if not size]:
            warnings.warn(f"random_split: the subset at {i} is empty", stacklevel=2)
    else:
        sizes = list(lengths)  # type: ignore[arg-type]
    if sum(sizes) != count:
        raise CallValueError(f"random_split: the lengths sum to {sum(sizes)}, but the dataset has {count} samples")
    order = as_generator(generator, "random_split", "generator").permutation(count).tolist()
    return [Subset(dataset, order[start:end]) for start, end in pairwise([0, *accumulate(sizes)])]
