"""DOT text: write boxes and arrows for graphviz."""

from __future__ import annotations

from collections.abc import Iterable


def digraph(
    name: str, boxes: Iterable[tuple[str, str, str]], arrows: Iterable[tuple[str, str, str]], settings: Iterable[str] = ()
) -> str:
    """A directed graph as DOT text.

    Parameters
    ----------
    name : str
        Name of the graph, or an empty string.
    boxes : iterable of (name, label, attributes)
        A label may have several lines; attributes are DOT text, as `shape=box`.
    arrows : iterable of (from, to, label)
        Names of boxes; the label may be empty.
    settings : iterable of str
        Statements about the whole graph, as `rankdir=BT`.
    """
    lines = [f"  {setting};" for setting in settings]
    lines += [f"  {box} [label={_quoted(label)}{attributes and ', ' + attributes}];" for box, label, attributes in boxes]
    lines += [f"  {source} -> {target}{label and f' [label={_quoted(label)}]'};" for source, target, label in arrows]
    return "\n".join([" ".join(filter(None, ("digraph", name, "{"))), *lines, "}"]) + "\n"


def _quoted(label: str) -> str:
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
