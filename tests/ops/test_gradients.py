"""First and second derivatives of every sample against finite differences.

`gradcheck` compares whole Jacobians of the smallest sample, which names the element that is wrong, and products with random vectors of
the others.  Such a product shows a wrong element with probability 1, and where it does gradcheck goes on to name the element.  The second derivatives are compared along directions, with the differences of
the exact first derivatives, in the four orders: reverse over reverse, forward over reverse, and so on; those of gradients
with the cotangents moving too.
"""

from __future__ import annotations

from functools import cache, partial, wraps
from inspect import signature

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad, gradcheck, gradgradcheck
from gradspec.codegen.verify import numeric

from .calls import BY_NAME, Case, array, samples_of
from .questions import of_samples


def of_arrays(question):
    """A question of every sample that holds an array of floats, of every entry that has a gradient."""

    @wraps(question)
    def asked(case):
        if not case.places:
            pytest.skip("every array of the sample is a number: nothing to differentiate")
        question(case)

    return of_samples(lambda op: op.inputs)(asked)


def by_differences(question):
    """A question that takes a way to differentiate: by differences extrapolated once, and twice where those find an error.

    The tolerance is the same.  Extrapolated once they are off by the fourth power of the step, 1e-14, times a fifth derivative.
    """

    @wraps(question)
    def asked(case):
        try:
            question(case, partial(numeric.derivative, twice=False))
        except AssertionError:
            question(case, numeric.derivative)

    asked.__signature__ = signature(lambda case: None)
    return asked


def settle(values):
    """The values as one list of arrays, to compare with `numeric`."""
    return [array(value).copy() for value in values]


def vjp(case, arrays, cotangents, create_graph=False, leaves=None):
    """The gradients of <cotangents, outputs>."""
    leaves = leaves or [gs.tensor(a, requires_grad=True) for a in arrays]
    outputs = case(*leaves)
    live = [(y, c) for y, c in zip(outputs, cotangents) if y.requires_grad]
    if not live:
        return [gs.tensor(np.zeros_like(array(leaf))) for leaf in leaves]
    return grad([y for y, _ in live], leaves, [gs.asarray(c) for _, c in live], create_graph=create_graph,
                materialize_grads=True)  # fmt: skip


def tangents(case, duals, level):
    """The outputs' tangents; absent ones are zeros."""
    unpacked = [forward_ad.unpack_dual(y, level=level) for y in case(*duals)]
    return [t if t is not None else gs.zeros_like(p.detach()) for p, t in unpacked]


def jvp(case, arrays, directions):
    with forward_ad.dual_level() as level:
        duals = [forward_ad.make_dual(gs.tensor(a), gs.tensor(d)) for a, d in zip(arrays, directions)]
        return settle(tangents(case, duals, level))


def agree(found, expected, what):
    wrong = numeric.worst(settle(found), settle(expected))
    assert wrong is None, f"{what}: got {wrong[0]}, differences give {wrong[1]}"


class Directions:
    """Random cotangents and directions for one case."""

    def __init__(self, case: Case):
        random = np.random.default_rng(7)
        self.arrays = [a.copy() for a in case.arrays]
        self.outputs = settle(case(*map(gs.tensor, self.arrays)))
        self.cotangents = numeric.random_like(self.outputs, random)
        self.one, self.two = (numeric.random_like(self.arrays, random) for _ in range(2))
        self.weights_in = numeric.random_like(self.arrays, random)
        self.weights_out = numeric.random_like(self.outputs, random)
        self.turn = numeric.random_like(self.cotangents, random)


@cache
def by_elements(name, dtype):
    """The number of the smallest sample of an entry that has several elements, or of its largest one."""
    sizes = {case.index: sum(a.size for a in case.arrays) for case in samples_of(BY_NAME[name], {BY_NAME[name].dtype: (dtype,)})}
    several = {index: size for index, size in sizes.items() if size > 3}
    return min(several, key=several.get) if several else max(sizes, key=sizes.get)


@of_arrays
def test_gradcheck(case):
    """Every Jacobian of one output by one input, the others having no gradient or tangent, in reverse and in forward mode.

    Along a random direction the tolerance counts for a whole Jacobian; the tight one is that of the test of all arrays at once below.
    """
    assert gradcheck(lambda *leaves: tuple(case(*leaves)), tuple(case.leaves()), check_forward_ad=True, check_grad_dtypes=True,
                     atol=1e-6, rtol=1e-6, fast_mode=case.index != by_elements(case.op.name, case.dtype))  # fmt: skip


@of_arrays
def test_gradgradcheck(case):
    """Of one sample of each entry: gradients some of which are not asked for, or not given.  The numbers are test_second_derivatives'."""
    if case.index or not any(y.requires_grad for y in case(*case.leaves())):
        return  # a constant, as test_gradcheck has found by differences: there is no gradient to differentiate
    assert gradgradcheck(lambda *leaves: tuple(case(*leaves)), tuple(case.leaves()), check_fwd_over_rev=True,
                         check_grad_dtypes=True, fast_mode=True)  # fmt: skip


