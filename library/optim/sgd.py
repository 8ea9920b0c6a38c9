"""SGD, with PyTorch's formulas, defaults and state."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..generated import ops
from ..generated.tensor import Tensor
from .optimizer import Optimizer


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    momentum : float
        How much of the last step is kept.
    dampening : float
        How much of the gradient is withheld from the momentum.
    weight_decay : float
        L2 penalty, added to the gradient.
    nesterov : bool
        Step by the gradient as the momentum will have changed it.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True
    nonnegative = ("momentum",)

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**options, "nesterov": nesterov, "maximize": maximize})

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        if group["nesterov"] and (group["momentum"] == 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def takes_rows(self, group: dict[str, Any]) -> bool:
        return not group["momentum"] and not group["weight_decay"]

    def update_rows(
        self, param: Tensor, places: np.ndarray, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        return group["lr"] * grad

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        momentum = group["momentum"]
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * param
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = ops.copy(grad)
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad + momentum * buffer if group["nesterov"] else buffer
        return group["lr"] * grad
