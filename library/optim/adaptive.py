"""Adadelta, Adamax, NAdam and RAdam, with PyTorch's formulas, defaults and state.

Computes the step of each rule from running moments of the gradient.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradspec as gs

from .optimizer import Optimizer, as_given, as_real, begin, decayed

Params = Iterable[Any]


class Adadelta(Optimizer):
    """Steps scaled by the ratio of running root mean squares of steps and gradients (Zeiler, 2012).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
    rho : float
        Decay of the running means of squares.
    eps : float
        Added to both means.
    weight_decay : float
        L2 penalty, added to the gradient.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        if not 0 <= group["rho"] <= 1:
            raise ValueError(f"Invalid rho value: {group['rho']}")

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            begin(state, param, "square_avg", "acc_delta")
        state["step"] += 1
        grad, rho, eps = as_real(decayed(param, grad, group)), group["rho"], group["eps"]
        square, change = as_real(state["square_avg"]), as_real(state["acc_delta"])
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        step = gs.sqrt(change + eps) / gs.sqrt(square + eps) * grad
        change.mul_(rho).addcmul_(step, step, value=1 - rho)
        return as_given(group["lr"] * step, param)


class Adamax(Optimizer):
    """Adam with a decaying maximum of the gradient instead of the second moment (Kingma and Ba, 2015).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of the largest.
    eps : float
        Added to the gradient's size.
    weight_decay : float
        L2 penalty, added to the gradient.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0,
        *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        (beta1, beta2), grad = group["betas"], as_real(decayed(param, grad, group))
        if not state:
            begin(state, param, "exp_avg", "exp_inf")
        count, mean, largest = state["step"], as_real(state["exp_avg"]), as_real(state["exp_inf"])
        count += 1
        mean.lerp_(grad, 1 - beta1)
        largest[...] = gs.maximum(largest * beta2, gs.abs(grad) + group["eps"])
        rate = gs.asarray(group["lr"] / (1 - beta1**count), dtype=mean.dtype)
        return as_given(rate * (mean / largest), param)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, 2016).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
    momentum_decay : float
        Speed of the convergence of momentum to the first of the betas.
    decoupled_weight_decay : bool
        Whether the weight decay shrinks the parameter, and is not added to the gradient.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True
    numbers = ("step", "mu_product")
    nonnegative = ("momentum_decay",)

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay}
        super().__init__(params, {**options, "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize})

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq")
            state["mu_product"] = gs.ones((), dtype=float)
        (beta1, beta2), lr, fading = group["betas"], group["lr"], group["momentum_decay"]
        grad = as_real(decayed(param, grad, group))
        count, product = state["step"], state["mu_product"]
        mean, square = as_real(state["exp_avg"]), as_real(state["exp_avg_sq"])
        count += 1
        now, following = (beta1 * (1 - 0.5 * 0.96 ** (later * fading)) for later in (count, count + 1))
        product *= now
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        size = gs.sqrt(square / gs.asarray(1 - beta2**count, dtype=square.dtype)) + group["eps"]
        of_grad = gs.asarray(lr * (1 - now) / (1 - product), dtype=mean.dtype)
        of_mean = gs.asarray(lr * following / (1 - product * following), dtype=mean.dtype)
        step = as_given((of_grad * grad + of_mean * mean) / size, param)
        return shrunk(step, param, group)


class RAdam(Optimizer):
    """Adam that uses the second moment once enough gradients have been seen (Liu and others, 2020).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
    betas : (float, float)
        Decay of the running mean of the gradient, and of its square.
    eps : float
        Added to the denominator.
    weight_decay : float
    decoupled_weight_decay : bool
        Whether the weight decay shrinks the parameter, and is not added to the gradient.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**options, "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize})

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq")
        (beta1, beta2), grad = group["betas"], as_real(decayed(param, grad, group))
        count, mean, square = state["step"], as_real(state["exp_avg"]), as_real(state["exp_avg_sq"])
        count += 1
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        longest = 2 / (1 - beta2) - 1  # length of the second moment's average, in the limit and now
        now = longest - 2 * count * beta2**count / (1 - beta2**count)
        trusted = now > 5
        safe = gs.where(trusted, now, 6.0)
        share = gs.sqrt((safe - 4) * (safe - 2) * longest / ((longest - 4) * (longest - 2) * safe))
        scale = gs.asarray(share * gs.sqrt(1 - beta2**count), dtype=mean.dtype) / (gs.sqrt(square) + group["eps"])
        rate = gs.asarray(group["lr"] / (1 - beta1**count), dtype=mean.dtype)
        return shrunk(as_given(rate * mean * gs.where(trusted, scale, 1.0), param), param, group)


def shrunk(step: gs.Tensor, param: gs.Tensor, group: dict[str, Any]) -> gs.Tensor:
    """The step plus the amount that decoupled weight decay subtracts from the parameter."""
    if group["weight_decay"] and group["decoupled_weight_decay"]:
        step = step + group["lr"] * group["weight_decay"] * param
    return step
