"""Arrays made of numbers: values are NumPy's, derivatives in these numbers are held to differences in both modes."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck

A, B = np.array([0.5, 2.0, 3.25]), np.array([[1.5], [4.0]])
GRID = np.random.default_rng(0).normal(size=(4, 5))

CALLS = {
    "linspace": (lambda m, a, b: m.linspace(a, b, 5), (0.5, 2.0)),
    "linspace of arrays": (lambda m, a, b: m.linspace(a, b, 5, axis=1), (A, B)),
    "linspace by place": (lambda m, a: m.linspace(a, 2.0, 4, False), (A,)),
    "linspace with its step": (lambda m, a, b: m.linspace(a, b, 5, retstep=True), (A, B)),
    "linspace without the end": (lambda m, b: m.linspace(1.0, b, 4, endpoint=False, retstep=True), (3.0,)),
    "logspace": (lambda m, a, b: m.logspace(a, b, 5), (0.5, 2.0)),
    "logspace of a base": (lambda m, a, b, c: m.logspace(a, b, 4, endpoint=False, base=c, axis=-1), (0.5, A, 3.0)),
    "logspace of bases": (lambda m, c: m.logspace(0.5, 1.5, 4, base=c), (A,)),
    "geomspace": (lambda m, a, b: m.geomspace(a, b, 5), (0.5, 2.0)),
    "geomspace of arrays": (lambda m, a, b: m.geomspace(a, b, 4, endpoint=False, axis=-1), (A, B)),
    "geomspace below 0": (lambda m, a: m.geomspace(-a, -4.0, 3), (A,)),
    "pad with pairs": (lambda m, a: m.pad(a, ((1, 0), (2, 3)), constant_values=((1.0, 2.0), (3.0, 4.0))), (GRID,)),
    "pad with a pair": (lambda m, a: m.pad(a, 2, constant_values=(1.0, 2.0)), (GRID,)),
    "pad nothing": (lambda m, a: m.pad(a[:0], ((1, 2), (0, 0)), constant_values=(1.0, 2.0)) + m.sum(a), (GRID,)),
    **{f"pad {mode}": (lambda m, a, mode=mode: m.pad(a, ((1, 2), (0, 3)), mode), (GRID,))
       for mode in ("constant", "edge", "reflect", "symmetric", "wrap", "maximum", "mean", "median", "minimum", "linear_ramp")},
    "pad with the mean of two": (lambda m, a: m.pad(a, 2, "mean", stat_length=2), (GRID,)),
    "pad to ends": (lambda m, a: m.pad(a, 2, "linear_ramp", end_values=(3.0, -1.0)), (GRID,)),
    "gradient of all axes": (lambda m, a: m.gradient(a), (GRID,)),
    "gradient of two axes": (lambda m, a: m.gradient(a, 0.5, [0.0, 1.0, 3.0, 4.0, 6.0], axis=(0, 1)), (GRID,)),
    "gradient along one": (lambda m, a: m.gradient(a, 2.0, axis=-1, edge_order=2), (GRID,)),
    "gradient with one spacing": (lambda m, a: m.gradient(a, 2.0), (GRID,)),
}  # fmt: skip
# What NumPy's functions are not told of: it has no way to hand these over.
OURS = {
    "arange": (lambda m, a, b, c: m.arange(a, b, c), (0.5, 3.0, 0.75)),
    "arange with a step": (lambda m, c: m.arange(4.0, 0.0, c), (-0.75,)),
    "arange to an end": (lambda m, b: m.arange(b), (3.5,)),
    "full": (lambda m, a: m.full((2, 3), a), (1.5,)),
    "full of a row": (lambda m, a: m.full((2, 3), a), (A,)),
    "full_like": (lambda m, a: m.full_like(GRID, a), (1.5,)),
}


def leaves(arrays):
    return [gs.tensor(array, requires_grad=True) for array in arrays]


def parts(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


@pytest.mark.parametrize("name", [*CALLS, *OURS])
def test_values_are_those_of_numpy(name):
    function, arrays = (CALLS | OURS)[name]
    wanted = parts(function(np, *arrays))
    for module in (gs, np) if name in CALLS else (gs,):
        found = parts(function(module, *leaves(arrays)))
        for y, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-14, atol=1e-15)  # differences of numbers near 1
            assert y.dtype == expected.dtype and y.requires_grad


@pytest.mark.parametrize("name", [*CALLS, *OURS])
def test_derivatives_in_both_modes(name):
    function, arrays = (CALLS | OURS)[name]

    def call(*inputs):
        return tuple(parts(function(gs, *inputs)))

    assert gradcheck(call, leaves(arrays), check_forward_ad=True)
    assert gradgradcheck(call, leaves(arrays))


@pytest.mark.parametrize("call", [
    lambda m: m.linspace(0, 1, 5), lambda m: m.linspace(0, 9, 4, dtype=int), lambda m: m.linspace(np.array([-2.0, 0.0]), 1, 4, dtype=int),
    lambda m: m.linspace(0, 1, 1, retstep=True)[1], lambda m: m.logspace(0, 2, 3), lambda m: m.logspace(np.arange(2.0), 2, 3, base=2.0),
    lambda m: m.geomspace(1, 8, 4), lambda m: m.geomspace(np.array([1.0, 2.0]), 8, 4, dtype=np.float32), lambda m: m.arange(5),
    lambda m: m.arange(1, 9, 3), lambda m: m.full(3, 2), lambda m: m.full((2, 2), np.array([1, 2])), lambda m: m.full_like(np.ones(2, int), 2.5),
    lambda m: m.full_like(np.ones((2, 2)), [1, 2]), lambda m: m.pad(np.arange(3), 1, constant_values=(4, 5)),
    lambda m: m.linspace(np.float32([1, 2]), 3, 4),
])  # fmt: skip
def test_without_tensors_as_numpy(call):
    found, expected = call(gs), call(np)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    assert found.dtype == np.asarray(expected).dtype and not found.requires_grad


def test_a_leaf_is_asked_for():
    x = gs.linspace(np.zeros(2), 1.0, 3, requires_grad=True)
    assert x.is_leaf and x.requires_grad and gs.full(2, np.ones(2), requires_grad=True).is_leaf
    assert gs.arange(3.0, requires_grad=True).is_leaf and gs.geomspace(1, 8, 4, requires_grad=True).is_leaf


def test_pad_by_axis():
    np.testing.assert_array_equal(gs.pad(gs.asarray(GRID), {1: 2, 0: (0, 1)}).numpy(), np.pad(GRID, ((0, 1), (2, 2))))


@pytest.mark.parametrize(("call", "says"), [
    (lambda: gs.pad(gs.ones(3), 1, "edge", stat_length=2), "stat_length belongs to the modes maximum, mean"),
    (lambda: gs.pad(gs.arange(3), 1, "mean"), "write x.astype"),
    (lambda: gs.pad(gs.ones(3), 1, lambda vector, width, axis, rest: None), "mode must be a string"),
    (lambda: gs.pad(gs.ones(3), 1, "mirror"), "one of constant, edge, reflect, symmetric, wrap, linear_ramp, maximum"),
    (lambda: gs.geomspace(gs.tensor(0.0), 1.0), "is 0"),
    (lambda: gs.arange(gs.ones(2)), "no axes"),
    (lambda: gs.gradient(gs.ones((3, 3)), 1.0, 2.0, 3.0), "invalid number of arguments"),
])  # fmt: skip
def test_what_is_refused(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call()
