"""One pass for a batch gives what a pass for each of its rows gives, for every sample of every entry: of gradients of the
outputs in reverse mode, of tangents of the inputs in forward mode.

Which rules take a batch as it is follows from what they are made of; the others run row by row inside the pass.
"""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad
from gradspec.autograd.flat_derivatives import push
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.codegen.verify import numeric

from .calls import array
from .questions import of_samples

ROWS = 3
# A pass is linear in what it is given, to which other tests hold each pass alone: so what a batch gives, summed with random factors, is
# what one pass gives for the rows summed with them.  A row that is wrong shows there with probability 1.
FACTORS = np.array([0.7, -1.3, 1.1])


def close(found, expected, what):
    assert found.shape == expected.shape and found.dtype == expected.dtype, what
    np.testing.assert_allclose(array(found), array(expected), rtol=1e-9, atol=1e-9, err_msg=what)


def close_to_rows(batches, summed, row, what):
    """Each batch of results to the result for the sum of rows; where it is not, to that of `row(i)`, so that an error names it."""
    for found, expected in zip(batches, summed, strict=True):
        assert found.shape == (ROWS, *expected.shape) and found.dtype == expected.dtype, what
    try:
        for found, expected in zip(batches, summed):
            values = array(found)
            np.testing.assert_allclose(mixed(values), array(expected), rtol=1e-9, atol=1e-9 * largest(values), err_msg=what)
    except AssertionError:
        for i in range(ROWS):
            for found, expected in zip(batches, row(i)):
                close(found[i], expected, f"row {i}, {what}")
        raise


def largest(values):
    """The size of the largest finite number, which a sum of rows is rounded to; at least 1."""
    return np.abs(values[np.isfinite(values)]).max(initial=1.0)


def mixed(batch):
    """The sum of the rows with the factors."""
    return np.tensordot(FACTORS, batch, 1).astype(batch.dtype)


def weighted(values, weights):
    """A number that every element of some tensors moves: the real part of the sum of their products with weights."""
    return sum(gs.sum(gs.real(value * gs.asarray(weight))) for value, weight in zip(values, weights))


def outer(weights):
    """For each row the weights times its factor: a number that they make of a batch is the one that `weights` make of the sum of rows.

    Such weights span all: a second derivative that is wrong in any row shows with probability 1.
    """
    return [np.multiply.outer(FACTORS, weight) for weight in weights]


def a_batch_is_its_rows(case):
    leaves, random = case.leaves(), np.random.default_rng(3)
    outputs = [y for y in case(*leaves) if y.requires_grad]
    if not leaves or not outputs:
        return  # nothing to differentiate: no number of the sample is in an array, or the result is a constant
    like = [np.zeros((ROWS, *y.shape), y.dtype) for y in outputs]
    for given in [slice(None), *([slice(1)] if len(outputs) > 1 else [])]:  # of several outputs some have no gradient
        batches = numeric.random_like(like[given], random)
        together = grad(outputs[given], leaves, batches, True, materialize_grads=True, is_grads_batched=True)

        def row(i):
            return grad(outputs[given], leaves, [b[i] for b in batches], True, materialize_grads=True)  # noqa: B023

        summed = grad(outputs[given], leaves, [mixed(b) for b in batches], True, materialize_grads=True)
        close_to_rows(together, summed, row, "gradient")

    weights = numeric.random_like([array(leaf) for leaf in leaves], random)
    summed = [gs.tensor(mixed(batch), requires_grad=True) for batch in batches]
    batches = [gs.tensor(batch, requires_grad=True) for batch in batches]
    outputs = outputs[given]
    together = grad(outputs, leaves, batches, create_graph=True, materialize_grads=True, is_grads_batched=True)
    alone = grad(outputs, leaves, summed, create_graph=True, materialize_grads=True)
    assert [value.requires_grad for value in together] == [value.requires_grad for value in alone]
    if any(value.requires_grad for value in alone):
        total, expected = weighted(together, outer(weights)), weighted(alone, weights)
        twice = grad(total, [*leaves, *batches], retain_graph=True, materialize_grads=True)
        expected = grad(expected, [*leaves, *summed], retain_graph=True, materialize_grads=True)
        for i, (one, other) in enumerate(zip(twice, of_rows(expected, len(leaves)), strict=True)):
            close(one, other, f"second derivative by input {i}")


def of_rows(gradients, count):
    """The gradients by what a batch hangs on and, after `count` of them, by its rows, made of those by the sum of the rows."""
    return [*gradients[:count], *(gs.asarray(np.multiply.outer(FACTORS, array(g)).astype(g.dtype)) for g in gradients[count:])]