@of_arrays
@by_differences
def test_first_derivatives_by_extrapolated_differences(case, derivative):
    """Tighter than gradcheck: differences extrapolated to 1e-6 or better, and reverse is the adjoint of forward."""
    at = Directions(case)
    change = derivative(lambda moved: settle(case(*map(gs.tensor, moved))), at.arrays, at.one)
    forward = jvp(case, at.arrays, at.one)
    agree(forward, change, "forward mode")
    gradients = settle(vjp(case, at.arrays, at.cotangents))
    assert numeric.inner(gradients, at.one) == pytest.approx(numeric.inner(at.cotangents, forward), rel=1e-9, abs=1e-9)


@of_arrays
@by_differences
def test_second_derivatives(case, derivative):
    at = Directions(case)

    # Of the gradients, along direction one of the inputs and a turn of the cotangents.
    count = len(at.arrays)
    moving, way = [*at.arrays, *at.cotangents], [*at.one, *at.turn]
    change = derivative(lambda moved: settle(vjp(case, moved[:count], moved[count:])), moving, way)
    leaves, cotangents = ([gs.tensor(a, requires_grad=True) for a in arrays] for arrays in (at.arrays, at.cotangents))
    gradients = vjp(case, None, cotangents, True, leaves)
    live = [(g, w) for g, w in zip(gradients, at.weights_in) if g.requires_grad]
    given, weights = [g for g, _ in live], [gs.asarray(w) for _, w in live]
    twice = grad(given, [*leaves, *cotangents], weights, materialize_grads=True) if live else []
    assert [g.dtype for g in gradients] == [a.dtype for a in at.arrays] and all(g.dtype == a.dtype for g, a in zip(twice, moving))
    found = numeric.inner(settle(twice), way) if live else 0.0
    expected = numeric.inner(at.weights_in, change)
    scale = 1 + sum(numeric.size_of(w) * numeric.size_of(c) for w, c in zip(at.weights_in, change))
    assert abs(found - expected) <= numeric.TOLERANCE * scale, f"reverse over reverse: {found}, differences {expected}"

    with forward_ad.dual_level() as level:
        leaves, cotangents = ([gs.tensor(a, requires_grad=True) for a in arrays] for arrays in (at.arrays, at.cotangents))
        duals = [forward_ad.make_dual(leaf, gs.tensor(d)) for leaf, d in zip([*leaves, *cotangents], way)]
        gradients = vjp(case, None, duals[count:], False, duals[:count])
        unpacked = [forward_ad.unpack_dual(g, level=level) for g in gradients]
        found = [t if t is not None else np.zeros_like(array(p)) for p, t in unpacked]
        agree(found, change, "forward over reverse")

    # Of the tangents along direction one, along direction two.
    change = derivative(lambda moved: jvp(case, moved, at.one), at.arrays, at.two)
    with forward_ad.dual_level() as level:
        leaves = [gs.tensor(a, requires_grad=True) for a in at.arrays]
        duals = [forward_ad.make_dual(leaf, gs.tensor(d)) for leaf, d in zip(leaves, at.one)]
        live = [(t, w) for t, w in zip(tangents(case, duals, level), at.weights_out) if t.requires_grad]
        twice = grad([t for t, _ in live], leaves, [gs.asarray(w) for _, w in live], materialize_grads=True) if live else []
    found = numeric.inner(settle(twice), at.two) if live else 0.0
    expected = numeric.inner(at.weights_out, change)
    scale = 1 + sum(numeric.size_of(w) * numeric.size_of(c) for w, c in zip(at.weights_out, change))
    assert abs(found - expected) <= numeric.TOLERANCE * scale, f"reverse over forward: {found}, differences {expected}"

    with forward_ad.dual_level() as outer:
        moved = [forward_ad.make_dual(gs.tensor(a), gs.tensor(d)) for a, d in zip(at.arrays, at.two)]
        with forward_ad.dual_level() as inner:
            duals = [forward_ad.make_dual(m, gs.tensor(d)) for m, d in zip(moved, at.one)]
            first = tangents(case, duals, inner)
            unpacked = [forward_ad.unpack_dual(t, level=outer) for t in first]
            found = [t if t is not None else np.zeros_like(array(p)) for p, t in unpacked]
            agree(found, change, "forward over forward")


class Planted(gs.autograd.Function):
    """A cube whose gradient is right, and loses what it hangs on: the cotangent or the input."""

    @staticmethod
    def forward(ctx, x, forgets):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.forgets = forgets
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return {"cotangent": gradient.detach() * x, "input": gradient * x.detach(), "nothing": gradient * x}[ctx.forgets] * 3 * x, None

    @staticmethod
    def jvp(ctx, tangent, _):
        (x,) = ctx.saved_tensors
        return 3 * x * x * tangent


@pytest.mark.parametrize("forgets", ["cotangent", "input", "nothing"])
def test_what_a_gradient_forgets_is_found(forgets):
    class Cube:
        arrays = [np.array([0.3, -1.2])]
        __call__ = staticmethod(lambda x: [Planted.apply(x, forgets)])

    question = test_second_derivatives.__wrapped__.__wrapped__
    if forgets == "nothing":
        question(Cube())
    else:
        with pytest.raises(AssertionError, match="reverse over reverse"):
            question(Cube())
