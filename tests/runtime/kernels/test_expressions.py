"""Expressions of compiled kernels against the kernels: at hard numbers, and in shapes, orders and axes of each kind."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels import expressions
from gradspec.kernels.elementwise import error_function, logistic
from tests.asked import each

HARD = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-9, 0.3, -0.3, 0.5, -1.0, 2.5, -2.5, 9.0, -9.0, 40.0, -40.0, 1e3, -1e3, np.inf, -np.inf, np.nan])
SIZES = np.array([0.0, 1e-12, 0.4, 1.0, 3.0, 1e3, 1e160])
COMPLEX = np.array([complex(s * re, t * im) for re in SIZES for im in SIZES for s in (1, -1) for t in (1, -1)])
DICE = np.random.default_rng(0)
X, SQUARE = DICE.normal(size=(3, 4, 2)), DICE.normal(size=(2, 3, 3)) + 3 * np.eye(3)
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(3)
OF_ONE = {
    "log1p": (logistic.log1p, [(HARD[HARD >= -1],), (COMPLEX[abs(COMPLEX) < 1e100],)]),
    "sigmoid": (logistic.sigmoid, [(HARD,), (COMPLEX[abs(COMPLEX.imag) < 10],)]),
    "sigmoid_slope": (logistic.sigmoid_slope, [(HARD,), (COMPLEX[abs(COMPLEX.imag) < 10],)]),
    "silu": (logistic.silu, [(HARD,), (COMPLEX[abs(COMPLEX.imag) < 10],)]),
    "silu_slope": (logistic.silu_slope, [(HARD,), (COMPLEX[abs(COMPLEX.imag) < 10],)]),
    "tanh_slope": (logistic.tanh_slope, [(HARD,), (COMPLEX[abs(COMPLEX.imag) < 10],)]),
    "logaddexp": (logistic.logaddexp, [(HARD[:, None], HARD), (COMPLEX[:60, None], COMPLEX[:60])]),
    "erf": (error_function.erf, [(HARD,), (COMPLEX,)]),
    "erfc": (error_function.erfc, [(HARD,), (COMPLEX,)]),
    "erfinv": (error_function.erfinv, [(HARD[abs(HARD) <= 1],)]),
    "lgamma": (kernels.lgamma, [(HARD,)]),
    "polygamma": (lambda x: kernels.polygamma(1, x), [(HARD[HARD > 0],)]),
    "power": (kernels.power, [(HARD[:, None], HARD), (COMPLEX[:30, None], COMPLEX[:30])]),
    "gelu": (kernels.gelu, [(HARD, "none"), (HARD, "tanh")]),
    "gelu_slope": (error_function.gelu_slope, [(HARD,)]),
}
INDICES = [(1,), (slice(None, None, -2),), (np.array([2, 0, 2]),), (X[..., 0] > 0,), (None, Ellipsis, 1), (np.array([[0], [1]]), slice(1, 3), np.array([1, 0]))]
CALLS = {
    "outer": [(X, X[0])],
    "clip": [(HARD, -1.0, 2.0), (HARD, None, 2.0), (HARD, -1.0, None)],
    "where": [(X > 0, X, 0.0), (X > 0, 1.0, X)],
    "getitem": [(X, index) for index in INDICES],
    "getitem_backward": [(X[index], index, (3, 4, 2)) for index in INDICES],
    "index_put_backward": [(X, index, np.shape(X[index])) for index in INDICES],
    "index_put": [(X, index, 2.0) for index in INDICES] + [(X, (slice(None, None, -1),), X)],
    "index_put_": [(X, index, 2.0) for index in INDICES] + [(X, (slice(None, None, -1),), X)],
    "clip_": [(np.array(X), -0.5, 0.5), (np.array(X), X[:1, :1], None)],
    "copy_": [(X, 2.0), (X, X[:1, :1])],
    "copy_into": [(np.array(X), X[:1, :1])],
    "copy_of": [(X.T,)],
    "zeros_of": [((2, 3), X)],
    "full": [((2, 3), 2.5, None), ((2, 3), 1, np.dtype("f4"))],
    "full_like": [(X, 0, None), (X.T, -0.0, None), (X, 2.5, np.dtype("c16")), (X[:1, :1, :1], np.nan, None)],
    "repeat": [(X, 2, 1), (X, [2, 0, 1], 0), (X, 3, None)],
    "tile": [(X, (2,)), (X, (2, 1, 3, 2))],
    "take": [(X, np.array([1, 0, 1]), axis) for axis in (0, 1, -1)],
    "stack": [([X, 2 * X], axis) for axis in (0, 1, -1)],
    "concatenate": [([X, 2 * X], axis) for axis in (0, 1, -1)],
    "unstack": [(X, axis) for axis in (0, 1, -1)],
    "concat_backward": [(X, [(3, 1, 2), (3, 0, 2), (3, 3, 2)], 1), (X.ravel(), [(3, 2), (6, 3)], None), (X, [], 0), (X, [(3, 4, 2)], -1)],
    "broadcast_to": [(X[:1], (2, 5, 4, 2))],
    "reshape": [(X, (4, -1)), (X.T, (-1,))],
    "expand_dims": [(X, 0), (X, (1, -1))],
    "matmul": [(X, X[0].T), (X[0, 0], X[0].T)],
    "cholesky": [(POSITIVE,)],
    "det": [(SQUARE,)],
    "inv": [(SQUARE,)],
    "slogdet": [(SQUARE,), (-SQUARE,)],
    "solve": [(SQUARE, SQUARE[:, :, :1])],
    "solve_triangular": [(SQUARE, SQUARE[:, :, :2], lower, unit) for lower in (True, False) for unit in (True, False)],
    "tril": [(SQUARE, k) for k in (-1, 0, 1)],
    "triu": [(SQUARE, k) for k in (-1, 0, 1)],
    "cholesky_backward": [(np.tril(SQUARE) + 2 * np.eye(3), SQUARE)],
    "lower_half": [(SQUARE,), (SQUARE.astype("c16") * 1j,)],
    "hermitian_part": [(SQUARE,), (SQUARE.astype("c16") * (1 + 2j),)],
    "sum_to": [(X, (4, 2)), (X, (3, 1, 2)), (X, (1, 1)), (X, ()), (X, (3, 4, 2)), (X[0, 0], (1,)), (X[:1], (1, 4, 1))],
}
REDUCED = [(X, axis, keepdims) for axis in (0, 1, -1, (0, 2), None) for keepdims in (True, False)]
CALLS |= {name: REDUCED for name in ("sum_along", "max_along", "min_along", "mean_along", "prod")}
CALLS |= {name: [(x, axis, correction, keepdims) for x, axis, keepdims in REDUCED for correction in (0, 1)] for name in ("std_mean", "var_mean")}
LOOPS = {  # by which a kernel in Python is quicker, or which are all of it: tests/ops/test_traces.py
    "add_along", "add_across", "put_across", "last_across", "joined_places", "take_across", "select_along_rows", "add_products",
    "correlate", "gather_products", "differences_weighted", "distances_direct", "max_windows", "weighted_sums", "settled", "empty_of", "empty_like",
}  # fmt: skip


def test_every_expression_is_asked():
    own = {name for name, value in vars(expressions).items() if inspect.isfunction(value) and value.__module__ == expressions.__name__}
    assert {*OF_ONE, *CALLS} | LOOPS == {name for name in own if not name.startswith("_")}


def test_nothing_is_imported_from_the_package_inside_a_function():
    """A trace as a program over NumPy has a function's own text, in which `from .` finds no package."""
    folder = Path(__file__).resolve().parents[3] / "runtime/kernels"
    inner = [
        f"{path.relative_to(folder)}:{node.lineno}"
        for path in sorted(folder.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert inner == []


@each("name", OF_ONE)
@each("dtype", [np.float16, np.float32, np.float64])
def test_numbers_are_those_of_the_kernel(name, dtype):
    kernel, calls = OF_ONE[name]
    if "erf" in name:
        pytest.importorskip("scipy.special")
    dtypes = {"f": dtype, "c": np.result_type(dtype, np.complex64)}
    for arguments in calls:
        with np.errstate(all="ignore"):
            given = [x.astype(dtypes[x.dtype.kind]) if isinstance(x, np.ndarray) else x for x in arguments]
            found = getattr(expressions, name)(*([1, *given] if name == "polygamma" else given))
            expected = kernel(*given)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=64 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)  # erfc of a rounded product


@each("name", CALLS)
def test_arrays_are_those_of_the_kernel(name):
    for arguments in CALLS[name]:
        found, expected = (getattr(of, name)(*(x.copy() if isinstance(x, np.ndarray) else x for x in arguments)) for of in (expressions, kernels))
        assert isinstance(found, (tuple, list)) == isinstance(expected, (tuple, list))
        found, expected = (y if isinstance(y, (tuple, list)) else [y] for y in (found, expected))
        assert [np.shape(y) for y in found] == [np.shape(y) for y in expected], arguments
        for y, z in zip(found, expected):
            assert y.dtype == z.dtype
            np.testing.assert_allclose(y, z, rtol=1e-12, atol=1e-14)
