"""Results: determine how the results of a call relate to each other and to its inputs, and record their backward passes.

Determines which results are views, their bases, which results share version counters, which graphs were freed, and which saved
values each pass frees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.non_operator_events import array_of
from ...core.tensor import TensorBase
from ..tracing.values import Memory
from .captured_state import Unfit
from .origins import CallRecorder
from .result_views import base_under, counted_together, version_of, way_to

BACKWARD = "backward"  # separates the call from the backward passes of its results


class Roots:
    """The results of a call that are not views, and the bases of the views among the results.

    Parameters
    ----------
    given : list of Tensor or ndarray
    memory : Memory
    """

    def __init__(self, given: list[Any], memory: Memory) -> None:
        self.given, self.memory = given, memory
        self.tensors: list[Any] = []
        self.rows: list[tuple[Any, int, int, int]] = []

    def look(self, leaf: Any) -> tuple[int, int, Any]:
        """The origin of a result, as (input or -1, root or -1, steps to the view or None)."""
        ways = [(number, way_to(leaf, item)) for number, item in enumerate(self.given) if isinstance(item, TensorBase)]
        found = [(len(way), number, way) for number, way in ways if way is not None]
        if found:
            _, number, way = min(found, key=lambda one: one[:2])
            return number, -1, way
        base = base_under(leaf)
        way = None if base is leaf or self.memory.known(array_of(base)) is None else way_to(leaf, base)
        if way is None and not self.is_own(leaf):
            raise Unfit("a result is a view of an input and cannot be built again: it comes from a custom Function, from "
                        "as_strided or from an index of arrays; return a copy of it")  # fmt: skip
        return -1, self.number(leaf if way is None else base), way

    def is_own(self, leaf: Any) -> bool:
        """Whether a result is not a view of an input."""
        base = base_under(leaf)
        return not any(base is base_under(item) for item in self.given if isinstance(item, TensorBase))

    def number(self, tensor: Any) -> int:
        """The number of a root, which is added if it is new."""
        for number, other in enumerate(self.tensors):
            if other is tensor:
                return number
        owner = next((n for n, item in enumerate(self.given) if counted_together(tensor, item)), -1)
        other = -1 if owner >= 0 else next((n for n, root in enumerate(self.tensors) if counted_together(tensor, root)), -1)
        version = version_of(tensor) if owner < 0 and other < 0 else 0
        self.tensors.append(tensor)
        self.rows.append((self.memory.known(array_of(tensor)), owner, other, version))
        return len(self.tensors) - 1

    def outs(self, spent: set[int]) -> list[int]:
        """The roots that require grad; refused if they share memory with each other or an input: histories would not show it."""
        found = [number for number, root in enumerate(self.tensors) if root.requires_grad and id(root) not in spent]
        memory = [self.rows[number][0].memory for number in found]
        given = {self.memory.known(array) for array in map(array_or_itself, self.given)}
        if len(set(memory)) < len(memory) or not {value.memory for value in given if value is not None}.isdisjoint(memory):
            raise Unfit("results that require grad share memory with each other, or with an input of the call")
        return found


def array_or_itself(item: Any) -> Any:
    return array_of(item) if isinstance(item, TensorBase) else item


def record_result_views(taken: Any, recorder: CallRecorder, given: list[Any], leaves: list[Any], targets: list[int]) -> None:
    """Note the origin of each result, and record the backward passes from the results that require grad."""
    roots, nodes = Roots(given, recorder.met), [given[number] for number in targets]
    for n, leaf in enumerate(leaves):
        number, message, look = taken.passed.get(n, -1), None, None
        if isinstance(leaf, TensorBase) and number < 0:
            if leaf.requires_grad and (leaf.is_leaf or not nodes) and roots.is_own(leaf):
                raise Unfit("a result requires grad because of a leaf that the call creates; create it outside of the call")
            message = why_spent(leaf, nodes) if leaf.requires_grad else None
            look = roots.look(leaf) if message is None else (-1, roots.number(leaf), None)
        if message is not None:
            taken.spent[n] = message
        taken.looks.append(look or (number, -1, None))
    taken.roots, taken.differentiated = roots.rows, roots.outs({id(leaves[n]) for n in taken.spent})
    if taken.differentiated:
        go_backward(taken, recorder, given, [roots.tensors[n] for n in taken.differentiated], targets)


def why_spent(out: Any, targets: list[Any]) -> str | None:
    """The error message of differentiating a result whose graph was freed by a pass inside the call, or None."""
    from ...engine.backward import grad

    try:
        grad(out, targets, np.ones(out.shape, out.dtype), retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return str(error)
    return None


def go_backward(taken: Any, recorder: CallRecorder, given: list[Any], outs: list[Any], targets: list[int]) -> None:
    """Record backward passes from the results: one from all and, if there are several, one from each."""
    from ...core.conversion import asarray
    from ...engine.backward import grad

    cotangents = [np.ones(out.shape, out.dtype) for out in outs]
    taken.cotangents = [recorder.met.enter(array, "input") for array in cotangents]
    tensors = [asarray(array) for array in cotangents]
    numbers = list(range(len(outs)))
    for asked in [numbers, *([n] for n in numbers if len(outs) > 1)]:
        recorder.step("made", BACKWARD, (), NOWHERE)
        try:
            recorder.start()  # inside the try, because an interrupt may follow immediately
            found = grad([outs[n] for n in asked], [given[number] for number in targets], [tensors[n] for n in asked],
                         retain_graph=True, allow_unused=True)  # fmt: skip
        finally:
            recorder.stop()
        if recorder.failure is not None:
            raise recorder.failure
        values = [None if g is None else recorder.value(array_of(g), NOWHERE) for g in found]
        taken.targets.append([list(pair) for pair in zip(targets, values)])
    taken.freeing = freeing(outs, given)


def freeing(outs: list[Any], given: list[Any]) -> list[list[int]]:
    """For each result, the results whose pass frees a saved value that its own pass needs, including itself."""
    before = {id(item.grad_fn) for item in given if isinstance(item, TensorBase)}
    needed = []
    for out in outs:
        nodes: dict[int, Any] = {}
        todo = [out.grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and id(node) not in nodes and id(node) not in before:
                nodes[id(node)] = node
                todo += [following for following, _ in node.next_functions]
        needed.append({key for key, node in nodes.items() if holds_arrays(node)})
    return [[n for n, other in enumerate(needed) if mine & other] for mine in needed]


def holds_arrays(node: Any) -> bool:
    """Whether a node has saved a value that a pass frees."""
    saved = [getattr(node, f"saved_{name}", None) for name in type(node).saves if hasattr(node, f"version_{name}")]
    try:
        return any(item is not None for item in saved) or bool(getattr(node, "_raw_saved_tensors", ()))
    except RuntimeError:  # a pass inside the call has freed it
        return False


class Nowhere:
    """Stands in for an event outside of the call: it has no line."""

    line, kind = None, "made"


NOWHERE = Nowhere()
