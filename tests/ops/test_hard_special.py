"""Functions of several arrays that mpmath has to be told: each argument at hard points, beside the others at theirs.

Value, first derivatives in both modes and all second derivatives in the four orders are held to mpmath's values and difference
quotients of them.  A number may be missing, as NaN, where the entry says so; one that is there is right.
"""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

import gradspec as gs
from gradspec.autograd import forward_ad, grad

from .calls import array
from .kept import kept
from .spec import the_spec

scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.special")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def betaln(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, regularized=True)


def betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def gammaincinv(a, p):
    """By Newton's steps, each with twice the digits of the one before, from SciPy's value."""
    x = mpf(scipy.special.gammaincinv(float(a), float(p)))
    for _ in range(math.ceil(math.log2(mp.dps / 6))):
        x -= (gammainc(a, x) - p) * mp.gamma(a) * mp.exp(x) * x ** (1 - a)
    return x


def stdtr(df, t):
    if t < 0:
        return betainc(df / 2, mpf(0.5), df / (df + t * t)) / 2
    return 0.5 + betainc(mpf(0.5), df / 2, t * t / (df + t * t)) / 2


WIDE = (1e-300, 1e-8, 0.3, 1.0, 2.5, 9.75, 40.0, 1e5, 1e8, 1e155)
TRIPLES = (1e-150, -1e-8, 0.3, -40.0, 1e150)
SHAPES = (0.01, 0.3, 1.0, 2.5, 12.0, 300.0)
CASES = [
    ("betaln", betaln, (WIDE, WIDE)),
    ("beta", lambda a, b: mp.exp(betaln(a, b)), (WIDE, WIDE)),
    ("gammainc", gammainc, ((1e-12, 1e-6, *SHAPES), (1e-300, 1e-8, 0.3, 0.56, 2.5, 11.0, 40.0, 305.0))),
    ("gammaincc", gammaincc, ((1e-12, 1e-6, *SHAPES), (1e-8, 0.3, 0.56, 2.5, 11.0, 40.0, 305.0))),
    ("gammaincinv", gammaincinv, (SHAPES[1:-1], (1e-8, 0.3, 0.56, 0.9, 1 - 2**-20))),
    ("betainc", betainc, (SHAPES[:-1], (0.3, 1.5, 15.0, 40.0), (1e-300, 1e-8, 0.3, 0.5, 0.9, 1 - 2**-20))),
    ("poch", mp.rf, (SHAPES[1:-1], SHAPES[1:-1])),
    ("elliprf", mp.elliprf, ((0.01, 2.5), (0.3, 300.0), (1e-6, 1e6))),
    ("addcmul", lambda x, a, b: x + a * b, (TRIPLES, TRIPLES, TRIPLES)),
    ("addcdiv", lambda x, a, b: x + a / b, (TRIPLES, TRIPLES, (1e-120, -2.5, 40.0, 1e100))),
    ("lerp", lambda a, b, weight: a + weight * (b - a), (TRIPLES, TRIPLES, TRIPLES)),
    ("stdtr", stdtr, ((0.01, 0.3, 1.0, 2.5, 40.0, 3000.0), (1e-150, 1e-8, 0.3, -0.9, 1.5, -11.0, 40.0, 1e4, -1e60))),
]


@kept(betaln, gammainc, gammaincc, betainc)
def exact(function, at):
    """The value, the gradient and the Hessian: by differences small beside each argument, with digits for the smallest of sums."""
    decades = sum(abs(math.log10(abs(v))) for v in at)
    with mp.workdps(420 + int(2.4 * decades)):
        at = [mpf(v) for v in at]
        steps = [abs(v) * mpf(10) ** -18 for v in at]

        def moved(*shifts):
            return function(*(v + k * h for v, k, h in zip(at, shifts, steps)))

        unit = np.eye(len(at), dtype=int)
        value = moved(*(0 * unit[0]))
        beside = {(i, k): moved(*(k * unit[i])) for i in range(len(at)) for k in (1, -1)}
        gradient = [(beside[i, 1] - beside[i, -1]) / (2 * h) for i, h in enumerate(steps)]
        hessian = [[(beside[i, 1] - 2 * value + beside[i, -1]) / h**2 if i == j else None for j in range(len(at))] for i, h in enumerate(steps)]
        for i, j in itertools.combinations(range(len(at)), 2):
            corners = [p * q * moved(*(p * unit[i] + q * unit[j])) for p in (1, -1) for q in (1, -1)]
            hessian[i][j] = hessian[j][i] = mp.fsum(corners) / (4 * steps[i] * steps[j])
        return value, gradient, hessian