def a_batch_of_tangents_is_its_rows(case):
    """All arrays move, or one of them."""
    leaves, random = case.leaves(False), np.random.default_rng(4)
    if not leaves:
        return
    batches = numeric.random_like([np.zeros((ROWS, *leaf.shape), leaf.dtype) for leaf in leaves], random)
    for moving in [range(len(leaves)), *([[i] for i in range(len(leaves))] if len(leaves) > 1 else [])]:
        given = [batch if i in moving else None for i, batch in enumerate(batches)]
        _, together = push(lambda duals: case(*duals), leaves, [None if b is None else gs.asarray(b) for b in given], ROWS)

        def row(i):
            return push(lambda duals: case(*duals), leaves, [None if b is None else gs.asarray(b[i]) for b in given])[1]  # noqa: B023

        _, summed = push(lambda duals: case(*duals), leaves, [None if b is None else gs.asarray(mixed(b)) for b in given])
        close_to_rows(together, summed, row, f"moving {list(moving)}")


def a_batch_of_tangents_is_differentiated_again(case):
    """By reverse mode, whose gradients have tangents of a level further out."""
    leaves, random = case.leaves(), np.random.default_rng(5)
    if not leaves:
        return
    batches = numeric.random_like([np.zeros((ROWS, *leaf.shape), leaf.dtype) for leaf in leaves], random)
    directions = [gs.asarray(direction) for direction in numeric.random_like([array(leaf) for leaf in leaves], random)]
    weights, results = None, []
    for together in (True, False):
        with dual_level():
            moving = [gs.asarray(batch if together else mixed(batch), requires_grad=True) for batch in batches]
            duals = [make_dual(leaf, direction) for leaf, direction in zip(leaves, directions)]
            _, found = push(lambda values: case(*values), duals, moving, *([ROWS] if together else []))
            if weights is None:
                weights = numeric.random_like([array(value)[0] for value in found], random)
            total = weighted(found, outer(weights) if together else weights)
            again = grad(total, [*duals, *moving], create_graph=True, materialize_grads=True) if found and total.requires_grad else []
            results.append([[unpack_dual(value) for value in values] for values in (found, again[: len(duals)], again[len(duals) :])])
    of_batch, of_sum = results
    for kind, batched, alone in zip(("tangent", "gradient", "gradient by a tangent"), of_batch, of_sum):
        for i, (values, sums) in enumerate(zip(batched, alone, strict=True)):
            for order, one, other in zip(("", ", moved"), values, sums):
                compare_summed(one, other, kind, f"{kind} {i}{order}")


def compare_summed(one, other, kind, what):
    """Of the tangents the sum of the rows; of the gradients by them the one by that sum, times each factor."""
    if one is None or other is None:
        assert not np.any(array(other if one is None else one) if one is not other else 0), what
        return
    one, other = array(one), array(other)
    if kind == "tangent":
        one = mixed(one)
    elif kind != "gradient":
        other = np.multiply.outer(FACTORS, other).astype(other.dtype)
    assert one.shape == other.shape and one.dtype == other.dtype, what
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * largest(one), err_msg=what)


@of_samples(lambda op: op.inputs, question=[a_batch_is_its_rows, a_batch_of_tangents_is_its_rows, a_batch_of_tangents_is_differentiated_again])
def test_batches(case, question):
    question(case)


def test_a_wrong_row_is_named():
    x = gs.asarray(np.arange(6.0).reshape(ROWS, 2))
    rows = [[row] for row in x]
    total = [gs.asarray(mixed(array(x)))]
    close_to_rows([x], total, rows.__getitem__, "sum")
    for wrong in range(ROWS):
        off = array(x).copy()
        off[wrong, 1] += 1e-6
        with pytest.raises(AssertionError, match=f"row {wrong}, sum"):
            close_to_rows([gs.asarray(off)], total, rows.__getitem__, "sum")


class Square:
    """A case of a square."""

    leaves = staticmethod(lambda requires_grad=True: [gs.tensor(np.array([0.3, -1.2]), requires_grad=requires_grad)])

    def __call__(self, x):
        return [x * x]


@pytest.mark.parametrize("wrong", range(ROWS))
def test_a_row_that_forgets_what_it_hangs_on_is_found(wrong, monkeypatch):
    right = grad

    def forgetful(*args, is_grads_batched=False, create_graph=False, **keywords):
        found = right(*args, is_grads_batched=is_grads_batched, create_graph=create_graph, **keywords)
        if not (is_grads_batched and create_graph):
            return found
        return [gs.stack([row.detach() if i == wrong else row for i, row in enumerate(batch)]) for batch in found]

    a_batch_is_its_rows(Square())
    monkeypatch.setitem(a_batch_is_its_rows.__globals__, "grad", forgetful)
    with pytest.raises(AssertionError, match="second derivative by input"):
        a_batch_is_its_rows(Square())
