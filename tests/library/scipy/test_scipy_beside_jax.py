"""gs.scipy beside jax.scipy: values and gradients of the calls that both have."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import special, stats
from tests.asked import each

from .test_continuous import SHAPES, points
from .test_scipy_special import CALLS

jax = pytest.importorskip("jax", reason="compares with JAX's scipy, and JAX is not installed")
jax.config.update("jax_enable_x64", True)
jax_special, jax_stats = pytest.importorskip("jax.scipy.special"), pytest.importorskip("jax.scipy.stats")
LEFT_OUT = {
    "fresnel", "sici", "sph_harm_y", "wofz",  # of several results, or of complex ones
    "expn", "hyp1f1", "hyp2f1",  # which JAX compiles for long; mpmath has those of the last two in test_scipy_special.py
}  # fmt: skip
SPECIAL = [call for call in CALLS if hasattr(jax_special, call[0]) and call[0] not in LEFT_OUT]
FAMILIES = [name for name in SHAPES if hasattr(jax_stats, name)]


def same(ours, theirs, arguments, moving, tolerance, what):
    """Both functions of lists of arrays, and the gradients of their sums."""
    given = [gs.tensor(v, requires_grad=i in moving) if i in moving else v for i, v in enumerate(arguments)]
    y = ours(*given)
    np.testing.assert_allclose(y.detach().numpy(), theirs(*arguments), rtol=tolerance, atol=tolerance, err_msg=what)
    found = gs.autograd.grad(y.sum(), [given[i] for i in moving])
    expected = jax.grad(lambda *v: theirs(*v).sum(), tuple(moving))(*map(jax.numpy.asarray, arguments))
    for one, other in zip(found, expected):
        other = np.where(np.isnan(other), one.numpy(), other)  # JAX's spence has none beyond 1
        np.testing.assert_allclose(one.numpy(), other, rtol=tolerance, atol=tolerance, err_msg=what)


@pytest.mark.slow
@each("call", SPECIAL)
def test_special_functions(call):
    name, *arguments = call
    moving = [i for i, v in enumerate(arguments) if not isinstance(v, list)]
    same(getattr(special, name), getattr(jax_special, name), [v[0] if isinstance(v, list) else v for v in arguments], moving, 1e-7, name)


@pytest.mark.slow
@each("name", FAMILIES)
def test_densities(name):
    shapes = SHAPES[name]
    x = points(name, shapes)
    arguments = [x, *(np.full(x.shape, float(v)) for v in shapes)]
    same(getattr(stats, name).logpdf, getattr(jax_stats, name).logpdf, arguments, list(range(len(arguments))), 1e-7, name)
