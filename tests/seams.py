"""Derivatives at seams: where a function is glued of pieces, ends, or has its centre, a derivative is that of its sides.

    python -m tests.seams                   every continuous family of gs.scipy.stats, in some minutes
    python -m tests.seams laplace t         two of them
    python -m tests.seams --hard rice       with each shape parameter at 0, 1, 2 and -1, where it may be there

Owns the law and the differences that it is held to.  From each side of a point, and along each argument, the derivative of a
function is extrapolated from its values on that side alone, never at the point; the second one is the same of first derivatives.
A derivative that is finite lies between those of the sides, and is their common value where both agree; where a side
has one and the other agrees or is not there, it is finite.  A side is asked with several extents, and says nothing where these
disagree: there the slope is infinite, or numbers are too few.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import gradspec as gs
from gradspec.scipy import stats
from tests.later import later

scipy_stats = later("scipy.stats")

NEAR = 1e-9  # so far beside a seam is asked, too
METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
NODES = (1 - np.cos(np.pi * (np.arange(8) + 0.5) / 8)) / 2  # of Chebyshev, on (0, 1)
_powers = np.linalg.inv(np.vander(NODES, increasing=True))
LIMIT, SLOPE = _powers[0], _powers[1]  # what gives the value at 0, and the slope there
EXTENTS = np.array([1.0, 0.3])


class Side(NamedTuple):
    """What values on one side say of the slope: its number, how far it may be off, and whether it is there."""

    slope: np.ndarray
    error: np.ndarray
    there: np.ndarray
    joined: np.ndarray
    span: np.ndarray  # how much values change, for each step


class Finding(NamedTuple):
    kind: str  # "wrong", "nan"
    order: int
    point: tuple
    arguments: tuple
    found: float
    sides: tuple


def side(values: np.ndarray, at: np.ndarray, signed: np.ndarray, grain: float) -> Side:
    """The slope from one side.

    Parameters
    ----------
    values : ndarray, shape (..., extents, nodes)
    at : ndarray, shape (...)
        The value at the point itself, only to say whether the side joins it.
    signed : ndarray, shape (..., extents)
        The extents, negative on the left.
    """
    with np.errstate(all="ignore"):
        slopes, limits, most = values @ SLOPE / signed, values @ LIMIT, abs(values).max(-1)
        noise = (3e-14 * most + 100 * grain) / abs(signed)
        errors = np.maximum(abs(slopes[..., :-1] - slopes[..., 1:]) * 3, noise[..., 1:])
        best = np.nan_to_num(errors, nan=np.inf).argmin(-1)[..., None]
        slope, error, limit, size = (np.take_along_axis(a, b, -1)[..., 0] for a, b in ((slopes, best + 1), (errors, best), (limits, best + 1), (most, best + 1)))
        span = np.take_along_axis(np.ptp(values, -1) / abs(signed), best + 1, -1)[..., 0]
        # A side that changes no less near the point than further off has no slope there.
        there = np.isfinite(values).all((-1, -2)) & (error <= 1e-4 * (abs(slope) + span) + 1e-300)
        joined = there & np.isfinite(at) & (abs(limit - at) <= 1e-7 * size + 1e-300)
    return Side(slope, error, there, joined, np.nan_to_num(span, posinf=0))


def judge(found: np.ndarray, size: np.ndarray, left: Side, right: Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a derivative is asked, finite and wrong, and not finite though a number is right; rounding is relative to `size`."""
    there = [left.joined, right.joined]
    with np.errstate(all="ignore"):
        low = np.fmin(*(np.where(t, s.slope - s.error, np.nan) for t, s in zip(there, (left, right))))
        high = np.fmax(*(np.where(t, s.slope + s.error, np.nan) for t, s in zip(there, (left, right))))
        room = 3e-7 * np.fmax(abs(low), abs(high)) + 1e-12 * size + 1e-300
        known = there[0] | there[1]
        # Of a side without a slope nobody knows how far a number may lie off; only one that does not join counts for nothing.
        asked = (there[0] & there[1]) | (known & (_absent(left) | _absent(right)))
        wrong = asked & np.isfinite(found) & ((found < low - room) | (found > high + room))
        agree = asked & (high - low <= 4 * (left.error * there[0] + right.error * there[1]) + 2 * room)
        return asked, wrong, agree & ~np.isfinite(found)


def _absent(which: Side) -> np.ndarray:
    """A side on which there is no function, or one that does not join."""
    return np.isnan(which.slope) | (which.there & ~which.joined)


