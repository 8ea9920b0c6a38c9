"""Sums over shards: a loss and its gradients, with the shards computed by the workers of an executor.

Decides the shards of a task and the order of the sum, and recovers from the death of a worker.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import Any, Self

import numpy as np

import gradspec as gs

from ..methods.dual_level import innermost_level
from ..support.pytree import flatten, places, rebuild
from ..transforms.batching.batched_backward import is_mapped

Arrays = list[np.ndarray]
Block = tuple[int, int, Arrays]  # the first shard, how many, and the sums of their arrays


class Pairs:
    """Sums over shards in the order of a binary tree over their indices, independent of the workers that compute them.

    A block is a subtree: 2**k shards, starting at a multiple of 2**k.  Two neighbours are merged as soon as both exist.  So a
    task returns few sums, and rounding does not depend on the distribution of the shards.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def add(self, start: int, size: int, arrays: Arrays) -> None:
        """Append a block."""
        while self.blocks:
            first, count, before = self.blocks[-1]
            if count != size or first % (2 * size):
                break
            self.blocks.pop()
            start, size, arrays = first, 2 * size, [a + b for a, b in zip(before, arrays)]
        self.blocks.append((start, size, arrays))

    def total(self) -> Arrays:
        """The sum of all shards."""
        *rest, (_, _, found) = self.blocks
        for _, _, before in reversed(rest):
            found = [a + b for a, b in zip(before, found)]
        return found


def run(loss: Callable[..., Any], parameters: bytes, start: int, shards: list[Any]) -> list[Block]:
    """One task: the loss and its gradients, summed over neighbouring shards; `start` is the number of the first."""
    params, sums = pickle.loads(parameters), Pairs()
    for number, shard in enumerate(shards, start):
        shard_leaves, form = flatten(shard)
        shard = rebuild(form, [aligned(leaf) for leaf in shard_leaves])
        try:
            with gs.enable_grad():
                value, grads = gs.func.value_and_grad(loss)(params, shard)
            if value.requires_grad:
                raise RuntimeError(
                    "distributed.value_and_grad: the loss depends on a tensor that requires grad and is not among the "
                    "parameters, so its gradient would be lost; pass it in params, or detach() it"
                )
            sums.add(number, 1, [np.asarray(value), *map(np.asarray, flatten(grads)[0])])
        except Exception as error:
            error.add_note(f"distributed.value_and_grad: in shard {number}")
            raise
    return sums.blocks


def aligned(leaf: Any) -> Any:
    """A copy of the array that is aligned for its dtype, if it is not aligned itself.  Engines that send memory separately, such
    as Dask, do not align it.  Kernels and BLAS add unaligned arrays in a different order, and the resulting bits would depend
    on the packing of tasks."""
    if type(leaf) is np.ndarray and not leaf.flags.aligned:
        return leaf.copy(order="K")
    return leaf


