"""Operators of whole arrays where formulas go wrong: scales whose squares are out of range, large offsets, zeros, what is equal.

The value, the gradient in both modes and the Hessian in the four orders are held to mpmath's values and difference quotients of
them, the Hessian to its largest elements.  Where they do not settle (a corner, a pole) nothing is asked.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import gradspec as gs
from gradspec.autograd import forward_ad, grad

from .calls import array

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

LARGE = [[3e-200, 4e-200, 1e-200], [3e160, 4e160, 1e160], [1e-160, 2.0, 1e160], [1.0, 1e-9, 1e9], [1e-300, 1.0, 2.0]]
ZEROS = [[0.0, 3.0, 4.0], [0.0, 0.0, 2.0], [3.0, 0.0, 0.0]]
EQUAL = [[1.0, 1.0, 1.0], [2.0, 2.0, 1.0]]
OFFSET = [[1e8, 1e8 + 1, 1e8 + 3], [1e15, 1e15 + 1, 1e15 + 3], [-1e12, -1e12 - 1, -1e12 + 2]]
EXPONENTS = [[-1e300, -1e300, -1e300], [1e300, 1e300, 1e300], [800.0, 0.0, -800.0], [1e-9, 0.0, 1e-300], [20.0, 0.0, 0.0]]
ORDINARY = [[0.3, -1.2, 2.5], [-0.7, 0.4, 0.1]]
PRODUCTS = [[1e-200, 1e200, 3.0], [1e-150, 1e100, 1e200]]  # which stay in range from the first on, as the entries say
# The tangent of 1 / y is out of range where y * y is: forward over reverse mode loses what the other orders keep.
SQUARED = "forward of reverse"
# 1 - p of a probability p that is close to 1 is known to the last digit of 1: so docs/derivative-conventions.md.
SHARES = ("logsumexp", "softmax", "log_softmax", "cross_entropy")


def norm(p):
    return lambda x: mp.fsum(abs(v) ** mpf(p) for v in x) ** (1 / mpf(p))


def var(x):
    mean = mp.fsum(x) / len(x)
    return mp.fsum((v - mean) ** 2 for v in x) / len(x)


def logsumexp(x):
    return mp.log(mp.fsum(mp.exp(v) for v in x))


def cosine(x, other=(1, 2, -1)):
    return mp.fdot(x, other) / (mp.norm(x) * mp.norm([mpf(v) for v in other]))


def det(x):
    return x[0] * 2 - x[1] * x[2]


def matrix(x):
    return gs.stack([gs.stack([x[0], x[1]]), gs.stack([x[2], 2 + 0 * x[2]])])


# The operator of a vector, what it is in mpmath, and the points.
CASES = {
    "norm 2": (gs.norm, norm(2), LARGE + ZEROS + ORDINARY),
    "norm 3": (lambda x: gs.norm(x, 3), norm(3), LARGE + ZEROS + ORDINARY),
    "norm 1.5": (lambda x: gs.norm(x, 1.5), norm(1.5), LARGE[:2] + LARGE[3:] + ORDINARY),
    "norm 0.5": (lambda x: gs.norm(x, 0.5), norm(0.5), LARGE[:2] + ORDINARY),
    "norm -1": (lambda x: gs.norm(x, -1), norm(-1), LARGE[:2] + ORDINARY),
    "norm 1": (lambda x: gs.norm(x, 1), norm(1), LARGE + ORDINARY),
    "var": (gs.var, var, LARGE[3:] + OFFSET + EQUAL + ZEROS + ORDINARY),
    "std": (gs.std, lambda x: mp.sqrt(var(x)), LARGE + OFFSET + ZEROS + ORDINARY),
    "logsumexp": (gs.logsumexp, logsumexp, EXPONENTS + EQUAL + ORDINARY),
    "softmax": (lambda x: gs.nn.softmax(x, 0)[0], lambda x: mp.exp(x[0] - logsumexp(x)), EXPONENTS + EQUAL + ORDINARY),
    "log_softmax": (lambda x: gs.nn.log_softmax(x, 0)[1], lambda x: x[1] - logsumexp(x), EXPONENTS[2:] + EQUAL + ORDINARY),
    "logcumsumexp": (lambda x: gs.logcumsumexp(x, 0)[1], lambda x: logsumexp(x[:2]), EXPONENTS + EQUAL + ORDINARY),
    "cross_entropy": (lambda x: gs.nn.cross_entropy(x, np.array(1)), lambda x: logsumexp(x) - x[1], EXPONENTS[2:] + EQUAL + ORDINARY),
    "prod": (gs.prod, mp.fprod, PRODUCTS + ZEROS + EQUAL + ORDINARY),
    "cumprod": (lambda x: gs.cumprod(x, 0)[2], mp.fprod, PRODUCTS + ZEROS + EQUAL + ORDINARY),
    "cosine_similarity": (
        lambda x: gs.nn.cosine_similarity(x, np.array([1.0, 2, -1]), axis=0, eps=0), cosine, LARGE[:2] + ZEROS + EQUAL + ORDINARY),
    "normalize": (lambda x: gs.nn.normalize(x, axis=0, eps=0)[0], lambda x: x[0] / norm(2)(x), LARGE[:2] + ZEROS + ORDINARY),
    "hypot": (lambda x: gs.hypot(gs.hypot(x[0], x[1]), x[2]), norm(2), LARGE[:2] + ORDINARY),
    "cdist": (lambda x: gs.cdist(x[None], np.ones((1, 3)))[0, 0], lambda x: norm(2)([v - 1 for v in x]), ZEROS + ORDINARY + LARGE[:2]),
    "pairwise_distance": (
        lambda x: gs.nn.pairwise_distance(x, np.zeros(3), eps=0.0), norm(2), LARGE[:2] + ZEROS + ORDINARY),
    "layer_norm": (
        lambda x: gs.nn.layer_norm(x, (3,), eps=0.0)[0], lambda x: (x[0] - mp.fsum(x) / 3) / mp.sqrt(var(x)), ORDINARY),
    "rms_norm": (
        lambda x: gs.nn.rms_norm(x, (3,), eps=0.0)[0], lambda x: x[0] * mp.sqrt(3) / norm(2)(x), ZEROS + ORDINARY),
    "det": (lambda x: gs.linalg.det(matrix(x)), det, ZEROS + EQUAL + ORDINARY),
    "logdet": (lambda x: gs.logdet(matrix(x)), lambda x: mp.log(det(x)), [[3.0, 1.0, 2.0], [1e100, 1.0, 1.0], [1.0, 1e-300, 5.0]]),
    "slogdet": (lambda x: gs.linalg.slogdet(matrix(x))[1], lambda x: mp.log(abs(det(x))), [[3.0, 1.0, 2.0], [-1e100, 1.0, 1.0]]),
    "inv": (lambda x: gs.linalg.inv(matrix(x))[0, 1], lambda x: -x[1] / det(x), [[3.0, 1.0, 2.0], [1e100, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    "solve": (
        lambda x: gs.linalg.solve(matrix(x), np.array([1.0, 2.0]))[0], lambda x: (2 - 2 * x[1]) / det(x), [[3.0, 1.0, 2.0], [1e100, 1.0, 1.0]]),
    "eigvalsh": (
        lambda x: gs.linalg.eigvalsh(gs.stack([gs.stack([x[0], x[1]]), gs.stack([x[1], x[2]])]))[0],
        lambda x: (x[0] + x[2]) / 2 - mp.sqrt(((x[0] - x[2]) / 2) ** 2 + x[1] ** 2), [[1.0, 0.0, 3.0], [1.0, 1e-3, 1.0], [2.0, 1.0, 2.0], *ORDINARY]),
    "cumsum": (lambda x: gs.cumsum(x, 0)[1], lambda x: x[0] + x[1], LARGE),
    "trapezoid": (lambda x: gs.trapezoid(x), lambda x: (x[0] + 2 * x[1] + x[2]) / 2, LARGE),
    "median": (gs.median, lambda x: sorted(x)[1], ORDINARY + LARGE),
    "quantile": (lambda x: gs.quantile(x, 0.25), lambda x: (sorted(x)[0] + sorted(x)[1]) / 2, ORDINARY + LARGE),
    "cov": (lambda x: gs.cov(gs.stack([x, x * x]))[0, 1], lambda x: mp.fsum((v - mp.fsum(x) / 3) * v * v for v in x) / 2, EQUAL + ORDINARY),
}  # fmt: skip


def exact(function, at, digits):
    """The value, the gradient and the Hessian by quotients in steps small beside each argument; NaN where they do not settle."""
    found = []
    for few in (30, 45):
        with mp.workdps(digits):
            x = [mpf(v) for v in at]
            steps = [(abs(v) or mpf(1)) * mpf(10) ** -few for v in x]
            smallest = min(steps)
            if not all(at):
                steps = [smallest * mpf(10) ** -160 if v == 0 else h for v, h in zip(x, steps)]

            def moved(*shifts, x=x, steps=steps):
                y = [v + k * h for v, k, h in zip(x, shifts, steps)]
                try:
                    return mpf(function(y))
                except (ZeroDivisionError, ValueError, TypeError):
                    return mp.nan

            unit, places = np.eye(len(at), dtype=int).tolist(), range(len(at))
            value = moved(*[0] * len(at))
            sides = {(i, k): moved(*(k * v for v in unit[i])) for i in places for k in (1, -1)}
            gradient = []
            for i in places:
                left, right = (value - sides[i, -1]) / steps[i], (sides[i, 1] - value) / steps[i]
                gradient.append((left + right) / 2 if abs(left - right) <= mpf(10) ** -12 * (abs(left) + abs(right)) else mp.nan)
            hessian = {}
            for i in places:
                for j in range(i + 1):
                    if i == j:
                        hessian[i, i] = (sides[i, 1] - 2 * value + sides[i, -1]) / steps[i] ** 2
                        continue
                    corners = [p * q * moved(*(p * u + q * v for u, v in zip(unit[i], unit[j]))) for p in (1, -1) for q in (1, -1)]
                    hessian[i, j] = hessian[j, i] = mp.fsum(corners) / (4 * steps[i] * steps[j])
            found.append((value, gradient, hessian))
    (value, gradient, hessian), (_, g, h) = found

    def settled(a, b, whole):
        return b if abs(a - b) <= mpf(10) ** -13 * abs(b) + mpf(10) ** -18 * whole else mp.nan

    reach = max((abs(v) for v in hessian.values() if mp.isfinite(v)), default=0)
    slopes = max((abs(v) for v in gradient if mp.isfinite(v)), default=0)
    gradient = [settled(a, b, slopes) for a, b in zip(gradient, g)]
    known = {(i, j): mp.isfinite(gradient[i]) and mp.isfinite(gradient[j]) for i, j in hessian}
    return value, gradient, {k: settled(hessian[k], h[k], reach) if known[k] else mp.nan for k in hessian}


def modes(function, at):
    """The value, the gradient in each mode and the Hessian in each order of the two."""
    x = np.array(at)

    def reverse(f):
        def gradient(x):
            leaf = x if x.requires_grad else x.detach().requires_grad_()
            y = f(leaf)
            return grad(y.sum(), leaf, create_graph=True, materialize_grads=True)[0] if y.requires_grad else gs.zeros_like(leaf)

        return gradient

    def forward(f):
        def tangents(x):
            x, rows = x if x.requires_grad else x.requires_grad_(), []
            for direction in np.eye(len(at)):
                with forward_ad.dual_level():
                    y = f(forward_ad.make_dual(x, gs.tensor(direction)))
                    tangent = forward_ad.unpack_dual(y).tangent
                    rows.append(gs.zeros_like(y) if tangent is None else tangent)
            return gs.stack(rows)

        return tangents

    def jacobian(f):  # by reverse mode, an element at a time
        def rows(x):
            leaf = x.detach().requires_grad_()
            ys = f(leaf)
            return gs.stack([grad(y, leaf, retain_graph=True, materialize_grads=True)[0] if ys.requires_grad else gs.zeros_like(leaf) for y in ys])

        return rows

    value = array(function(gs.tensor(x))).item()
    first = {"reverse": array(reverse(function)(gs.tensor(x))).copy(), "forward": array(forward(function)(gs.tensor(x))).copy()}
    second = {f"{outer} of {inner}": array({"reverse": jacobian, "forward": forward}[outer](
        {"reverse": reverse, "forward": forward}[inner](function))(gs.tensor(x))).copy()
        for outer in ("reverse", "forward") for inner in ("reverse", "forward")}  # fmt: skip
    return value, first, second


def right(found, expected, slack):
    """Whether a number is right; what is not known, or not a double, is not asked."""
    expected = float(expected)
    if math.isnan(expected) or math.isinf(expected):
        return True
    return abs(found - expected) <= 1e-11 * abs(expected) + float(slack) + 1e-300


def largest(numbers):
    return max((abs(v) for v in numbers if mp.isfinite(v)), default=mpf(0))


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, reference, points = CASES[name]
    wrongs, least = [], 4e-16 if name in SHARES else 0
    for at in points:
        value, gradient, hessian = exact(reference, at, 1600)
        found, first, second = modes(function, at)
        conditioned = mp.fsum(abs(v * slope) for v, slope in zip(at, gradient) if mp.isfinite(slope))
        if not right(found, value, 1e-15 * conditioned):
            wrongs.append(f"value at {at}: {found!r}, exact {mp.nstr(value, 17)}")
        for mode, numbers in first.items():
            for i, number in enumerate(numbers.tolist()):
                if not right(number, gradient[i], 1e-16 * largest(gradient) + least):
                    wrongs.append(f"{mode} in {i} at {at}: {number!r}, exact {mp.nstr(gradient[i], 17)}")
        for mode, numbers in second.items():
            if mode == SQUARED and not 1e-150 < max(map(abs, at)) < 1e150:
                continue
            for (i, j), expected in hessian.items():
                if not right(numbers[i, j].item(), expected, 1e-15 * largest(hessian.values()) + least):
                    wrongs.append(f"{mode} in {i}, {j} at {at}: {numbers[i, j].item()!r}, exact {mp.nstr(expected, 17)}")
    assert not wrongs, f"{len(wrongs)} wrong, \n" + "\n".join(wrongs[:40])
