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
    assert files == {"hips", "jax_at", "jax_config", "jax_initializers", "jax_ode", "jax_ops", "lax", "numpy_names", "torch_testing"}  # adapters: the modules themselves are rows of a table
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


@pytest.mark.parametrize(
    "call, words",
    [(lambda x: lax.slice(x, (-1, 0), (3, 3)), "0 <= start <= limit"), (lambda x: lax.slice(x, (0, 0), (2, 9)), "0 <= start <= limit"),
     (lambda x: lax.slice(x, (0,), (2,)), "for each axis"), (lambda x: lax.dynamic_update_slice(x, x[0], (0, 0)), "update 1"),
     (lambda x: lax.dynamic_update_slice(x, x, (0,)), "1 starts"),
     (lambda x: lax.dynamic_update_slice(x.astype(int), x, (0, 0)), "cannot hold the update's float64")],
)  # fmt: skip
def test_a_slice_that_jax_refuses_is_refused(call, words):
    jax = pytest.importorskip("jax", reason="compares with JAX's lax, and JAX is not installed")
    with pytest.raises((ValueError, TypeError), match=words):
        call(gs.asarray(X))
    with pytest.raises((ValueError, TypeError)), pytest.MonkeyPatch.context() as patch:
        patch.setitem(call.__globals__, "lax", jax.lax)
        call(jax.numpy.asarray(X))


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


def test_a_function_and_a_module_of_one_name():
    """HIPS autograd's `misc` has the function `flatten`, and `misc.flatten` is a module as well; `util` had both before."""
    from gradspec.misc import flatten
    from gradspec.misc.flatten import flatten as function
    from gradspec.misc.flatten import flatten_func
    from gradspec.util import flatten as earlier

    for call in (flatten, function, earlier):
        vector, back = call({"a": np.ones(2), "b": 3.0})
        assert vector.tolist() == [1.0, 1.0, 3.0] and back(vector)["b"] == 3.0
    assert flatten_func(lambda tree: tree["a"] * 2, {"a": np.ones(2)})[0](np.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="not callable"):
        optimizers()


def test_numpys_where_of_one_argument():
    import gradspec.numpy as gnp

    rows, columns = gnp.where(gs.asarray(X) > 0)
    assert [rows.tolist(), columns.tolist()] == [place.tolist() for place in np.where(X > 0)]
    assert gnp.where(X > 0, X, 0.0).tolist() == np.where(X > 0, X, 0.0).tolist()


def test_classes_and_trees_of_jax():
    assert gs.Array is gs.Tensor and isinstance(gs.ones(1), gs.Array)
    assert gs.tree.map(lambda a: a + 1, {"a": 1}) == {"a": 2} and "Array" not in dir(gs)


INITIALIZERS = {
    **{name: ((), {}) for name in ("glorot_uniform", "glorot_normal", "lecun_uniform", "lecun_normal", "he_uniform", "he_normal")},
    "variance_scaling": ((1.5, "fan_geo_avg", "normal"), {}), "uniform": ((0.5,), {}), "normal": ((0.5,), {}),
    "truncated_normal": ((0.5,), {"lower": -1.0, "upper": 2.5}), "constant": ((3.0,), {}),
}  # fmt: skip
SHAPES = [((60, 90), {}), ((3, 3, 20, 30), {}), ((40, 7, 20), {"in_axis": 0, "out_axis": 2, "batch_axis": 1}), ((40, 7, 20), {"in_axis": (0, 1)})]


@each("name", INITIALIZERS)
@each("shape, axes", SHAPES)
def test_initializers_have_jaxs_law(name, shape, axes):
    pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    arguments, keywords = INITIALIZERS[name]
    if axes and name in ("uniform", "normal", "truncated_normal", "constant"):
        return
    keywords = {**keywords, **axes}
    with jax.enable_x64(True):
        theirs = np.asarray(getattr(jax.nn.initializers, name)(*arguments, **keywords)(jax.random.key(0), shape))
    ours = getattr(gs.nn.initializers, name)(*arguments, **keywords)(gs.random.key(0), shape)
    assert ours.shape == theirs.shape and ours.dtype == np.float64
    if name == "constant":
        assert (ours == 3.0).all()
        return
    ours = ours.numpy().ravel()
    assert later("scipy.stats").ks_2samp(ours, theirs.ravel()).pvalue > 1e-3
    assert abs(ours.std() / theirs.std() - 1) < 0.05
    if "uniform" in name or "truncated" in name or name.endswith("un_normal") or name in ("glorot_normal", "he_normal"):
        assert abs(np.abs(ours).max() / np.abs(theirs).max() - 1) < 0.02  # both are cut
    again = getattr(gs.nn.initializers, name)(*arguments, **keywords, dtype="float32")(gs.random.key(0), shape)
    assert again.dtype == np.float32 and getattr(gs.nn.initializers, name)(*arguments, **keywords)(gs.random.key(0), shape, "f4").dtype == np.float32


def test_orthogonal_initializers():
    from gradspec.nn import initializers
    from gradspec.nn.initializers import delta_orthogonal, orthogonal

    assert initializers.orthogonal is orthogonal and initializers.xavier_uniform is initializers.glorot_uniform
    key = gs.random.key(0)
    for shape, axis in (((4, 4), -1), ((6, 3), -1), ((3, 6), -1), ((2, 3, 4), 1), ((5, 2, 3), 0)):
        q = np.moveaxis(orthogonal(2.0, axis)(key, shape).numpy(), axis, 0).reshape(shape[axis], -1)
        near = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        np.testing.assert_allclose(near, 4 * np.eye(len(near)), atol=1e-12)
    kernel = delta_orthogonal()(key, (3, 3, 2, 4)).numpy()
    np.testing.assert_allclose(kernel[1, 1] @ kernel[1, 1].T, np.eye(2), atol=1e-12)
    assert np.count_nonzero(kernel) == 8 and initializers.zeros(key, (2,)).tolist() == [0, 0] and initializers.ones(key, (2,), "f4").dtype == np.float32
    for call, says in (
        (lambda: delta_orthogonal()(key, (3, 4, 2)), "3 to 5 axes"), (lambda: orthogonal()(key, (3,)), "two axes or more"),
        (lambda: initializers.variance_scaling(1.0, "fan", "normal"), "unknown mode 'fan'; write fan_in"),
        (lambda: initializers.variance_scaling(1.0, "fan_in", "gaussian"), "unknown distribution 'gaussian'; write"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=says):
            call()
    grad = gs.grad(lambda s: initializers.normal(s)(key, (3,)).sum())(0.5)
    np.testing.assert_allclose(grad, gs.random.normal(key, (3,)).sum())
