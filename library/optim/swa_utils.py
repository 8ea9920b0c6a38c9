"""Averages of models over training, with PyTorch's names: stochastic weight averaging and exponential moving averages.

Computes the averaged copy of a model, its learning rate, and new batch statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

import gradspec as gs

from .. import nn
from ..support.lazy_import import answer
from .cycles import each
from .optimizer import Optimizer
from .scheduler import LRScheduler, Rates, rate_of

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]
answer(__name__)

Average = Callable[[Any, Any, Any], Any]


def get_swa_avg_fn() -> Average:
    """The mean of all models: from the mean, a model, and how many were averaged to the mean with it.

    Returns
    -------
    callable
    """
    return lambda average, current, count: average + (current - average) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An average that forgets: from the average, a model, and how many were averaged to the average with it.

    Parameters
    ----------
    decay : float
        How much of the average is kept.

    Returns
    -------
    callable
    """
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda average, current, count: decay * average + (1 - decay) * current


def _of_lists(one: Average) -> Average:
    def averaged(averages: Sequence[gs.Tensor], currents: Sequence[gs.Tensor], count: Any) -> None:
        for average, current in zip(averages, currents):
            average.copy_(one(average, current, count).astype(average.dtype))

    return averaged


def get_swa_multi_avg_fn() -> Average:
    """`get_swa_avg_fn` for lists of tensors; the tensors of the first list are written in place.

    Returns
    -------
    callable
    """
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """`get_ema_avg_fn` for lists of tensors; the tensors of the first list are written in place.

    Parameters
    ----------
    decay : float
        The weight of the previous mean.

    Returns
    -------
    callable
        For `multi_avg_fn` of `AveragedModel`.
    """
    return _of_lists(get_ema_avg_fn(decay))


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are averages of the model's parameters over time.

    Parameters
    ----------
    model : Module
    device : str, optional
        "cpu": every tensor is in memory.
    avg_fn : callable, optional
        From the average, the parameter, and how many were averaged to the new average; the mean by default.
    multi_avg_fn : callable, optional
        The same of lists of tensors, written in place.
    use_buffers : bool
        Whether to average buffers, too; otherwise they are copies of the model's buffers.

    Attributes
    ----------
    module : Module
        The copy.
    n_averaged : Tensor
        How many models were averaged.
    """

    n_averaged: gs.Tensor

    def __init__(
        self, model: nn.Module, device: Any = None, avg_fn: Average | None = None, multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model).to(device=device)
        self.register_buffer("n_averaged", gs.asarray(0))
        one = get_swa_avg_fn() if avg_fn is None else avg_fn
        self.multi_avg_fn = _of_lists(one) if multi_avg_fn is None else multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: nn.Module) -> None:
        """Take the parameters of a model into the average.

        Parameters
        ----------
        model : Module
            Of the same architecture as the copied model.
        """
        mine, theirs = list(self.module.parameters()), list(model.parameters())
        buffers, others = list(self.module.buffers()), list(model.buffers())
        if self.use_buffers:
            mine, theirs, buffers, others = [*chain(mine, buffers)], [*chain(theirs, others)], [], []
        averages, currents = ([value.detach() for value in values] for values in (mine, theirs))
        with gs.no_grad():
            if self.n_averaged == 0:
                buffers, others = [*buffers, *averages], [*others, *currents]
            else:
                self.multi_avg_fn(averages, currents, self.n_averaged)
            for target, source in zip(buffers, others, strict=True):
                target.copy_(source.detach())
            self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Compute the running statistics of a model's batch norms again, as means over all batches.

    Parameters
    ----------
    loader : iterable
        Batches, or tuples that begin with one.
    model : Module
    device : str, optional
        "cpu": every tensor is in memory.
    """
    norms = [module for module in model.modules() if isinstance(module, nn.modules.normalisation.BatchNorm)]
    if not norms:
        return
    momenta, training = [module.momentum for module in norms], model.training
    for module in norms:
        module.reset_running_stats()
        module.momentum = None
    model.train()
    try:
        with gs.no_grad():
            for batch in loader:
                model(gs.asarray(batch[0] if isinstance(batch, (list, tuple)) else batch).to(device=device))
    finally:
        for module, momentum in zip(norms, momenta):
            module.momentum = momentum
        model.train(training)


class SWALR(LRScheduler):
    """Move the learning rate to `swa_lr` in `anneal_epochs` steps, and keep it there.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float or sequence of float
        One for all groups, or one for each.
    anneal_epochs : int
    anneal_strategy : {'cos', 'linear'}
    last_epoch : int
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | Sequence[float], anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        for group, rate in zip(optimizer.param_groups, each("swa_lr", swa_lr, len(optimizer.param_groups))):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        share = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return share if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * share)) / 2

    def get_lr(self) -> Rates:
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before, now, rates = self._share(step - 1), self._share(step), []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (rate_of(group) - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
