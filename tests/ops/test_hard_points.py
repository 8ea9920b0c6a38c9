"""Every elementwise operator where formulas go wrong: zeros, edges of the domain, the tiny, the huge, infinities and NaN, and
where the value leaves the range of numbers, which the derivatives may not leave with it.

Value, both first-order modes and the four second-order pairs are held to mpmath's value and its difference quotients.  What an
entry states under `kinks:` or `examples:` is held to that by test_stated; here it says that the point is known to be one.
"""

from __future__ import annotations

import ast
import math
import os
import random
import re
import time
from functools import cache

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.codegen.spec.elementwise import is_elementwise
from gradspec.codegen.spec.samples import evaluate_sample
from gradspec.codegen.verify.reference import NoReference, Reference, derivatives, domain_test
from gradspec.generated.op_info import OPS
from gradspec.support.dispatch import ops

from .calls import array
from .kept import kept
from .questions import of_each
from .spec import the_spec

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
MODES = ("value", "reverse", "forward", "reverse of reverse", "forward of reverse", "reverse of forward", "forward of forward")


def points(dtype):
    """The hard points of a dtype, of both signs."""
    limits = np.finfo(dtype)
    if dtype is np.float64:
        sizes = [0, 5e-324, 1e-300, 1e-8, 0.3, 1, 3, 7.25, 25, 40, 1e8, 1e155]
    else:
        sizes = [0, 1e-45, 1e-30, 1e-4, 0.3, 1, 3, 7.25, 12, 20, 1e4, 1e19]
    sizes = [dtype(s) for s in sizes] + [limits.max, dtype(np.inf)]
    return [float(sign * s) for s in sizes for sign in (1, -1)]


