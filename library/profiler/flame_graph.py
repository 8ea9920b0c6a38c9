"""A flame graph of a profile as SVG, for notebooks: one box for each name within its enclosing names, as wide as its time."""

from __future__ import annotations

import html
import zlib
from collections.abc import Iterable
from typing import Any

from .function_event import time_text

WIDTH, HEIGHT, LEAST = 960, 18, 1.0  # pixels: total width, height of a row, least width of a drawn box


class Box:
    """The events of one name inside the same enclosing names."""

    def __init__(self) -> None:
        self.time, self.count = 0.0, 0
        self.inside: dict[str, Box] = {}

    def depth(self) -> int:
        deepest, waiting = 0, [(self, 0)]
        while waiting:
            box, level = waiting.pop()
            deepest = max(deepest, level)
            waiting += [(other, level + 1) for other in box.inside.values()]
        return deepest


def boxes_of(events: Iterable[Any]) -> Box:
    """All events, summed by name from the outermost on."""
    whole = Box()
    waiting = [(event, whole) for event in events if event.cpu_parent is None and not event.is_async]
    for event, around in waiting:  # it grows
        box = around.inside.setdefault(event.name, Box())
        box.time += event.cpu_time_total
        box.count += 1
        waiting += [(child, box) for child in event.cpu_children]
    whole.time = sum(box.time for box in whole.inside.values())
    return whole


def colour(name: str) -> str:
    """A colour that depends on the name only."""
    number = zlib.crc32(name.encode())
    return f"hsl({number % 60},{70 + number // 60 % 25}%,{62 + number // 1500 % 14}%)"


def svg_of(events: Iterable[Any]) -> str:
    """The flame graph; empty if there are no events."""
    whole = boxes_of(events)
    if whole.time <= 0:
        return ""
    lines = []
    waiting = [(whole, 0.0, 0)]
    while waiting:
        around, left, row = waiting.pop()
        for name, box in sorted(around.inside.items(), key=lambda item: -item[1].time):
            width = WIDTH * box.time / whole.time
            if width >= LEAST:
                text = html.escape(name if len(name) * 6.5 < width else name[: max(0, int(width / 6.5) - 1)])
                about = html.escape(f"{name}: {time_text(box.time)} in {box.count} calls, {100 * box.time / whole.time:.1f} %")
                lines.append(
                    f'<g><title>{about}</title><rect x="{left:.1f}" y="{row * HEIGHT}" width="{width:.1f}" height="{HEIGHT - 1}" '
                    f'fill="{colour(name)}"/><text x="{left + 3:.1f}" y="{row * HEIGHT + 13}">{text}</text></g>'
                )
                waiting.append((box, left, row + 1))
            left += width
    height = HEIGHT * whole.depth()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="monospace" font-size="11">{"".join(lines)}</svg>'
    )
