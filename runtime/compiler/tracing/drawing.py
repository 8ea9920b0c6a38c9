"""Drawings: draw a program as DOT text, or as an SVG picture that needs no other program.

Places each instruction below all instructions that it depends on.
"""

from __future__ import annotations

from html import escape
from typing import Any

from ...support.dot import digraph
from .values import Value, values_in

WIDTH, HEIGHT, GAP = 150, 34, 26  # of a box, and between boxes, in pixels


def boxes_of(trace: Any) -> tuple[list[tuple[str, str]], list[tuple[int, int, str]]]:
    """The boxes, as (text, kind), and the arrows between them, as (from, to, type of the value)."""
    boxes: list[tuple[str, str]] = []
    arrows: list[tuple[int, int, str]] = []
    makers: dict[Value, int] = {}
    writers: dict[Value, int] = {}
    for value in dict.fromkeys([*trace.inputs, *trace.constants]):
        makers[value] = len(boxes)
        boxes.append((f"{value.name}: {value.type}", value.kind))
    for line in trace.instructions:
        place = len(boxes)
        boxes.append((line.name, "write" if line.target is not None else "operator"))
        for value in dict.fromkeys(line.read):
            sources = {makers[value]} | ({writers[value.memory]} if value.memory in writers else set())
            arrows += [(source, place, value.type) for source in sorted(sources)]
        makers.update(dict.fromkeys(line.made, place))
        if line.target is not None:
            writers[line.target.memory] = place
    place = len(boxes)
    boxes.append(("return", "result"))
    for value in dict.fromkeys(values_in(trace.results)):
        arrows.append((writers.get(value.memory, makers[value]), place, value.type))
    return boxes, arrows


def dot_text(trace: Any) -> str:
    """The program as DOT text, for graphviz."""
    boxes, arrows = boxes_of(trace)
    shapes = {"operator": "box", "write": "box, style=dashed"}
    drawn = [(f"n{i}", text, f"shape={shapes.get(kind, 'ellipse')}") for i, (text, kind) in enumerate(boxes)]
    return digraph("trace", drawn, [(f"n{a}", f"n{b}", text) for a, b, text in arrows])


def svg_text(trace: Any) -> str:
    """The program as an SVG picture: rows of boxes, with arrows to the boxes below that use a value."""
    boxes, arrows = boxes_of(trace)
    rows = [0] * len(boxes)
    for a, b, _ in arrows:  # ordered by b, and a < b
        rows[b] = max(rows[b], rows[a] + 1)
    taken = [0] * (max(rows) + 1)
    corners = []
    for row in rows:
        corners.append((GAP + taken[row] * (WIDTH + GAP), GAP + row * (HEIGHT + 2 * GAP)))
        taken[row] += 1
    width, height = GAP + max(taken) * (WIDTH + GAP), 2 * GAP + HEIGHT + max(rows) * (HEIGHT + 2 * GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    for a, b, text in arrows:
        (x0, y0), (x1, y1) = corners[a], corners[b]
        parts.append(f'<line x1="{x0 + WIDTH // 2}" y1="{y0 + HEIGHT}" x2="{x1 + WIDTH // 2}" y2="{y1}" stroke="black" '
                     f'marker-end="url(#tip)"><title>{escape(text)}</title></line>')  # fmt: skip
    for (x, y), (text, kind) in zip(corners, boxes):
        style = {"operator": 'fill="#eef"', "write": 'fill="#fee" stroke-dasharray="4"'}.get(kind, 'fill="#efe"')
        parts.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" stroke="black" {style}/>')
        parts.append(f'<text x="{x + WIDTH // 2}" y="{y + HEIGHT // 2 + 4}" text-anchor="middle">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