class Step:
    """The sum of a loss over shards, and its gradient, as a function of parameters and shards; see `value_and_grad`.

    As a context manager it ends the workers of an executor that it has created.

    Parameters
    ----------
    loss, executor, workers, retries
        As for `value_and_grad`.
    """

    def __init__(
        self, loss: Callable[..., Any], executor: Executor | Callable[[], Executor] | None, workers: int | None, retries: int
    ) -> None:
        if not callable(loss):
            raise TypeError("distributed.value_and_grad: loss must be a function of params and a shard, got "
                            f"{type(loss).__name__}")  # fmt: skip
        if workers is not None and workers < 1:
            raise ValueError(f"distributed.value_and_grad: workers must be 1 or more, got {workers}")
        self.loss, self.retries = loss, retries
        self.workers = workers or (os.cpu_count() or 1 if executor is None else None)
        self._executor = executor if isinstance(executor, Executor) else None
        self._make = None if self._executor else executor or (lambda: ProcessPoolExecutor(self.workers))

    def __call__(self, params: Any, shards: Iterable[Any]) -> tuple[gs.Tensor, Any]:
        if innermost_level() or is_mapped():
            raise RuntimeError("distributed.value_and_grad: it is called inside of forward mode or of vmap, of which workers "
                               "know nothing; call it outside, or add up gs.value_and_grad(loss) over the shards")  # fmt: skip
        leaves, form = flatten(params)
        for leaf, place in zip(leaves, places(form, "params")):
            check(leaf, place)
        shards = list(shards)
        if not shards:
            raise ValueError("distributed.value_and_grad: there are no shards to sum over")
        parameters = pickle.dumps(rebuild(form, [np.asarray(leaf) for leaf in leaves]), pickle.HIGHEST_PROTOCOL)
        sums = Pairs()
        for blocks in self._done([(start, shards[start:stop]) for start, stop in self._dealt(len(shards))], parameters):
            for block in blocks:
                sums.add(*block)
        value, *grads = sums.total()
        return gs.asarray(value), rebuild(form, [gs.asarray(grad) for grad in grads])

    def _dealt(self, count: int) -> Iterator[tuple[int, int]]:
        """Neighbouring shards for each task: as many tasks as workers, or one for each shard if their number is unknown."""
        tasks = min(self.workers or count, count)
        bounds = [count * i // tasks for i in range(tasks + 1)]
        return zip(bounds, bounds[1:])

    def _done(self, tasks: list[tuple[int, list[Any]]], parameters: bytes) -> list[list[Block]]:
        """The results of the tasks, in order; tasks of a broken executor are repeated by a new one."""
        found: dict[int, list[Block]] = {}
        for _ in range(self.retries + 1):
            broken = self._try([task for task in tasks if task[0] not in found], parameters, found)
            if broken is None:
                return [found[start] for start, _ in tasks]
            if self._make is None:
                raise RuntimeError("distributed.value_and_grad: a worker died and its executor is broken; give a function "
                                   "that makes an executor, and a new one computes the lost shards") from broken  # fmt: skip
            self.close()
        lost = [start + i for start, shards in tasks if start not in found for i in range(len(shards))]
        raise RuntimeError(f"distributed.value_and_grad: workers died {self.retries + 1} times before shards {lost} were "
                           "done; find out what ends their processes, such as a lack of memory") from broken  # fmt: skip

    def _try(self, tasks: list[tuple[int, list[Any]]], parameters: bytes, found: dict[int, list[Block]]) -> BaseException | None:
        """Run the tasks: store results in `found`, and return the error that broke the executor."""
        if self._executor is None:
            assert self._make is not None
            self._executor = self._make()
        futures: dict[Future[list[Block]], int] = {}
        try:
            for start, shards in tasks:
                futures[self._executor.submit(run, self.loss, parameters, start, shards)] = start
            wait(futures, return_when=FIRST_EXCEPTION)
        except BrokenExecutor as error:  # while tasks were handed in
            broken: BaseException | None = error
        else:
            broken = None
        finally:
            for future in futures:
                future.cancel()
        for future, start in futures.items():
            error = future.exception() if future.done() and not future.cancelled() else None
            if isinstance(error, BrokenExecutor):
                broken = error
            elif error is not None:
                if "pickle" in str(error) or isinstance(error, pickle.PicklingError):
                    error.add_note("distributed.value_and_grad: the loss and the shards are sent to processes; write the loss as "
                                   "a function at the top of a module, or functools.partial of one, in place of a lambda or a "
                                   "function inside of another, or give an executor of threads")  # fmt: skip
                raise error
            elif future.done() and not future.cancelled():
                found[start] = future.result()
        return broken

    def close(self) -> None:
        """End the workers of an executor that was created here; the next call creates a new one."""
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check(leaf: Any, place: str) -> None:
    """Refuse a parameter that requires grad: no graph is sent to another process."""
    if isinstance(leaf, gs.Tensor):
        if leaf.requires_grad and gs.is_grad_enabled():
            raise RuntimeError(f"distributed.value_and_grad: {place} requires grad, and no graph goes through an executor; pass "
                               "its detach(), or call this under no_grad()")  # fmt: skip
    elif not isinstance(leaf, (np.ndarray, np.generic, float, complex, int)):
        raise TypeError(f"distributed.value_and_grad: {place} must be an array, a tensor or a number, got {type(leaf).__name__}")


def value_and_grad(
    loss: Callable[..., Any],
    executor: Executor | Callable[[], Executor] | None = None,
    *,
    workers: int | None = None,
    retries: int = 2,
) -> Step:
    """The sum of a loss over shards of data, and its gradient, computed by the workers of an executor.

    Parameters
    ----------
    loss : callable
        `loss(params, shard)` gives one real number, as a Tensor.  It is sent to the workers, as a shard is: with processes, a
        function at the top of a module, or `functools.partial` of one.
    executor : concurrent.futures.Executor, or callable that makes one, optional
        `ProcessPoolExecutor` by default.  With a callable, an executor whose worker has died is replaced by a new one.
    workers : int, optional
        Number of tasks of a step: the parameters go once with each.  As many as there are processors where no executor is given,
        otherwise one for each shard.
    retries : int
        Number of times that the shards of dead workers are computed again before the step fails.

    Returns
    -------
    Step
        A function `step(params, shards)` of a pytree of arrays, tensors and numbers, and of an iterable of picklable objects. It
        returns (value, gradient): Tensors, the gradient with the structure of `params`.  The sums do not depend on `workers`, nor
        on the order of answers: shards are added in the order of a binary tree.

    Raises
    ------
    Exception
        An exception of `loss`, with the number of the shard; the other tasks are cancelled.
    RuntimeError
        If workers die too often, or if a parameter or a captured value of `loss` requires grad.

    Examples
    --------
    >>> import gradspec as gs
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> loss = lambda params, shard: ((params["w"] * shard - 1) ** 2).sum()
    >>> with ThreadPoolExecutor(2) as executor:
    ...     value, grads = gs.distributed.value_and_grad(loss, executor)({"w": 0.5}, [gs.ones(2), gs.ones(3)])
    >>> value.item(), grads["w"].item()
    (1.25, -5.0)
    """
    return Step(loss, executor, workers, retries)
