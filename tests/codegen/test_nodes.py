"""Nodes of YAML as lists, lines and text: each character knows where it stands."""

from __future__ import annotations

import pytest

from codegen.errors import SpecError
from codegen.spec.documents import documents
from codegen.spec.nodes import Nodes


def node(source: str):
    (found,) = documents(source, "x")
    return found


def refused(read, source: str) -> tuple[str, int, int]:
    with pytest.raises(SpecError) as caught:
        read(node(source))
    return caught.value.message, caught.value.line, caught.value.column


def test_lists_and_words():
    assert [n.value for n in Nodes()._sequence(node("[a, b]"))] == ["a", "b"]
    assert refused(Nodes()._sequence, "\n  a") == ("a list is expected here", 2, 3)
    assert [text.value for text in Nodes()._words(node("[a, b]"))] == ["a", "b"]
    assert [text.value for text in Nodes()._words(node("a"))] == ["a"]
    assert refused(Nodes()._text, "[a]") == ("plain text is expected here", 1, 1)


def test_lines():
    assert Nodes()._line(node("A line.")) == Nodes()._line(node("' A line. '")) == "A line."
    assert refused(Nodes()._line, "'  '") == ("empty: one line is expected", 1, 1)
    assert refused(Nodes()._line, "\nA line\n  and another.") == ("more than one line", 2, 1)
    assert refused(Nodes()._line, '"a\\nb"') == ("more than one line", 1, 2)
    assert refused(Nodes()._doc, 'a """b') == ('""" ends or changes a docstring', 1, 3)
    assert refused(Nodes()._doc, "ab\\c") == ("\\ ends or changes a docstring", 1, 3)
    assert Nodes()._doc(node("As it is.")) == "As it is."


@pytest.mark.parametrize("source", ["one + two", "  one\n  + two", "one\n + two\n   * three", "'it''s + two'", '"a b"', "a\n\n b"])
def test_every_character_knows_its_place(source):
    """In text that goes on on other lines too."""
    text, rows = Nodes()._text(node(source)), source.split("\n")
    for character, (line, column) in zip(text.value, text.places):
        if not character.isspace():
            assert rows[line - 1][column - 1] == character
    places = [place for character, place in zip(text.value, text.places) if not character.isspace()]
    assert places == sorted(set(places)) and len(text.places) == len(text.value) + 1


def test_as_it_is_written():
    text = Nodes()._written(node("\n  [0, 1]  "))
    assert text.value == "[0, 1]" and text.places[0] == (2, 3) and text.places[-1] == (2, 9)
