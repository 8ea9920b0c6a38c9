"""SparseAdam: Adam for gradients that have few rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..generated import ops
from ..generated.tensor import Tensor
from .optimizer import Optimizer


class SparseAdam(Optimizer):
    """Adam that updates only rows with a gradient, with PyTorch's formulas, defaults and state.

    The moments of a row decay only in steps with a gradient for that row.  Intended for the gradients of `gs.nn.Embedding(...,
    sparse=True)`; the cost of a step is proportional to the number of rows used.

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    maximize : bool
        Climb instead of descending.

    Examples
    --------
    >>> table = gs.nn.Embedding(1000, 4, sparse=True)
    >>> optimizer = gs.optim.SparseAdam(table.parameters())
    >>> before = table.weight.detach().clone()
    >>> (table(gs.asarray([3, 5, 3])) ** 2).sum().backward()
    >>> optimizer.step()
    >>> gs.nonzero((table.weight != before).any(axis=1))[0].tolist()
    [3, 5]
    """

    def __init__(
        self, params: Iterable[Tensor] | Iterable[dict[str, Any]], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def takes_rows(self, group: dict[str, Any]) -> bool:
        return True

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead. It takes gradients "
                           "of gs.nn.Embedding(..., sparse=True) whose .grad was not read before the step")  # fmt: skip

    def update_rows(
        self, param: Tensor, places: np.ndarray, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if not state:
            state["step"] = ops.zeros((), dtype=float)
            state["exp_avg"], state["exp_avg_sq"] = ops.zeros_like(param), ops.zeros_like(param)
        count = state["step"]
        count += 1
        mean, square = state["exp_avg"][places], state["exp_avg_sq"][places]
        mean.lerp_(grad, 1 - beta1)
        square += (1 - beta2) * (grad * grad - square)
        state["exp_avg"][places], state["exp_avg_sq"][places] = mean, square
        rate = lr * float(ops.sqrt(1 - beta2**count)) / float(1 - beta1**count)
        return rate * mean / (ops.sqrt(square) + group["eps"])
