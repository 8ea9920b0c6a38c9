"""Programs: one recording of a call, ready to run.

Owns what of a replay is no tape: leaves whose `.grad` is another one afterwards, tensors that were written to, results that
require grad, which are results of one node whose backward pass is a tape as well.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..autograd.nest import rebuild
from ..core.error_nodes import DelayedError
from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..engine.function import Function
from ..support.generator import as_generator
from ..tracing.values import Value, mapped, values_in
from .again import Again, Inputs
from .callers import generators_in
from .calls import Recorded, Result
from .capture import GUARD, Captured, Unfit
from .effects import does_something
from .holdings import array_held
from .listing import drawing, listing
from .lowering import Lowered
from .passes import lowered
from .playing import Missed, play_tape
from .spans import differences


class Program(Recorded):
    """One recording of a call.

    Attributes
    ----------
    forward, backward : Lowered
        `backward` is None where no result requires grad.
    """

    def __init__(self, taken: Captured, again: Again | None = None, state: Any = None, rechecked: bool = False) -> None:
        self.again, self.state, self.taken = again, state, taken
        self.calls, self.next_check = 1, 2 if rechecked else 0
        self.differentiated, self.targets = taken.differentiated, taken.targets
        self.backward: Lowered | None = None
        self.residuals: list[Value] = []
        self.saved_inputs: list[int] = []
        returned = values_in(taken.results) + [value for _, value in taken.gradients if value is not None]
        self.returned_memory = {value.memory for value in values_in(taken.results)}
        if taken.differentiated:
            self.check_alone(taken)
            places = {value: number for number, value in reversed(list(enumerate(taken.inputs)))}
            found = self.residuals_of(taken)
            self.saved_inputs = [places[value] for value in found if value in places]
            self.residuals = [value for value in found if value not in places]
        self.forward = lowered(taken.lines, taken.inputs, [*returned, *self.residuals])
        if taken.differentiated:
            inputs = [*taken.cotangents, *self.residuals, *(taken.inputs[n] for n in self.saved_inputs)]
            outputs = [value for _, value in taken.targets if value is not None]
            self.backward = lowered(taken.backward, inputs, outputs)
        self.index = {value: i for i, value in enumerate(self.forward.returned)}
        self.generators = generators_in(taken.lines)
        self.tape, self.wanted, self.written = self.forward.tape, tuple(self.forward.given), tuple(self.forward.written)
        self.groups = differences(taken.inputs)
        self.gradients = tuple((n, -1 if value is None else self.index[value]) for n, value in taken.gradients)
        self.answer = self.answer_of(taken)
        taken.outcome = None
        leaves: list[Any] = []
        mapped(taken.results, leaves.append)
        self.outs = [next(n for n, leaf in enumerate(leaves) if leaf is value) for value in taken.differentiated]
        self.changes = "writes to what it is given" if self.written else "leaves a .grad" if self.gradients else (
            "calls back" if any(map(does_something, taken.lines)) else "")
        self.simple = self.backward is None and not self.generators

    def __str__(self) -> str:
        parts = [listing(self.forward, "program")]
        if self.backward is not None:
            parts.append(listing(self.backward, "backward"))
        return "\n\n".join(parts)

    def dot(self) -> str:
        """The program as DOT text, for graphviz."""
        return drawing(self.forward)

    def check_alone(self, taken: Captured) -> None:
        """Refuse results that require grad and share memory: writes to one would not be seen by the histories of the others."""
        memory = [value.memory for value in dict.fromkeys(taken.differentiated)]
        shared = {value.memory for value in taken.inputs} | {value.memory for value in values_in(taken.results)
                                                             if value not in taken.differentiated}  # fmt: skip
        if len(set(memory)) < len(memory) or not shared.isdisjoint(memory):
            raise Unfit("results that require grad share memory with each other, or with what the call was given")

    def answer_of(self, taken: Captured) -> Any:
        """The nest that the call returns, with the places of the tape's results."""
        owners = {value.memory: number for number, value in reversed(list(enumerate(taken.inputs)))}
        number = -1

        def leaf(item: Any) -> Any:
            nonlocal number
            number += 1
            if type(item) is not Value:
                return item
            finish = DelayedError(taken.spent[item], 1) if item in taken.spent else None
            plain = taken.returned[number]
            looks = number not in taken.passed and item.memory in owners and not plain and finish is None
            given = owners[item.memory] if looks else taken.passed.get(number, -1)
            return Result(self.index[item], plain, finish, given, looks)

        answer = mapped(taken.results, leaf)
        return answer if taken.form is None else partial(rebuild, taken.form, answer)

    def residuals_of(self, taken: Captured) -> list[Value]:
        """The values of the call that its backward pass reads, of what was given and of what was made."""
        given = {value.memory for value in taken.inputs}
        there = given | {value.memory for line in taken.lines for value in line.made}
        there |= {line.target.memory for line in taken.lines if line.target is not None}
        if any(line.target is not None and line.target.memory in there for line in taken.backward):
            raise Unfit("the backward pass writes to what the call was given or has made")
        if any(line.name == GUARD for line in taken.backward):
            raise Unfit("the backward pass looks at values: no branch can be taken after the call is over")
        read = [value for line in taken.backward for value in line.read]
        read += [value for _, value in taken.targets if value is not None]
        cotangents = set(taken.cotangents)
        return [value for value in dict.fromkeys(read) if value.memory in there and value not in cotangents]

    def run_slowly(self, given: list[Any], arrays: list[np.ndarray]) -> Any:
        """Run with random draws, which begin again where they were if the recording is of another call, or as a node."""
        generators = [as_generator(one, "compile", "generator").bit_generator for one in self.generators]
        states = [generator.state for generator in generators]
        try:
            if not self.backward:
                return self.nested(given, self.played(given, arrays))
            return self.recorded(given, arrays, Inputs(given, self.generators, states))
        except Exception:
            for generator, state in zip(generators, states):
                generator.state = state
            raise

    def restarts(self, error: Exception) -> bool:
        """Whether a call that has ended in an error has changed nothing, so that it can run eagerly from its start."""
        return self.forward.restartable and not getattr(error, "_of_a_callback", False)

    def recorded(self, given: list[Any], arrays: list[np.ndarray], inputs: Inputs) -> Any:
        """Run as one node of the graph."""
        found: list[Any] = []
        outs = Replayed.apply(self, given, arrays, found, inputs, *[given[number] for number, _ in self.targets])
        for value, out in zip(self.differentiated, outs if isinstance(outs, tuple) else (outs,)):
            found[self.index[value]] = out
        return self.nested(given, found)

    def differentiated_again(self, inputs: Inputs, cotangents: tuple) -> list[Any]:
        """The derivatives by what was given, with a history: the call is run as it is, and its backward pass recorded."""
        from ..autograd import grad

        change = None if self.state is None else self.state.holdings.changed()
        reason = f"it {self.changes}" if self.changes else "" if change is None else f"{change[0]} has changed since"
        if reason or self.again is None:
            raise Unfit("a backward pass through a compiled call is differentiated by running the function again, which cannot "
                        f"be done: {reason or 'there is no function'}; compile the function that takes the derivatives, as in "
                        "gs.compile(gs.func.grad(f))")  # fmt: skip
        given = inputs.unchanged()
        with inputs.same_draws():
            leaves = self.again(given)
        outs = [leaves[n] for n in self.outs]
        targets = [given[number] for number, _ in self.targets]
        return grad(outs, targets, list(cotangents), create_graph=True, allow_unused=True)