def walk(function: Callable[..., Any], points: Sequence[np.ndarray], extents: Sequence[np.ndarray], grain: float = 0.0) -> tuple[Counter, list[Finding]]:
    """Hold the first and second derivatives of an elementwise function to its sides.

    Parameters
    ----------
    function : callable
        Of tensors that broadcast.
    points : sequence of ndarray, shape (n,)
        Each argument at n points.
    extents : sequence of ndarray, shape (n,)
        How far each argument may move; 0 of one that is no number with derivatives.

    Returns
    -------
    Counter, list of Finding
    """
    points = [np.asarray(p, np.float64) for p in points]
    moving = [i for i, e in enumerate(extents) if np.any(e)]
    at, firsts, seconds = derivatives(function, points, moving, second=True)
    # Arguments on the axes: along which they move, which side, extent, node, point.
    signed = np.array([extents[i] for i in moving])[:, None, None] * np.array([-1, 1])[:, None, None] * EXTENTS[:, None]
    steps = signed[..., None, :] * NODES[:, None]
    arguments = [np.broadcast_to(p, steps.shape).copy() for p in points]
    for k, i in enumerate(moving):
        arguments[i][k] += steps[k]
    values, slopes, _ = derivatives(function, arguments, moving, second=False)

    def sides(values: np.ndarray, at: np.ndarray) -> list[Side]:
        values = np.moveaxis(values, -1, 2)  # along which, side, point, extent, node
        return [side(values[:, s], at, np.moveaxis(signed[:, s], -1, 1), grain) for s in range(2)]

    count, findings = Counter(), []

    def note(order: int, found: np.ndarray, size: np.ndarray, pair: list[Side], name: Callable[[int], tuple]) -> None:
        asked, wrong, lost = judge(found, size, *pair)
        count.update({f"asked {order}": int(asked.sum()), f"silent {order}": int((~asked).sum())})
        for kind, mask in (("wrong", wrong), ("nan", lost)):
            for k, n in zip(*np.nonzero(mask)):
                findings.append(Finding(kind, order, tuple(float(p[n]) for p in points), name(k), float(found[k, n]),
                                        tuple(float(s.slope[k, n]) if s.there[k, n] else None for s in pair)))  # fmt: skip

    # Mixed derivatives are sums of terms that are as large as those of each argument by itself, and may cancel.
    first = np.nan_to_num(abs(firsts), posinf=0)
    room = np.where(np.array([extents[i] for i in moving]) > 0, [extents[i] for i in moving], np.inf)
    natural = np.maximum(first[:, None] / room, first / room[:, None])
    own = np.sqrt(first + np.nan_to_num(abs(np.einsum("jj...->j...", seconds)), posinf=0))
    pair = sides(values, at)
    note(1, firsts, 1e3 * np.max([s.span for s in pair], (0, 1)), pair, lambda k: (moving[k],))
    for j in range(len(moving)):
        note(2, seconds[j], own[j] * own + 1e4 * natural[j], sides(slopes[j], firsts[j]), lambda k: (moving[j], moving[k]))  # noqa: B023
    return count, findings


def derivatives(function: Callable[..., Any], arguments: Sequence[np.ndarray], moving: list[int], second: bool) -> tuple:
    """The value, and derivatives of first and second order by each argument that moves, on the first axes."""
    tensors = [gs.tensor(a, requires_grad=i in moving) for i, a in enumerate(arguments)]
    leaves = [tensors[i] for i in moving]
    y = function(*tensors)

    def gradients(y: Any) -> list[Any]:
        if not (isinstance(y, gs.Tensor) and y.requires_grad):
            return [None] * len(leaves)
        return gs.autograd.grad(y.sum(), leaves, create_graph=second, allow_unused=True)

    def plain(found: list[Any]) -> np.ndarray:
        return np.array([np.zeros(arguments[0].shape) if g is None else g.detach().numpy() for g in found])

    firsts = gradients(y)
    seconds = np.array([plain(gradients(first)) for first in firsts]) if second else None
    return y.detach().numpy(), plain(firsts), seconds


# Continuous families.


