"""Mapping: dispatch the operators of a thread to its batches while a vmap is open.

Holds the open levels.  Chooses the batching rule of a call, handles writes to batches and random draws, and refuses impossible
calls.  A wrapper first asks `call`; operators on whole batches ask again, and find the batches of the outer levels.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.events import current_mapping, set_mapping
from ...generated.batching import BATCHING
from ...support.dispatch import ops
from ...support.generator import as_generator
from .batched import (
    Level,
    innermost,
    is_other,
    is_row,
    is_view_of,
    refuse_left,
    refuse_write,
    spread,
    together,
)
from .batched_backward import Passes, ReadsRow
from .indices import WAYS
from .rules import Record, Unfit, row_of, rows

RECORDS: dict[str, Record] = {}
_DRAWS = frozenset(name for name, (way, *_) in BATCHING.items() if way == "draws")


def record_of(name: str) -> Record:
    """The batching record of an operator; row by row if it has no entry."""
    found = RECORDS.get(name)
    if found is None:
        found = RECORDS[name] = Record(name, *BATCHING.get(name, ("rows", "")))
    return found


class Mapping(Passes):
    """The open levels of one thread, outermost first, and their treatment of calls with batches."""

    def call(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        """The result of an operator with a batch among its operands; NotImplemented without one."""
        level = innermost(inputs)
        if is_other(level):
            return level.call(name, wrapper, inputs)
        if name in _DRAWS:
            return self.drawn(name, wrapper, inputs)
        if level is None:
            if not self.levels and not self.away and not any(one.alive for one in self.left):
                set_mapping(None)
            return NotImplemented
        if not level.is_open:
            raise RuntimeError(f"{name}: a tensor of a vmap was used after that vmap had ended: it represents all rows "
                               "of a batch; return it from the function, and use what vmap returns")  # fmt: skip
        if name.endswith("_"):
            return self.written(level, name, wrapper, inputs)
        if name.endswith(".out"):
            out = inputs[-1]
            ops.copy_(out, getattr(ops, name[:-4])(*inputs[:-1]))
            return out
        return self.way(level, record_of(name), wrapper, inputs)

    def way(self, level: Level, op: Record, wrapper: Any, inputs: tuple) -> Any:
        try:
            return WAYS[op.way](level, op, wrapper, inputs)
        except Unfit:
            return rows(level, op, wrapper, inputs)

    def note(self, kind: str, name: str, inputs: tuple) -> None:
        """Refuse events that need the numbers of a row."""
        level = innermost(inputs) if kind == "left" else None
        if is_other(level):
            level.refuse_left(name)
        if level is not None:
            refuse_left(name)

    # Writes.

    def written(self, level: Level, name: str, wrapper: Any, inputs: tuple) -> Any:
        """An operator in place: the batch is written to; a tensor that all rows share cannot be."""
        target = inputs[0]
        op = record_of(name if name in BATCHING else name[:-1])
        if not is_row(target, level):
            refuse_write(name)
        if op.way == "elements" and all(getattr(arg, "ndim", 0) <= target.ndim for arg in inputs):
            self.way(level, op, wrapper, inputs)
        elif op.way == "index" and len(inputs) == 3:
            self.way(level, op, wrapper, inputs)
        elif name in BATCHING:
            for i in range(level.size):
                wrapper(*[row_of(arg, level, i) for arg in inputs])
        else:
            value = getattr(ops, name[:-1])(*inputs)
            if is_row(value, level) and is_view_of(value, target):
                target.become(value)
                return target
            if value.shape != target.shape:
                raise RuntimeError(f"vmap: {name} would give a row the shape {value.shape} in place of {target.shape}; use "
                                   "the operator that is not in place")  # fmt: skip
            ops.copy_(target.inside, spread(value, level).inside)
        return target

    # Random draws.

    def drawn(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        """One draw for all rows, or one for each, by the vmap's `randomness`."""
        levels = [level for level in self.levels if not is_other(level)]
        if not levels:
            return NotImplemented
        level = levels[-1]
        if level.randomness == "error":
            shown = "" if name.startswith("_") else f": {name}"
            raise RuntimeError(f"vmap: called random operation while in randomness error mode{shown}. Please either use the "
                               "'same' or 'different' randomness flags on vmap or perform the randomness operation out of "
                               "vmap")  # fmt: skip
        if name.endswith("_") and level.randomness == "different" and not is_row(inputs[0], level):
            refuse_write(name)
        place = record_of(name).roles.index("g")
        generator = as_generator(inputs[place], name, "generator")
        inputs = (*inputs[:place], generator, *inputs[place + 1 :])
        for one in levels:  # the outermost first: it sets the state that an inner level records
            if one.randomness == "same":
                one.rewind(generator)
        if level.randomness == "same" and innermost(inputs) is not level:
            with self.without(level):
                return self.further(name, wrapper, inputs)
        state, found = generator.bit_generator.state, []
        with self.without(level):
            for i in range(level.size):
                if level.randomness == "same":
                    generator.bit_generator.state = state
                found.append(self.further(name, wrapper, tuple(row_of(arg, level, i) for arg in inputs)))
        return inputs[0] if name.endswith("_") else together(ops.stack(found), level)

    def further(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        found = self.call(name, wrapper, inputs)
        return wrapper.parts(*inputs) if found is NotImplemented else found

    @contextmanager
    def without(self, level: Level) -> Iterator[None]:
        """Keep only the levels outside of `level` open."""
        place = self.levels.index(level)
        inner, self.levels[place:] = self.levels[place:], []
        self.away += 1
        try:
            yield
        finally:
            self.away -= 1
            self.levels.extend(inner)


def levels_of_one_draw() -> list[Level] | None:
    """This thread's open vmaps, outermost first, if each uses the same draws for all its rows; else None."""
    mapping = current_mapping()
    levels = [] if mapping is None else list(mapping.levels)
    same = not (mapping is not None and mapping.away) and all(level.randomness == "same" for level in levels)
    return levels if same else None


class _Guard(Mapping):
    """A mapping without levels that refuses rows: code that runs for all rows cannot know which one is meant."""

    def call(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        if innermost(inputs) is None:
            return NotImplemented
        raise ReadsRow(f"{name}: a row of a vmap is read by code that is called once for all rows, such as the backward of a "
                       "custom Function, a rule of a primitive, or a solver; make it an argument")  # fmt: skip


Mapping.guard = _Guard()
