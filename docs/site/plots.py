"""Draw functions of one number with their derivative; the hard points that the entry states are marked."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

import matplotlib
import numpy as np

import gradspec as gs
from codegen.progress import Progress
from codegen.spec.model import Op, Spec
from codegen.spec.samples import evaluate_sample

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

RANGE = 4.0
LINES = {"value": ("#2a6f97", "-"), "derivative": ("#c1541b", "--")}
GREY = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")  # seen on black and on white
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gradspec",
    "axes.spines.top": False,
    "axes.spines.right": False,
} | dict.fromkeys(GREY, "#777777")


@functools.cache
def curve(namespace: str, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Points, values and derivatives; None unless a value depends on its own number only."""
    x = np.linspace(-RANGE, RANGE, 801)
    function = getattr(getattr(gs, namespace) if namespace else gs, name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            leaf = gs.tensor(x, requires_grad=True)
            y = function(leaf)
            order = np.random.default_rng(0).permutation(x.size).reshape(9, 89)
            shown, other = np.asarray(y.detach()), np.asarray(function(x[order]))
            if shown.shape != x.shape or shown.dtype.kind != "f" or other.shape != order.shape or np.array_equal(shown, x):
                return None
            if not np.allclose(shown[order], other, equal_nan=True):
                return None
            return x, shown, np.asarray(gs.autograd.grad(y.sum(), leaf)[0])
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError):
            return None


def name(op: Op) -> str:
    """The file of an operator's plot; empty without a plot."""
    given = op.signature.arguments
    asked = (
        "function" in op.variants
        and op.differentiable
        and len(op.signature.arrays) == 1
        and given[0].is_array
        and not given[0].type.is_list
    )
    if not asked or op.signature.generators or any(a.default is None for a in given[1:]) or curve(op.namespace, op.name) is None:
        return ""
    return f"{op.namespace}.{op.name}.svg".lstrip(".")


def hard_points(op: Op) -> list[float]:
    """The numbers where the entry states a derivative by convention."""
    found = []
    for stated in op.kinks:
        args, kwargs = evaluate_sample(stated.call.source)
        if len(args) == 1 and not kwargs and isinstance(args[0], (int, float)) and abs(args[0]) <= RANGE:
            found.append(float(args[0]))
    return found


def draw(spec: Spec, folder: Path) -> None:
    """One SVG for each function of a number."""
    folder.mkdir(parents=True, exist_ok=True)
    ops = [op for family in spec.families for op in family.ops if not op.private and name(op)]
    with Progress("plots") as progress:
        for done, op in enumerate(ops, 1):
            progress(done, len(ops), op.name)
            one(op, folder / name(op))


def one(op: Op, path: Path) -> None:
    x, *shown = curve(op.namespace, op.name)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5, 2.6))
        for (label, (colour, style)), y in zip(LINES.items(), shown):
            axes.plot(x, joined(y), style, color=colour, label=label, linewidth=1.6)
        for point in hard_points(op):
            axes.axvline(point, color="#999999", linewidth=0.8, linestyle=":")
        axes.set_ylim(*limits(np.concatenate(shown)))
        axes.legend(frameon=False, loc="upper left", fontsize=8)
        axes.set_xlabel(op.signature.arguments[0].name)
        figure.tight_layout()
        figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(figure)


def joined(y: np.ndarray) -> np.ndarray:
    """The values, with a gap at a jump and where they leave the picture."""
    y = np.where(np.abs(y) > 1e3, np.nan, y)
    step = np.abs(np.diff(y, prepend=y[:1]))
    return np.where((step > 0.4) & (np.roll(step, -1) < 0.1), np.nan, y)


def limits(y: np.ndarray) -> tuple[float, float]:
    """The range of the picture: most of the values, and at most 6."""
    finite = y[np.isfinite(y)]
    if not finite.size:
        return -1.0, 1.0
    low, high = np.percentile(finite, [4, 96])
    low, high = max(low, -6.0), min(high, 6.0)
    margin = 0.25 * max(high - low, 1.0)
    return low - margin, high + margin
