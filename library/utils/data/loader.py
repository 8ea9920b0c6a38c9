"""DataLoader: batches of the samples of a dataset, read here or by workers.

Checks the arguments, which are PyTorch's, and chooses samplers.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from math import ceil
from multiprocessing import get_all_start_methods, get_context
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ...support.errors import CallValueError
from ...support.generator import as_generator
from .collate import default_collate, default_convert
from .datasets import IterableDataset
from .samplers import BatchSampler, RandomSampler, SequentialSampler
from .workers import End, Reader, Workers

_FIXED = {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}


def _refuse(message: str) -> None:
    raise CallValueError(f"DataLoader: {message}")


class DataLoader:
    """Batches of the samples of a dataset; each iteration is one epoch.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        Anything with `__getitem__` and `__len__`, or an `IterableDataset`.
    batch_size : int or None
        None loads single samples, without a batch axis.
    shuffle : bool
        Whether each epoch has a new random order.
    sampler : iterable of int, optional
        The indices of an epoch.
    batch_sampler : iterable of list of int, optional
        The indices of each batch, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
    num_workers : int
        Number of threads or processes that read batches in advance; 0 reads a batch when it is asked for.
    collate_fn : callable, optional
        Builds a batch from a list of samples; `default_collate`, or `default_convert` without batches.
    pin_memory : bool
        Accepted, and without effect: tensors are in the memory of the host.
    drop_last : bool
        Whether a last batch that is smaller is left out.
    timeout : float
        Seconds to wait for a batch of a worker; 0 means no limit.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    multiprocessing_context : str or multiprocessing context, optional
        Workers are processes that it starts, such as "spawn"; by default they are threads.  Processes need what can be pickled,
        and copy each batch; threads help if reading releases Python's lock, as files and NumPy do.
    generator : numpy.random.Generator, Generator, int or None
        Source of the random order and of the workers' seeds, or a seed; the default generator of `manual_seed` when it is None.
    prefetch_factor : int, optional
        Number of batches that each worker reads in advance; 2 by default.
    persistent_workers : bool
        Whether workers stay for the next epoch.
    pin_memory_device : str
        Accepted, and without effect.
    in_order : bool
        Whether batches come in their order; False takes each when a worker has read it.

    Raises
    ------
    ValueError
        Arguments exclude each other.

    Notes
    -----
    Worker i of n reads the batches i, i + n, i + 2n, ...  A process has its generators seeded by `get_worker_info().seed`.
    Threads share the generators of the program: draw from `np.random.default_rng(get_worker_info().seed)` or with keys.

    Examples
    --------
    >>> import gradspec as gs
    >>> data = gs.utils.data.TensorDataset(gs.arange(5.0), gs.arange(5))
    >>> [x.tolist() for x, y in gs.utils.data.DataLoader(data, batch_size=2)]
    [[0.0, 1.0], [2.0, 3.0], [4.0]]
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None, generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0 or timeout < 0:
            _refuse("num_workers and timeout must not be negative; num_workers=0 reads in this thread")
        if num_workers == 0 and (prefetch_factor is not None or persistent_workers or multiprocessing_context is not None):
            _refuse(
                "prefetch_factor, persistent_workers and multiprocessing_context are for workers: write num_workers=1 or more"
            )
        if prefetch_factor is not None and prefetch_factor < 1:
            _refuse(f"prefetch_factor must be positive, got {prefetch_factor}")
        if isinstance(multiprocessing_context, str):
            if multiprocessing_context not in get_all_start_methods():
                _refuse(f"multiprocessing_context must be one of {get_all_start_methods()}, got {multiprocessing_context!r}")
            multiprocessing_context = get_context(multiprocessing_context)
        iterable = isinstance(dataset, IterableDataset)
        if iterable and (shuffle or sampler is not None or batch_sampler is not None):
            _refuse("an IterableDataset decides its own order: leave out shuffle, sampler and batch_sampler")
        if sampler is not None and shuffle:
            _refuse("sampler and shuffle exclude each other: write sampler=RandomSampler(...) or shuffle=True")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                _refuse("batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            _refuse("batch_size=None loads single samples, which drop_last does not apply to")
        self.generator = generator if generator is None else as_generator(generator, "DataLoader", "generator")
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=self.generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(repeat(None) if iterable else sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = dataset, batch_size, sampler, batch_sampler
        self.drop_last, self.num_workers, self.timeout, self.worker_init_fn = drop_last, num_workers, timeout, worker_init_fn
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.prefetch_factor = prefetch_factor if prefetch_factor is not None or not num_workers else 2
        self.persistent_workers, self.multiprocessing_context = persistent_workers, multiprocessing_context
        self._kept: Workers | None = None
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and getattr(self, "_ready", False):
            raise CallValueError(f"DataLoader: {name} is fixed: build another DataLoader")
        super().__setattr__(name, value)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            count: int = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else ceil(count / self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        seed = int(as_generator(self.generator, "DataLoader", "generator").integers(2**62))  # also without workers: equal orders
        order = iter(self._order())
        reader = Reader(self.dataset, self.collate_fn, self.batch_sampler is not None, self.drop_last)
        return self._by_workers(reader, order, seed) if self.num_workers else self._here(reader, order)

    def _order(self) -> Iterable[Any]:
        if self.batch_sampler is not None:
            return self.batch_sampler
        return repeat(None) if self.sampler is None else self.sampler

    def _here(self, reader: Reader, order: Iterator[Any]) -> Iterator[Any]:
        read = reader.begin()
        for indices in order:
            batch = read(indices)
            if batch is End:
                return
            yield batch

    def _by_workers(self, reader: Reader, order: Iterator[Any], seed: int) -> Iterator[Any]:
        workers = self._kept or Workers(reader, self.num_workers, seed, self.worker_init_fn, self.multiprocessing_context)
        self._kept = workers if self.persistent_workers else None
        left = False
        try:
            yield from workers.batches(order, self.prefetch_factor or 2, self.timeout, self.in_order)
        except GeneratorExit:  # an epoch that is left early: perhaps the collector ends it
            left = True
            raise
        finally:
            if not self.persistent_workers:
                workers.close(wait=not left)

    def __del__(self) -> None:
        if getattr(self, "_kept", None) is not None:
            self._kept.close(wait=False)  # type: ignore[union-attr]
