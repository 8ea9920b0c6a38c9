"""The cross entropy of a linear layer from group to group of examples: the same numbers and derivatives, with fewer logits at a time."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn

rng = np.random.default_rng(0)
OPTIONS = nn.LinearCrossEntropyOptions


def calls():
    for weight, smoothing, soft, shape in itertools.product((None, rng.random(7)), (0.0, 0.1), (False, True), ((), (2,))):
        target = rng.random((10, 7, *shape)) if soft else rng.integers(0, 7, (10, *shape))
        known = {} if soft else {"ignore_index": 2}
        yield shape, target, dict(weight=weight, label_smoothing=smoothing, **known)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_groups_give_what_all_examples_give_and_its_derivatives(reduction):
    for shape, target, keywords in calls():
        given = [gs.tensor(rng.normal(size=size), requires_grad=True) for size in ((10, 4), (7, *shape, 4), (7, *shape))]
        found = []
        for options in (None, OPTIONS(batch_chunk_size=3), OPTIONS(chunking_method="aspect_ratio:4", acc_dtype=gs.float64)):
            x, rows, bias = given
            loss = nn.functional.linear_cross_entropy(x, rows, target, linear_bias=bias, reduction=reduction, options=options, **keywords)
            slopes = gs.autograd.grad((loss * loss).sum(), given, create_graph=True)
            found.append([loss, *slopes, *gs.autograd.grad(sum((slope * slope).sum() for slope in slopes), given)])
        for other in found[1:]:
            for value, wanted in zip(other, found[0], strict=True):
                np.testing.assert_allclose(value.detach(), wanted.detach(), rtol=1e-10, atol=1e-12)
                assert value.shape == wanted.shape


def test_single_precision_may_be_summed_in_double():
    x, rows = (gs.tensor(rng.normal(size=size), dtype=gs.float32, requires_grad=True) for size in ((9, 4), (7, 4)))
    loss = nn.LinearCrossEntropyLoss(4, 7, dtype=gs.float32, options=OPTIONS(batch_chunk_size=2, acc_dtype=gs.float64, acc_policy="accurate"))
    loss.linear.weight = nn.Parameter(rows.detach())
    value = loss(x, rng.integers(0, 7, 9))
    value.backward()
    assert value.dtype == x.grad.dtype == loss.linear.weight.grad.dtype == gs.float32


def test_fewer_logits_are_there_at_a_time():
    x, rows = gs.tensor(rng.normal(size=(64, 2)), requires_grad=True), gs.tensor(rng.normal(size=(1000, 2)), requires_grad=True)
    target = rng.integers(0, 1000, 64)

    def saved(options):
        sizes = []
        with gs.autograd.graph.saved_tensors_hooks(lambda value: sizes.append(value.numel()) or value, lambda value: value):
            nn.functional.linear_cross_entropy(x, rows, target, options=options)
        return max(sizes)

    assert saved(OPTIONS()) <= 2000 < 64000 == saved(None)


def test_sizes_of_groups_are_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch's, and PyTorch is not installed")
    keywords = ({}, {"batch_chunk_size": 7}, *({"chunking_method": name} for name in ("aspect_ratio", "aspect_ratio:8", None)))
    for shape in itertools.product((1, 5, 64, 1000), (1, 8, 300), (2, 50, 30000)):
        for given in keywords:
            wanted = torch.nn.LinearCrossEntropyOptions(**given)._adjust(*shape, torch.float32).batch_chunk_size
            assert OPTIONS(**given).examples_at_once(*shape) == wanted, (shape, given)


@pytest.mark.parametrize(("given", "says"), [
    ({"acc_policy": "exact"}, "invalid acc_policy: 'exact'"), ({"chunking_method": "aspect_ratio:0"}, "invalid chunking_method"),
    ({"chunking_method": "halves"}, "invalid chunking_method: 'halves'"), ({"batch_chunk_size": 0}, "must be positive int or None, got 0"),
])  # fmt: skip
def test_what_no_options_are_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        OPTIONS(**given)


def test_two_ways_to_a_size_must_agree():
    with pytest.raises(ValueError, match=r"batch_chunk_size \(=7\) and chunking_method .* give different chunk sizes \(7 vs 1\)"):
        nn.functional.linear_cross_entropy(
            gs.ones(4, 2), gs.ones(9, 2), [0, 1, 2, 3], options=OPTIONS(batch_chunk_size=7, chunking_method="aspect_ratio")
        )