def modes(function, arrays):
    """The value, and the first and second derivatives by the argument in every mode."""
    ones = gs.tensor(np.ones_like(arrays[0]))

    def reverse(f, i):
        def apply(*xs):
            leaf = xs[i] if xs[i].requires_grad else xs[i].detach().requires_grad_()
            y = f(*xs[:i], leaf, *xs[i + 1 :])
            return grad(y, leaf, ones, create_graph=True, materialize_grads=True)[0] if y.requires_grad else gs.zeros_like(leaf)

        return apply

    def forward(f, i):
        def apply(*xs):
            with forward_ad.dual_level():
                found = forward_ad.unpack_dual(f(*xs[:i], forward_ad.make_dual(xs[i], ones), *xs[i + 1 :])).tangent
                return gs.zeros_like(xs[i]) if found is None else found

        return apply

    def run(f):
        return array(f(*(gs.tensor(x, requires_grad=True) for x in arrays))).copy()

    both, places = {"reverse": reverse, "forward": forward}, range(len(arrays))
    first = {(mode, i): run(both[mode](function, i)) for mode in both for i in places}
    second = {(outer, inner, i, j): run(both[outer](both[inner](function, j), i))
              for outer in both for inner in both for i in places for j in places}  # fmt: skip
    return run(function), first, second


def near(found, expected, dtype, order, terms):
    """Whether a number is right, to so many ulp of it, and of `terms`: what an ulp of the arguments changes, or what it is made of."""
    with np.errstate(over="ignore"):
        rounded = float(dtype(float(expected)))
    if not math.isfinite(found):
        return math.isnan(found) or found == rounded
    limits = np.finfo(dtype)
    scale = float(abs(expected)) + float(terms)
    if math.isinf(rounded):
        return abs(found) > float(limits.max) / 2
    return abs(found - rounded) <= (40, 400, 4000)[order] * np.finfo(float).eps * scale + float(limits.eps) * abs(rounded) + 4 * float(limits.tiny)


@pytest.mark.slow
@pytest.mark.parametrize("name, reference, sizes", CASES)
def test_all_derivatives(name, reference, sizes):
    """In both precisions, at the same points as far as single precision reaches: what is exact there is worked out once."""
    sizes = [[float(np.float32(v)) if 1e-30 < abs(v) < 1e30 else v for v in column] for column in sizes]
    exactly = cache(lambda *at: exact(reference, at))
    compared(name, exactly, sizes, np.float64)
    breaks = the_spec().ops[name].breaks
    with pytest.raises(AssertionError, match="float32") if "single" in breaks else nullcontext():
        compared(name, exactly, [[v for v in column if 1e-30 < abs(v) < 1e30] for column in sizes], np.float32)


def compared(name, exactly, sizes, dtype):
    grid = np.array(list(itertools.product(*sizes)), dtype)
    value, first, second = modes(getattr(gs.special, name, None) or getattr(gs, name), [column.copy() for column in grid.T])
    wrongs, missing = [], 0
    for place, at in enumerate(grid.tolist()):
        expected, gradient, hessian = exactly(*at)

        def check(what, found, expected, order, terms=0.0, at=at, place=place):
            number = found[place].item()
            if not near(number, expected, dtype, order, terms):
                wrongs.append(f"{what} at {at}: {number!r}, exact {mp.nstr(expected, 17)}")
            return math.isnan(number)

        lost = check("value", value, expected, 0, sum(abs(v * slope) for v, slope in zip(at, gradient)))
        for (mode, i), found in first.items():
            lost |= check(f"{mode} in {i}", found, gradient[i], 1, sum(abs(v * hessian[i][j]) for j, v in enumerate(at)))
        for (outer, inner, i, j), found in second.items():
            terms = abs(gradient[i] * gradient[j] / expected) if expected else 0
            lost |= check(f"{outer} of {inner} in {i}, {j}", found, hessian[i][j], 2, terms)
        missing += lost
    assert not wrongs, f"{len(wrongs)} of them in {np.dtype(dtype)}\n" + "\n".join(wrongs[:40])
    assert missing <= len(grid) // 4, f"{missing} of {len(grid)} places have no number"
