"""DOT text: names, labels with quotes and several lines, attributes and settings."""

from gradspec.support.dot import digraph


def test_text():
    boxes = [("a", 'says "x"\n\\y', "shape=box"), ("b", "", "")]
    assert digraph("g", boxes, [("a", "b", "of a"), ("b", "a", "")], ["rankdir=BT"]) == (
        'digraph g {\n  rankdir=BT;\n  a [label="says \\"x\\"\\n\\\\y", shape=box];\n  b [label=""];\n'
        '  a -> b [label="of a"];\n  b -> a;\n}\n'
    )
    assert digraph("", [], []) == "digraph {\n}\n"
