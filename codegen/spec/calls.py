"""Calls of an entry: samples, examples and kinks.

Decides which calls an entry has: its own, the calls of its shape and of presets, and the calls in the file of further samples.
Limits how many an entry shows.
"""

from __future__ import annotations

import ast

import yaml

from ..errors import ErrorList, SpecError, did_you_mean
from .formula import parse_formula
from .mapping_keys import Pairs
from .model import Formula, Location, Op, Stated, Text
from .ranks import own_call
from .shape_samples import alike, fitting, repeated

FURTHER_KEYS = ("samples", "examples")  # an entry shows at most SHOWN of each; further ones are in a file of the family
SHOWN = 3
ONLY = Formula("only", ast.Name("only"), Location("", 1, 1))  # as first item of `samples:`, it excludes the samples of the shape


class CallReader(Pairs):
    """Reads calls and resolves the names of presets."""

    def __init__(self, errors: ErrorList):
        super().__init__(errors)
        self.presets: dict[str, tuple[Formula, ...]] = {}
        self.given: dict[str, tuple[Formula, ...]] = {}  # the samples of each shape, by its normal form

    def _samples(self, op: Op, node: yaml.Node) -> tuple[Formula, ...]:
        """The calls of a preset, or of a list; the name of a preset in the list is replaced by its calls."""
        if isinstance(node, yaml.SequenceNode):
            parts = [text for item in node.value if (text := self._call(op, item))]
            only = (ONLY,) if parts and parts[0].value == ONLY.source else ()
            self._check_shown(op, "samples", [text.location for text in parts[len(only):]])
            return (*only, *(f for t in parts[len(only):] for f in ([parse_formula(t)] if "(" in t.value else self._preset(t))))
        return self._preset(self._text(node))

    def _all_samples(self, op: Op) -> tuple[Formula, ...]:
        """The samples of the shape and the samples of the entry; after `only` just the latter."""
        if op.samples[:1] == (ONLY,):
            return op.samples[1:]
        given = fitting(self.given.get(alike(op.shape or "_"), ()), op)
        for call in repeated(op.samples, given, op):
            at = call.location if call.is_of(op) else op.places["samples"]
            message = f"{call.source} is there already, by the shape or by another line: leave it out"
            if not call.is_of(op) and at.line < op.location.line:  # the family's samples, which other entries need
                at = max(op.location, op.places["shape"], key=lambda place: place.line)
                own = "write the entry's own, samples: [only, ...]"
                message = f"{call.source} comes by the shape and by the samples of the family: {own}"
            self.errors.add(message, at, op.name, "samples")
        return (*given, *op.samples)

    def _preset(self, text: Text) -> tuple[Formula, ...]:
        if text.value not in self.presets:
            near = did_you_mean(text.value, self.presets)
            raise SpecError(f"unknown preset '{text.value}'", text.location, suggestion=near)
        return self.presets[text.value]

    # Values.

    def _stated(self, op: Op, key: str, node: yaml.Node) -> tuple[Stated, ...]:
        items = self.items(node, key=key, op=op.name).values()
        pairs = [(text, self._written(value)) for call, value in items if (text := self._call(op, call))]
        return tuple(Stated(parse_formula(call), parse_formula(value)) for call, value in pairs)

    def _call(self, op: Op, node: yaml.Node) -> Text | None:
        """The call of a sample or an example; in an entry of several ranks, None for a call of another rank."""
        text = self._text(node)
        return own_call(text, op.name, self.words) if self.words and text.file == op.location.file else text

    def _check_shown(self, op: Op, key: str, places: list[Location]) -> None:
        if len(places) > SHOWN:
            message = f"more than {SHOWN}: those that explain the entry least stand in samples/{op.family}.yaml"
            self.errors.add(message, places[SHOWN], op.name, key)

    def _further(self, op: Op, key: str, node: yaml.Node, shown: tuple[Formula | Stated, ...]) -> tuple[Formula | Stated, ...]:
        """The samples or examples of the file of further samples; they follow the calls that the entry shows."""
        if key == "samples":
            return tuple(parse_formula(self._text(item)) for item in self._sequence(node))
        found, calls = self._stated(op, key, node), {stated.call.source for stated in shown}
        for stated in found:
            if stated.call.source in calls:
                self.errors.add(f"'{stated.call.source}' is written twice", stated.call.location, op.name, key)
        return found
