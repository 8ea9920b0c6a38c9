"""The base class of learning rate schedules.

Holds the count of steps, and decides which attributes of a schedule are its state.  A schedule sets `lr` in the groups of an
optimiser at each call of `step`.  Most schedules multiply the current rate, so that several of them on one optimiser combine.
"""

from __future__ import annotations

import types
from typing import Any

from ..core.grad_mode import no_grad
from ..generated.tensor import Tensor
from .optimizer import Optimizer

Rates = list[float]


def rate_of(group: dict[str, Any]) -> float:
    """The learning rate of a group as a number, also if it is a tensor of shape ()."""
    rate = group["lr"]
    return rate.item() if isinstance(rate, Tensor) else rate


def put_rate(group: dict[str, Any], rate: float) -> None:
    """Set the learning rate of a group; a tensor is written in place, so that a compiled step reads the current value."""
    if isinstance(group["lr"], Tensor):
        with no_grad():
            group["lr"].fill_(rate)
    else:
        group["lr"] = rate


class LRScheduler:
    """The base class of all schedules; a derived class returns the rates from `get_lr`.

    Parameters
    ----------
    optimizer : Optimizer
    last_epoch : int
        How many steps were taken already; -1 for a beginning.

    Attributes
    ----------
    base_lrs : list of float
        The first learning rate of each group.
    last_epoch : int
        How many steps were taken.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", rate_of(group))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{number}] when resuming an optimizer")
        self.optimizer, self.last_epoch, self._step_count = optimizer, last_epoch, 0
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def get_lr(self) -> Rates:
        """The learning rate of each group after `last_epoch` steps; for classes to override."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def _at(self, epoch: int) -> Rates:
        """The same from the number of steps alone, if there is such a formula."""
        return self.get_lr()

    def _rates(self) -> Rates:
        return [rate_of(group) for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Count a step, and set the learning rates.

        Parameters
        ----------
        epoch : int, optional
            How many steps were taken, in the place of one more.
        """
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr() if epoch is None else self._at(epoch))

    def _set(self, rates: Rates) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            put_rate(group, rate)
        self._last_lr = list(rates)

    def get_last_lr(self) -> Rates:
        """The learning rate of each group."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimiser and functions; for callable objects, their attributes."""
        return {name: held(value) for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the result of `state_dict`; the learning rates of the optimiser are unchanged."""
        for name, value in state_dict.items():
            mine = vars(self).get(name)
            if name == "lr_lambdas":
                for function, state in zip(mine or (), value):
                    if state is not None:
                        vars(function).update(state)
            elif value is not None or not callable(mine):
                vars(self)[name] = value


def held(value: Any) -> Any:
    """The state of a value: attributes for a callable object, nothing for a function."""
    if isinstance(value, list) and value and all(callable(item) for item in value):
        return [held(item) for item in value]
    if callable(value):
        return None if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)) else dict(vars(value))
    return value
