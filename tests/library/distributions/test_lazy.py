"""A parameter computed at its first use records, whether or not the first use records."""

import numpy as np
import pytest

import gradspec as gs

D = gs.distributions
S = np.array([[2.0, 0.5], [0.5, 1.0]])
PARAMETERS = [
    (D.Categorical, "probs", [0.3, 0.7]), (D.Categorical, "logits", [0.3, 0.7]), (D.OneHotCategorical, "probs", [0.3, 0.7]),
    (D.Bernoulli, "probs", 0.3), (D.Bernoulli, "logits", 0.3), (D.Geometric, "probs", 0.3), (D.Geometric, "logits", 0.3),
    (lambda **p: D.Binomial(5, **p), "probs", 0.3), (lambda **p: D.Multinomial(5, **p), "probs", [0.3, 0.7]),
    *[(lambda **p: D.MultivariateNormal(np.zeros(2), **p), name, S) for name in ("covariance_matrix", "precision_matrix")],
    (lambda **p: D.Wishart(3.0, **p), "covariance_matrix", S), (lambda **p: D.Wishart(3.0, **p), "precision_matrix", S),
]  # fmt: skip


@pytest.mark.parametrize("make, name, value", PARAMETERS)
def test_a_draw_or_no_grad_before_does_not_detach_what_comes_after(make, name, value):
    def slopes(before):
        p = gs.tensor(value, requires_grad=True)
        d = make(**{name: p * 1.0})
        before(d)
        return gs.autograd.grad(d.log_prob(point), p)[0]

    def unrecorded(d):
        with gs.no_grad():
            d.log_prob(point)

    point = make(**{name: np.asarray(value)}).sample()
    expected = slopes(lambda d: None)
    for before in (lambda d: d.sample(), unrecorded):
        np.testing.assert_array_equal(slopes(before), expected)
