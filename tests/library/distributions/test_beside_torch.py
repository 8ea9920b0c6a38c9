"""Values and gradients of all distributions beside PyTorch's, from one table."""

import numpy as np
import pytest
import torch

import gradspec as gs
from tests.asked import each
from tests.library.distributions.cases import CASES, IDS

CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def compare(case, function, *values, grad_of_values=True):
    """A function of a distribution and values gives the same in both libraries, and so do its gradients by all of these."""
    parameters, ours = case.ours(grad=True)
    others, theirs = case.torchs(grad=True)
    moving = grad_of_values and not case.discrete
    x = [gs.tensor(value, requires_grad=moving) for value in values]
    y = [torch.tensor(value, dtype=None if case.name == "Categorical" else torch.float64, requires_grad=moving) for value in values]
    try:
        expected = function(theirs, *y)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            function(ours, *x)
        return False
    found = function(ours, *x)
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), **CLOSE)
    weights = np.cos(np.arange(expected.numel())).reshape(expected.shape)
    assert found.requires_grad == expected.requires_grad
    if not expected.requires_grad:
        return True
    torch.where(torch.isfinite(expected), expected, 0.0).mul(torch.tensor(weights)).sum().backward()
    gs.where(gs.isfinite(found), found, 0.0).mul(gs.tensor(weights)).sum().backward()
    for one, other in zip([*parameters.values(), *x], [*others.values(), *y]):
        assert (one.grad is None) <= (other.grad is None)
        if one.grad is not None:
            np.testing.assert_allclose(one.grad.numpy(), np.zeros(one.shape) if other.grad is None else other.grad.numpy(), **CLOSE)
    return True


@each("case", CASES, ids=IDS)
def test_log_prob(case):
    assert compare(case, lambda d, x: d.log_prob(x), case.values)


@each("case", CASES, ids=IDS)
def test_cdf(case):
    if case.name not in OWN_CDF:
        compare(case, lambda d, x: d.cdf(x), case.values)


@each("case", CASES, ids=IDS)
def test_icdf(case):
    if case.name not in OWN_ICDF and len(case.ours()[1].event_shape) == 0:
        compare(case, lambda d, p: d.icdf(p), [[0.1, 0.9], [0.45, 0.002]])


@each("case", CASES, ids=IDS)
def test_entropy(case):
    if case.name not in OWN_ENTROPY:
        compare(case, lambda d: d.entropy())


@each("moment", ["mean", "variance", "stddev", "mode"])
@each("case", CASES, ids=IDS)
def test_moments(case, moment):
    if (case.name, moment) not in OWN_MOMENTS:
        compare(case, lambda d: 1.0 * getattr(d, moment))


OWN_CDF = ("Gamma",)
OWN_ICDF = ()
OWN_ENTROPY = ()
OWN_MOMENTS = ()
