"""Parse the file as YAML: from text to one node per document.

Defines the subset of YAML in a spec: mappings, lists and plain or quoted text, a few levels deep.  Rejects the rest: anchors,
tags, block scalars and control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from ..errors import SpecError
from .model import Location

_DEPTH = 10  # a list in an entry of `ops:` is at level 5, and the value of an example may have five axes
_REFUSED = re.compile("[^\\n\\t\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]")


def check_characters(source: str, file: str) -> None:
    found = _REFUSED.search(source)
    if found:
        line = source.count("\n", 0, found.start()) + 1
        column = found.start() - source.rfind("\n", 0, found.start())
        raise SpecError(f"the character U+{ord(found[0]):04X} is not allowed in a spec", Location(file, line, column))


def documents(source: str, file: str) -> Iterator[yaml.Node]:
    """The documents of a text, without empty ones; SpecError if the text is outside the spec's subset of YAML."""
    nodes = _quick(source, file)
    return (node for node in (_checked(source, file) if nodes is None else nodes) if node.start_mark.index != node.end_mark.index)


def _checked(source: str, file: str) -> Iterator[yaml.Node]:
    loader = _Loader(source, file)
    try:
        while loader.check_node():
            yield loader.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark or loader.get_mark()
        help_ = "; a colon before a blank begins a value: write x[..., ::k]" if "mapping values" in str(error.problem) else ""
        raise SpecError(f"not YAML: {error.problem}{help_}", Location(file, mark.line + 1, mark.column + 1)) from None
    except (ValueError, OverflowError):  # a number of a directive or of an escape
        mark = loader.get_mark()
        raise SpecError("not YAML: a number is too large", Location(file, mark.line + 1, mark.column + 1)) from None


def _quick(source: str, file: str) -> list[yaml.Node] | None:
    """All documents, by libyaml; None if PyYAML lacks it, or on an error: PyYAML's own parser then gives the message."""
    if not yaml.__with_libyaml__ or "\t" in source:  # libyaml accepts more tabs than PyYAML
        return None
    loader, nodes = _Quick(source, file), []
    try:
        while loader.check_node():
            nodes.append(loader.get_node())
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return nodes


class _Composed(yaml.composer.Composer):
    """Composes nodes from events, and rejects constructs that a spec does not use."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        event = self.peek_event()
        problem = ""
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            problem = "anchors and aliases have no place in a spec: write it out"
        elif event.tag is not None:
            problem = "tags have no place in a spec"
        elif isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">"):
            problem = "text is continued on indented lines, without '|' or '>'"
        elif isinstance(event, yaml.ScalarEvent) and _REFUSED.search(event.value):
            problem = "an escape gives a character that is not allowed in a spec"
        elif self._depth > _DEPTH:
            problem = "nested too deeply"
        if problem:
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Loader(_Composed, yaml.SafeLoader):
    """PyYAML's own parser, whose error messages users see."""

    def __init__(self, source: str, file: str):
        super().__init__(source)
        self.name = file  # the file name in every mark


class _Quick(_Composed, yaml.resolver.Resolver):
    """The events of libyaml, which takes a tenth of the time, with marks that hold the source text."""

    def __init__(self, source: str, file: str):
        yaml.composer.Composer.__init__(self)
        yaml.resolver.Resolver.__init__(self)
        self._events, self._source, self._file = yaml.cyaml.CParser(source), source, file
        self.check_event, self.peek_event = self._events.check_event, self._events.peek_event

    def get_event(self) -> yaml.Event:
        event = self._events.get_event()
        event.start_mark, event.end_mark = self._placed(event.start_mark), self._placed(event.end_mark)
        return event

    def _placed(self, mark: Any) -> yaml.Mark:
        return yaml.Mark(self._file, mark.index, mark.line, mark.column, self._source, mark.index)