class Replayed(Function):
    """A replayed call as a node."""

    @staticmethod
    def forward(
        ctx: Any, program: Program, given: list[Any], arrays: list[np.ndarray], found: list[Any], inputs: Inputs, *targets: Any
    ) -> Any:
        ctx.inputs = inputs
        found += program.played(given, arrays)
        ctx.program = program
        saved = []
        for value in program.residuals:
            tensor = found[program.index[value]]
            if value.memory in program.returned_memory and value not in program.differentiated:
                tensor = tensor.copy()  # of memory that the caller can write to unseen
            saved.append(tensor)
        for number in program.saved_inputs:
            saved.append(given[number] if isinstance(given[number], TensorBase) else given[number].copy())
        tensors = [item for item in saved if isinstance(item, TensorBase)]
        if len(program.differentiated) == 1:
            ctx.save_for_backward(*tensors)
        else:  # of each result a pass of its own may come, which eager code would not forbid
            ctx.kept = [(tensor.detach(), tensor._version) for tensor in tensors]
        ctx.arrays = [None if isinstance(item, TensorBase) else item for item in saved]
        return tuple(found[program.index[value]] for value in program.differentiated)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        program = ctx.program
        tensors = iter(ctx.saved_tensors if len(program.differentiated) == 1 else unchanged(ctx.kept))
        if is_grad_enabled():
            return (None,) * 5 + tuple(program.differentiated_again(ctx.inputs, cotangents))
        saved = [next(tensors) if array is None else array for array in ctx.arrays]
        arrays = [array_held(item) for item in (*cotangents, *saved)]
        tape, given = program.backward.tape, program.backward.given
        found = play_tape(tape, [in_order(arrays[number], program.backward.inputs[number]) for number in given])
        index = {value: i for i, value in enumerate(program.backward.returned)}
        return (None,) * 5 + tuple(None if value is None else found[index[value]] for _, value in program.targets)


def unchanged(kept: list[tuple[Any, int]]) -> list[Any]:
    """Tensors that a node has kept, with their versions, refused where somebody has written to one."""
    for tensor, version in kept:
        if tensor._version != version:
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                               f"a value of a compiled call of shape {list(tensor.shape)} is at version {tensor._version}; "
                               f"expected version {version} instead")  # fmt: skip
    return [tensor for tensor, _ in kept]


def in_order(array: np.ndarray, value: Value) -> np.ndarray:
    """An array in the layout that the tape was made for, which is C's where it is another."""
    return array if array.strides == value.strides else array.copy(order="C")
