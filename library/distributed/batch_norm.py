"""SyncBatchNorm: batch norm over the batches of all ranks.

Computes sums over ranks, which are differentiable: their backward pass sums over ranks as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradspec as gs

from .. import nn
from .data_parallel import world


class Summed(gs.autograd.Function):
    """The sum over all ranks, in the order of the ranks: all ranks get the same bits."""

    @staticmethod
    def forward(x: gs.Tensor, comm: Any) -> gs.Tensor:
        return gs.asarray(np.sum(comm.allgather(np.ascontiguousarray(x.numpy())), axis=0))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: gs.Tensor) -> None:
        ctx.comm = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: gs.Tensor) -> tuple[gs.Tensor, None]:
        return Summed.apply(grad, ctx.comm), None

    @staticmethod
    def jvp(ctx: Any, tangent: gs.Tensor, _: Any) -> gs.Tensor:
        return Summed.apply(tangent, ctx.comm)


class SyncBatchNorm(nn.SyncBatchNorm):
    """Each channel minus its mean over the batches of all ranks, divided by its standard deviation over them.

    In training, all ranks must call it equally often, and either all of them or none go backward through it.  In evaluation it
    uses the running statistics, which are equal on all ranks, and does not communicate.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats
        As of `nn.BatchNorm1d`.
    process_group : mpi4py.MPI.Comm, optional
        `MPI.COMM_WORLD` by default; `Get_size` and `allgather` are used.
    device : str, optional
    dtype : dtype, optional
    bias : bool
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, None, device, dtype, bias=bias)
        self.process_group = world(process_group)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        if not self.training or self.process_group.Get_size() == 1:
            return super().forward(x)
        self._check_input_dim(x)
        axes, shape = tuple(n for n in range(x.ndim) if n != 1), (1, -1, *(1,) * (x.ndim - 2))
        rows = np.asarray([x.size // max(x.shape[1], 1)], x.dtype)
        *_, first = totals = gs.split(Summed.apply(gs.concat([x.sum(axes), rows]), self.process_group), [x.shape[1]])
        count, mean = first.detach(), totals[0] / first.detach()
        if count.item() < 2:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.shape} on the only rank "
                             "that has any")  # fmt: skip
        centred = x - mean.reshape(shape)
        var = Summed.apply((centred * centred).sum(axes), self.process_group) / count
        self._move(mean.detach(), (var * (count / (count - 1))).detach())
        y = centred / gs.sqrt(var + self.eps).reshape(shape)
        if self.weight is not None:
            y = y * self.weight.reshape(shape)
        return y if self.bias is None else y + self.bias.reshape(shape)

    def _move(self, mean: gs.Tensor, var: gs.Tensor) -> None:
        """Move the running statistics towards the statistics of a batch."""
        if self.num_batches_tracked is None or self.running_mean is None or self.running_var is None:
            return
        self.num_batches_tracked.add_(1)
        momentum = 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum
        with gs.no_grad():
            self.running_mean += momentum * (mean - self.running_mean)
            self.running_var += momentum * (var - self.running_var)

    @classmethod
    def convert_sync_batchnorm(cls, module: nn.Module, process_group: Any = None) -> nn.Module:
        """The module with each batch norm replaced by a layer of this class, with its parameters and statistics.

        Parameters
        ----------
        module : Module
            Its children are replaced in it.
        process_group : mpi4py.MPI.Comm, optional

        Returns
        -------
        Module
            The module, or its replacement if it is a batch norm itself.
        """
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)):
            options = module.eps, module.momentum, module.affine, module.track_running_stats
            found = cls(module.num_features, *options, process_group)
            found._parameters.update(module._parameters)
            found._buffers.update(module._buffers)
            return found.train(module.training)
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        return module