def edges(op, dtype):
    """The numbers that the domain, the kinks and the examples name, and their neighbours."""
    sources = [op.domain.source] if op.domain else []
    sources += [stated.call.source for stated in (*op.kinks, *op.examples)]
    found = {dtype(float(text)) for source in sources for text in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", source)}
    near = [np.nextafter(v, dtype(s)) for v in found for s in (-np.inf, np.inf)]
    return [float(v) for v in (*found, *near) if np.isfinite(v)]


def seams(op, given, dtype, x):
    """Where a value leaves the range of the dtype between two of the points, for infinity or for 0, and the numbers beside."""
    name = op.signature.arrays[0].name

    def kind(values):
        y = array(getattr(ops, op.name)(**{name: gs.tensor(np.array(values, dtype))}, **given))
        return np.where(np.isnan(y), 3, np.where(np.isinf(y), 2, y == 0))

    found, points = [], np.unique(x[np.isfinite(x)])
    kinds = kind(points)
    for low, high, first, last in zip(points[:-1], points[1:], kinds[:-1], kinds[1:]):
        if first == last or 3 in (first, last):
            continue
        while (middle := _between(low, high)) not in (low, high):
            low, high = (middle, high) if kind([middle])[0] == first else (low, middle)
        found += [low, high, low - (high - low) * 64, high + (high - low) * 64]
    return [float(dtype(v)) for v in found]


def _between(low, high):
    """A number between two others, as many numbers of the dtype on either side."""
    if low < 0 < high:
        return low.dtype.type(0)
    whole = np.array([low + 0.0, high if high else np.negative(np.abs(high))]).view(np.dtype(f"i{low.itemsize}"))
    return ((whole[:1] + (whole[1:] - whole[:1]) // 2).view(low.dtype))[0]


def static(op, source):
    """The arguments of a sample that are no arrays."""
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    args, kwargs = evaluate_sample(source, None, np.float64, 0)
    given = dict(zip(positional, args)) | kwargs
    return {a.name: given[a.name] for a in op.signature.arguments if not a.is_array and a.name in given}


@cache
def reference():
    return Reference(the_spec())


def has_reference(op):
    """Whether mpmath computes it; what SciPy computes is compared with SciPy, in test_special."""
    try:
        reference().value(op, {**static(op, op.samples[0].source), **{a.name: 0.3 for a in op.signature.arrays}})
    except NoReference:
        return False
    return True


def test_all_but_what_scipy_computes_has_a_reference():
    ops = the_spec().ops
    elementwise = [op for op in ops.values() if is_elementwise(op, ops)]
    assert {op.name for op in elementwise if not has_reference(op) and not op.family.startswith("special")} == set()
    assert {op.name for op in elementwise if has_reference(op)} == {op.name for op in OPS if op.exact}


def of_arrays(count):
    """Asks about the elementwise operators of so many arrays, each with the static arguments that its samples try."""

    def where(op):
        arrays = [(type_, default) for _, type_, default, _ in op.arguments if type_.startswith("Array")]
        return op.exact and (len([1 for _, default in arrays if default is None]) or min(len(arrays), 1)) == count

    return where


def calls_of(op):
    """The operator as the spec has it, with each choice of static arguments that its samples try."""
    entry, tried = the_spec().ops[op.name], []
    for sample in entry.samples:
        given = static(entry, sample.source)
        if given not in tried:
            tried.append(given)
    return [(entry, given) for given in tried]


def of_hard_points(count, **ways):
    """Makes a test of an entry of a function of the `entry` of the spec and of the static arguments `given`."""
    return of_each(of_arrays(count), calls_of, "entry", "given", **ways)


@kept()
def exact_at(op, given, x):
    """Value and derivatives at a point, and whether it is a kink; None outside of the domain and where nothing settles."""
    name, *others = op.signature.arrays
    name, given = name.name, {a.name: ast.literal_eval(a.default) for a in others if a.default is not None} | given
    inside = domain_test(op, given)
    if not inside({name: x}):
        return None
    return derivatives(lambda v: reference().value(op, {**given, name: v}), x, lambda v: inside({name: v}), reference().digits(op))


def found_at(op, given, x, name=None):
    """What each mode gives at each of the points of an argument, by default the first array."""

    def f(x):
        return getattr(ops, op.name)(**{name or op.signature.arrays[0].name: x}, **given)

    ones = np.ones_like(x)

    def reverse(f):
        def gradient(x):
            return grad(f(x), x, gs.tensor(ones), create_graph=True, materialize_grads=True)[0]

        return gradient

    def forward(f):
        def tangent(x):
            with forward_ad.dual_level():
                found = forward_ad.unpack_dual(f(forward_ad.make_dual(x, gs.tensor(ones)))).tangent
            return gs.zeros_like(x) if found is None else found

        return tangent

    def run(function, requires_grad):
        leaf = gs.tensor(x, requires_grad=requires_grad)
        return array(function(leaf)).copy()

    return {
        "value": run(f, False), "reverse": run(reverse(f), True), "forward": run(forward(f), False),
        "reverse of reverse": run(reverse(zeroed(reverse(f))), True), "forward of reverse": run(forward(reverse(f)), True),
        "reverse of forward": run(reverse(zeroed(forward(f))), True), "forward of forward": run(forward(forward(f)), False),
    }  # fmt: skip


def zeroed(f):
    """A function whose result requires grad even if it is constant."""
    return lambda x: f(x) + 0 * gs.where(gs.isfinite(x), x, 0)


def wrong(found, exact, dtype, order, shift=0.0):
    """Whether a number is off; what is below the normal numbers may be lost.

    `shift` is how much it changes where the argument moves by its own size: what an ulp of float32 comes to.
    """
    if math.isnan(exact):
        return False
    limits = np.finfo(dtype)
    with np.errstate(over="ignore"):
        exact = float(dtype(exact))
    if math.isinf(exact) or not math.isfinite(found):
        return found != exact
    if dtype is np.float64:
        return abs(found - exact) > 1e-12 * abs(exact) + float(limits.tiny)
    shift = abs(shift) if math.isfinite(shift) else 0
    return abs(found - exact) > (16, 16, 64)[order] * limits.eps * abs(exact) + 4 * limits.eps * shift + float(limits.tiny)


def stated(op, entries):
    """The numbers at which an entry says what it gives, by whichever static arguments."""
    found = set()
    for source, _ in entries:
        args, _ = evaluate_sample(source, None, np.float64, 0)
        for value in args:
            if isinstance(value, (int, float, list)):
                found |= {*map(repr, np.ravel(np.asarray(value, float)).tolist())}
    return found


def known_by(op, x, dtype, exact):
    """What of a value that SciPy computes is known, order by order, as a bound of what may be off; None where nothing is.

    An ulp of a large argument moves what oscillates; squares of the tiny and the huge are lost, which shows as no number.
    """
    value, first, second, _ = exact
    if not op.family.startswith("special") or math.isinf(x):
        return [0.0, 0.0, 0.0]
    eps, size = 4 * float(np.finfo(dtype).eps), abs(x)
    waves = not abs(second) * size * size <= 100 * abs(value)
    if size > 1e300 or not math.isfinite(first) and math.isfinite(value) or not eps * size * abs(first) <= abs(value):
        return None
    of_value = abs(value * second / first) if first else 0  # a slope that is made of the value
    return [eps * size * abs(first), eps * max(size * abs(second), of_value), eps * abs(first) * (size if waves else 1 / size if size else 0)]


def lost(op, x, dtype, found, exact):
    """Whether SciPy, or a square in a rule of what it gives, has no number there where there is one, and says so.

    A slope that is the mean of two of its functions is infinite where the larger one is.
    """
    within = 1e-18 < abs(x) < 1e18 if dtype is np.float32 else 1e-150 < abs(x) < 1e150
    beyond = abs(exact) > float(np.finfo(dtype).max) / 2
    return op.family.startswith("special") and not math.isfinite(found) and (not within or beyond)


def faults(op, x, found, exact, dtype, static_kinks, static_values):
    """What is wrong at one point, where the entry does not say so; a kink has to be one of its `kinks:`."""
    *expected, kink = exact
    known, point = repr(x) in static_kinks, f"{x!r}"
    corner = bool(kink) and all(map(math.isfinite, kink))
    if corner and not known:
        return [f"{point} is a kink, and `kinks:` does not say what holds there"]
    if kink and not corner:  # a jump, where the slope is that of the side which the value belongs to
        expected[1:] = next((side for side in kink if math.isfinite(side)), math.nan), math.nan
    wrongs, bounds = [], known_by(op, x, dtype, exact)
    for mode, order in zip(MODES, (0, 1, 1, 2, 2, 2, 2)):
        if bounds is None or lost(op, x, dtype, found[mode], expected[order]):
            continue
        if order == 2 and op.private or order and known and (kink or wrong(found["reverse"], expected[1], dtype, 1)):
            continue
        if order == 2 and known and op.family.startswith("special"):
            continue  # at the edge of a domain, of a function that has a corner there
        if order == 0 and repr(x) in static_values:
            continue
        shift = x * expected[order + 1] if order < 2 else 0.0
        if wrong(found[mode], expected[order], dtype, order, shift) and not abs(found[mode] - expected[order]) <= bounds[order]:
            wrongs.append(f"{mode} at {point}: {found[mode]!r}, exact {expected[order]!r}")
    return wrongs


@of_hard_points(1, dtype=[np.float64, np.float32])
def test_one_array(entry, given, dtype):
    x = np.array([*dict.fromkeys([*points(dtype), *edges(entry, dtype)])], dtype)
    beside = seams(entry, given, dtype, x)
    x = np.array([*dict.fromkeys([*x.tolist(), *beside])], dtype)
    found = found_at(entry, given, x)
    kinks = stated(entry, [(k.call.source, k.value.source) for k in entry.kinks])
    values = stated(entry, [(e.call.source, e.value.source) for e in entry.examples])
    values |= {*map(repr, beside)}  # an ulp of the value decides whether it is infinite
    wrongs = []
    for place, point in enumerate(x.tolist()):
        exact = exact_at(entry, given, point)
        if exact is not None:
            here = {mode: numbers[place].item() for mode, numbers in found.items()}
            wrongs += faults(entry, point, here, exact, dtype, kinks, values)
    assert not wrongs, "\n".join(wrongs)


SEED = int(os.environ.get("POINTS_SEED", time.time_ns() % 10**6))


def anywhere(draws):
    """A number of any size, a small one, one beside an integer."""
    kind = draws.randrange(4)
    if kind == 0:
        return draws.choice([-1, 1]) * 10 ** draws.uniform(-20, 20)
    if kind == 1:
        return draws.uniform(-60, 60)
    if kind == 2:
        return draws.randrange(-12, 13) + draws.choice([-1, 1]) * 10 ** draws.uniform(-15, -1)
    return draws.choice([-1, 1]) * 10 ** draws.uniform(-3, 3)


@of_hard_points(1)
def test_two_points_that_nobody_chose(entry, given):
    """Values, first and second derivatives at numbers that differ from run to run; POINTS_SEED repeats them."""
    draws = random.Random(f"{SEED} {entry.name} {given}")
    refute(entry, given, [anywhere(draws) for _ in range(2)])


@of_hard_points(1)
def test_two_points_of_orders_that_nobody_chose(entry, given):
    """The same for other float arguments than those of the samples, such as the order of a Bessel function."""
    draws = random.Random(f"{SEED} {entry.name} {given} orders")
    given = {name: value * draws.uniform(0.01, 1) if type(value) is float else value for name, value in given.items()}
    refute(entry, given, [anywhere(draws) for _ in range(2)])


def refute(entry, given, x):
    kinks = stated(entry, [(k.call.source, k.value.source) for k in entry.kinks])
    values = stated(entry, [(e.call.source, e.value.source) for e in entry.examples])
    found, wrongs = found_at(entry, given, np.array(x)), []
    for place, point in enumerate(x):
        exact = exact_at.__wrapped__(entry, given, point)
        if exact is not None:
            here = {mode: numbers[place].item() for mode, numbers in found.items()}
            wrongs += faults(entry, point, here, exact, np.float64, kinks, values)
    assert not wrongs, f"POINTS_SEED={SEED}, {given}\n" + "\n".join(wrongs)


@of_hard_points(1, dtype=[np.float64, np.float32])
def test_nan(entry, given, dtype):
    """What is not a number stays so, in the value and, where the derivative is no constant, in the slope."""
    if "nan" in {v for e in (*entry.examples, *entry.kinks) for v in re.findall(r"nan", e.call.source)}:
        return  # test_stated holds it to what the entry says
    x = gs.tensor(np.array([np.nan], dtype), requires_grad=True)
    y = getattr(ops, entry.name)(**{entry.signature.arrays[0].name: x}, **given)
    assert np.isnan(array(y)).all()
