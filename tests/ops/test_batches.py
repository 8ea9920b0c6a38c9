"""One pass for a batch gives what a pass for each of its rows gives, for every sample of every entry: of gradients of the
outputs in reverse mode, of tangents of the inputs in forward mode.

Which rules take a batch as it is follows from what they are made of; the others run row by row inside the pass.
"""

from __future__ import annotations

import numpy as np

import gradspec as gs
from gradspec.autograd import grad
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.autograd.passes import push
from gradspec.codegen.verify import numeric

from .calls import array
from .questions import of_samples

ROWS = 3


def close(found, expected, what):
    assert found.shape == expected.shape and found.dtype == expected.dtype, what
    np.testing.assert_allclose(array(found), array(expected), rtol=1e-9, atol=1e-9, err_msg=what)


def weighted(values, weights):
    """A number that every element of some tensors moves: the real part of the sum of their products with weights."""
    return sum(gs.sum(gs.real(value * gs.asarray(weight))) for value, weight in zip(values, weights))


def a_batch_is_its_rows(case):
    leaves, random = case.leaves(), np.random.default_rng(3)
    outputs = [y for y in case(*leaves) if y.requires_grad]
    if not leaves or not outputs:
        return  # nothing to differentiate: no number of the sample is in an array, or the result is a constant
    like = [np.zeros((ROWS, *y.shape), y.dtype) for y in outputs]
    for given in [slice(None), *([slice(1)] if len(outputs) > 1 else [])]:  # of several outputs some have no gradient
        batches = numeric.random_like(like[given], random)
        together = grad(outputs[given], leaves, batches, True, materialize_grads=True, is_grads_batched=True)
        for row in range(ROWS):
            alone = grad(outputs[given], leaves, [b[row] for b in batches], True, materialize_grads=True)
            for found, expected in zip(together, alone):
                close(found[row], expected, f"row {row}")

    weights = numeric.random_like([np.zeros((ROWS, *leaf.shape), leaf.dtype) for leaf in leaves], random)
    batches = [gs.tensor(batch, requires_grad=True) for batch in batches]
    inputs, outputs = [*leaves, *batches], outputs[given]
    together = grad(outputs, leaves, batches, create_graph=True, materialize_grads=True, is_grads_batched=True)
    rows = [grad(outputs, leaves, [b[i] for b in batches], create_graph=True, materialize_grads=True) for i in range(ROWS)]
    alone = [gs.stack(list(column)) for column in zip(*rows)]
    assert [value.requires_grad for value in together] == [value.requires_grad for value in alone]
    if any(value.requires_grad for value in alone):
        twice, expected = (grad(weighted(values, weights), inputs, retain_graph=True, materialize_grads=True)
                           for values in (together, alone))  # fmt: skip
        for i, (one, other) in enumerate(zip(twice, expected)):
            close(one, other, f"second derivative by input {i}")


def a_batch_of_tangents_is_its_rows(case):
    """All arrays move, or one of them."""
    leaves, random = case.leaves(False), np.random.default_rng(4)
    if not leaves:
        return
    batches = numeric.random_like([np.zeros((ROWS, *leaf.shape), leaf.dtype) for leaf in leaves], random)
    for moving in [range(len(leaves)), *([[i] for i in range(len(leaves))] if len(leaves) > 1 else [])]:
        given = [gs.asarray(batch) if i in moving else None for i, batch in enumerate(batches)]
        _, together = push(lambda duals: case(*duals), leaves, given, ROWS)
        for row in range(ROWS):
            _, alone = push(lambda duals: case(*duals), leaves, [None if b is None else b[row] for b in given])
            for found, expected in zip(together, alone, strict=True):
                close(found[row], expected, f"row {row}, moving {moving}")


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
            moving = [gs.asarray(batch, requires_grad=True) for batch in batches]
            duals = [make_dual(leaf, direction) for leaf, direction in zip(leaves, directions)]
            if together:
                _, found = push(lambda values: case(*values), duals, moving, ROWS)
            else:
                rows = [push(lambda values: case(*values), duals, [b[row] for b in moving])[1] for row in range(ROWS)]  # noqa: B023
                found = [gs.stack(list(column)) for column in zip(*rows)]
            if weights is None:
                weights = numeric.random_like([array(value) for value in found], random)
            total = weighted(found, weights)
            again = grad(total, [*duals, *moving], create_graph=True, materialize_grads=True) if found and total.requires_grad else []
            results.append([part for value in [*found, *again] for part in unpack_dual(value)])
    for i, (one, other) in enumerate(zip(*results, strict=True)):
        if one is None or other is None:
            assert not np.any(array(other if one is None else one) if one is not other else 0), i
        else:
            close(one, other, f"result {i}")


@of_samples(lambda op: op.inputs, question=[a_batch_is_its_rows, a_batch_of_tangents_is_its_rows, a_batch_of_tangents_is_differentiated_again])
def test_batches(case, question):
    question(case)
