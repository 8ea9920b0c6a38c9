"""Discrete families of gs.scipy.stats: values are SciPy's, derivatives in real parameters those of differences."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import stats
from gradspec.scipy.stats.discrete import Discrete
from tests.asked import each
from tests.later import later

scipy_stats = later("scipy.stats")

SHAPES = {
    "bernoulli": (0.3,), "binom": (7, 0.3), "poisson": (2.4,), "geom": (0.4,), "nbinom": (2.5, 0.4), "betabinom": (6, 1.4, 2.2),
    "betanbinom": (4, 5.2, 1.3), "hypergeom": (20, 7, 12), "nhypergeom": (20, 7, 4), "logser": (0.6,), "planck": (0.5,),
    "boltzmann": (1.4, 8), "dlaplace": (0.8,), "randint": (2, 9), "zipf": (6.5,), "yulesimon": (4.5,), "skellam": (2.3, 1.4),
    "zipfian": (1.3, 8),
}  # fmt: skip
K = np.array([-2.0, 0.0, 1.0, 2.0, 2.5, 3.0, 5.0, 40.0])


def numbers(x):
    return x.detach().numpy() if isinstance(x, gs.Tensor) else np.asarray(x)


def test_every_family_is_asked():
    assert {name for name in stats.__all__ if isinstance(getattr(stats, name), Discrete)} == set(SHAPES)


@each("name, shapes", SHAPES.items())
def test_values_are_those_of_scipy(name, shapes):
    ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
    for method in ("logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"):
        whole = np.floor(K) if "f" in method and "pmf" not in method else K  # SciPy interpolates some families between them
        found, expected = getattr(ours, method)(K + 1, *shapes, loc=1), getattr(theirs, method)(whole + 1, *shapes, loc=1)
        if method == "logsf" or method == "logpmf":  # SciPy's logarithms of what is rounded to 0 or 1
            found, expected = (np.where(np.abs(expected) > 12, expected, numbers(v)) for v in (found, expected))
        np.testing.assert_allclose(numbers(found), expected, rtol=1e-9, atol=1e-12, err_msg=method)
    for method in ("ppf", "isf"):
        np.testing.assert_array_equal(numbers(getattr(ours, method)([0.1, 0.5, 0.9], *shapes, loc=1)), getattr(theirs, method)([0.1, 0.5, 0.9], *shapes, loc=1))
    for letter, stated in zip("mvsk", ours._stats(*map(gs.asarray, map(float, shapes))) if ours._stats else ()):
        if stated is not None:
            np.testing.assert_allclose(numbers(ours.stats(*shapes, 1, moments=letter)), theirs.stats(*shapes, 1, moments=letter), rtol=1e-8, err_msg=letter)
    if ours._entropy is not None:
        np.testing.assert_allclose(numbers(ours.entropy(*shapes)), theirs.entropy(*shapes), rtol=1e-8)
    assert [end.item() for end in ours.support(*shapes, 1)] == list(theirs.support(*shapes, 1))


@each("name, shapes", SHAPES.items())
def test_derivatives_in_real_parameters(name, shapes):
    ours = getattr(stats, name)
    for i, shape in enumerate(shapes):
        if isinstance(shape, int):
            with pytest.raises(NotImplementedError, match=f"scipy.stats.{name}.logpmf is of whole numbers"):
                gs.grad(lambda v: ours.logpmf(3.0, *shapes[:i], v, *shapes[i + 1 :]))(gs.asarray(float(shape)))
            continue
        for method in ("logpmf", "cdf", "logsf"):
            if method != "logpmf" and name in ("betabinom", "betanbinom", "logser"):
                with pytest.raises(NotImplementedError, match=f"scipy.stats.{name}.* has no derivative in"):
                    gs.grad(lambda v: getattr(ours, method)(1.0, *shapes[:i], v, *shapes[i + 1 :]))(gs.asarray(shape))
                continue
            inside = np.array([0.0, 1.0]) if name == "bernoulli" else np.array([1.0, 2.0, 5.0])
            function = lambda v: getattr(ours, method)(inside, *shapes[:i], v, *shapes[i + 1 :])  # noqa: E731
            h, at = 1e-4 * shape, {}
            for k in (-2, -1, 0, 1, 2):
                at[k] = np.where(np.isinf(numbers(function(shape + k * h))), 0, numbers(function(shape + k * h)))
            slope = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
            jacobian = gs.jacrev(function)(gs.asarray(shape))
            np.testing.assert_allclose(numbers(jacobian), slope, rtol=1e-7, atol=1e-9, err_msg=method)
            np.testing.assert_allclose(numbers(gs.jacfwd(function)(gs.asarray(shape))), numbers(jacobian), rtol=1e-10, atol=1e-13)
            second = numbers(gs.jacfwd(gs.jacrev(function))(gs.asarray(shape)))
            np.testing.assert_allclose(second, (at[1] - 2 * at[0] + at[-1]) / h**2, rtol=1e-4, atol=1e-5, err_msg=method)


def test_whole_numbers_have_no_derivative():
    k = gs.tensor(2.0, requires_grad=True)
    with pytest.raises(NotImplementedError, match="no derivative in k, loc; pass k.detach"):
        stats.poisson.logpmf(k, 2.0).backward()
    with pytest.raises(NotImplementedError, match="is a step function"):
        stats.poisson.ppf(gs.tensor(0.3, requires_grad=True), 2.0).backward()
    with pytest.raises(RuntimeError, match="scipy.stats.poisson.rvs draws whole numbers, which have no derivative"):
        stats.poisson.rvs(gs.tensor(2.0, requires_grad=True))
    drawn = stats.poisson(2.5, loc=1).rvs((2, 3), random_state=4)
    np.testing.assert_array_equal(drawn.numpy(), scipy_stats.poisson.rvs(2.5, loc=1, size=(2, 3), random_state=4))


def test_probabilities_outside_of_their_domain():
    for name, shapes in (("binom", (2.5, 0.3)), ("poisson", (-1.0,)), ("geom", (0.0,)), ("zipf", (0.9,))):
        assert np.isnan(numbers(getattr(stats, name).logpmf(1.0, *shapes)))
    assert stats.poisson.logpmf(np.nan, 2.0).isnan().item() if hasattr(gs.Tensor, "isnan") else np.isnan(numbers(stats.poisson.logpmf(np.nan, 2.0)))
    assert numbers(stats.poisson.pmf(0, 0.0)) == 1


def test_far_tails_of_counts():
    """By mpmath at 40 digits: the logarithm of what is rounded to 0."""
    np.testing.assert_allclose(numbers(stats.poisson.logsf(800, 2.0)), -4005.4232031441785, rtol=1e-14)
