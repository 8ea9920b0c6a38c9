"""Every holomorphic function of one array where formulas go wrong: at 0, beside and on branch cuts, the tiny, the huge, infinities.

Value and derivative in both modes are held to mpmath's values and their difference quotients.  On a cut the sign of a zero says
which side is meant, as in C; mpmath has no such zeros, and is asked for a point beside the cut.  A number from 1e8 on is taken to
its own last digit: what goes round, as 2**(1e8j) does, is known no better.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.codegen.verify.reference import FEW_DIGITS, FUNCTIONS, NoReference, Reference
from gradspec.support.dispatch import ops

from .calls import array
from .kept import kept
from .questions import of_entries
from .spec import the_spec
from .test_hard_points import of_arrays, static

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SIZES = (0.0, 1e-300, 1e-8, 0.5, 1.0, 2.0, 30.0, 1e8, 1e160)
BESIDE, STEP = (mpf(10) ** -350, mpf(10) ** -700), mpf(10) ** -120
LARGE, LEAST = np.finfo(float).max, np.finfo(float).tiny


class ComplexReference(Reference):
    """The operators of a spec as functions of mpmath's complex numbers."""

    functions = {**FUNCTIONS, "power": lambda a, b: a**b}


@cache
def reference():
    return ComplexReference(the_spec())


def of_complex_numbers(op):
    """Whether an operator of one array takes complex numbers; what SciPy computes it computes so far as its own series reach."""
    one = of_arrays(1)(op) and sum(type_.startswith("Array") for _, type_, *_ in op.arguments) == 1
    return one and op.inputs and op.dtype in ("float", "any", "complex") and not op.family.startswith("special") and not op.name.startswith("_")


def is_holomorphic(op, given):
    """Whether the function that mpmath computes has a complex derivative."""
    name, z, h = op.signature.arrays[0].name, mpc(0.3, 0.4), mpf(10) ** -8
    try:
        with mp.workdps(40):
            values = [reference().value(op, {**given, name: z + s * h}) for s in (1, -1, 1j, -1j)]
            along, across = (values[0] - values[1]) / (2 * h), (values[2] - values[3]) / (2j * h)
    except (NoReference, TypeError, ValueError):
        return False
    return abs(along - across) < 1e-10 and abs(along)


def points(op):
    found = [complex(s * re, t * im) for re in SIZES for im in SIZES for s in (1, -1) for t in (1, -1)]
    return found[::5] if reference().digits(op) == FEW_DIGITS else found  # of all signs; so many digits take long


def settled(coarse, fine):
    """The limit of two numbers, the second one much nearer to it."""
    if abs(coarse - fine) <= 1e-30 * abs(coarse):
        return fine
    return mpc(mp.inf) if abs(fine) > 1.2 * abs(coarse) else mpc(0) if abs(fine) < abs(coarse) / 1.2 else fine


@kept(ComplexReference, settled)
def exact(op, given, z):
    """Value, derivative and second derivative, each infinite or 0 where it goes there; None where the function is not defined."""
    name = op.signature.arrays[0].name

    def value(z):
        return mpc(reference().value(op, {**given, name: z}))

    def beside(distance):
        parts = [math.copysign(1, part) * (mpf(abs(part)) or distance) for part in (z.real, z.imag)]
        at, step = mpc(*parts), min(map(abs, parts)) * STEP
        low, middle, high = value(at - step), value(at), value(at + step)
        if abs(high - low) <= abs(middle) * mpf(10) ** (24 - mp.dps):
            return middle, mpc(0), mpc(0)  # what rounding leaves of a function that has come to its limit
        return middle, (high - low) / (2 * step), (high - 2 * middle + low) / step**2

    on_axis = 0 in (z.real, z.imag)
    with mp.workdps(1900 if on_axis else 1200):
        try:
            found = [beside(distance) for distance in (BESIDE if on_axis else BESIDE[:1])]
            return [settled(*pair) for pair in zip(found[0], found[-1])]
        except (ZeroDivisionError, ValueError, OverflowError):
            return None


def off(found, wanted, shift):
    """Whether a complex number is off, by the size of the whole number; `shift` is what an ulp of a large argument comes to."""
    size = abs(wanted)
    if size > LARGE:
        return math.isfinite(math.hypot(found.real, found.imag))
    return not abs(mpc(found) - wanted) <= 1e-12 * size + 4 * np.finfo(float).eps * shift + LEAST


@of_entries(of_complex_numbers, slow=True)
def test_hard_points(op):
    op = the_spec().ops[op.name]
    given = static(op, op.samples[0].source)
    if not is_holomorphic(op, given):
        pytest.skip("has no complex derivative")
    z = np.array(points(op))
    x = gs.tensor(z, requires_grad=True)
    name = op.signature.arrays[0].name
    y = getattr(ops, op.name)(**{name: x}, **given)
    (reverse,) = grad(y, x, np.ones_like(z))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(z), gs.tensor(np.ones_like(z)))
        forward = array(forward_ad.unpack_dual(getattr(ops, op.name)(**{name: dual}, **given)).tangent)
    found = zip(z.tolist(), array(y).tolist(), array(reverse).conj().tolist(), forward.tolist())
    wrongs = []
    for at, *values in found:
        wanted = exact(op, given, at)
        if wanted is None:
            continue
        shifts = [abs(at) * abs(slope) if abs(at) >= 1e8 else 0 for slope in wanted[1:]]
        for mode, got, order in zip(("value", "reverse", "forward"), values, (0, 1, 1)):
            if off(got, wanted[order], shifts[order]):
                wrongs.append(f"{mode} at {at}: {got}, exact {complex(wanted[order])}")
    assert not wrongs, f"{len(wrongs)} of them\n" + "\n".join(wrongs[:30])
