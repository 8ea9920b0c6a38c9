"""Every elementwise operator of two arrays where formulas go wrong: each argument at hard points, the other one at some of them.

The value, both first-order modes and the four second-order pairs in one argument, and the mixed second derivative in the four
orders, are held to mpmath's values and difference quotients; at infinity the value and the first derivatives, where they have a
limit.  Where the two sides of a point differ the entry has to have `kinks:`; test_stated holds it to what they say.  Where the value
jumps, the derivatives are those of the side that it belongs to.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.codegen.spec.samples import evaluate_sample
from gradspec.codegen.verify.reference import derivatives, domain_test, number, power_of_ten
from gradspec.support.dispatch import ops

from .calls import array
from .kept import kept
from .test_hard_points import MODES, found_at, of_hard_points, reference, wrong

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SIZES = {np.float64: (0, 1e-300, 1e-8, 0.3, 2.5, 40, 1e8, 1e155), np.float32: (0, 1e-30, 1e-4, 0.3, 2.5, 20, 1e4, 1e19)}
ORDERS = ("reverse of reverse", "forward of reverse", "reverse of forward", "forward of forward")


def points(dtype):
    signed = [float(dtype(sign * size)) for size in SIZES[dtype] for sign in (1, -1)]
    return [*dict.fromkeys(signed), math.inf, -math.inf]


def pairs_of(op):
    names = [a.name for a in op.signature.arrays]
    return (names, names[::-1])


def far_in_both(value, x, fixed):
    """The value at two infinities where it is the same on every way there."""
    with mp.workdps(900):
        found = {number(value(mpf(x > 0 or -1) * mpf(10) ** p, mpf(fixed > 0 or -1) * mpf(10) ** q))
                 for p, q in ((400, 800), (600, 600), (800, 400))}  # fmt: skip
    return (found.pop(), math.nan, math.nan, ()) if len(found) == 1 else None


def far_beside(value, inside, x, fixed):
    """Value and first derivative beside a number that grows without end, where both settle."""
    found = []
    for power in (400, 700):
        beside = mpf(fixed > 0 or -1) * (mpf(10) ** power + mpf(0.3))
        at = derivatives(lambda v, beside=beside: value(v, beside), x, inside, 4000, 10.0**300)
        if at is None or at[3]:
            return None
        found.append(at[:2])
    settled = [0.0 if max(abs(a), abs(b)) < 1e-300 and a != b else b for a, b in zip(*found)]
    if math.isinf(settled[1]) or any(a != b and v and not (math.isnan(a) and math.isnan(b)) for a, b, v in zip(*found, settled)):
        return None  # as 0 times infinity, or because no number is approached
    return (*settled, math.nan, ())


@kept(far_in_both, far_beside)
def exact_in(op, given, name, other, fixed, x):
    """Value and derivatives in one argument, and whether it is a kink; None outside of the domain and where nothing settles."""
    inside = domain_test(op, {**given, other: fixed})

    def value(v, w=mpf(fixed)):
        return reference().value(op, {**given, name: v, other: w})

    if not inside({name: x}):
        return None
    try:
        if math.isinf(fixed):
            return far_in_both(value, x, fixed) if math.isinf(x) else far_beside(value, lambda v: inside({name: v}), x, fixed)
        found = derivatives(value, x, lambda v: inside({name: v}), reference().digits(op), fixed)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    if found and math.isinf(x):
        step = power_of_ten(-400)
        nearby = [value(mpf(x), mpf(fixed) + s) for s in (-step, step) if inside({name: x, other: mpf(fixed) + s})]
        if not all(mp.isnan(v) or mp.isinf(v) == math.isinf(found[0]) for v in nearby):
            return None  # as 0 times infinity, which is whatever the numbers beside 0 make of it
        if abs(fixed) < 1e-20 and number(value(mpf(7))) == found[0]:
            return None  # beside so small a number the argument does not show in any reach
    return found


def stated_pairs(op):
    """The points at which the entry says what holds; test_stated holds it to that."""
    names = [a.name for a in op.signature.arrays]
    return [dict(zip(names, evaluate_sample(kink.call.source, None, np.float64, 0)[0])) for kink in op.kinks]


@pytest.mark.slow
@of_hard_points(2, dtype=[np.float64, np.float32])
def test_in_one_argument(entry, given, dtype):
    wrongs, stated = [], stated_pairs(entry)
    for name, other in pairs_of(entry):
        for fixed in points(dtype):
            x = np.array(points(dtype), dtype)
            found = found_at(entry, {**given, other: gs.tensor(np.full(x.shape, fixed, dtype))}, x, name)
            for place, point in enumerate(x.tolist()):
                far = not math.isfinite(fixed) or not math.isfinite(point)
                if far and entry.private or {name: point, other: fixed} in stated:
                    continue
                exact = exact_in(entry, given, name, other, fixed, point)
                if exact is None or math.isnan(exact[0]):
                    continue
                *expected, kink = exact
                at = f"{name} = {point!r}, {other} = {fixed!r}"
                if kink and not entry.kinks:
                    wrongs.append(f"{at} is a kink, and the entry has no `kinks:`")
                corner = all(map(math.isfinite, kink))
                if kink and not corner:  # a jump, where the slope is that of the side which the value belongs to
                    expected[1:] = next((side for side in kink if math.isfinite(side)), math.nan), math.nan
                for mode, order in zip(MODES, (0, 1, 1, 2, 2, 2, 2)):
                    if order and (kink and corner or entry.private or far and order > 1):
                        continue
                    shift = point * expected[order + 1] if order < 2 else 0.0
                    if wrong(found[mode][place].item(), expected[order], dtype, order, shift):
                        wrongs.append(f"{mode} at {at}: {found[mode][place].item()!r}, exact {expected[order]!r}")
    assert not wrongs, f"{len(wrongs)} of them\n" + "\n".join(wrongs[:30])


@kept()
def mixed(op, given, names, at):
    """The mixed second derivative by a cross of four points, with two steps that agree; None where they do not."""
    inside = domain_test(op, given)
    found = []
    for digits in (1200, 1600):
        with mp.workdps(digits):
            steps = [(abs(mpf(v)) or mpf(1)) * power_of_ten(-(digits // 8)) for v in at]
            total = mpf(0)
            for i in (1, -1):
                for k in (1, -1):
                    moved = {name: mpf(v) + sign * step for name, v, sign, step in zip(names, at, (i, k), steps)}
                    if not inside(moved):
                        return None
                    try:
                        total += i * k * reference().value(op, {**given, **moved})
                    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                        return None
            if not mp.isfinite(total):
                return None
            found.append(total / (4 * steps[0] * steps[1]))
    coarse, fine = found
    return float(fine) if abs(coarse - fine) <= 1e-20 * abs(fine) else None


def mixed_at(op, given, names, arrays):
    """What each order of the two modes gives."""

    def f(a, b):
        return getattr(ops, op.name)(**{names[0]: a, names[1]: b}, **given)

    ones = gs.tensor(np.ones_like(arrays[0]))

    def reverse(function, at):
        leaf = at if at.requires_grad else at.detach().requires_grad_()
        y = function(leaf)
        if not y.requires_grad:
            return gs.zeros_like(leaf)
        return grad(y, leaf, ones, create_graph=True, materialize_grads=True)[0]

    def forward(function, at):
        with forward_ad.dual_level():
            found = forward_ad.unpack_dual(function(forward_ad.make_dual(at, ones))).tangent
        return gs.zeros_like(at) if found is None else found

    modes = {"reverse": reverse, "forward": forward}
    results = {}
    for order in ORDERS:
        outer, inner = order.split(" of ")
        a, b = (gs.tensor(v, requires_grad=True) for v in arrays)
        results[order] = array(modes[outer](lambda w: modes[inner](lambda v, w=w: f(v, w), a), b)).copy()  # noqa: B023
    return results


@of_hard_points(2)
def test_mixed_second_derivatives(entry, given):
    if entry.private:
        return  # what formulas call; the operators that call them are tested here
    names = [a.name for a in entry.signature.arrays]
    values = [v for v in points(np.float64) if math.isfinite(v)]
    grid = np.array([(a, b) for a in values[::2] for b in values[1::3]])
    found = mixed_at(entry, given, names, [grid[:, 0].copy(), grid[:, 1].copy()])
    wrongs = []
    for place, at in enumerate(grid.tolist()):
        exact = mixed(entry, given, names, at)
        if exact is None or not math.isfinite(exact):
            continue
        wrongs += [f"{order} at {at}: {found[order][place].item()!r}, exact {exact!r}" for order in ORDERS
                   if wrong(found[order][place].item(), exact, np.float64, 2)]  # fmt: skip
    assert not wrongs, f"{len(wrongs)} of them\n" + "\n".join(wrongs[:30])
