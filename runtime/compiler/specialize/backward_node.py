"""Backward nodes: a replayed call as a node of the graph.

Decides what the node keeps of the call, which of its backward passes runs for the results that received gradients, and when the
kept values are freed: as in the eager call's graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.grad_mode import is_grad_enabled
from ...core.tensor import TensorBase
from ...engine.engine import current_graph_task_keep_graph
from ...engine.function import Function
from ..execute.interpreter import run_executable
from ..passes.pipeline import lowered
from ..record.captured_state import array_held
from ..record.result_views import counted_together, kept
from ..tracing.instructions import Instruction
from ..tracing.layouts import laid_out
from ..tracing.values import Value
from .recompute_with_grad import Inputs


class Pass:
    """A backward pass from some of the results, ready to run.

    Parameters
    ----------
    lines : list of Instruction
    cotangents, residuals : list of Value
        Inputs of the pass.
    targets : list of (int, Value or None)
    """

    def __init__(self, lines: list[Instruction], cotangents: list[Value], residuals: list[Value], targets: list[Any]) -> None:
        self.targets = [value for _, value in targets]
        inputs = [*cotangents, *residuals]
        self.lowered = lowered(lines, inputs, [value for value in self.targets if value is not None])
        self.executable = self.lowered.executable
        self.layouts = [inputs[number] for number in self.lowered.given]
        first = len(cotangents)
        self.cotangents = [number for number in self.lowered.given if number < first]  # they come before the others
        self.saved = [number - first for number in self.lowered.given if number >= first]
        self.index = {value: number for number, value in enumerate(self.lowered.returned)}

    def run(self, cotangents: list[Any], saved: list[np.ndarray]) -> list[Any]:
        """The gradients of the targets."""
        arrays = [array_held(cotangents[number]) for number in self.cotangents] + saved
        found = run_executable(self.executable, [in_order(array, value) for array, value in zip(arrays, self.layouts)])
        return [None if value is None else found[self.index[value]] for value in self.targets]


class Residual:
    """A value of the call that its backward passes read.

    Parameters
    ----------
    value : Value
    given : list of int
        Inputs that share the value's memory; the first is the value itself, if it is an input.
    found : int
        Its position among the executable's results; -1 for an input.
    owner : int
        The position there of the result that owns its memory, or -1.
    seen : bool
        Whether an ndarray of its memory is returned; writes to it are not detected.
    """

    def __init__(self, found: int, given: list[int], owner: int, seen: bool) -> None:
        self.found, self.given, self.owner, self.seen = found, given, owner, seen

    def saved(self, given: list[Any], found: list[Any]) -> Any:
        """The saved value: a tensor that shares the version counter of its memory, or a copy that no code writes to."""
        if not self.given:
            item = found[self.found]
            if self.seen:
                return item.copy()
            return item if self.owner < 0 or self.found == self.owner else kept(found[self.owner], item)
        owner = given[self.given[0]]
        item = owner if self.found < 0 else found[self.found]
        if any(not counted_together(owner, given[other]) for other in self.given[1:]):
            return np.array(array_held(item))
        if self.found < 0:
            return item if isinstance(item, TensorBase) else item.copy()
        return kept(owner, item)


class Replayed(Function):
    """A replayed call as a node."""

    @staticmethod
    def forward(
        ctx: Any, program: Any, given: list[Any], arrays: list[np.ndarray], found: list[Any], inputs: Inputs, *targets: Any
    ) -> Any:
        found += program.executed(given, arrays)
        ctx.program, ctx.inputs, ctx.spent = program, inputs, set()
        saved = [residual.saved(given, found) for residual in program.residuals]
        ctx.numbers = [None if isinstance(item, TensorBase) else item for item in saved]
        ctx.save_for_backward(*(item if isinstance(item, TensorBase) else None for item in saved))
        ctx.set_materialize_grads(False)
        ctx._lasting = len(program.outs) > 1
        return tuple(found[place] for place in program.outs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        program = ctx.program
        asked = [n for n, cotangent in enumerate(cotangents) if cotangent is not None]
        if not asked:
            return (None,) * (5 + len(program.targets))
        freed = {other for n in asked for other in program.freeing[n]}
        if not freed.isdisjoint(ctx.spent):
            ctx._refuse_second()
        inputs = ctx.inputs
        if not current_graph_task_keep_graph():
            ctx.spent.update(asked)
            ctx._lasting = len(ctx.spent) < len(program.outs)
            ctx.inputs = inputs if ctx._lasting or not program.freeing[asked[0]] else None
        if is_grad_enabled():
            return (None,) * 5 + tuple(program.differentiated_again(inputs, cotangents, asked))
        passes = program.passes
        several = passes[:1] if len(asked) == len(program.outs) else [passes[1 + n] for n in asked]
        given = [cotangents[n] for n in asked]
        gradients = [one.run(given if len(several) == 1 else given[number : number + 1], saved_arrays(ctx, one))
                     for number, one in enumerate(several)]  # fmt: skip
        return (None,) * 5 + tuple(map(total, zip(*gradients)))


def saved_arrays(ctx: Any, one: Pass) -> list[np.ndarray]:
    """The saved arrays that a pass reads; refused if one was modified since."""
    arrays = iter(ctx._saved_arrays([number for number in one.saved if ctx.numbers[number] is None]))
    return [next(arrays) if ctx.numbers[number] is None else ctx.numbers[number] for number in one.saved]


def total(gradients: tuple) -> Any:
    """The sum of the gradients that are not None."""
    found = [gradient for gradient in gradients if gradient is not None]
    return None if not found else sum(found[1:], start=found[0])


def in_order(array: np.ndarray, value: Value) -> np.ndarray:
    """An array with the layout that the executable expects."""
    return array if array.strides == value.strides or not array.size else laid_out(array, value.strides)
