"""Buckets: gradients of many parameters in a few flat arrays, which are summed over the ranks while a backward pass runs.

Holds the flat arrays, and which of them are being summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gradspec as gs


def wire(dtype: np.dtype) -> np.dtype:
    """The dtype of messages over MPI, which has no half precision."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def by_dtype(tensors: Sequence[gs.Tensor]) -> list[list[int]]:
    """Indices of the tensors of each dtype."""
    found: dict[np.dtype, list[int]] = {}
    for number, tensor in enumerate(tensors):
        found.setdefault(tensor.dtype, []).append(number)
    return list(found.values())


def broadcast(comm: Any, tensors: Sequence[gs.Tensor], root: int) -> None:
    """Copy the values of rank `root` to the tensors of all ranks, with one message for each dtype."""
    for numbers in by_dtype(tensors):
        group = [tensors[number] for number in numbers]
        flat = np.concatenate([tensor.detach().numpy().ravel() for tensor in group])
        sent = np.ascontiguousarray(flat, dtype=wire(flat.dtype))
        comm.Bcast(sent, root=root)
        if comm.Get_rank() == root:
            continue
        place = 0
        with gs.no_grad():
            for tensor in group:
                tensor.copy_(gs.asarray(sent[place : place + tensor.size].reshape(tensor.shape), dtype=tensor.dtype))
                place += tensor.size


class Bucket:
    """Parameters whose gradients are sent together.

    Parameters
    ----------
    numbers : sequence of int
        Indices of the parameters among all parameters.
    params : sequence of Tensor
    """

    def __init__(self, numbers: Sequence[int], params: Sequence[gs.Tensor]) -> None:
        self.numbers = list(numbers)
        self.shapes = [param.shape for param in params]
        sizes = np.cumsum([0, *(param.size for param in params)])
        self.slots = {number: slice(int(a), int(b)) for number, a, b in zip(numbers, sizes, sizes[1:])}
        self.send = np.zeros(int(sizes[-1]), wire(params[0].dtype))
        self.received = np.empty_like(self.send)
        self.filled: set[int] = set()
        self.request: Any = None

    def put(self, number: int, grad: np.ndarray) -> None:
        self.send[self.slots[number]] = grad.ravel()
        self.filled.add(number)

    def start(self, comm: Any) -> None:
        """Start the sum over the ranks; missing gradients count as zeros."""
        for number in self.numbers:
            if number not in self.filled:
                self.send[self.slots[number]] = 0
        self.request = comm.Iallreduce(self.send, self.received)

    def forget(self) -> None:
        """Reset: no gradient is stored, and no sum is running."""
        if self.request is not None:
            self.request.Wait()
        self.request = None
        self.filled.clear()

    def finish(self, divisor: int) -> list[tuple[int, np.ndarray]]:
        """Wait for the sum; return the index and the mean of each parameter."""
        self.forget()
        mean = self.received / divisor
        return [(number, mean[self.slots[number]].reshape(shape)) for number, shape in zip(self.numbers, self.shapes)]


def buckets_of(params: Sequence[gs.Tensor], limit: float) -> list[Bucket]:
    """Buckets of one dtype and at most `limit` bytes, or one parameter; the last first, as their gradients arrive first."""
    found: list[Bucket] = []
    gathered: dict[np.dtype, tuple[list[int], int]] = {}

    def close(dtype: np.dtype) -> None:
        numbers, _ = gathered.pop(dtype)
        found.append(Bucket(numbers, [params[number] for number in numbers]))

    for number in reversed(range(len(params))):
        dtype, size = params[number].dtype, params[number].nbytes
        if dtype in gathered and gathered[dtype][1] + size > limit:
            close(dtype)
        numbers, total = gathered.get(dtype, ([], 0))
        gathered[dtype] = [*numbers, number], total + size
    for dtype in list(gathered):
        close(dtype)
    return found


class Reduction:
    """The sums of one backward pass after another: a bucket starts when it is full and all before it have started, so that all
    ranks start them in one order.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    params : sequence of Tensor
    limit : float
        Bytes of a bucket.
    """

    def __init__(self, comm: Any, params: Sequence[gs.Tensor], limit: float) -> None:
        self.comm, self.params = comm, list(params)
        self.buckets = buckets_of(params, limit)
        self.of = {number: bucket for bucket in self.buckets for number in bucket.numbers}
        self.started = 0

    def put(self, number: int, grad: np.ndarray) -> None:
        """A gradient is ready."""
        self.of[number].put(number, grad)
        for bucket in self.buckets[: self.started]:
            bucket.request.Test()  # MPI makes progress only during calls
        while self.started < len(self.buckets):
            bucket = self.buckets[self.started]
            if len(bucket.filled) < len(bucket.numbers):
                break
            bucket.start(self.comm)
            self.started += 1

    def missing(self) -> list[int]:
        """The parameters without a gradient in this pass."""
        return sorted(number for bucket in self.buckets for number in bucket.numbers if number not in bucket.filled)

    def forget(self) -> None:
        """Reset to the state before the pass."""
        for bucket in self.buckets:
            bucket.forget()
        self.started = 0

    def finish(self, divisor: int) -> list[tuple[int, np.ndarray]]:
        """Start the remaining sums, wait for all, and return the mean of each parameter."""
        for bucket in self.buckets[self.started :]:
            bucket.start(self.comm)
        self.started = 0
        return [pair for bucket in self.buckets for pair in bucket.finish(divisor)]
