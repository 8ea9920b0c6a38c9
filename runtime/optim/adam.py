"""Adam and AdamW, with PyTorch's formulas, defaults and state."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..generated.tensor import Tensor
from .optimizer import Optimizer, as_real


class Adam(Optimizer):
    """Adam: steps scaled by running moments of the gradient (Kingma and Ba, 2015).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        L2 penalty, added to the gradient.
    amsgrad : bool
        Divide by the largest second moment so far.
    maximize : bool
        Climb instead of descending.
    """

    decoupled_weight_decay = False

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**options, "amsgrad": amsgrad, "maximize": maximize})

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        for i, beta in enumerate(group["betas"]):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}; it must be in [0, 1)")

    def update(self, array: np.ndarray, grad: np.ndarray, state: dict[str, Any], group: dict[str, Any]) -> np.ndarray:
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        if not state:
            state["step"] = 0
            state["exp_avg"] = np.zeros(array.shape, array.dtype)
            state["exp_avg_sq"] = np.zeros(array.shape, array.dtype)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros(array.shape, array.dtype)
        if decay and not self.decoupled_weight_decay:
            grad = grad + decay * array

        state["step"] += 1
        mean, square, grad = (as_real(values) for values in (state["exp_avg"], state["exp_avg_sq"], grad))
        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * (grad * grad)
        if group["amsgrad"]:
            largest = as_real(state["max_exp_avg_sq"])
            np.maximum(largest, square, out=largest)
            square = largest

        bias1, bias2 = 1 - beta1 ** state["step"], 1 - beta2 ** state["step"]
        step = mean / (np.sqrt(square) / bias2**0.5 + group["eps"])
        step *= lr / bias1
        step = step.view(array.dtype).reshape(array.shape)
        if decay and self.decoupled_weight_decay:
            step += lr * decay * array
        return step


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself and stays out of the moments (Loshchilov and Hutter, 2019).

    Parameters
    ----------
    params : iterable of Tensor, or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
        Share of the parameter, times `lr`, taken off at each step.
    amsgrad : bool
        Divide by the largest second moment so far.
    maximize : bool
        Climb instead of descending.
    """

    decoupled_weight_decay = True

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
