"""DistributedDataParallel: the same module on each rank, whose gradients are averaged over all ranks.

Decides when gradients are passed to the buckets, and which values the ranks of a module share.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import gradspec as gs

from ..engine.engine import current_graph_task_id, queue_callback
from ..nn import Module
from ..support.pytree import flatten
from .buckets import Reduction, broadcast
from .join import Join, Said


def world(comm: Any) -> Any:
    """The given communicator, or mpi4py's communicator of all ranks."""
    if comm is not None:
        return comm
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("gradspec.distributed needs mpi4py for this: pip install mpi4py mpich") from error
    return MPI.COMM_WORLD


class DistributedDataParallel(Module):
    """A module that is trained on many ranks: each computes on its own data, and every backward pass averages the gradients.

    Rank 0 sends its parameters and buffers to all ranks.  The gradients of a bucket are sent as soon as its last gradient has
    arrived, while the backward pass continues.  After `backward()`, `.grad` is the mean over the ranks.  If the loss is a mean
    over equally many examples on each rank, `.grad` is the gradient of the mean over all examples. `autograd.grad` does not
    average.

    Parameters
    ----------
    module : Module
        With the same parameters on each rank.
    comm : mpi4py.MPI.Comm, optional
        `MPI.COMM_WORLD` by default; `Get_rank`, `Get_size`, `allgather`, `Bcast` and `Iallreduce` are used.
    bucket_cap_mb : float
        Size of a bucket, in 2**20 bytes.
    find_unused_parameters : bool
        Whether a pass may reach only some parameters, different ones on each rank.  Missing gradients count as zeros; a parameter
        that no rank has reached keeps its `.grad`.
    broadcast_buffers : bool
        Whether each forward in training begins with rank 0's buffers.

    Examples
    --------
    >>> model = gs.distributed.DistributedDataParallel(net)            # doctest: +SKIP
    >>> loss_of(model(batch)).backward()                                # doctest: +SKIP
    """

    def __init__(
        self,
        module: Module,
        comm: Any = None,
        *,
        bucket_cap_mb: float = 25.0,
        find_unused_parameters: bool = False,
        broadcast_buffers: bool = True,
    ) -> None:
        super().__init__()
        self.module, self.comm = module, world(comm)
        self.find_unused_parameters, self.broadcast_buffers = find_unused_parameters, broadcast_buffers
        self.require_backward_grad_sync = True
        self._join: Join | None = None
        self._divisor = self.comm.Get_size()
        self._divides_by_all, self._pass = True, -1  # the backward pass whose sums are running
        named = [(name, param) for name, param in module.named_parameters() if param.requires_grad]
        if not named:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                               "gradient.")  # fmt: skip
        self._names = [name for name, _ in named]
        self._check_ranks()
        broadcast(self.comm, [*module.parameters(), *module.buffers()], 0)
        self._reduction = Reduction(self.comm, [param for _, param in named], bucket_cap_mb * 2**20)
        self._handles = [
            param.register_post_accumulate_grad_hook(partial(self._ready, number)) for number, (_, param) in enumerate(named)
        ]

    def _check_ranks(self) -> None:
        """Refuse modules that differ between ranks, on all ranks."""
        tensors = [*self.module.named_parameters(), *self.module.named_buffers()]
        mine = [(name, tensor.shape, tensor.dtype.str, tensor.requires_grad) for name, tensor in tensors]
        for rank, theirs in enumerate(self.comm.allgather(mine)):
            if theirs != mine:
                differs = next((a or b for a, b in zip([*mine, None], [*theirs, None]) if a != b), None)
                raise RuntimeError(f"DistributedDataParallel: the modules of rank {self.comm.Get_rank()} and rank {rank} differ, "
                                   f"first at {differs and differs[0]!r}; all ranks have to build the same module")  # fmt: skip

    # Forward.

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        sums = self.require_backward_grad_sync and gs.is_grad_enabled()
        root = 0
        if self._join is not None:
            root = self._begin(self._join.round(sums))
        if self.training and self.broadcast_buffers:
            broadcast(self.comm, list(self.module.buffers()), root)
        result = self.module(*args, **kwargs)
        if self.find_unused_parameters and sums:
            for leaf in flatten(result)[0]:
                if isinstance(leaf, gs.Tensor) and leaf.requires_grad:
                    leaf.register_hook(self._reached)
        return result

    def _begin(self, said: Said) -> int:
        """Evaluate the answers of a round: the number of ranks in the mean, and the rank whose buffers are used."""
        there = [rank for rank, sums in enumerate(said) if sums is not None]
        self._divisor = len(said) if self._divides_by_all else len(there)
        return there[0]

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context whose backward passes only add to this rank's gradients; the next pass outside it averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # Backward.

    def _reached(self, _: gs.Tensor) -> None:
        """A pass has reached the module: even if it reaches no parameter, the other ranks wait for this rank's sums."""
        if self._pass != current_graph_task_id() and self.require_backward_grad_sync:
            self._reduction.forget()  # the remains of a failed pass
            self._pass = current_graph_task_id()
            queue_callback(self._finish)

    def _ready(self, number: int, param: gs.Tensor) -> None:
        """A parameter has its gradient."""
        if not self.require_backward_grad_sync:
            return
        grad = param.grad
        assert grad is not None
        if grad.requires_grad:
            raise RuntimeError("DistributedDataParallel: backward(create_graph=True) is not possible, since no graph goes to "
                               "other ranks; use the module itself where second derivatives are needed")  # fmt: skip
        self._reached(grad)
        self._reduction.put(number, grad.numpy())

    def _finish(self) -> None:
        """The pass has ended: the means replace the gradients."""
        self._pass = -1
        missing = self._reduction.missing()
        if missing and not self.find_unused_parameters:
            self._reduction.forget()
            raise RuntimeError(
                "DistributedDataParallel: Expected to have finished reduction, but the backward pass gave no gradient to "
                f"{', '.join(self._names[number] for number in missing)}; if a pass may leave out parameters, enable unused "
                "parameter detection by passing find_unused_parameters=True"
            )
        self._take(missing)

    def _take(self, missing: list[int]) -> None:
        """Finish the sums, without a contribution of this rank for `missing`, and keep the means."""
        found = self._reduction.finish(self._divisor)
        used = np.ones(len(self._names), np.int64)
        if self.find_unused_parameters:
            used[missing] = 0
            total = np.empty_like(used)
            self.comm.Iallreduce(used, total).Wait()
            used = total
        for number, mean in found:
            if used[number]:
                param = self._reduction.params[number]
                param.grad = gs.asarray(mean, dtype=param.dtype)

    # Ranks with less data.

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """A context for uneven inputs: a rank without further data takes part in the sums of the other ranks.

        Parameters
        ----------
        divide_by_initial_world_size : bool
            Whether a mean is over all ranks, with zeros from ranks without data, or only over ranks with data.
        enable, throw_on_early_termination : bool
            As for `Join`.

        Returns
        -------
        Join
        """
        self._divides_by_all = divide_by_initial_world_size
        return Join([self], enable, throw_on_early_termination)

    def _shadow(self, said: Said) -> None:
        root = self._begin(said)
        if self.training and self.broadcast_buffers:
            broadcast(self.comm, list(self.module.buffers()), root)
        if any(said):
            self._take(list(range(len(self._names))))

    def _settle(self, root: int) -> None:
        self._divisor, self._divides_by_all = self.comm.Get_size(), True
        broadcast(self.comm, [*self.module.parameters(), *self.module.buffers()], root)