def seams_of(name: str, shapes: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Where formulas of a family may be glued, for `loc` 0 and `scale` 1: its ends, centre and unit, the median, its parameters."""
    seeds = [0.0, 1.0, -1.0, *ends, float(getattr(scipy_stats, name).median(*shapes))]
    for shape in shapes:
        seeds += [shape, -shape, *([1 / shape] if shape else [])]
    return sorted({float(s) for s in seeds if np.isfinite(s) and ends[0] <= s <= ends[1]})


def of_family(name: str, shapes: Sequence[float], methods: Sequence[str] = METHODS, whole: bool = False, every: int = 1, first: int = 0) -> tuple:
    """Hold a family to its sides at its seams, beside them and in its tails, at `loc` 0.3 and `scale` 1.7.

    Parameters
    ----------
    name : str
    shapes : sequence of float
    methods : sequence of str
    whole : bool
        Whether the shape parameters have no derivative.
    every, first : int
        Of the points each `every`-th is asked, from `first` on.

    Returns
    -------
    Counter, list of (str, Finding)
    """
    ours, theirs, loc, scale = getattr(stats, name), getattr(scipy_stats, name), 0.3, 1.7
    ends = [float(end.item()) for end in ours.support(*map(float, shapes))]
    seeds = seams_of(name, shapes, ends)
    spread = float(np.diff(theirs.ppf([0.4, 0.6], *shapes))[0]) * scale
    total, findings = Counter(), []
    for method in methods:
        quantile = method in ("ppf", "isf")
        if quantile:
            hard = np.unique(np.clip([0, 0.5, 1, *(float(theirs.cdf(s, *shapes)) for s in seeds)], 0, 1))
            beside = np.clip(np.concatenate([hard, hard + NEAR, hard - NEAR, [1e-9, 1e-3, 1 - 1e-3]]), 0, 1)
        else:
            hard = np.array(seeds) * scale + loc
            tails = [tail(q, *shapes) * scale + loc for q in (1e-9, 1e-3) for tail in (theirs.ppf, theirs.isf)]
            size = NEAR * np.maximum(1, abs(np.array(seeds))) * scale
            beside = np.concatenate([hard, hard + size, hard - size, tails])
            low, high = (end * scale + loc for end in ends)
            beside = beside[np.isfinite(beside) & (beside >= low) & (beside <= high)]
        x = np.unique(beside)[first % every :: every]
        if not x.size:
            continue
        # So far as no other seam is reached, nor much of a tail.
        gaps = abs(x[:, None] - hard)
        reach = 0.4 * np.where(gaps < 1e-7 * (1 + abs(x[:, None])), np.inf, gaps).min(1)
        if quantile:
            reach, rest = np.minimum(0.05, reach), np.minimum(x, 1 - x)
            reach = np.where(rest > 2 * NEAR, np.minimum(reach, rest / 2), reach)
            moves = [reach, *(np.minimum(0.02 * abs(v), 0.2 * reach) if v else 0.01 * reach for v in shapes), 0.1 + 0 * x, 0.1 + 0 * x]
        else:
            reach, y = np.minimum(0.1 * spread, reach), abs(x - loc) / scale
            with np.errstate(all="ignore"):
                tail = np.minimum(theirs.cdf(x, *shapes, loc, scale), theirs.sf(x, *shapes, loc, scale)) / theirs.pdf(x, *shapes, loc, scale)
            reach = np.where((tail > 1e-6) & np.isfinite(tail), np.minimum(reach, tail / 5), reach)
            moves = [reach, *(np.minimum(0.02 * abs(v), 0.3 * reach * abs(v) / (y + abs(v))) if v else 0.01 * reach for v in shapes),
                     reach, np.minimum(0.1, reach / (scale * (1 + y))) * scale]  # fmt: skip
        if whole:
            moves[1:-2] = [0 * x for _ in shapes]
        given = [x, *(np.full(x.size, float(v)) for v in (*shapes, loc, scale))]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            count, found = walk(lambda *a: getattr(ours, method)(*a), given, moves, grain=3e-16 * scale if quantile else 0.0)  # noqa: B023
        total += count
        findings += [(method, finding) for finding in found]
    return total, findings


def hard_shapes(name: str, shapes: Sequence[float]) -> list[tuple]:
    """Shape parameters with one of them at 0, 1, 2 or -1, where the family takes it."""
    ours, found = getattr(stats, name), []
    for place in range(len(shapes)):
        for value in (0.0, 1.0, 2.0, -1.0):
            tried = tuple(value if i == place else float(v) for i, v in enumerate(shapes))
            with np.errstate(all="ignore"):
                if bool(ours._valid([gs.asarray(v) for v in tried], gs.asarray(1.0)).item()) and np.isfinite(getattr(scipy_stats, name).median(*tried)):
                    found.append(tried)
    return found


def main() -> None:
    from tests.library.scipy.test_continuous import REFUSED, SHAPES, WHOLE

    parser = argparse.ArgumentParser(prog="python -m tests.seams", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--hard", action="store_true", help="shape parameters at 0, 1, 2 and -1")
    options = parser.parse_args()
    total, kinds = Counter(), Counter()
    for name in options.names or SHAPES:
        for shapes in hard_shapes(name, SHAPES[name]) if options.hard else [SHAPES[name]]:
            start = time.time()
            count, findings = of_family(name, shapes, whole=name in REFUSED | WHOLE)
            total += count
            print(f"{name}{shapes}: {sum(count[f'asked {k}'] for k in (1, 2))} derivatives, {len(findings)} findings, {time.time() - start:.1f} s", flush=True)
            seen = Counter()
            for method, finding in findings:
                key = f"{finding.kind} {finding.order}"
                kinds[key] += 1
                seen[method, key] += 1
                if seen[method, key] == 1:
                    print("   ", method, finding, flush=True)
    print(dict(total), dict(kinds))


if __name__ == "__main__":
    main()
