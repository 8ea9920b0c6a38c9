"""The table of a profile, as text and as HTML.

Defines the columns and their widths.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from .function_event import memory_text, time_text

WIDTH = 12  # of a column of numbers
SHAPES = "Input Shapes"
SCALES = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def columns(events: Sequence[Any], unit: str | None, memory: bool, flops: bool) -> list[tuple[str, Any]]:
    """The titles of the numeric columns, each with the function that formats an event's value."""
    whole = sum(event.self_cpu_time_total for event in events)

    def shown(microseconds: float) -> str:
        return time_text(microseconds, unit)

    found: list[tuple[str, Any]] = [
        ("Self CPU %", lambda event: share(event.self_cpu_time_total, whole)),
        ("Self CPU", lambda event: shown(event.self_cpu_time_total)),
        ("CPU total %", lambda event: share(event.cpu_time_total, whole)),
        ("CPU total", lambda event: shown(event.cpu_time_total)),
        ("CPU time avg", lambda event: shown(event.cpu_time)),
    ]
    if memory:
        found.append(("CPU Mem", lambda event: memory_text(event.cpu_memory_usage)))
        found.append(("Self CPU Mem", lambda event: memory_text(event.self_cpu_memory_usage)))
    found.append(("# of Calls", lambda event: str(event.count)))
    if any(event.node_id != -1 for event in events):
        found.append(("Node ID", lambda event: str(event.node_id)))
    if any(event.input_shapes for event in events):
        found.append((SHAPES, lambda event: str(event.input_shapes)))
    known = [event.flops for event in events if event.flops]
    if flops and known:
        scale = min(int(math.log10(min(known)) / 3), len(SCALES) - 1)
        found.append((f"Total {SCALES[scale]}", lambda event: f"{event.flops / 1000**scale:8.3f}" if event.flops else "--"))
    return found


def chosen(events: Sequence[Any], sort_by: str | None, row_limit: int, top_level_only: bool) -> list[Any]:
    """The rows to show, in order."""
    if sort_by is not None:
        name = sort_by.replace("cuda", "device").replace("xpu", "device")
        events = sorted(events, key=lambda event: getattr(event, name), reverse=True)
    found = [event for event in events if not (top_level_only and event.cpu_parent is not None)]
    return found if row_limit < 0 else found[:row_limit]


def shortened(name: str, width: int | None) -> str:
    return name if width is None or len(name) < width - 3 else f"{name[: width - 3]}..."


def ending(path: str, width: int) -> str:
    return path if len(path) <= width else f"...{path[len(path) - width + 3 :]}"


def text_of(
    events: Sequence[Any], *, sort_by: str | None, row_limit: int, source_width: int | None, name_width: int | None,
    shapes_width: int | None, header: str | None, top_level_only: bool, unit: str | None, memory: bool, flops: bool,
    dropped: int = 0,
) -> str:  # fmt: skip
    if len(events) == 0:
        return ""
    numbers = columns(events, unit, memory, flops)
    names = min(max(len(event.key) for event in events) + 4, name_width or 1 << 30)
    stacks = [event.stack for event in events if event.stack]
    widths = [names, *[WIDTH] * len(numbers)]
    for i, (title, value) in enumerate(numbers, 1):
        if title == SHAPES:
            widths[i] = min(max(len(value(event)) for event in events) + 4, shapes_width or 1 << 30)
    if stacks:
        widths.append(min(max(len(entry) for stack in stacks for entry in stack) + 4, source_width or 1 << 30))

    def row(cells: list[str]) -> str:
        made = [f"{cell:>{width}}" for cell, width in zip(cells, widths)]
        if stacks:
            made[-1] = f"{cells[-1]:<{widths[-1]}}"
        return "  ".join(made) + "  "

    rule, length = "  ".join("-" * width for width in widths) + "  ", sum(widths) + 2 * len(widths) - 2
    lines = [] if header is None else ["=" * length, header]
    if top_level_only:
        lines += ["=" * length, "This report only display top-level ops statistics"]
    lines += [rule, row(["Name", *[title for title, _ in numbers], *(["Source Location"] if stacks else [])]), rule]
    for event in chosen(events, sort_by, row_limit, top_level_only):
        cells = [shortened(event.key, name_width), *[value(event)[:width] for (_, value), width in zip(numbers, widths[1:])]]
        if stacks:
            source = [ending(entry, widths[-1]) for entry in event.stack or [""]]
            lines.append(row([*cells, source[0]]))
            lines += [row([""] * len(cells) + [entry]) for entry in [*source[1:], ""]]
        else:
            lines.append(row(cells))
    lines += [rule, f"Self CPU time total: {time_text(sum(event.self_cpu_time_total for event in events), unit)}"]
    if dropped:
        lines.append(f"{dropped} events were dropped")
    return "\n".join(lines) + "\n"


def html_of(events: Sequence[Any], rows: int = 30) -> str:
    """A table for notebooks, with the greatest own times first."""
    if len(events) == 0:
        return "<p>nothing was recorded</p>"
    numbers = columns(events, None, any(event.cpu_memory_usage for event in events), any(event.flops for event in events))
    head = "".join(f"<th>{html.escape(title)}</th>" for title in ["Name", *[title for title, _ in numbers]])
    body = "".join(
        f'<tr><td style="text-align:left"><code>{html.escape(event.key)}</code></td>'
        + "".join(f"<td>{html.escape(value(event))}</td>" for _, value in numbers)
        + "</tr>"
        for event in chosen(events, "self_cpu_time_total", rows, False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
