"""Derivatives at kinks along directions in which all inputs move: a convention must not become a finite wrong number.

Every finite point that an entry states under `kinks:` is asked, along directions of all its inputs together.  Near it derivatives are
measured by differences.  Where they grow without bound toward the point, every mode has to give no finite number.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad

from .calls import applied, array, flat
from .questions import of_each
from .test_stated import bind, floats_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


class Point:
    """The sum of what a call gives, as a function of all its floating-point numbers in a row, at a point."""

    def __init__(self, op, call):
        self.op, self.arguments = op, bind(op, call)
        self.arrays = {name: np.asarray(value) for name, value in floats_of(op, self.arguments).items()}
        flat_ = [np.stack([x.real, x.imag], -1).ravel() if x.dtype.kind == "c" else x.ravel() for x in self.arrays.values()]
        self.x = np.concatenate([np.zeros(0), *flat_])
        self.rng = np.random.default_rng(len(self.x) + 11)

    def value(self, z):
        leaves, start = {}, 0
        for name, x in self.arrays.items():
            count = x.size * (2 if x.dtype.kind == "c" else 1)
            part = z[start : start + count]
            if x.dtype.kind == "c":
                part = gs.complex(gs.reshape(part, (-1, 2))[:, 0], gs.reshape(part, (-1, 2))[:, 1])
            leaves[name], start = gs.reshape(part, x.shape), start + count
        outputs = [y for y in flat(applied(self.op, self.arguments | leaves)) if y.dtype.kind in "fc"]
        total = 0 * gs.sum(z)
        for y in outputs:
            y = gs.real(y) + gs.imag(y) if y.dtype.kind == "c" else y
            total = total + gs.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))
        return total

    def reverse(self, f, along):
        def slope(z):
            y = f(z)
            return gs.sum(grad(y, z, create_graph=True, materialize_grads=True)[0] * along) + 0 * gs.sum(z)

        return slope

    def forward(self, f, along):
        def tangent(z):
            with forward_ad.dual_level():
                found = forward_ad.unpack_dual(f(forward_ad.make_dual(z, gs.tensor(along)))).tangent
            return 0 * gs.sum(z) if found is None else found + 0 * gs.sum(z)

        return tangent

    def at(self, f, x=None):
        return array(f(gs.tensor(self.x if x is None else x, requires_grad=True))).item()


def finite_points(op):
    found = []
    for call, _ in op.kinks:
        arrays = floats_of(op, bind(op, call)).values()
        if arrays and all(np.isfinite(x).all() and (np.abs(x) < 1e100).all() for x in arrays):
            found.append((call,))
    return found


@of_each(lambda op: any(finite_points(op)), finite_points, "call")
def test_no_finite_slope_where_it_grows_without_bound(op, call):
    """As that of t * log(t) does; where the value jumps, or is none on that side, a convention may stand."""
    point = Point(op, call)
    for signs in itertools.islice(itertools.product((1.0, -1.0), repeat=len(point.x)), 16):
        along = point.rng.uniform(0.5, 1.5, len(point.x)) * signs
        start = point.at(point.value)
        steps = [point.at(point.value, point.x + h * along) - start for h in (1e-3, 1e-5, 1e-7)]
        quotients = np.array(steps) / (1e-3, 1e-5, 1e-7)
        grows = np.isfinite(quotients).all() and (np.diff(np.abs(quotients)) > 0.1 * np.abs(quotients[:2]) + 1e-3).all()
        if not grows or abs(steps[-1]) > 1e-4 + 1e-4 * abs(start):
            continue
        for mode in (point.reverse, point.forward):
            found = point.at(mode(point.value, along))
            assert not np.isfinite(found), f"{found} by {mode.__name__} mode along {along}, and differences give {quotients}"
