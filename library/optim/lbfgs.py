"""LBFGS: limited-memory BFGS, with PyTorch's options and stopping rules.

Holds the history of steps and gradients, and the line search for the strong Wolfe conditions (Nocedal and Wright, Numerical
Optimization, 2006, algorithms 7.4, 3.5 and 3.6).  All parameters form one real vector.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.grad_mode import enable_grad, no_grad
from ..generated.tensor import Tensor
from .optimizer import Optimizer

SUFFICIENT, CURVATURE = 1e-4, 0.9  # of the Wolfe conditions
LONGEST_SEARCH = 25


class LBFGS(Optimizer):
    """Limited-memory BFGS.  `step` needs a closure that clears the gradients, computes the loss, calls backward and returns it.

    Parameters
    ----------
    params : iterable of Tensor
        One group of parameters.
    lr : float
        Length of a step without a line search; the first one is shorter.
    max_iter : int
        Iterations in each call of `step`.
    max_eval : int, optional
        Calls of the closure in each call of `step`; by default 5/4 of `max_iter`.
    tolerance_grad : float
        Stop if no element of the gradient is larger.
    tolerance_change : float
        Stop if neither the parameters nor the loss change by more.
    history_size : int
        Number of steps in the history.
    line_search_fn : {None, "strong_wolfe"}
        Method of the line search; None for no line search.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        options = {"lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval}
        options |= {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size}
        super().__init__(params, {**options, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def check_options(self, group: dict[str, Any]) -> None:
        super().check_options(group)
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise ValueError(f"LBFGS: line_search_fn must be None or 'strong_wolfe', got {group['line_search_fn']!r}")

    def _step(self, closure: Callable[[], Tensor] | None) -> Tensor:
        """Move the parameters by up to `max_iter` iterations.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss, calls backward, and returns the loss.

        Returns
        -------
        Tensor
            The loss before the first iteration.
        """
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure, which it calls several times: it clears the gradients, computes the "
                            "loss, calls backward() and returns the loss")  # fmt: skip
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("n_iter", 0)
        state.setdefault("func_evals", 0)
        state.setdefault("history", [])  # (change of the parameters, change of the gradient)
        first, loss, gradient = self._evaluate(closure, state)
        calls, iterations = 1, 0
        while iterations < group["max_iter"] and calls < group["max_eval"]:
            if np.abs(gradient).max(initial=0) <= group["tolerance_grad"]:
                break
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            state["gradient"] = [gradient]
            slope = gradient @ direction
            if slope > -group["tolerance_change"]:
                break
            length = group["lr"] * (min(1.0, 1 / np.abs(gradient).sum()) if state["n_iter"] == 1 else 1.0)
            before = loss
            if group["line_search_fn"]:
                start = [param.detach().numpy().copy() for param in group["params"]]

                def at(length, direction=direction, start=start):
                    self._move(start, length * direction)
                    _, loss, gradient = self._evaluate(closure, state)
                    return loss, gradient, gradient @ direction

                length, loss, gradient, used = strong_wolfe(at, length, loss, gradient, slope, group["tolerance_change"])
                self._move(start, length * direction)
                calls += used
            else:
                self._move([param.detach().numpy() for param in group["params"]], length * direction)
                if iterations < group["max_iter"]:
                    _, loss, gradient = self._evaluate(closure, state)
                    calls += 1
            state["step"] = [length * direction]
            if np.abs(state["step"][0]).max(initial=0) <= group["tolerance_change"]:
                break
            if iterations < group["max_iter"] and abs(loss - before) < group["tolerance_change"]:
                break
        return first

    def _direction(self, state, gradient, size):
        """Minus the product of the gradient and the inverse Hessian that the history approximates."""
        history = state["history"]
        if "gradient" in state:
            step, change = state["step"][0], gradient - state["gradient"][0]
            if change @ step > 1e-10:
                history.append((step, change))
                del history[:-size]
        direction, weights = -gradient, []
        for step, change in reversed(history):
            weights.append(step @ direction / (change @ step))
            direction = direction - weights[-1] * change
        if history:
            step, change = history[-1]
            direction = direction * (change @ step / (change @ change))
        for (step, change), weight in zip(history, reversed(weights)):
            direction = direction + step * (weight - change @ direction / (change @ step))
        return direction

    def _evaluate(self, closure, state):
        """The loss as the closure returns it and as a number, and the gradient as a vector."""
        with enable_grad():
            loss = closure()
        state["func_evals"] += 1
        parts = []
        for param in self.param_groups[0]["params"]:
            array = np.zeros(param.shape, param.dtype) if param.grad is None else param.grad.detach().numpy()
            parts.append(_reals(array))
        return loss, float(np.asarray(loss.detach() if isinstance(loss, Tensor) else loss)), np.concatenate(parts)

    def _move(self, start, change):
        """Put the parameters at `start` plus a change, given as a vector."""
        place = 0
        with no_grad():
            for param, array in zip(self.param_groups[0]["params"], start):
                count = _reals(array).size
                part = change[place : place + count].astype(array.real.dtype)
                param.copy_(array + part.view(array.dtype).reshape(array.shape))
                place += count


def _reals(array):
    array = np.ascontiguousarray(array).ravel()
    return array.view(array.real.dtype) if np.iscomplexobj(array) else array


def strong_wolfe(at, length, loss, gradient, slope, tolerance):
    """A length along a descent direction that satisfies the strong Wolfe conditions, or else the best one found.

    Parameters
    ----------
    at : callable
        Takes a length, returns the loss, the gradient and the slope there.
    length, loss, gradient, slope
        The first length to try; loss, gradient and slope at 0.
    tolerance : float
        The search ends if its interval is shorter.

    Returns
    -------
    length, loss, gradient
        Result of the search.
    used : int
        Number of calls of `at`.
    """
    origin = low = (0.0, loss, gradient, slope)
    high = None
    for used in range(1, LONGEST_SEARCH + 1):
        found = (length, *at(length))
        flat = abs(found[3]) <= CURVATURE * abs(slope)
        later = high is not None or low is not origin
        if not found[1] <= loss + SUFFICIENT * length * slope or later and found[1] >= low[1]:
            high = found
        elif flat:
            return *found[:3], used
        else:
            if high is None and found[3] >= 0 or high is not None and found[3] * (high[0] - low[0]) >= 0:
                high = low
            low = found
        if high is None:
            length *= 2
        elif abs(high[0] - low[0]) * np.abs(gradient).max() < tolerance:
            break
        else:
            length = between(low, high)
    return *low[:3], used


def between(low, high):
    """Minimiser of the cubic through the values and slopes at both ends, kept well inside the interval."""
    (a, f, _, p), (b, g, _, q) = low, high
    middle, margin = (a + b) / 2, 0.1 * abs(b - a)
    slope = p + q - 3 * (f - g) / (a - b)
    square = slope * slope - p * q
    if not np.isfinite(square) or square < 0:
        return middle
    root = np.sign(b - a) * np.sqrt(square)
    if q - p + 2 * root == 0:
        return middle
    length = b - (b - a) * (q + root - slope) / (q - p + 2 * root)
    return min(max(length, min(a, b) + margin), max(a, b) - margin)
