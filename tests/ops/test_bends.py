"""First and second derivatives at kinks, where all inputs move: a convention must not become a finite wrong number.

Every finite point that an entry states under `kinks:` is asked.  Near it derivatives are measured by differences.  Where they grow
without bound toward the point, as the second one of a length does at 0, every mode has to give no finite number; the square of
the function may be known, and then a mode gives that or no number.  Where the second one is bounded, as beside a corner, every mode
gives a number that is found near the point, or none.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import func
from gradspec.autograd import forward_ad, grad

from .calls import applied, array, flat
from .questions import of_each
from .test_stated import bind, floats_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NEAR, NEARER = 1e-2, 1e-4  # distances from the point
GROWS = 30  # by how much the second derivative grows from one to the other, where it is not bounded


class Point:
    """The sum of what a call gives, as a function of all its floating-point numbers in a row, at a point."""

    def __init__(self, op, call):
        self.op, self.arguments = op, bind(op, call)
        self.arrays = {name: np.asarray(value) for name, value in floats_of(op, self.arguments).items()}
        flat_ = [np.stack([x.real, x.imag], -1).ravel() if x.dtype.kind == "c" else x.ravel() for x in self.arrays.values()]
        self.x = np.concatenate([np.zeros(0), *flat_])
        self.rng = np.random.default_rng(len(self.x) + 11)
        self.along = self.rng.uniform(0.5, 1.5, self.x.shape) * self.rng.choice([-1, 1], self.x.shape)

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

    def squared(self, z):
        return self.value(z) ** 2

    def modes(self, f):
        """The second derivative along the direction: each order of the two modes."""
        modes = {"reverse": self.reverse, "forward": self.forward}
        return {f"{outer} of {inner}": self.at(modes[outer](modes[inner](f, self.along), self.along)) for outer in modes for inner in modes}

    def slope(self, f, x):
        """The derivative along the direction somewhere else."""
        leaf = gs.tensor(x, requires_grad=True)
        return float(array(grad(f(leaf), leaf, materialize_grads=True)[0]) @ self.along)

    def beside(self, f, distance):
        """Second derivatives at points around."""
        found, step = [], distance * 1e-3
        for _ in range(4):
            toward = distance * self.rng.uniform(0.5, 1.5, self.x.shape) * self.rng.choice([-1, 1], self.x.shape)
            for x in (self.x + toward, self.x - toward):
                found.append((self.slope(f, x + step * self.along) - self.slope(f, x - step * self.along)) / (2 * step))
        return np.array([v for v in found if np.isfinite(v)])

    def jumps(self):
        values = [array(self.value(gs.tensor(self.x + h * self.along))).item() for h in (0.0, 1e-12, -1e-12)]
        return not np.ptp(values) <= 1e-5

    def known(self, f):
        """The second derivative at the point, by differences that settle; NaN where they do not."""
        found = [(self.slope(f, self.x + h * self.along) - self.slope(f, self.x)) / h for h in (1e-4, -1e-4, 1e-6, -1e-6)]
        return found[0] if np.ptp(found) <= 1e-2 * (1 + np.abs(found).max()) else np.nan


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


@of_each(lambda op: not op.name.startswith("_") and any(finite_points(op)), finite_points, "call")
def test_no_wrong_number_at_a_kink(op, call):
    point = Point(op, call)
    far, near = (point.beside(point.value, distance) for distance in (NEAR, NEARER))
    if not len(near) or not len(far) or point.jumps():
        return  # no room around the point, or a step, whose derivatives are 0 by convention
    grows = np.abs(near).max() > GROWS * max(np.abs(far).max(), 1e-3)
    for mode, found in point.modes(point.value).items():
        if grows:
            assert not np.isfinite(found), f"{mode}: {found}, and the second derivative grows without bound toward the point"
        else:
            margin = 1e-2 * (1 + np.abs(near).max())
            inside = near.min() - margin <= found <= near.max() + margin
            assert inside or not np.isfinite(found), f"{mode}: {found}, and from {near.min()} to {near.max()} near the point"
    if not grows:
        return
    exact = point.known(point.squared)
    for mode, found in point.modes(point.squared).items():
        assert not np.isfinite(found) or abs(found - exact) <= 1e-2 * (1 + abs(exact)), f"{mode} of the square: {found}, exact {exact}"


ROWS = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, -2.0]])
FAR = np.random.default_rng(7).uniform(7, 9, (200, 2))  # with so many rows distances are those of products of matrices
LENGTHS = {
    "norm": lambda x: gs.norm(x, axis=1), "third": lambda x: gs.linalg.vector_norm(x, 3, 1), "of 2.5": lambda x: gs.linalg.vector_norm(x, 2.5, 1),
    "std": lambda x: gs.std(x, 1),
    "modulus": lambda x: gs.abs(gs.complex(x[:, 0], x[:, 1])),
    "cdist": lambda x: gs.cdist(x, np.zeros((1, 2)))[:, 0], "cdist of many": lambda x: gs.cdist(x, np.concatenate([np.zeros((1, 2)), FAR]))[:, 0],
    "one by one": lambda x: gs.stack([gs.dist(r, np.zeros(2)) for r in x]),
}  # fmt: skip


def hessians(f, x):
    """In the four orders of the two modes, rows of the argument by its rows."""
    size = x.size
    return {
        (outer.__name__, inner.__name__): array(outer(inner(f))(x)).reshape(size, size)
        for outer in (func.jacfwd, func.jacrev) for inner in (func.jacfwd, func.jacrev)
    }  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths(name):
    """Of a length and of its square not known in the vector that is 0, and a number, the right one, in all others."""
    length, rest = LENGTHS[name], np.arange(6) >= 2
    for f in (lambda x: length(x).sum(), lambda x: (length(x) ** 2).sum(), lambda x: gs.exp(-(length(x) ** 2)).sum()):
        others = hessians(lambda y, f=f: f(gs.concatenate([np.ones((1, 2)), y])), ROWS[1:])
        assert not array(grad(f(leaf := gs.tensor(ROWS, requires_grad=True)), leaf)[0])[0].any()
        for mode, found in hessians(f, ROWS).items():
            assert np.isnan(np.diag(found)[:2]).all(), mode
            np.testing.assert_allclose(found[np.ix_(rest, rest)], others[mode], rtol=1e-9, atol=1e-12)
            assert not found[:2, 2:].any(), mode
            if mode != ("jacrev", "jacfwd"):  # which sums over all directions, and one of them moves the vector
                assert not found[2:, :2].any(), mode


@pytest.mark.parametrize("name", LENGTHS)
def test_a_length_that_does_not_count(name):
    """It is not known in its own vector, for the constant that keeps it out may be one that moves; all else is a number."""
    length = LENGTHS[name]
    for f in (lambda x: length(x)[1:].sum(), lambda x: (length(x) * np.array([0.0, 1.0, 1.0])).sum()):
        for outer in (func.jacfwd, func.jacrev):
            found = array(outer(func.grad(f))(ROWS)).reshape(6, 6)
            assert np.isfinite(found[2:, 2:]).all() and not found[2:, :2].any() and not found[:2, 2:].any()


@pytest.mark.parametrize("name", ["cdist", "cdist of many", "norm"])
def test_the_distance_of_a_point_to_itself(name):
    """It stays 0, wherever the point goes: kernels of distances of all pairs have the Hessians of their formula in squares."""

    def distances(x):
        apart = gs.expand_dims(x, 1) - gs.expand_dims(x, 0)
        more = gs.concatenate([x, FAR])
        return {"cdist": lambda: gs.cdist(x, x), "cdist of many": lambda: gs.cdist(more, more)[:3, :3],
                "norm": lambda: gs.norm(apart, axis=-1)}[name]()  # fmt: skip

    def plain(x):
        return gs.exp(-((gs.expand_dims(x, 1) - gs.expand_dims(x, 0)) ** 2).sum(-1)).sum()

    points = ROWS / 5
    wanted = hessians(plain, points)
    for mode, found in hessians(lambda x: gs.exp(-(distances(x) ** 2)).sum(), points).items():
        np.testing.assert_allclose(found, wanted[mode], rtol=1e-9, atol=1e-12, err_msg=str(mode))


@pytest.mark.parametrize("count", [1, 200])
def test_rows_that_meet_rows_of_another_array(count):
    """Not known in either, in all orders of the modes; rows that meet none have the numbers of distances one by one."""
    a, b = np.concatenate([ROWS[1:], FAR[:count]]), np.concatenate([ROWS[:2], FAR[: count - 1]])  # a[0] is b[1], and FAR meets itself
    moving = np.concatenate([a[:2], b[:2]])

    def total(z, weights):
        distances = gs.cdist(gs.concatenate([z[:2], a[2:]]), gs.concatenate([z[2:], b[2:]]))[:2, :2]
        return (weights * distances).sum()

    def plain(z, weights):
        apart = gs.sqrt(((z[:2, None] - z[None, 2:]) ** 2).sum(-1) + np.array([[0.0, 1.0], [0.0, 0.0]]))
        return (weights * apart).sum()

    both = np.repeat([True, False, False, True], 2)  # of a[0] and b[1]
    for mode, found in hessians(lambda z: total(z, 1.0), moving).items():
        assert np.isnan(np.diag(found)[both]).all(), mode
    for mode, found in hessians(lambda z: total(z, np.array([[1.0, 0.0], [1.0, 1.0]])), moving).items():
        wanted = hessians(lambda z: plain(z, np.array([[1.0, 0.0], [1.0, 1.0]])), moving)[mode]
        known = np.isfinite(found)
        np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-12, err_msg=str(mode))
        assert known[np.ix_(~both, ~both)].all(), mode


@pytest.mark.parametrize("power", [1.0, 1.2, 1.5, 1.9, 2.0, 2.1, 2.5, 2.9, 3.0, 4.5])
def test_norms_of_any_power(power):
    """In all orders of the modes: not known at 0 but for the corner of power 1, and beside a component of 0 the right number or none."""
    for x in (np.zeros(2), np.array([0.0, 2.0])):
        for mode, found in hessians(lambda x: gs.linalg.vector_norm(x, power), x).items():
            if not x.any() and power > 1:
                assert np.isnan(np.diag(found)).all(), mode
            elif x.any():  # the Hessian is 0, but along the component of 0 that of power 2 is 1 / 2, and below 2 it is not there
                wanted = np.diag([np.nan if 1 < power < 2 else 0.5 if power == 2 else 0.0, 0.0])
                bad = np.isfinite(found) & ~np.isclose(found, wanted, rtol=1e-12, atol=1e-12)
                assert not bad.any() and (power < 2 or power > 3 or np.isfinite(found).all()), (mode, found)


def test_what_is_kept_from_zero():
    for f in (gs.nn.normalize, lambda x: gs.nn.cosine_similarity(x, np.ones((3, 2))), lambda x: gs.renorm(x, 2.0, 0, 1.0)):
        for mode, found in hessians(lambda x, f=f: f(x).sum(), ROWS).items():
            assert np.isfinite(found).all(), mode
            assert not found[:2, :2].any(), mode  # linear around 0


def test_jet_and_laplacian():
    for power in (1, 2):
        assert np.isnan(array(func.laplacian(lambda x: gs.norm(x) ** power)(np.zeros(3)))).all()
        _, (_, second) = func.jet(lambda x: gs.norm(x) ** power, (np.zeros(3),), ((np.ones(3), np.zeros(3)),))
        assert np.isnan(array(second))
