"""ASGD, Rprop, Adafactor and Muon, with PyTorch's formulas, defaults and state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import gradspec as gs

from .optimizer import Optimizer, as_given, as_real, decayed

Params = Iterable[Any]


class ASGD(Optimizer):
    """Gradient descent that keeps the average of the parameters in its state (Polyak and Juditsky, 1992).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
    lambd : float
        Decay of the parameters at each step.
    alpha : float
        Power of the decay of the learning rate.
    t0 : float
        First step of the average.
    weight_decay : float
        L2 penalty, added to the gradient.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True
    numbers = ("step", "eta", "mu")

    def __init__(
        self, params: Params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        options = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        super().__init__(params, {**options, "maximize": maximize})

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            state["step"], state["mu"] = gs.zeros((), dtype=float), gs.ones((), dtype=float)
            state["eta"], state["ax"] = gs.asarray(float(group["lr"])), gs.zeros(param.shape, dtype=param.dtype)
        grad = decayed(param, grad, group)
        count, eta, weight, average = (state[name] for name in ("step", "eta", "mu", "ax"))
        count += 1
        step = gs.asarray(eta, dtype=as_real(param).dtype) * (group["lambd"] * param + grad)
        moved = param - step
        share = gs.asarray(weight, dtype=as_real(param).dtype)
        average[...] = gs.where(weight == 1, moved, average + (moved - average) * share)
        eta[...] = group["lr"] / (1 + group["lambd"] * group["lr"] * count) ** group["alpha"]
        weight[...] = 1 / gs.maximum(count - group["t0"], 1.0)
        return step


class Rprop(Optimizer):
    """Steps by the signs of the gradient, longer while a sign is unchanged, shorter when it changes (Riedmiller and Braun, 1993).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
    lr : float
        Initial size of all steps.
    etas : (float, float)
        Factors of a step size, after a change of sign and without one.
    step_sizes : (float, float)
        The smallest and the largest step size.
    maximize : bool
        Climb instead of descending.
    """

    elementwise = True

    def __init__(
        self, params: Params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2), step_sizes: tuple[float,
                                                                                                          float] = (1e-6, 50), *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        shorter, longer = group["etas"]
        if not 0 < shorter < 1 < longer:
            raise ValueError(f"Invalid eta values: {shorter}, {longer}")

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            first = complex(group["lr"], group["lr"]) if param.dtype.kind == "c" else group["lr"]
            state["step"], state["prev"] = gs.zeros((), dtype=float), gs.zeros(param.shape, dtype=param.dtype)
            state["step_size"] = gs.full(param.shape, first, dtype=param.dtype)
        state["step"] += 1
        (shorter, longer), grad = group["etas"], as_real(grad)
        before, length = as_real(state["prev"]), as_real(state["step_size"])
        kept = gs.sign(grad * before)
        length[...] = gs.clip(length * gs.where(kept > 0, longer, gs.where(kept < 0, shorter, 1.0)), *group["step_sizes"])
        grad = gs.where(kept < 0, 0.0, grad)
        before[...] = grad
        return as_given(gs.sign(grad) * length, param)


class Adafactor(Optimizer):
    """Steps divided by a second moment that is stored as means of its rows and columns (Shazeer and Stern, 2018).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        Real ones.
    lr : float
    beta2_decay : float
        Exponent of the step count in the decay of the second moment.
    eps : (float or None, float)
        The least root of the moment, None for the smallest step of the dtype at 1; and the least size of a parameter.
    d : float
        The largest root mean square of a step, before it is scaled.
    weight_decay : float
        Fraction of the parameter, times `lr`, that is subtracted at each step.
    maximize : bool
        Climb instead of descending.
    """

    shorter = ("row_var", "col_var")

    def __init__(
        self, params: Params, lr: float = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0, weight_decay: float = 0.0, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        options = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, {**options, "maximize": maximize})

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options({name: value for name, value in group.items() if name != "eps"})
        if not group["beta2_decay"] <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {group['beta2_decay']}")
        for number, least in enumerate(group["eps"], 1):
            if least is not None and not least >= 0:
                raise ValueError(f"epsilon{number} should be >= 0 but is: {least}")
        if not group["d"] >= 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {group['d']}")

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if param.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        if not state:
            state["step"] = gs.zeros((), dtype=float)
            if grad.ndim > 1:
                state["row_var"] = gs.zeros((*grad.shape[:-1], 1), dtype=grad.dtype)
                state["col_var"] = gs.zeros((*grad.shape[:-2], 1, grad.shape[-1]), dtype=grad.dtype)
            else:
                state["variance"] = gs.zeros(grad.shape, dtype=grad.dtype)
        least, smallest = group["eps"]
        least = float(np.finfo(param.dtype).eps) if least is None else least
        count = state["step"]
        count += 1
        share = gs.asarray(count ** group["beta2_decay"], dtype=grad.dtype)
        rate = gs.minimum(1 / gs.sqrt(count), group["lr"])
        rate = gs.asarray(rate, dtype=param.dtype) * gs.maximum(rms(param), smallest)
        square = grad * grad
        if grad.ndim > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows += share * (gs.mean(square, -1, keepdims=True) - rows)
            columns += share * (gs.mean(square, -2, keepdims=True) - columns)
            moment = rows @ columns / gs.clip(gs.mean(rows, -2, keepdims=True), least)
        else:
            moment = state["variance"]
            moment += share * (square - moment)
        step = grad / gs.sqrt(gs.clip(moment, least * least))
        step = rate / gs.maximum(rms(step) / group["d"], 1.0) * step
        return step + group["lr"] * group["weight_decay"] * param if group["weight_decay"] else step


class Muon(Optimizer):
    """Steps by momentum matrices, after changing all singular values to about 1 (Jordan and others, 2024).

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        Real matrices; biases and embeddings are for another optimiser.
    lr : float
    weight_decay : float
        Fraction of the parameter, times `lr`, that is subtracted at each step.
    momentum : float
        Decay of the running mean of the gradient.
    nesterov : bool
        Use Nesterov's momentum.
    ns_coefficients : (float, float, float)
        Coefficients of x, x**3 and x**5 in the Newton-Schulz iteration of the singular values.
    eps : float
        The least norm that the matrix is divided by.
    ns_steps : int
        How often.
    adjust_lr_fn : {None, 'original', 'match_rms_adamw'}
        How the learning rate follows from the shape.

    Notes
    -----
    PyTorch makes the singular values equal in bfloat16; here they are computed in the dtype of the parameter.
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        options = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "eps": eps}
        super().__init__(
            params, {**options, "ns_coefficients": ns_coefficients, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn}
        )

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        if not group["momentum"] >= 0:
            raise ValueError(f"momentum should be >= 0 but is: {group['momentum']}")
        if group["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {group['adjust_lr_fn']} is not supported")
        for param in group["params"]:
            if param.ndim != 2 or param.dtype.kind == "c":
                raise ValueError(f"Muon only supports 2D parameters of real numbers whereas we found one of {param.shape}")

    def update(self, param: gs.Tensor, grad: gs.Tensor, state: dict[str, Any], group: dict[str, Any]) -> gs.Tensor:
        if not state:
            state["momentum_buffer"] = gs.zeros(param.shape, dtype=param.dtype)
        mean, kept, lr = state["momentum_buffer"], group["momentum"], group["lr"]
        mean.lerp_(grad, 1 - kept)
        found = grad + kept * (mean - grad) if group["nesterov"] else mean
        step = orthogonalised(found, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = param.shape
        as_adamw = group["adjust_lr_fn"] == "match_rms_adamw"
        scale = 0.2 * math.sqrt(max(rows, columns)) if as_adamw else math.sqrt(max(1, rows / columns))
        return lr * scale * step + lr * group["weight_decay"] * param


def orthogonalised(x: gs.Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> gs.Tensor:
    """A matrix with the singular vectors of `x`, and singular values near 1."""
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    y = x.T if tall else x
    y = y / gs.clip(gs.linalg.norm(y), eps)
    for _ in range(steps):
        gram = y @ y.T
        y = a * y + (b * gram + c * (gram @ gram)) @ y
    return y.T if tall else y


def rms(x: gs.Tensor) -> gs.Tensor:
    """The root of the mean of the squares of all numbers."""
    return gs.sqrt(gs.mean(x * x))
