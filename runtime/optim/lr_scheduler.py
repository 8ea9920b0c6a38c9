"""Schedules of learning rates, with PyTorch's names and formulas.

Each sets `lr` in the groups of an optimiser, to a function of the number of calls of `step`.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..support.later import answer
from .optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "ReduceLROnPlateau", "StepLR"]
answer(__name__)


def __dir__() -> list[str]:
    return list(__all__)


class LRScheduler:
    """What all schedules share: the first learning rates, and how many steps were taken.

    Parameters
    ----------
    optimizer : Optimizer
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = 0
        self._set()

    def rate(self, base: float, number: int) -> float:
        """The learning rate of group `number`, which began with `base`, after `last_epoch` steps."""
        raise NotImplementedError(f"{type(self).__name__} has no rate()")

    def step(self) -> None:
        """Count a step, and set the learning rates."""
        self.last_epoch += 1
        self._set()

    def _set(self) -> None:
        for number, (group, base) in enumerate(zip(self.optimizer.param_groups, self.base_lrs)):
            group["lr"] = self.rate(base, number)

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser and what is callable."""
        return {name: value for name, value in vars(self).items() if name not in ("optimizer", "lr_lambda")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what `state_dict` returned."""
        vars(self).update(state_dict)
        self._set()


class LambdaLR(LRScheduler):
    """The first learning rate times `lr_lambda(steps)`; a list has a function for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambda = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambda)}")
        super().__init__(optimizer)

    def rate(self, base: float, number: int) -> float:
        return base * self.lr_lambda[number](self.last_epoch)


class StepLR(LRScheduler):
    """Multiplied by `gamma` every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def rate(self, base: float, number: int) -> float:
        return base * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Multiplied by `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def rate(self, base: float, number: int) -> float:
        return base * self.gamma ** bisect_right(self.milestones, self.last_epoch)


class ExponentialLR(LRScheduler):
    """Multiplied by `gamma` at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, base: float, number: int) -> float:
        return base * self.gamma**self.last_epoch


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` in `T_max` steps, along half a wave of a cosine, and up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, number: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class ReduceLROnPlateau:
    """Multiplied by `factor` when a number that is watched has not improved for more than `patience` steps.

    Parameters
    ----------
    optimizer : Optimizer
    mode : {"min", "max"}
        What an improvement is.
    factor : float
    patience : int
    threshold : float
        By how much a number has to be better to count.
    threshold_mode : {"rel", "abs"}
        Whether `threshold` is a share of the best number.
    cooldown : int
        How many steps after a reduction are not counted.
    min_lr, eps : float
        The lowest learning rate, and the least change of one.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"mode must be 'min' or 'max', threshold_mode 'rel' or 'abs'; got {mode!r} and {threshold_mode!r}")
        self.optimizer, self.factor, self.patience, self.cooldown = optimizer, factor, patience, cooldown
        self.mode, self.threshold, self.threshold_mode, self.min_lr, self.eps = mode, threshold, threshold_mode, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def is_better(self, number: float) -> bool:
        """Whether `number` is an improvement on the best so far."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * (number - self.best) > self.threshold
        return sign * number > sign * self.best * (1 + sign * self.threshold)

    def step(self, metrics: Any) -> None:
        """Count a step whose number is `metrics`."""
        number = float(metrics.item() if hasattr(metrics, "item") else metrics)
        self.last_epoch += 1
        if self.is_better(number):
            self.best, self.num_bad_epochs = number, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                lower = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - lower > self.eps:
                    group["lr"] = lower
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]
