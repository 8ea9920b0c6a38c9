"""Modules of JAX and HIPS autograd by their names: each name is there, means what it means there, and differentiates."""

import importlib
import pkgutil
import sys

import numpy as np
import pytest

import gradspec as gs
import gradspec.compat
from gradspec import lax
from gradspec.experimental.ode import odeint
from gradspec.misc import fixed_points, flatten, optimizers
from tests.asked import each
from tests.later import later

jax = later("jax")
X = np.random.default_rng(0).normal(size=(3, 4))
LAX = [
    ("clamp", (-0.5, X, 0.5), {}), ("top_k", (X, 2), {}), ("select_n", (X > 0, X, 2 * X), {}), ("select", (X > 0, X, 2 * X), {}),
    ("select_n", (np.array([2, 0, 1]), X[:, 0], X[:, 1], X[:, 2]), {}), ("iota", ("int32", 5), {}),
    ("broadcasted_iota", ("int32", (2, 3), 1), {}), ("broadcasted_iota", ("int32", (2, 3), 0), {}),
    *[(name, (X, axis, reverse), {}) for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp") for axis in (0, 1) for reverse in (False, True)],
    ("cumsum", (X,), {}), ("reduce_and", (X > -1, (0,)), {}), ("reduce_or", (X > 1, (0, 1)), {}), ("reduce_sum", (X, (0,)), {}),
    ("reduce_max", (X, (1,)), {}), ("reduce_min", (X, (0, 1)), {}), ("reduce_prod", (X, (1,)), {}),
    ("reshape", (X, (2, 6)), {}), ("reshape", (X, (2, 6), (1, 0)), {}), ("sort", (X, 0), {}), ("sort", (X,), {}),
    ("slice", (X, (1, 0), (3, 4), (1, 2)), {}), ("slice", (X, (1, 0), (3, 4)), {}), ("slice_in_dim", (X, 1, 4, 2), {"axis": 1}),
    ("slice_in_dim", (X, None, None), {"axis": -1}),
    *[("dynamic_slice", (X, start, (2, 3)), {}) for start in ((0, 0), (1, 1), (2, 3), (-1, -2), (-9, 9))],
    ("dynamic_slice_in_dim", (X, 2, 2), {}), ("dynamic_slice_in_dim", (X, 3, 2, 1), {}),
    ("dynamic_index_in_dim", (X, 2, 1), {}), ("dynamic_index_in_dim", (X, 7, 0, False), {}), ("index_in_dim", (X, 1, 0, False), {}),
    *[("dynamic_update_slice", (X, 1 + X[:2, :2], start), {}) for start in ((0, 1), (2, 3), (-1, -1))],
    ("dynamic_update_slice_in_dim", (X, 1 + X[:, :2], 3, 1), {}), ("convert_element_type", (X, "float32"), {}),
    ("rev", (X, (0, 1)), {}), ("rem", (X, 0.3 + X**2), {}), ("integer_pow", (X, 3), {}), ("logistic", (X,), {}), ("erf_inv", (np.tanh(X),), {}),
    ("expand_dims", (X, (0, 2)), {}), ("squeeze", (X[None], (0,)), {}), ("transpose", (X, (1, 0)), {}), ("concatenate", ([X, X], 1), {}),
    ("full", ((2, 3), 1.5), {}), ("full_like", (X, 2.0), {}), ("max", (X, -X), {}), ("min", (X, -X), {}), ("atan2", (X, X + 2), {}),
    ("zeta", (2 + X**2, 1 + X**2), {}), ("igamma", (1 + X**2, X**2), {}), ("betainc", (1 + X**2, 2 + X**2, 1 / (1 + X**2)), {}),
]  # fmt: skip


def modules():
    for path in gradspec.compat.MODULES:
        yield pytest.param(importlib.import_module(f"gradspec.{path}"), id=path)


@pytest.mark.parametrize("module", modules())
def test_each_name_is_there(module):
    for name in module.__all__:
        getattr(module, name)
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nowhere'"):
        module.nowhere  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nowhere'"):
        exec(f"from {module.__name__} import nowhere", {})


def test_no_module_has_a_file():
    files = {module.name for module in pkgutil.iter_modules(gradspec.compat.__path__)}
    assert files == {"hips", "jax_config", "jax_ode", "lax", "torch_testing"}  # adapters: the modules themselves are rows of a table
    assert all(getattr(sys.modules[f"gradspec.{path}"], "__file__", None) is None for path in gradspec.compat.MODULES if f"gradspec.{path}" in sys.modules)


def test_a_module_that_is_not_there_says_what_to_write():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'gradspec\.stats'; write gs\.scipy\.stats"):
        import gradspec.stats  # noqa: F401


def flat(value):
    return [np.asarray(item.detach() if isinstance(item, gs.Tensor) else item) for item in (value if isinstance(value, (tuple, list)) else [value])]


@pytest.mark.slow
@each(("name", "arguments", "keywords"), LAX)
def test_as_in_jax(name, arguments, keywords):
    pytest.importorskip("jax", reason="compares with JAX's lax, and JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    expected = flat(getattr(jax.lax, name)(*map(_of_jax, arguments), **keywords))
    found = flat(getattr(lax, name)(*arguments, **keywords))
    for y, wanted in zip(found, expected, strict=True):
        assert y.shape == wanted.shape and (y.dtype == wanted.dtype or wanted.dtype.kind in "iu")
        np.testing.assert_allclose(y, wanted, rtol=1e-12, atol=1e-12)


def _of_jax(value):
    return jax.numpy.asarray(value) if isinstance(value, np.ndarray) else list(map(_of_jax, value)) if isinstance(value, list) else value


def test_slices_whose_starts_are_tensors_differentiate_and_compile():
    x = gs.tensor(X, requires_grad=True)
    f = gs.compile(lambda x, i: (lax.dynamic_slice(x, (i, 1), (2, 2)) ** 2).sum())
    for start in (0, 1, 5, 0):
        (slope,) = gs.autograd.grad(f(x, gs.tensor(start)), x)
        wanted = np.zeros_like(X)
        begin = min(start, 1)
        wanted[begin : begin + 2, 1:3] = 2 * X[begin : begin + 2, 1:3]
        np.testing.assert_allclose(slope.numpy(), wanted)
    with pytest.raises(ValueError, match="5 elements does not fit in an axis of length 3"):
        lax.dynamic_slice_in_dim(x, 0, 5)
    with pytest.raises(NotImplementedError, match="num_keys"):
        lax.sort((X, X), num_keys=2)


def test_an_initial_value_problem_with_arguments_and_a_pytree():
    times = np.linspace(0, 1, 5)

    def end(k):
        found = odeint(lambda y, t, k: {"a": -k * y["a"], "b": y["a"] * np.ones(2)}, {"a": np.array(2.0), "b": np.zeros(2)}, times, k)
        assert found["b"].shape == (5, 2)
        return found["a"][-1]

    np.testing.assert_allclose(end(0.7).item(), 2 * np.exp(-0.7), rtol=1e-6)
    np.testing.assert_allclose(gs.grad(end)(0.7).item(), -2 * np.exp(-0.7), rtol=1e-5)


def first_steps(optimizer, **options):
    """The points at which an optimiser asks the gradient of the sum of squares, from 1."""
    asked = []

    def grad(x, number):
        asked.append(float(x["x"][0]))
        return {"x": 2 * x["x"]}

    asked.append(float(optimizer(grad, {"x": np.ones(1)}, num_iters=2, **options)["x"][0]))
    return asked[1:] if asked[0] == 1.0 else None


def test_optimisers_by_hand():
    # v = -0.1 * 2 = -0.2, x = 1 - 0.02; then v = 0.9 * -0.2 - 0.1 * 1.96
    np.testing.assert_allclose(first_steps(optimizers.sgd), [0.98, 0.98 + 0.1 * (-0.18 - 0.196)])
    # mean square 0.9 + 0.1 * 4 = 1.3
    x = 1 - 0.1 * 2 / np.sqrt(1.3)
    np.testing.assert_allclose(first_steps(optimizers.rmsprop), [x, x - 0.1 * 2 * x / np.sqrt(1.3 * 0.9 + 0.4 * x * x)], rtol=1e-7)
    # the first step of Adam has the length of the step size
    x = 1 - 0.001
    m, v = 0.9 * 0.2 + 0.1 * 2 * x, 0.999 * 0.004 + 0.001 * 4 * x * x
    np.testing.assert_allclose(first_steps(optimizers.adam), [x, x - 0.001 * (m / 0.19) / np.sqrt(v / (1 - 0.999**2))], rtol=1e-7)


def test_optimisers_call_back_with_pytrees():
    heard = []
    optimizers.adam(gs.grad(lambda p, i: (p["w"] ** 2).sum()), {"w": np.ones((2, 2))}, lambda x, i, g: heard.append((i, x["w"].shape, g["w"].shape)), 3)
    assert heard == [(i, (2, 2), (2, 2)) for i in range(3)]


def test_flattening():
    example = {"a": np.ones((2, 2)), "b": (1.0, np.zeros(3))}
    vector, unflatten = flatten.flatten(example)
    assert vector.shape == (8,) and unflatten(vector)["a"].shape == (2, 2)
    function, unflatten, start = flatten.flatten_func(lambda p, k: {"r": k * p["a"].sum()}, example)
    assert function(start, 3.0).tolist() == [12.0] and unflatten(start)["b"][1].shape == (3,)
    assert gs.grad(lambda v: function(v, 3.0).sum())(start).tolist() == [3.0] * 4 + [0.0] * 4
    assert fixed_points.fixed_point is gs.func.fixed_point


def test_numpy_by_its_name():
    import gradspec.numpy as gnp
    from gradspec.numpy import linalg

    assert gnp is gs.numpy and gnp.pi == np.pi and gnp.float32 is np.float32 and linalg.inv is gs.linalg.inv
    public = {name for name in np.__all__ if callable(getattr(np, name)) and not name.startswith("_")}
    assert public - set(gnp.__all__) == set()
    y = gnp.zeros((2,), float)
    assert isinstance(y, gs.Tensor) and gnp.select([X > 0], [X], 0.0).shape == X.shape
    assert gs.grad(lambda x: gnp.sum(gnp.sin(x) * gnp.linspace(0, 1, 3)))(np.ones(3)).shape == (3,)


CLOSE = [
    (np.ones(3), np.ones(3) + 5e-8), (np.ones(3), np.ones(3) + 5e-7), (np.ones(3, "float32"), np.ones(3, "float32") + np.float32(5e-6)),
    (np.ones(3, "float32"), np.ones(3)), (np.arange(3), np.arange(3)), (np.arange(3), np.arange(3) + 1), (np.ones(3), np.ones((3, 1))),
    (np.array([np.nan]), np.array([np.nan])), (np.ones(2, complex), np.ones(2, complex) + 1e-3j),
]  # fmt: skip


@pytest.mark.parametrize("a, b", CLOSE)
@pytest.mark.parametrize("how", [{}, {"rtol": 0.0, "atol": 1e-5}, {"equal_nan": True}, {"check_dtype": False}])
def test_assert_close_decides_as_pytorch(a, b, how):
    torch = pytest.importorskip("torch")
    answers = []
    for module, make in ((torch, torch.tensor), (gs, gs.tensor)):
        for wrap in (lambda x: x, lambda x: [x], lambda x: {"k": x}):
            try:
                module.testing.assert_close(wrap(make(a)), wrap(make(b)), **how)
                answers.append(True)
            except AssertionError:
                answers.append(False)
    assert answers[:3] == answers[3:]


def test_assert_close_takes_both_tolerances_or_neither():
    with pytest.raises(ValueError, match="both rtol= and atol="):
        gs.testing.assert_close(gs.ones(1), gs.ones(1), rtol=1.0)


def test_config_accepts_the_settings_that_gradspec_has():
    gs.config.update("jax_enable_x64", True)
    assert gs.ones(1).dtype == np.float64
    with pytest.raises(ValueError, match="set_default_dtype"):
        gs.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="no such setting"):
        gs.config.update("jax_something", 1)


def test_getval_is_the_value_alone():
    from gradspec.builtins import tuple as tuple_
    from gradspec.tracer import getval, isbox

    x = gs.tensor([1.0], requires_grad=True)
    assert not getval(x).requires_grad and getval(2.0) == 2.0 and isbox(x) and not isbox(2.0)
    assert tuple_ is tuple
