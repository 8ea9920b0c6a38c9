"""The file as YAML: text to documents of nodes.

Owns which part of YAML the spec uses (mappings, lists and plain or quoted text, a few levels deep) and the refusal of
the rest: anchors, tags, block scalars, control characters.  Knows nothing of families and entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from ..errors import SpecError
from .model import Location

_DEPTH = 10  # a list in an entry of `ops:` is at the fifth, and the value of an example may have five axes
_REFUSED = re.compile("[^\\n\\t\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]")


def check_characters(source: str, file: str) -> None:
    found = _REFUSED.search(source)
    if found:
        line = source.count("\n", 0, found.start()) + 1
        column = found.start() - source.rfind("\n", 0, found.start())
        raise SpecError(f"the character U+{ord(found[0]):04X} cannot stand in a spec", Location(file, line, column))


def documents(source: str, file: str) -> Iterator[yaml.Node]:
    """The documents of a text, empty ones left out; SpecError where it is not YAML of the kind that the spec uses."""
    loader = _Loader(source, file)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node.start_mark.index != node.end_mark.index:
                yield node
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark or loader.get_mark()
        help_ = "; a colon before a blank begins a value: write x[..., ::k]" if "mapping values" in str(error.problem) else ""
        raise SpecError(f"not YAML: {error.problem}{help_}", Location(file, mark.line + 1, mark.column + 1)) from None
    except (ValueError, OverflowError):  # a number of a directive or of an escape
        mark = loader.get_mark()
        raise SpecError("not YAML: a number is too large", Location(file, mark.line + 1, mark.column + 1)) from None


class _Loader(yaml.SafeLoader):
    def __init__(self, source: str, file: str):
        super().__init__(source)
        self.name = file  # of every mark
        self._depth = 0

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
            problem = "an escape gives a character that cannot stand in a spec"
        elif self._depth > _DEPTH:
            problem = "nested too deeply"
        if problem:
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node
