"""Schedules that rise and fall: cycles, one cycle, and cosines with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer
from .scheduler import LRScheduler, Rates, put_rate


def each(name: str, value: Any, count: int) -> list[float]:
    """A number for each group, from one for all or one for each."""
    values = list(value) if isinstance(value, Sequence) else [value] * count
    if len(values) != count:
        raise ValueError(f"Expected {count} values for {name}, but got {len(values)}")
    return values


class _WithMomentum(LRScheduler):
    """Base class of schedules that change momentum, or the first of Adam's betas, against the learning rate."""

    cycle_momentum: bool
    use_beta1: bool

    def _check_momentum(self, optimizer: Optimizer) -> None:
        self.use_beta1 = "betas" in optimizer.defaults
        if not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")

    def _put_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Up from `base_lr` to `max_lr` and down again, periodically (Smith, 2017).

    Parameters
    ----------
    optimizer : Optimizer
    base_lr, max_lr : float or sequence of float
        One for all groups, or one for each.
    step_size_up : int
        Number of steps of the rise.
    step_size_down : int, optional
        Number of steps of the fall; by default equal.
    mode : {'triangular', 'triangular2', 'exp_range'}
        Whether the amplitude is constant, is halved at each cycle, or shrinks by `gamma` at each step.
    gamma : float
    scale_fn : callable, optional
        Factor of the amplitude, instead of `mode`.
    scale_mode : {'cycle', 'iterations'}
        Whether `scale_fn` is called with the number of the cycle, or of the step.
    cycle_momentum : bool
        Whether momentum falls from `max_momentum` to `base_momentum` during the rise.
    base_momentum, max_momentum : float or sequence of float
    last_epoch : int
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float], step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8, max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        groups = len(optimizer.param_groups)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, each("base_lr", base_lr, groups)):
                put_rate(group, rate)
                group.pop("initial_lr", None)
        self.max_lrs, self.mode, self.gamma = each("max_lr", max_lr, groups), mode, gamma
        up, down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = each("base_momentum", base_momentum, groups)
            self.max_momentums = each("max_momentum", max_momentum, groups)
            if last_epoch == -1:
                for group, least, most in zip(optimizer.param_groups, self.base_momentums, self.max_momentums):
                    self._put_momentum(group, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def _scale(self, number: float) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(number)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (number - 1), "exp_range": self.gamma**number}[self.mode]

    def get_lr(self) -> Rates:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1 + self.last_epoch / self.total_size - cycle
        height = place / self.step_ratio if place <= self.step_ratio else (place - 1) / (self.step_ratio - 1)
        height *= self._scale(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, least, most in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._put_momentum(group, most - (most - least) * height)
        return [base + (top - base) * height for base, top in zip(self.base_lrs, self.max_lrs)]


class OneCycleLR(_WithMomentum):
    """Up from `max_lr / div_factor` to `max_lr`, and down to far below the initial rate (Smith and Topin, 2019).

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float or sequence of float
        One for all groups, or one for each.
    total_steps : int, optional
        Number of steps; by default `epochs` times `steps_per_epoch`.
    epochs, steps_per_epoch : int, optional
    pct_start : float
        The fraction of steps in the rise.
    anneal_strategy : {'cos', 'linear'}
    cycle_momentum : bool
        Whether momentum moves in the opposite direction, between `max_momentum` and `base_momentum`.
    base_momentum, max_momentum : float or sequence of float
    div_factor, final_div_factor : float
        Ratio of `max_lr` to the first rate, and of the first rate to the last.
    three_phase : bool
        Whether the fall to the first rate takes as long as the rise.
    last_epoch : int
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85, max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        steps = total_steps if total_steps is not None else (epochs or 0) * (steps_per_epoch or 0)
        if steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps, self._anneal_func_type = steps, anneal_strategy
        up = float(pct_start * steps) - 1
        ways = [("initial_lr", "max_lr", "max_momentum", "base_momentum"), ("max_lr", "min_lr", "base_momentum", "max_momentum")]
        ends = [up, float(steps - 1)]
        if three_phase:
            ways[1] = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
            ways.append(("initial_lr", "min_lr", "max_momentum", "max_momentum"))
            ends[1:] = [2 * up, float(steps - 1)]
        self._phases = list(zip(ends, ways))
        groups = len(optimizer.param_groups)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, each("max_lr", max_lr, groups)):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            if last_epoch == -1:
                momenta = zip(each("base_momentum", base_momentum, groups), each("max_momentum", max_momentum, groups))
                for group, (least, most) in zip(optimizer.param_groups, momenta):
                    self._put_momentum(group, most)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> Rates:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        number = next((number for number, (end, _) in enumerate(self._phases) if step <= end), len(self._phases) - 1)
        (end, way), start = self._phases[number], self._phases[number - 1][0] if number else 0.0
        rates, share = [], (step - start) / (end - start)
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[way[0]], group[way[1]], share))
            if self.cycle_momentum:
                self._put_momentum(group, self._between(group[way[2]], group[way[3]], share))
        return rates


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down to `eta_min` along half a wave of a cosine, with restarts, each cycle `T_mult` times as long as the previous one.

    The source is Loshchilov and Hutter (2017).

    Parameters
    ----------
    optimizer : Optimizer
    T_0 : int
        Number of steps of the first cycle.
    T_mult : int
    eta_min : float
    last_epoch : int
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Rates:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Count a step, and set the learning rates.

        Parameters
        ----------
        epoch : float, optional
            Number of steps taken, instead of one more; may be fractional.
        """
        if epoch is not None and epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch, self.T_cur = self.last_epoch + 1, self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        elif epoch >= self.T_0:
            if self.T_mult == 1:
                self.T_cur, self.T_i = epoch % self.T_0, self.T_0
            else:
                number = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**number - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**number
        else:
            self.T_i, self.T_cur = self.T_0, epoch
        self._step_count += 1
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())
