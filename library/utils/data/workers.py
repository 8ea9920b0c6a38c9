"""Workers: read batches in other threads or processes, by `concurrent.futures`.

Each worker is an executor with one thread or process: it reads every n-th batch, whatever the others do, so that batches do not
depend on timing, and it iterates over a dataset by itself.
"""

import random
from _thread import _local
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as LateError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ...support.generator import manual_seed, numpy_random
from .datasets import IterableDataset, samples


class End:
    """A worker's answer when its dataset has no more samples."""


@dataclass(frozen=True)
class WorkerInfo:
    """A worker of a loader: `id`, from 0 up to `num_workers`, its `seed` in this run, and its copy of the `dataset`."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


@dataclass(frozen=True)
class Reader:
    """A dataset with the settings of its loader, which reads batches."""

    dataset: Any
    collate_fn: Callable[[Any], Any]
    in_batches: bool
    drop_last: bool

    def begin(self) -> Callable[[Any], Any]:
        """The function from the indices of a batch to the batch, or `End`."""
        if not isinstance(self.dataset, IterableDataset):
            if self.in_batches:
                return lambda indices: self.collate_fn(samples(self.dataset, indices))
            return lambda index: self.collate_fn(self.dataset[index])
        rest = iter(self.dataset)

        def read(indices: Any) -> Any:
            data = list(islice(rest, len(indices) if self.in_batches else 1))
            if not data or (self.in_batches and self.drop_last and len(data) < len(indices)):
                return End
            return self.collate_fn(data if self.in_batches else data[0])

        return read


_here = _local()


def get_worker_info() -> WorkerInfo | None:
    """The worker of a loader that runs this, for a dataset that shares its samples out among the workers.

    Returns
    -------
    WorkerInfo or None
        With `id`, `num_workers`, `seed` and `dataset`; None outside of workers.
    """
    return getattr(_here, "info", None)


def _start(reader: Reader, info: tuple[int, int, int], init: Callable[[int], Any] | None, is_process: bool) -> None:
    _here.info, _here.reader = WorkerInfo(*info, reader.dataset), reader
    if is_process:  # threads share the generators of the program
        seed = _here.info.seed
        manual_seed(seed)
        random.seed(seed)
        numpy_random().seed(seed % 2**32)
    if init is not None:
        init(_here.info.id)


def _begin() -> None:
    _here.read = _here.reader.begin()


def _read(indices: Any) -> Any:
    return _here.read(indices)


class Workers:
    """The workers of one loader.

    Parameters
    ----------
    reader : Reader
    count : int
    seed : int
        Worker i gets `seed + i`.
    init : callable or None
        Called with the number of each worker.
    context : multiprocessing context or None
        None for threads.
    """

    def __init__(self, reader: Reader, count: int, seed: int, init: Callable[[int], Any] | None, context: Any) -> None:
        self.executors: list[Executor] = [
            ThreadPoolExecutor(1, f"DataLoader-{i}") if context is None else ProcessPoolExecutor(1, mp_context=context)
            for i in range(count)
        ]
        self.started = [
            one.submit(_start, reader, (i, count, seed + i), init, context is not None) for i, one in enumerate(self.executors)
        ]

    def batches(self, order: Iterator[Any], ahead: int, timeout: float, in_order: bool) -> Iterator[Any]:
        """The batches of one epoch.

        Parameters
        ----------
        order : iterator
            The indices of each batch.
        ahead : int
            Number of batches that each worker prepares in advance.
        timeout : float
            Seconds to wait for a batch; 0 means no limit.
        in_order : bool
            Whether batches come in their order; False takes each when a worker has read it.

        Yields
        ------
        object
        """
        waiting: deque[tuple[int, Future]] = deque()
        active, turns, limit = set(range(len(self.executors))), cycle(range(len(self.executors))), timeout or None
        begun = [self._submit(turn, _begin) for turn in range(len(self.executors))]
        for turn, (started, ready) in enumerate(zip(self.started, begun, strict=True)):
            self._result(turn, started, None)
            self._result(turn, ready, None)
        try:
            while True:
                while active and len(waiting) < ahead * len(active):
                    try:
                        indices = next(order)
                    except StopIteration:
                        break
                    turn = next(turn for turn in turns if turn in active)
                    waiting.append((turn, self._submit(turn, _read, indices)))
                if not waiting:
                    return
                if not in_order:
                    first = wait([future for _, future in waiting], limit, FIRST_COMPLETED).done
                    waiting = deque(sorted(waiting, key=lambda item: item[1] not in first))
                turn, future = waiting.popleft()
                batch = self._result(turn, future, limit)
                if batch is End:
                    active.discard(turn)
                else:
                    yield batch
        finally:
            for _, future in waiting:
                future.cancel()

    def _submit(self, turn: int, function: Callable[..., Any], *arguments: Any) -> Future:
        """A process that has ended refuses tasks: the refusal is the task's result, which comes in its turn."""
        try:
            return self.executors[turn].submit(function, *arguments)
        except BrokenProcessPool as error:
            refused: Future = Future()
            refused.set_exception(error)
            return refused

    def _result(self, turn: int, future: Future, limit: float | None) -> Any:
        try:
            return future.result(limit)
        except BrokenProcessPool as error:
            raise RuntimeError(f"DataLoader: worker {turn} ended without a result; num_workers=0 shows the error of a dataset, "
                               "and a program that spawns processes needs `if __name__ == '__main__':`") from error  # fmt: skip
        except LateError as error:
            if future.done():  # the dataset raised it
                raise
            raise RuntimeError(f"DataLoader: no batch within timeout={limit} seconds") from error

    def close(self, wait: bool = True) -> None:
        """End the workers, each after the batch that it is reading.

        A finalizer must not wait: the collector may run it in a thread that holds the locks of threads.
        """
        for one in self.executors:
            one.shutdown(wait, cancel_futures=True)
