"""Show the figures: a Markdown table with footnotes, a JSON document, and a picture if matplotlib is installed."""

from __future__ import annotations

import json
from pathlib import Path

from .rounds import Figures

NOTHING = "-"
COLUMNS = {
    "torch": "PyTorch",
    "before": "gradspec before",
    "gradspec": "gradspec",
    "replay": "compiled",
    "jax": "JAX, jitted",
    "autograd": "HIPS autograd",
    "numpy": "limit",
}
BASES = {"numpy": "gradspec to it", "before": "gradspec to that"}  # the base of each column of ratios


def best_torch(figures: dict[str, Figures]) -> dict[str, Figures]:
    """The same figures with PyTorch's thread counts folded into the better one."""
    folded = {name: figure for name, figure in figures.items() if not name.startswith("torch")}
    runs = [figure for name, figure in figures.items() if name.startswith("torch")]
    if runs:
        folded["torch"] = min(runs, key=lambda figure: figure.median or float("inf"))
    return folded


def duration(seconds: float) -> str:
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("us", 1e-6))
    value = seconds / size
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def times(share: float) -> str:
    return f"{share:.2f}" if share >= 0.1 else f"{share:.2g}"


def ratio(figure: Figures | None, base: Figures | None) -> float | None:
    return figure.median / base.median if figure and base and figure.median and base.median else None


def markdown(titles: dict[str, str], results: dict[str, dict[str, Figures]]) -> str:
    """One row for each case: each peer's median, its ratio to PyTorch's, and for JAX the first call, which compiles."""
    folded = {name: best_torch(figures) for name, figures in results.items()}
    libraries = [library for library in COLUMNS if any(library in figures for figures in folded.values())]
    notes: list[str] = []

    def time(figure: Figures) -> str:
        if figure.median:
            return duration(figure.median)
        if figure.note not in notes:
            notes.append(figure.note)
        return f"- [{notes.index(figure.note) + 1}]"

    headings = [""]
    for library in libraries:
        headings.append(COLUMNS[library])
        if library == "jax":
            headings.append("first call")
        if library != "torch":
            headings.append(BASES.get(library, "ratio"))
    lines = ["| " + " | ".join(headings) + " |", "|:--" + "|--:" * (len(headings) - 1) + "|"]
    for name, figures in folded.items():
        cells = [titles[name]]
        for library in libraries:
            figure = figures.get(library)
            if library in BASES:  # not every case has a limit
                share = ratio(figures.get("gradspec"), figure)
                cells += [time(figure), "" if share is None else times(share)] if figure else ["", ""]
                continue
            cells.append(time(figure))
            if library == "jax":
                cells.append(duration(figure.first) if figure.median else "")
            if library != "torch":
                share = ratio(figure, figures.get("torch"))
                cells.append("" if share is None else f"**{times(share)}**" if library == "gradspec" else times(share))
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"[{number}] {note}  " for number, note in enumerate(notes, 1))]
    return "\n".join(lines).rstrip() + "\n"


def multiples(titles: dict[str, str], bases: dict[str, str], results: dict[str, dict[str, Figures]]) -> str:
    """One row for each case that has a base: each peer's median as a multiple of its own median for the base."""
    folded = {name: best_torch(figures) for name, figures in results.items()}
    rows = [name for name in folded if bases.get(name) in folded]
    if not rows:
        return ""
    libraries = [library for library in COLUMNS if any(library in folded[name] for name in rows)]
    lines = ["| times as long as the function | " + " | ".join(COLUMNS[library] for library in libraries) + " |"]
    lines.append("|:--" + "|--:" * len(libraries) + "|")
    for name in rows:
        shares = [ratio(folded[name].get(library), folded[bases[name]].get(library)) for library in libraries]
        cells = [titles[name], *(NOTHING if share is None else f"{share:.3g}" for share in shares)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def document(machine: dict, titles: dict[str, str], results: dict[str, dict[str, Figures]]) -> dict:
    """All measurements, for programs: all rounds of all peers, and the ratios to PyTorch's better median."""
    cases = {}
    for name, figures in results.items():
        base = best_torch(figures).get("torch")
        cases[name] = {"title": titles[name], "peers": {}}
        for peer, figure in figures.items():
            cases[name]["peers"][peer] = {
                "median": figure.median,
                "ratio": ratio(figure, base),
                "rounds": figure.seconds,
                "first": figure.first,
                "note": figure.note,
            }
    return {"machine": machine, "unit": "seconds per unit of work", "cases": cases}


def save_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")


def save_plot(path: Path, titles: dict[str, str], results: dict[str, dict[str, Figures]]) -> bool:
    """Draw bars of time relative to PyTorch's on a logarithmic axis; return False if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    folded = {name: best_torch(figures) for name, figures in results.items()}
    names = [name for name in folded if folded[name].get("torch") and folded[name]["torch"].median][::-1]
    libraries = [library for library in ("autograd", "jax", "gradspec") if any(library in folded[n] for n in names)]
    figure = Figure(figsize=(9, 0.6 * len(names) + 1.2), layout="constrained")
    axes = figure.subplots()
    colours = {"gradspec": "tab:blue", "jax": "tab:orange", "autograd": "tab:grey"}
    height = 0.8 / max(len(libraries), 1)
    for i, library in enumerate(libraries):
        shares = [ratio(folded[name].get(library), folded[name]["torch"]) for name in names]
        places = [(row + (i - (len(libraries) - 1) / 2) * height, share) for row, share in enumerate(shares) if share]
        rows, shares = zip(*places) if places else ((), ())
        # Bars start at 1, PyTorch's time: to the left is faster, to the right slower.
        lengths = [share - 1 for share in shares]
        bars = axes.barh(rows, lengths, height, left=1, color=colours[library], label=COLUMNS[library])
        axes.bar_label(bars, [times(share) for share in shares], fontsize=7, padding=2)
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xscale="log", xlabel="time relative to PyTorch's (left is faster)")
    axes.set_yticks(range(len(names)), [titles[name] for name in names], fontsize=8)
    axes.margins(x=0.15)
    figure.legend(loc="outside upper center", ncols=3, reverse=True, fontsize=8)
    figure.savefig(path)
    return True
