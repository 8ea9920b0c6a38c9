"""Schedules in one direction: steps, powers, lines and half a wave of a cosine.

Defines each formula once from the previous rate and, if it exists, once from the number of steps alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from .optimizer import Optimizer
from .scheduler import LRScheduler, Rates


class _Functions(LRScheduler):
    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]], last_epoch: int = -1
    ) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)


class LambdaLR(_Functions):
    """The first learning rate times `lr_lambda(steps)`; a list has a function for each group.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or sequence of callable
        Takes the number of steps, returns a factor.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def get_lr(self) -> Rates:
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_Functions):
    """Multiply the rate by `lr_lambda(steps)` at every step; a list has a function for each group.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or sequence of callable
        Takes the number of steps, returns a factor.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def get_lr(self) -> Rates:
        if self.last_epoch == 0:
            return self._rates()
        return [rate * function(self.last_epoch) for rate, function in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """Multiply the rate by `gamma` every `step_size` steps.

    Parameters
    ----------
    optimizer : Optimizer
    step_size : int
    gamma : float
        The factor.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        now = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if now else rate for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        return [base * self.gamma ** (epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the rate by `gamma` at each of the `milestones`.

    Parameters
    ----------
    optimizer : Optimizer
    milestones : iterable of int
        Numbers of steps.
    gamma : float
        The factor.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        return [base * self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch) for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The first learning rate times `factor`, for `total_iters` steps.

    Parameters
    ----------
    optimizer : Optimizer
    factor : float
        From 0 to 1.
    total_iters : int
        After these steps the rate is the first one.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        if self.last_epoch not in (0, self.total_iters):
            return self._rates()
        return [rate * (self.factor if self.last_epoch == 0 else 1 / self.factor) for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        return [base * (self.factor if epoch < self.total_iters else 1) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The first learning rate times a factor, which goes from `start_factor` to `end_factor` in `total_iters` even steps.

    Parameters
    ----------
    optimizer : Optimizer
    start_factor : float
        Above 0, at most 1.
    end_factor : float
        From 0 to 1.
    total_iters : int
        After these steps the rate is constant.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        epoch, change = self.last_epoch, self.end_factor - self.start_factor
        if epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if epoch > self.total_iters:
            return self._rates()
        factor = 1 + change / (self.total_iters * self.start_factor + (epoch - 1) * change)
        return [rate * factor for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        share = min(epoch, self.total_iters) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * share) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the rate by `gamma` at every step.

    Parameters
    ----------
    optimizer : Optimizer
    gamma : float
        The factor.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        return [rate * self.gamma if self.last_epoch > 0 else rate for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        return [base * self.gamma**epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Decay to 0 in `total_iters` steps, as a power of the remaining fraction of steps.

    Parameters
    ----------
    optimizer : Optimizer
    total_iters : int
    power : float
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        if not 0 < self.last_epoch <= self.total_iters:
            return self._rates()
        left = (1 - self.last_epoch / self.total_iters) / (1 - (self.last_epoch - 1) / self.total_iters)
        return [rate * left**self.power for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        return [base * (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` in `T_max` steps, along half a wave of a cosine, and up again.

    Parameters
    ----------
    optimizer : Optimizer
    T_max : int
        The number of steps of half a wave.
    eta_min : float
        The lowest rate.
    last_epoch : int
        The number of steps so far, -1 for none.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        epoch, half = self.last_epoch, self.T_max
        if epoch == 0:
            return self._rates()
        if self._step_count == 1:
            return self._at(epoch)
        if (epoch - 1 - half) % (2 * half) == 0:  # the first step up from the lowest
            up = (1 - math.cos(math.pi / half)) / 2
            return [rate + (base - self.eta_min) * up for rate, base in zip(self._rates(), self.base_lrs)]
        ratio = (1 + math.cos(math.pi * epoch / half)) / (1 + math.cos(math.pi * (epoch - 1) / half))
        return [ratio * (rate - self.eta_min) + self.eta_min for rate in self._rates()]

    def _at(self, epoch: int) -> Rates:
        share = (1 + math.cos(math.pi * epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]
