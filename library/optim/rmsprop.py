"""RMSprop and Adagrad, with PyTorch's formulas, defaults and state."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor
from .optimizer import Optimizer, as_given, as_real, begin


class RMSprop(Optimizer):
    """Steps divided by the running root mean square of the gradient (Hinton, 2012).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    alpha : float
        Decay of the running mean of the square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, added to the gradient.
    momentum : float
        How much of the last step is kept.
    centered : bool
        Divide by the running standard deviation instead.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True
    nonnegative = ("momentum", "alpha")

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        super().__init__(params, {**options, "centered": centered, "maximize": maximize})

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        if not state:
            wanted = {"square_avg": True, "momentum_buffer": group["momentum"], "grad_avg": group["centered"]}
            begin(state, param, *(name for name in wanted if wanted[name]))
        if "step" in state:  # older files lack it
            state["step"] += 1
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * param
        grad, alpha, square = as_real(grad), group["alpha"], as_real(state["square_avg"])
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        variance = square
        if group["centered"]:
            mean = as_real(state["grad_avg"])
            mean.lerp_(grad, 1 - alpha)
            variance = square - mean * mean
        step = grad / (ops.sqrt(variance) + group["eps"])
        if group["momentum"]:
            buffer = as_real(state["momentum_buffer"])
            step = buffer.mul_(group["momentum"]).add_(step)
        return as_given(group["lr"] * step, param)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients so far (Duchi, Hazan and Singer, 2011).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    lr_decay : float
        The learning rate falls as 1 / (1 + lr_decay * steps).
    weight_decay : float
        L2 penalty, added to the gradient.
    initial_accumulator_value : float
        Initial value of the sum.
    eps : float
        Added to the denominator.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True
    nonnegative = ("lr_decay", "initial_accumulator_value")

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps}
        super().__init__(params, {**options, "initial_accumulator_value": initial_accumulator_value, "maximize": maximize})

    def takes_rows(self, group: dict[str, Any]) -> bool:
        return not group["weight_decay"]

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * param
        return self.update_rows(param, slice(None), grad, state, group)

    def update_rows(
        self, param: Tensor, places: np.ndarray | slice, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        if not state:
            start = group["initial_accumulator_value"]
            state["step"] = ops.zeros((), dtype=float)
            state["sum"] = ops.full(param.shape, complex(start, start) if param.dtype.kind == "c" else start, dtype=param.dtype)
        sums, count = state["sum"], state["step"]
        grad, total = as_real(grad), as_real(sums[places] if isinstance(places, np.ndarray) else sums)
        rate = asarray(group["lr"] / (1 + count * group["lr_decay"]), dtype=total.dtype)
        count += 1
        total.addcmul_(grad, grad)
        if isinstance(places, np.ndarray):
            sums[places] = as_given(total, param)
        return as_given(rate * (grad / (ops.sqrt(total) + group["eps"])), param)
