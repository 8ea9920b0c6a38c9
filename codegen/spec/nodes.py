"""Convert nodes of YAML to Text and Location, with the position of each character."""

from __future__ import annotations

from types import MappingProxyType

import yaml

from ..errors import SpecError
from .model import Location, Text
from .ranks import Words, filled


class Nodes:
    """Reads nodes; each node holds its file and the file's text."""

    words: Words = MappingProxyType({})  # the words for the placeholders of an entry of several ranks

    def _sequence(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise SpecError("a list is expected here", self._location(node))
        return node.value

    def _words(self, node: yaml.Node) -> list[Text]:
        return [self._text(n) for n in (node.value if isinstance(node, yaml.SequenceNode) else [node])]

    def _doc(self, node: yaml.Node) -> str:
        """Text for docstrings."""
        text = self._text(node)
        for part in ('"""', "\\"):
            if part in text.value:
                raise SpecError(f"{part} ends or changes a docstring", text.at(text.value.index(part)))
        if not text.value.strip():
            raise SpecError("empty: one line is expected", text.location)
        return text.value

    def _line(self, node: yaml.Node) -> str:
        """Text for docstrings that is on one line of the file."""
        value, text = self._doc(node), self._text(node)
        lines = {line for line, _ in text.places[:-1]}
        if len(lines) > 1 or "\n" in value:
            raise SpecError("more than one line", text.location)
        return value.strip()

    def _text(self, node: yaml.Node) -> Text:
        """A scalar with the position of each character; YAML folds a line break and its indentation into one blank."""
        if not isinstance(node, yaml.ScalarNode):
            raise SpecError("plain text is expected here", self._location(node))
        mark, places, source = node.start_mark, [], node.start_mark.buffer
        index, line, column = mark.index, mark.line + 1, mark.column + 1
        as_written = node.value.isprintable() and source.startswith(node.value, index)
        if as_written:  # on one line and without quotes, like most scalars
            places = [(line, column + i) for i in range(len(node.value))]
            column += len(places)
        for char in "" if as_written else node.value:
            while not char.isspace() and index < node.end_mark.index and source[index] != char:
                if source[index] == "\n":
                    line, column = line + 1, 0
                index, column = index + 1, column + 1
            places.append((line, column))
            if not char.isspace():
                index, column = index + 1, column + 1
            elif source[index : index + 1] == " ":
                index, column = index + 1, column + 1
        places.append((line, column))
        text = Text(node.value, mark.name, tuple(places))
        return filled(text, self.words) if self.words else text

    def _written(self, node: yaml.Node) -> Text:
        """The source text of a one-line node, even if YAML parses it as a list, such as `[0, 1]`."""
        start, end = node.start_mark, node.end_mark
        value = start.buffer[start.index : end.index].rstrip()
        return Text(value, start.name, tuple((start.line + 1, start.column + 1 + i) for i in range(len(value) + 1)))

    def _location(self, node: yaml.Node) -> Location:
        return Location(node.start_mark.name, node.start_mark.line + 1, node.start_mark.column + 1)
