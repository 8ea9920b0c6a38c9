"""`x.at[index].set(value)`: values and gradients as JAX's, under every transform."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later

jax = later("jax")
X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
INDICES = {
    "int": 1, "slice": (slice(None), slice(None, None, -2)), "pair": (0, -1), "new axis": (None, 0), "ellipsis": (..., 1), "mask": X > 0,
    "repeated": np.array([1, 0, 1]), "repeated pairs": (np.array([0, 0, 1]), np.array([2, 2, 0])), "empty": np.array([], int),
}  # fmt: skip
METHODS = ("set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max")


@each("method", METHODS)
@each("index", INDICES)
def test_as_in_jax(method, index):
    pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    base, index = np.abs(X) + 0.5 if method == "power" else X, INDICES[index]
    if method == "set" and isinstance(index, np.ndarray | tuple) and "repeated" in [k for k, v in INDICES.items() if v is index][0]:
        return  # JAX leaves open which of the values wins
    values = np.linspace(0.5, 2.0, X[index].size).reshape(X[index].shape)
    weights = np.cos(np.arange(6.0)).reshape(2, 3)


    def f(x, v):
        return getattr(x.at[index], method)(v)

    found, back = gs.vjp(f, base, values)
    with jax.enable_x64(True):
        np.testing.assert_allclose(found.numpy(), f(jax.numpy.asarray(base), values), rtol=1e-14)
        try:
            slopes = jax.vjp(f, base, values)[1](weights)
        except NotImplementedError:  # of a product of repeated indices
            assert gs.autograd.gradcheck(f, [gs.tensor(one, requires_grad=True) for one in (base, values)])
        else:
            for one, other in zip(back(weights), slopes, strict=True):
                np.testing.assert_allclose(one.numpy(), other, rtol=1e-12)


def test_the_tensor_itself_is_not_changed():
    x = gs.tensor(X)
    for method in METHODS:
        getattr(x.at[0], method)(2.0)
    np.testing.assert_array_equal(x.numpy(), X)
    np.testing.assert_array_equal(x.at[0].apply(gs.exp).numpy(), np.where([[1], [0]], np.exp(X), X))
    np.testing.assert_array_equal(x.at[1].get().numpy(), X[1])
    assert gs.arange(3).at[0].set(7).dtype == gs.int64


@each("method", METHODS)
def test_rows_replays_and_branches(method):
    def f(x, i):
        return getattr(x.at[i], method)(1.5)

    rows, places = np.abs(X) + 0.5, np.array([2, 0])
    expected = np.stack([f(gs.tensor(row), int(i)).numpy() for row, i in zip(rows, places)])
    np.testing.assert_array_equal(gs.vmap(f)(rows, places).numpy(), expected)
    compiled = gs.compile(f)
    for row, i, wanted in zip(rows, places, expected):
        np.testing.assert_array_equal(compiled(gs.tensor(row), gs.tensor(i)).numpy(), wanted)


def test_what_is_outside_is_refused_with_the_way_out():
    x = gs.tensor(X)
    with pytest.raises(IndexError, match="out of bounds"):
        x.at[5].set(1.0)
    with pytest.raises(NotImplementedError, match=r"mode='drop' is for indices outside, .* write gs.clip"):
        x.at[5].set(1.0, mode="drop")
    with pytest.raises(NotImplementedError, match="fill_value=0.0 is for indices outside"):
        x.at[5].get(fill_value=0.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sorted'"):
        x.at[0].add(1.0, sorted=True)
    assert x.at[0].add(1.0, mode="promise_in_bounds", unique_indices=True).shape == x.shape
