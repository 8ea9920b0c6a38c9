"""Vectors: concatenate small parameters, so that an elementwise rule updates them at once, with bitwise equal results.

Decides which parameters are concatenated.  The tensors of their states are parts of vectors; parameters and gradients keep their
memory.  A vector is rebuilt when states, step counts, shapes or dtypes have been changed from outside.
"""

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.events import is_listened_to
from ..generated import ops
from ..generated.tensor import Tensor

SMALL = 2048  # greatest size of a parameter: copying more takes as long as separate operators
FEW = 4  # up to so many parameters it does not pay
LONG = 2**16  # size of a vector that stays in cache


class Vector:
    """Parameters of one dtype, whose states have the same names and the same step counts.

    Attributes
    ----------
    state : dict of str to Tensor
        As of a single parameter; empty at the first step.
    """

    def __init__(self, params: list[Tensor], states: list[dict[str, Any]], numbers: Sequence[str]) -> None:
        self.params, self.states, self.numbers = params, states, numbers
        self.kinds = kinds(params), kinds([param.grad for param in params])
        ends = np.cumsum([np.prod(shape, dtype=int) for shape, _ in self.kinds[0]]).tolist()
        self.slices = [slice(start, end) for start, end in zip([0, *ends], ends)]
        self.changes = ops.zeros((ends[-1],), dtype=params[0].dtype)
        self.parts = self.cut(self.changes)
        self.state: dict[str, Tensor] = {}
        self.whole: dict[str, Tensor] = {}  # what the tensors of the states are parts of: a vector, or one number for each
        self.held: dict[str, list[Tensor]] = {}  # these parts
        for name, value in states[0].items():
            values = [state[name] for state in states]
            self.keep(name, value.clone() if name in numbers else end_to_end(values))
        self.versions = self.counted()

    def cut(self, vector: Tensor) -> list[Tensor]:
        return [vector[place].reshape(shape) for place, (shape, _) in zip(self.slices, self.kinds[0])]

    def keep(self, name: str, value: Tensor) -> None:
        """Let the states have parts of one tensor under a name."""
        self.state[name] = value
        if name in self.numbers:
            whole = ops.full((len(self.params),), value.item(), dtype=value.dtype)
            parts = [whole[i] for i in range(len(self.params))]
        else:
            whole, parts = value, self.cut(value)
        self.whole[name], self.held[name] = whole, parts
        for state, part in zip(self.states, parts):
            state[name] = part

    def counted(self) -> list[int]:
        return [whole._version for name, whole in self.whole.items() if name in self.numbers]

    def fits(self, states: Mapping[Tensor, dict[str, Any]]) -> bool:
        """Whether everything is as the last step has left it, but the numbers of parameters, gradients and vectors."""
        return (
            all(map(is_, map(states.get, self.params), self.states))
            and all(len(state) == len(self.held) for state in self.states)
            and all(all(map(is_, [state.get(name) for state in self.states], parts)) for name, parts in self.held.items())
            and self.versions == self.counted()
            and self.kinds == (kinds(self.params), kinds([param.grad for param in self.params]))
        )

    def param(self) -> Tensor:
        return end_to_end(self.params)

    def grad(self) -> Tensor:
        return end_to_end([param.grad for param in self.params])

    def take(self, change: Tensor) -> None:
        """Move the parameters, and let their states have what is new."""
        self.changes.copy_(change)
        for param, part in zip(self.params, self.parts):
            param -= part
        for name, value in list(self.state.items()):
            if name not in self.whole:
                self.keep(name, value)
            elif value is not self.whole[name]:
                self.whole[name][...] = value
                if name not in self.numbers:
                    self.state[name] = self.whole[name]
        self.versions = self.counted()


def kinds(tensors: Sequence[Any]) -> list[tuple[tuple[int, ...], np.dtype]]:
    return [(tensor.shape, tensor.dtype) for tensor in tensors]


def end_to_end(tensors: Sequence[Any]) -> Tensor:
    return asarray(np.concatenate([tensor.numpy() for tensor in tensors], axis=None))


class Vectors:
    """The vectors of one group of parameters, from step to step."""

    def __init__(self) -> None:
        self.params: list[Tensor] = []  # all that had gradients
        self.vectors: list[Vector] = []
        self.rest: list[Tensor] = []  # those that are in no vector

    def of(self, params: list[Tensor], states: Mapping[Tensor, dict[str, Any]], numbers: Sequence[str]) -> list[Vector]:
        """The vectors of the parameters that have gradients.

        Empty while a listener is active: a recording has separate parameters, and a profile shows the time of each.
        """
        if len(params) < FEW or is_listened_to():
            self.params, self.vectors, self.rest = [], [], params
        elif not (
            len(params) == len(self.params)
            and all(map(is_, params, self.params))
            and all(vector.fits(states) for vector in self.vectors)
        ):
            self.params = params
            self.vectors, self.rest = divided(params, states, numbers)
        return self.vectors


def divided(
    params: list[Tensor], states: Mapping[Tensor, dict[str, Any]], numbers: Sequence[str]
) -> tuple[list[Vector], list[Tensor]]:
    """Vectors of similar parameters, and the parameters that are not in a vector."""
    alike: dict[Any, list[list[Tensor]]] = {}
    rest: list[Tensor] = []
    sizes: dict[Any, int] = {}
    for param in params:
        state = states[param]
        whole = [value for name, value in state.items() if name not in numbers]
        if param.size > SMALL or any(not isinstance(value, Tensor) or value.shape != param.shape for value in whole):
            rest.append(param)
            continue
        counts = [float(state[name]) for name in numbers if name in state]
        key = (param.dtype, param.grad.dtype, *state, *counts, *[value.dtype for value in whole])  # type: ignore[union-attr]
        sizes[key] = sizes.get(key, LONG) + param.size
        if sizes[key] > LONG:
            alike.setdefault(key, []).append([])
            sizes[key] = param.size
        alike[key][-1].append(param)
    found = []
    for run in (run for lists in alike.values() for run in lists):
        if len(run) < FEW:
            rest += run
        else:
            found.append(Vector(run, [states[param] for param in run], numbers))
    return found, rest
