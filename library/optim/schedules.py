"""Schedules of schedules, and the schedule that monitors a number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .optimizer import Optimizer
from .scheduler import LRScheduler, put_rate, rate_of


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by `factor` after more than `patience` steps without an improvement of a monitored number.

    Parameters
    ----------
    optimizer : Optimizer
    mode : {"min", "max"}
        Direction of an improvement.
    factor : float
    patience : int
    threshold : float
        By how much a number has to be better to count.
    threshold_mode : {"rel", "abs"}
        Whether `threshold` is relative to the best number.
    cooldown : int
        How many steps after a reduction are not counted.
    min_lr : float or sequence of float
        The lowest learning rate, one for all groups or one for each.
    eps : float
        The least change of one.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"mode must be 'min' or 'max', threshold_mode 'rel' or 'abs'; got {mode!r} and {threshold_mode!r}")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, Sequence) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(self.min_lrs)}")
        self.optimizer, self.factor, self.patience, self.cooldown = optimizer, factor, patience, cooldown
        self.mode, self.threshold, self.threshold_mode, self.eps = mode, threshold, threshold_mode, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self._rates()

    def is_better(self, number: float) -> bool:
        """Whether `number` is an improvement on the best so far."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * (number - self.best) > self.threshold
        return sign * number > sign * self.best * (1 + sign * self.threshold)

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Count a step whose number is `metrics`."""
        number = float(metrics.item() if hasattr(metrics, "item") else metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(number):
            self.best, self.num_bad_epochs = number, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                lower = max(rate_of(group) * self.factor, least)
                if rate_of(group) - lower > self.eps:
                    put_rate(group, lower)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the result of `state_dict`."""
        vars(self).update(state_dict)


class _Several(LRScheduler):
    """Schedules of one optimiser."""

    _schedulers: list[LRScheduler]

    def _take(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        for number, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                                 f"specified when calling `step`, but got one at index {number}")  # fmt: skip
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but the one at index {number} "
                                 "has another")  # fmt: skip
        self._schedulers = list(schedulers)

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser; of each schedule its state."""
        state = {name: value for name, value in vars(self).items() if name not in ("optimizer", "_schedulers")}
        return {**state, "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the result of `state_dict`."""
        vars(self).update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Several):
    """One schedule after the other: the next one starts from the beginning at each of the `milestones`.

    Parameters
    ----------
    optimizer : Optimizer
    schedulers : sequence of LRScheduler
    milestones : sequence of int
        One element less than `schedulers`.
    last_epoch : int
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        self._take(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers to be one more than the number of "
                             f"milestone points, but got {len(schedulers)} schedulers, {len(milestones)} milestones")  # fmt: skip
        self._milestones, self.last_epoch = list(milestones), last_epoch + 1
        for group in optimizer.param_groups:
            put_rate(group, group["initial_lr"])
        for scheduler in schedulers:
            take_back(scheduler)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._step_count = 0
        first.step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Count a step, and set the learning rates."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """Several schedules at once: each starts from the learning rate that the previous one has set.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
    optimizer : Optimizer, optional
        That of the first one by default.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._take(schedulers, optimizer)
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Count a step of each, and set the learning rates."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


def take_back(scheduler: LRScheduler) -> None:
    """Uncount the step that a schedule has taken when it was made."""
    for part in getattr(scheduler, "_schedulers", ()):
        take_back(part)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1
