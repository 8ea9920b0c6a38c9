"""Bytes and YAML of a spec: what is taken, and where what is not is refused."""

from __future__ import annotations

import fuzz
import pytest
import yaml

from codegen.errors import SpecError, SpecErrors
from codegen.spec.documents import _REFUSED, _Loader, _Quick, check_characters, documents
from codegen.spec.source_files import decode


def place(error: SpecError) -> tuple[str, int, int]:
    return error.file, error.line, error.column


def test_line_ends_are_those_of_unix_and_a_mark_at_the_start_goes():
    assert decode(b"a: 1\r\nb: 2\n", "x") == "a: 1\nb: 2\n"
    assert decode("\ufeffé\n".encode(), "x") == "é\n"
    assert decode(b"a\rb", "x") == "a\rb"


@pytest.mark.parametrize("data, line, column, shown", [
    (b"\xff", 1, 1, "\ufffd"), (b"ab\xff", 1, 3, "ab\ufffd"), (b"one\ntwo\r\nthr\xffee\r\nfour", 3, 4, "thr\ufffdee"),
    ("é\né".encode() + b"\xff\n", 2, 2, "é\ufffd"),
])  # fmt: skip
def test_bytes_that_are_no_text(data, line, column, shown):
    with pytest.raises(SpecErrors) as caught:
        decode(data, "file.yaml")
    (error,) = caught.value.errors
    assert place(error) == ("file.yaml", line, column) and error.message == "not UTF-8" and error.source_line == shown


@pytest.mark.parametrize("source, line, column, code", [("\x00", 1, 1, "0000"), ("a\nbc\x85", 2, 3, "0085"), ("\n\n \ufeff", 3, 2, "FEFF")])
def test_characters_that_cannot_stand_in_a_spec(source, line, column, code):
    check_characters("a: é\t😀\n", "x")
    with pytest.raises(SpecError, match=f"the character U\\+{code} is not allowed in a spec") as caught:
        check_characters(source, "x")
    assert place(caught.value) == ("x", line, column)


def test_documents_that_say_nothing_are_left_out():
    assert [node.value for node in documents("---\n---\na\n---\n---\nb\n", "x")] == ["a", "b"]
    assert next(documents("a: [1]\n", "name")).start_mark.name == "name"


@pytest.mark.parametrize("source, line, column, message", [
    ("a: &b 1", 1, 4, "anchors and aliases have no place in a spec: write it out"),
    ("a: 1\nb: *c", 2, 4, "anchors and aliases have no place in a spec: write it out"),
    ("a: !c 1", 1, 4, "tags have no place in a spec"),
    ("a: !!str 1", 1, 4, "tags have no place in a spec"),
    ("a: |\n  b", 1, 4, "text is continued on indented lines, without '|' or '>'"),
    ("a: >\n  b", 1, 4, "text is continued on indented lines, without '|' or '>'"),
    ('a: "\\0"', 1, 4, "an escape gives a character that is not allowed in a spec"),
    ("a:\n- " + "[" * 12 + "]" * 12, 2, 12, "nested too deeply"),
])  # fmt: skip
def test_yaml_that_a_spec_has_no_use_for(source, line, column, message):
    with pytest.raises(SpecError) as caught:
        list(documents(source, "x"))
    assert caught.value.message == f"not YAML: {message}" and place(caught.value) == ("x", line, column)


def test_what_is_nested_as_deeply_as_it_may():
    (node,) = documents("[" * 11 + "]" * 11, "x")
    for _ in range(10):
        (node,) = node.value
    assert node.value == []
    two = "[" * 8 + "]" * 8
    assert len(list(documents(f"a: {two}\nb: {two}\nc: {two}\n", "x"))) == 1  # beside one another


def test_a_colon_before_a_blank_and_numbers_without_end():
    with pytest.raises(SpecError, match="a colon before a blank begins a value"):
        list(documents("a: x[0, : : 2]: b: c", "x"))
    with pytest.raises(SpecError, match="not YAML: a number is too large"):
        list(documents('a: "\\UFFFFFFFF"', "x"))


@pytest.mark.slow
def test_libyaml_and_pyyaml_give_the_same_nodes():
    """Of the spec, and of mutants of it: the one reads it, the other says what is wrong."""
    if not yaml.__with_libyaml__:
        pytest.skip("PyYAML has no libyaml here")

    def read(loader, text):
        loader, nodes = loader(text, "x"), []
        try:
            while loader.check_node():
                nodes.append(told(loader.get_node()))
        except (yaml.YAMLError, ValueError, OverflowError):
            return "refused"
        return nodes

    def told(node):
        marks = [(mark.name, mark.index, mark.line, mark.column) for mark in (node.start_mark, node.end_mark)]
        if isinstance(node, yaml.ScalarNode):
            return node.tag, marks, node.value
        parts = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
        return node.tag, marks, list(map(told, parts))

    refused = 0
    for text in (fuzz.files_of(fuzz.whole())[0], *(fuzz.files_of(mutant.text)[0] for mutant in fuzz.mutants(30))):
        if _REFUSED.search(text) is None and "\t" not in text:
            found = read(_Quick, text)
            assert found == read(_Loader, text)
            refused += found == "refused"
    assert 0 < refused < 15


def test_a_tab_is_refused_where_pyyaml_refuses_it():
    with pytest.raises(SpecError, match="cannot start any token"):
        list(documents("a: b `c\t`.\n", "x"))
