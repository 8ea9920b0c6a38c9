"""Draw README's table of speed for the front page: each row's times as multiples of PyTorch's."""

from __future__ import annotations

import re
from pathlib import Path

from plots import STYLE, plt

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
MARKS = {"gradspec": ("#2a6f97", "o"), "compiled": ("#35a09a", "D"), "JAX, jitted": ("#c1541b", "^"), "HIPS autograd": ("#8d8d8d", "s")}


def rows(table: str) -> dict[str, dict[str, float]]:
    """Title -> library -> seconds, without the cells that have no time."""
    lines = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines() if line.startswith("|")]
    names = ["", *lines[0][lines[0][0] == "" :]]
    found = {}
    for cells in lines[2:]:
        times = {name: re.fullmatch(r"([\d.]+) (us|ms|s)", cell) for name, cell in zip(names[1:], cells[1:])}
        found[cells[0]] = {name: float(time[1]) * UNITS[time[2]] for name, time in times.items() if time}
    return found


def draw(table: str, path: Path) -> None:
    """Write the picture: left of the line is faster than PyTorch."""
    measured = rows(table)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8, 0.5 * len(measured) + 1.2), layout="constrained")
        places = range(len(measured), 0, -1)
        axes.axvline(1, color="#777777", linewidth=1.2)
        axes.hlines(places, 1e-3, 1e3, color="#777777", linewidth=0.3)
        for library, (colour, mark) in MARKS.items():
            shares = [(times[library] / times["PyTorch"], place) for times, place in zip(measured.values(), places) if library in times]
            if shares:
                axes.plot(*zip(*shares), mark, color=colour, markersize=8, label=library)
        every = [time / times["PyTorch"] for times in measured.values() for time in times.values()]
        axes.set(xscale="log", xlim=(min(every) / 1.6, max(every) * 1.6), xlabel="time as a multiple of PyTorch's: left is faster")
        axes.set_yticks(places, [title.partition(", float")[0] for title in measured], fontsize=9)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper center", ncols=len(MARKS), frameon=False, labelcolor="#777777")
        figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(figure)
