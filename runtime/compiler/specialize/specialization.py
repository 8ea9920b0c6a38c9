"""Specializations: one recording of a call, ready to run.

Adds to the executable: leaves whose `.grad` changes, versions of tensors that were written to, and results that require grad.
These results belong to one node, whose backward pass is an executable as well.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from ...core.error_nodes import DelayedError
from ...support.generator import as_generator
from ...support.pytree import rebuild
from ..execute.argument_guards import Recorded, Result
from ..guards.aliasing import differences
from ..lowering.call_conventions import generators_in
from ..lowering.listing import drawing, listing
from ..passes.pipeline import lowered
from ..record.capture import GUARD, Captured, Unfit
from ..record.result_views import ResultView, base_under, without_hooks
from ..record.side_effects import does_something
from ..tracing.instructions import Instruction
from ..tracing.values import Value, mapped
from .backward_node import Pass, Replayed, Residual
from .recompute_with_grad import Inputs, Recomputation


class RunEagerly(Exception):
    """A replay could not undo its writes if a loop failed and the function caught the error."""


class Program(Recorded):
    """One recording of a call.

    Attributes
    ----------
    forward : Lowered
    passes : list of Pass
        Backward passes from the results that require grad: one from all results and, if there are several, one from each.
    outs : list of int
        Their positions among the executable's results and the roots that follow them.
    residuals : list of Residual
    native : str or None
        "ready" if the executables are machine code, or why they are not; None without `backend="c"`.
    """

    native: str | None = None

    def __init__(self, taken: Captured, again: Recomputation | None = None, state: Any = None, rechecked: bool = False) -> None:
        self.again, self.state, self.taken = again, state, taken
        self.calls, self.next_check = 1, 2 if rechecked else 0
        self.freeing, self.targets = taken.freeing, [number for number, _ in taken.targets[0]] if taken.targets else []
        values = [row[0] for row in taken.roots]
        leaves: list[Any] = []
        mapped(taken.results, leaves.append)
        plain = [leaf for leaf, is_plain in zip(leaves, taken.returned) if is_plain and type(leaf) is Value]
        gradients = [value for _, value in taken.gradients if value is not None]
        read = list(dict.fromkeys(value for lines, targets in zip(taken.passes, taken.targets)
                                  for value in residuals_of(taken, lines, targets)))  # fmt: skip
        places = {value: number for number, value in reversed(list(enumerate(taken.inputs)))}
        self.forward = lowered(taken.lines, taken.inputs, [*values, *plain, *gradients, *(v for v in read if v not in places)])
        self.index = {value: i for i, value in enumerate(self.forward.returned)}
        self.place_roots(taken)
        self.outs = [self.places[number] for number in taken.differentiated]
        self.residuals = self.residuals_kept(taken, read, places, plain)
        every = list(range(len(self.outs)))
        asked = [every, *([n] for n in every)]
        self.passes = [Pass(lines, [taken.cotangents[n] for n in which], read, targets)
                       for lines, targets, which in zip(taken.passes, taken.targets, asked)]  # fmt: skip
        self.generators = generators_in(taken.lines)
        self.executable = self.forward.executable
        self.wanted, self.written = tuple(self.forward.given), tuple(self.forward.written)
        memory = [(number, taken.inputs[number].memory) for number, _ in taken.versions]
        self.counted = tuple(
            (number, times, tuple(n for n, other in memory if other is taken.inputs[number].memory and n < number))
            for number, times in taken.versions
        )
        self.groups = differences(taken.inputs)
        self.gradients = tuple((n, -1 if value is None else self.index[value]) for n, value in taken.gradients)
        self.answer = self.answer_of(taken)
        taken.outcome = None
        self.changes = "writes to what it is given" if self.written else "leaves a .grad" if self.gradients else (
            "calls back" if any(map(does_something, taken.lines)) else "")
        self.errors = dict.fromkeys(taken.otherwise, "raise")  # in these error modes the call runs eagerly on an error
        self.careful = taken.catches and bool(self.written)
        self.simple = not (self.passes or self.generators or self.errors or self.careful)

    def __str__(self) -> str:
        parts = [listing(self.forward, "program")]
        parts += [listing(one.lowered, "backward") for one in self.passes[:1]]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from html import escape

        text = str(self)
        return f"<details><summary>{escape(text.partition(chr(10))[0])}</summary><pre>{escape(text)}</pre></details>"

    def dot(self) -> str:
        """The program as DOT text, for graphviz."""
        return drawing(self.forward)

    def place_roots(self, taken: Captured) -> None:
        """Place the roots: a root with its own version counter is a result of the executable; the others follow the results."""
        self.places: list[int] = []
        rows: list[tuple[int, int, int, int]] = []
        for value, given, other, version in taken.roots:
            number = self.index[value]
            if given < 0 and other < 0 and version == 0 and number not in self.places:
                self.places.append(number)
                continue
            self.places.append(len(self.index) + len(rows))
            rows.append((number, given, -1 if other < 0 else self.places[other], version))
        self.roots = tuple(rows)

    def residuals_kept(self, taken: Captured, read: list[Value], places: dict[Value, int], plain: list[Value]) -> list[Residual]:
        """How each value that the backward passes read is saved."""
        unseen = {value.memory for value in plain}
        owners = {value.memory: self.index[value] for _, value in taken.gradients if value is not None}
        for (value, given, *_), place in reversed(list(zip(taken.roots, self.places))):
            owners.update({value.memory: place} if given < 0 else {})
        itself = {taken.roots[number][0]: self.places[number] for number in taken.differentiated}
        owners |= {value.memory: place for value, place in itself.items()}
        found = []
        for value in read:
            given = [number for number, one in enumerate(taken.inputs) if one.memory is value.memory]
            if value in places:
                given = [places[value], *(number for number in given if number != places[value])]
            found.append(Residual(-1 if value in places else itself.get(value, self.index[value]), given,
                                  owners.get(value.memory, -1), value.memory in unseen))  # fmt: skip
        return found

    def answer_of(self, taken: Captured) -> Any:
        """The pytree that the call returns, with the positions of the executable's results."""
        number = -1

        def leaf(item: Any) -> Any:
            nonlocal number
            number += 1
            if type(item) is not Value:
                return item
            given, root, way = taken.looks[number]
            finish = DelayedError(taken.spent[number], 1) if number in taken.spent else None
            place = self.places[root] if root >= 0 else -1 if given >= 0 else self.index[item]
            return Result(place, taken.returned[number], finish, given, None if way is None else ResultView(way))

        answer = mapped(taken.results, leaf)
        return answer if taken.form is None else partial(rebuild, taken.form, answer)

    def run_slowly(self, given: list[Any], arrays: list[np.ndarray]) -> Any:
        """Run a program that is not only an executable: it draws, is a node of the graph, or has its own `np.errstate`."""
        if self.careful and loops_may_fail():
            raise RunEagerly
        if not self.errors:
            return self.run_with_draws(given, arrays)
        with np.errstate(**self.errors):
            return self.run_with_draws(given, arrays)

    def run_with_draws(self, given: list[Any], arrays: list[np.ndarray]) -> Any:
        """Run the executable or the node; on an error the random generators are reset to their states before the call."""
        generators = [as_generator(one, "compile", "generator").bit_generator for one in self.generators]
        states = [generator.state for generator in generators]
        try:
            if not self.passes:
                return self.nested(given, self.executed(given, arrays))
            return self.recorded(given, arrays, Inputs(given, self.generators, states))
        except Exception:
            for generator, state in zip(generators, states):
                generator.state = state
            raise

    def restarts(self, error: Exception) -> bool:
        """Whether a call that ended in an error has changed nothing, so that it can run eagerly from its start."""
        if isinstance(error, RunEagerly):
            return True
        if self.written and isinstance(error, (FloatingPointError, Warning)):  # of a loop; writes do not wait for loops
            return False
        return self.forward.restartable and not getattr(error, "_of_a_callback", False)

    def recorded(self, given: list[Any], arrays: list[np.ndarray], inputs: Inputs) -> Any:
        """Run as one node of the graph."""
        found: list[Any] = []
        outs = Replayed.apply(self, given, arrays, found, inputs, *[given[number] for number in self.targets])
        for place, out in zip(self.outs, outs):
            found[place] = out
        return self.nested(given, found)

    def differentiated_again(self, inputs: Inputs, cotangents: tuple, asked: list[int]) -> list[Any]:
        """The derivatives with respect to the inputs, with a graph: run the call eagerly and record its backward pass."""
        from ...engine.backward import grad

        change = None if self.state is None else self.state.captured_state.changed()
        reason = f"it {self.changes}" if self.changes else "" if change is None else f"{change[0]} has changed since"
        if reason or self.again is None:
            raise Unfit("a backward pass through a compiled call is differentiated by running the function again, which cannot "
                        f"be done: {reason or 'there is no function'}; compile the function that takes the derivatives, as in "
                        "gs.compile(gs.func.grad(f))")  # fmt: skip
        given = inputs.unchanged()
        with inputs.same_draws():
            leaves = self.again(given)
        outs = []
        for root in (self.taken.differentiated[n] for n in asked):
            number, way = next((number, way) for number, (_, other, way) in enumerate(self.taken.looks) if other == root)
            outs.append(leaves[number] if way is None else base_under(leaves[number]))
        targets = [given[number] for number in self.targets]
        with without_hooks(targets):  # they run when the gradients arrive there
            return grad(outs, targets, [cotangents[n] for n in asked], create_graph=True, allow_unused=True)


def loops_may_fail() -> bool:
    """Whether a floating-point flag raises an error: by NumPy's error mode, or because a warnings filter is "error"."""
    return any(way in ("raise", "call") for way in np.geterr().values()) or any(one[0] == "error" for one in warnings.filters)


def residuals_of(taken: Captured, lines: list[Instruction], targets: list[tuple[int, Value | None]]) -> list[Value]:
    """The values of the call that a backward pass from its results reads: inputs and computed values."""
    there = {value.memory for value in taken.inputs} | {value.memory for line in taken.lines for value in line.made}
    there |= {line.target.memory for line in taken.lines if line.target is not None}
    if any(line.target is not None and line.target.memory in there for line in lines):
        raise Unfit("the backward pass writes to an input or a computed value of the call")
    if any(line.name == GUARD for line in lines):
        raise Unfit("the backward pass reads values in Python: no branch can be taken after the call has ended")
    read = [value for line in lines for value in line.read]
    read += [value for _, value in targets if value is not None]
    cotangents = set(taken.cotangents)
    return [value for value in dict.fromkeys(read) if value.memory in there and value not in cotangents]
