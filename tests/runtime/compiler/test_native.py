"""Written as C: a compiled module returns what a replay returns, and needs nothing but libm."""

import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.native import repetition, scalars
from tests.runtime.replayed_programs import MODES, function_of
from tests.ulps import errors

from .c_modules import COMPILERS, EACH, STRICT, Module

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
HARD = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e-310, -5e-324, 1e300, -1e300, 2.0**52 + 1, np.inf, -np.inf, np.nan]


def rng(seed=0):
    return np.random.default_rng(seed)


def exported(folder, function, *args, compiler=None, flags=()):
    """A function as C, and its replay: both of arrays in the order of the pytree's leaves."""
    compiled = gs.compile(function, strict=True, recheck=False)
    compiled(*args)
    compiled.c(folder / "model")
    module = Module(folder, "model", ["model"], compiler, flags)
    return lambda *arrays: module("model", *arrays), compiled


def leaves(tree):
    return [np.asarray(leaf) for leaf in gs.tree_util.tree_leaves(tree)]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and (
        np.where(np.isnan(a), np.nan, a).tobytes() == np.where(np.isnan(b), np.nan, b).tobytes() if a.dtype.kind == "f" else
        np.array_equal(a, b))  # fmt: skip


# Programs that engineers write.


def network(parameters, x, y):
    w, b, v, c = parameters
    return gs.square(gs.softmax(gs.tanh(x @ w + b) @ v + c) - y).mean()


def network_inputs(seed, dtype=float):
    r = rng(seed)
    shapes = (3, 8), (8,), (8, 2), (2,)
    return tuple(r.normal(size=shape).astype(dtype) for shape in shapes), *(r.normal(size=(5, n)).astype(dtype) for n in (3, 2))


def pendulum(state, torque):
    def change(s):
        return gs.stack([s[1], torque - 9.81 * gs.sin(s[0]) - 0.1 * s[1]])

    h = 0.05
    a = change(state)
    b = change(state + h / 2 * a)
    c = change(state + h / 2 * b)
    return state + h / 6 * (a + 2 * b + 2 * c + change(state + h * c))


def residual(w, a, b):
    r = gs.maximum(a @ w - b, -0.5)
    return (r * r).sum() + gs.sigmoid(w).sum()


@pytest.mark.parametrize("compiler", EACH)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients_of_a_network(tmp_path, compiler, dtype):
    native, replayed = exported(tmp_path, gs.grad(network), *network_inputs(0, dtype), compiler=compiler)
    for seed in range(1, 5):
        inputs = network_inputs(seed, dtype)
        wanted = leaves(replayed(*inputs))
        largest = max(np.abs(b).max() for b in wanted)
        for a, b in zip(native(*leaves(inputs)), wanted, strict=True):
            assert a.dtype == b.dtype == dtype
            np.testing.assert_allclose(a, b, rtol=0, atol=16 * np.finfo(dtype).eps * largest)


def test_jacobian_of_a_runge_kutta_step(tmp_path):
    state, torque = rng().normal(size=2), np.array(0.3)
    native, replayed = exported(tmp_path, lambda s, t: (pendulum(s, t), gs.jacobian(pendulum)(s, t)), state, torque)
    for seed in range(20):
        state, torque = rng(seed).normal(size=2) * 4, np.array(rng(seed).normal())
        for a, b in zip(native(state, torque), leaves(replayed(state, torque)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)


def test_gradient_of_least_squares(tmp_path):
    inputs = rng().normal(size=3), rng(1).normal(size=(6, 3)), rng(2).normal(size=6)
    native, replayed = exported(tmp_path, gs.value_and_grad(residual), *inputs)
    for seed in range(5):
        inputs = rng(seed).normal(size=3), rng(seed + 9).normal(size=(6, 3)), rng(seed + 20).normal(size=6)
        for a, b in zip(native(*inputs), leaves(replayed(*inputs)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


def test_a_large_program_is_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(scalars, "LONGEST", 0)
    monkeypatch.setattr(repetition, "WORTH", 10**9)  # so that no statements become a loop

    def path(state, torque):
        for _ in range(20):
            state = pendulum(state, torque)
        return (state * state).sum()

    state, torque = rng().normal(size=2), np.array(0.3)
    native, replayed = exported(tmp_path, gs.value_and_grad(path), state, torque)
    assert (tmp_path / "model.c").read_text().count("static void model_part") > 1
    for a, b in zip(native(-state, torque), leaves(replayed(-state, torque)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_the_derivative_of_a_square_is_one_product(tmp_path):
    native, replayed = exported(tmp_path, gs.grad(lambda x: (x**2).sum()), np.ones(3))
    assert "pow" not in (tmp_path / "model.c").read_text()
    assert same(native(np.array(HARD[:3]))[0], leaves(replayed(np.array(HARD[:3])))[0])


# Bits.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arithmetic_has_the_bits_of_a_replay_at_hard_points(tmp_path, dtype):
    def function(a, b):
        return [a + b, a - b, a * b, a / b, -a, abs(a), gs.sqrt(a), gs.floor(a), gs.ceil(a), gs.trunc(a), gs.round(a), a < b, a <= b, a == b,
                a != b, gs.maximum(a, b), gs.minimum(a, b), gs.where(a > 0, a, b), gs.sign(a), gs.isnan(a), gs.isinf(a), gs.square(a),
                gs.reciprocal(a), gs.copysign(a, b), gs.relu(a), gs.clip(a, -1, 2), gs.remainder(a, b), gs.floor_divide(a, b), gs.fmod(a, b),
                gs.logical_and(a, b), a.astype(bool), (a > 0).astype(a.dtype), 1 / (a * b + 0.5 * a)]  # fmt: skip

    with np.errstate(all="ignore"):
        points = np.array(HARD).astype(dtype)
        a, b = (np.ascontiguousarray(x) for x in np.meshgrid(points, points))
        native, replayed = exported(tmp_path, function, np.ones_like(a), np.ones_like(b))
        wanted = leaves(replayed(a, b))
    for number, (x, y) in enumerate(zip(native(a, b), wanted, strict=True)):
        if number in (15, 16):  # the sign of the largest of 0.0 and -0.0 is NumPy's choice
            x, y = x + 0, y + 0
        assert same(x, y), number


@pytest.mark.parametrize("compiler", EACH)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_have_numpys_quotients_rests_and_shifts(tmp_path, dtype, compiler):
    """A division by 0 is 0, as is its rest; the least integer divided by -1 is itself."""

    def function(a, b):
        return [a // b, a % b, gs.fmod(a, b), abs(a), gs.square(a), a & b, a | b, a ^ b, ~a, a << b, a >> b, a // 3, a % -3, a // -1, a % 0,
                a // 0, 5 // b, 5 % b, a << 2, a >> 3]  # fmt: skip

    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    points = np.array([0, 1, -1, 2, -2, 3, -3, 7, -7, 31, 32, 63, 64, low, low + 1, high], dtype)
    a, b = (np.array(x) for x in np.meshgrid(points, points))
    with np.errstate(all="ignore"):
        native, _ = exported(tmp_path, function, a, b, compiler=compiler)
        wanted = [np.asarray(y) for y in function(a, b)]
    for number, (x, y) in enumerate(zip(native(a, b), wanted, strict=True)):
        assert same(x, y), number


ELEMENTARY = ("exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt rsqrt sigmoid softplus erf "
              "silu").split()  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_elementary_functions_are_within_a_few_ulp(tmp_path, dtype):
    def function(x):
        return [getattr(gs, name, getattr(gs.nn, name, None))(x) for name in ELEMENTARY]

    with np.errstate(all="ignore"):
        x = np.concatenate([rng().normal(size=400), rng(1).normal(size=100) * 30, rng(2).random(100) * 1e-3, HARD]).astype(dtype)
        native, replayed = exported(tmp_path, function, np.ones_like(x))
        wanted = leaves(replayed(x))
    for name, a, b in zip(ELEMENTARY, native(x), wanted, strict=True):
        tiny = np.abs(b) < np.finfo(dtype).tiny
        assert np.array_equal(np.isnan(a), np.isnan(b)), name
        assert np.array_equal(np.signbit(a[b == 0]), np.signbit(b[b == 0])) or name in ("silu", "softplus"), name
        far = errors(a[~tiny], b[~tiny])
        assert far.max() <= 6, (name, x[~tiny][far.argmax()], far.max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_have_the_bits_of_a_replay(tmp_path, dtype):
    def function(*arrays):
        return [[x.sum(), x.sum(0), x.mean(-1), x.max(0), x.min(), x.cumsum(-1), x.prod()] for x in arrays]

    arrays = [
        rng(n).normal(size=shape).astype(dtype)
        for n, shape in enumerate([(1,), (7,), (8,), (129,), (1000,), (3, 5), (40, 33), (2, 3, 300)])
    ]
    arrays[1][3] = np.nan
    native, replayed = exported(tmp_path, function, *[np.ones_like(x) for x in arrays])
    for a, b in zip(native(*arrays), leaves(replayed(*arrays)), strict=True):
        assert same(a, b)


def of_numbers(x, i):
    """Sums of several lengths, products, choices, copies and writes, around a factorisation."""
    a = gs.asarray(np.array([[1.0, -1.0, 0.0], [-0.0, 0.5, 2.0]]))
    y = gs.concat([x * 1.0 - 0.0, -(-x) + -0.0, 0.0 - x, 0.0 + x * x, x / -1.0, x + -x.flip(0)])
    y[1:4] += x[:3] + 0.0
    y[i] *= gs.where(x[0] > 0.5, y[:1], -y[1:2])
    z = gs.stack([y[:9], y[-9:]]).reshape(2, 3, 3)
    spd = gs.eye(3) * 2 + a[1:].T @ a[1:]
    return [y, y.sum(), y[:7].sum(), y[:8].sum(), y.cumsum(0), z.sum((0, 2)), z.max(1), z.min(), a @ z, z @ y[:3], z.mT @ z[::-1],
            gs.concat([y] * 4).sum(), gs.linalg.solve(spd, y[:3]) + y[3:6], y.astype(np.float32).sum(), (x > 0).any(), gs.argmax(x)]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_variable_for_each_number_has_the_bits_of_loops(tmp_path, monkeypatch, dtype):
    with np.errstate(over="ignore"):
        points = [np.array(HARD[k : k + 6]).astype(dtype) for k in range(len(HARD) - 6)] + [
            *rng().normal(size=(9, 6)).astype(dtype)
        ]
    found, i = [], np.array([7, 2, 7])
    for most in (0, 10**6):
        for name in ("LONGEST", "TIMES"):
            monkeypatch.setattr(scalars, name, most)
        folder = tmp_path / str(most)
        folder.mkdir()
        native, _ = exported(folder, lambda x: of_numbers(x, i), np.ones(6, dtype))
        assert ((folder / "model.c").read_text().split("void model(")[1].count("for (") > 4) == (most == 0)
        found.append([native(x) for x in points])
    for loops, numbers in zip(*found, strict=True):
        for k, (a, b) in enumerate(zip(loops, numbers, strict=True)):
            assert same(a, b), k


# Arrays.


def test_moves(tmp_path):
    def function(x, y):
        z = gs.concat([x[:, ::-1], y.T[:, :1] * 2], 1)
        return (
            x.T,
            x[1],
            x.reshape(4, 3).T,
            z,
            gs.stack([x, x + 1], 1),
            gs.roll(x, 1, 0),
            gs.broadcast_to(y[0], (2, 3)),
            gs.tril(x),
            x,
            x.flip(1),
        )

    x, y = rng().normal(size=(3, 4)), rng(1).normal(size=(2, 3))
    native, replayed = exported(tmp_path, function, x, y)
    x, y = rng(2).normal(size=(3, 4)), rng(3).normal(size=(2, 3))
    for a, b in zip(native(x, y), leaves(replayed(x, y)), strict=True):
        assert same(a, b)


def test_empty_arrays(tmp_path):
    x = np.zeros((0, 3))
    native, replayed = exported(tmp_path, lambda x, y: (x + 1, x.sum(0), x @ y, y * x.sum()), x, np.ones((3, 2)))
    for a, b in zip(native(x, np.ones((3, 2))), leaves(replayed(x, np.ones((3, 2)))), strict=True):
        assert same(a, b)


def test_what_a_function_writes_to_its_arguments(tmp_path):
    def step(x, rate):
        before = x * 2
        x += rate
        x[1:] *= x[:-1]
        return before, x.sum()

    x = rng().normal(size=4)
    native, replayed = exported(tmp_path, step, x.copy(), np.array(0.5))
    mine, theirs = x.copy(), x.copy()
    for a, b in zip(native(mine, np.array(0.25)), leaves(replayed(theirs, np.array(0.25))), strict=True):
        assert same(a, b)
    assert same(mine, theirs) and not same(mine, x)


def test_what_a_function_holds_is_a_constant(tmp_path):
    held, places = gs.asarray(rng().normal(size=(3, 3))), [2, 0]
    native, replayed = exported(tmp_path, lambda x: (held @ x, held[places] * 2, held[1:, ::2].T + 1, held), np.ones(3))
    x = rng(1).normal(size=3)
    for a, b in zip(native(x), leaves(replayed(x)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_names_and_shapes(tmp_path):
    def function(double, options):
        return {"y": double * options["w1"] + options["scale"], "count": options["work"].sum()}

    compiled = gs.compile(function, strict=True)
    compiled(np.ones(2), {"w1": np.ones((3, 2), np.float32), "scale": 2.0, "work": np.ones(3, bool)})
    compiled.c(str(tmp_path / "model"))
    header = (tmp_path / "model.h").read_text()
    assert "options['scale'] is 2.0" in header and "double[3, 2]" in header
    module = Module(tmp_path, "model", ["model"])
    assert [row[1:] for row in module.table("model_arguments")] == [("float64", (2,)), ("float32", (3, 2)), ("bool", (3,))]
    assert sorted(row[1:] for row in module.table("model_results")) == [("float64", (3, 2)), ("int64", ())]
    count, y = sorted(module("model", np.full(2, 3.0), np.ones((3, 2), np.float32), np.array([True, False, True])), key=np.size)
    assert count == 2 and y.tolist() == [[5.0, 5.0]] * 3
    assert "return {" in (tmp_path / "model.c").read_text()  # the user's line


@pytest.mark.parametrize("names", [
    ["expf", "sinf", "fabs"], ["uint64_t", "int64_t", "gradspec_array"], ["model_workspace", "model_c1", "model_part0"],
    ["I", "NULL", "class"], ["θ", "_", "é"], ["work", "sum", "i0"], ["a b", "a_b", "a-b"], ["??/", "*/", "a\nb"], ["", "__x", "9"],
])  # fmt: skip
def test_names_that_c_reads_otherwise(tmp_path, names):
    native, _ = exported(
        tmp_path, lambda d: [gs.exp(v) + gs.asarray([k + 0.5, 2.0]) for k, v in enumerate(d.values())] + [d[names[1]] * IDS[:2]],
        {name: np.ones(2, np.float32) for name in names},
    )  # fmt: skip
    x, y, z = (np.full(2, k, np.float32) for k in (1, 2, 3))
    wanted = [np.exp(v) + np.array([k + 0.5, 2.0]) for k, v in enumerate((x, y, z))] + [y * IDS[:2]]
    order = gs.tree_util.tree_leaves({name: k for k, name in enumerate(names)})
    for a, b in zip(native(*((x, y, z)[k] for k in order)), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no compiler of C++")
def test_a_program_in_cpp_calls_a_module(tmp_path):
    exported(tmp_path, lambda d: d["new"] * 2 + d["this"], {"new": np.ones(1), "this": np.ones(1)})
    (tmp_path / "main.cpp").write_text(
        '#include "model.h"\n#include <cmath>\nmodel_workspace work;\n'
        "int main() { double a = 3, b = 1, c; model(&a, &b, &c, &work); return c == 7 ? 0 : 1; }\n"
    )
    subprocess.run([COMPILERS[0], *STRICT, "-c", "model.c"], cwd=tmp_path, check=True)
    flags = ["-Wall", "-Wextra", "-Werror", "-o", "program"]
    subprocess.run(["g++", *flags, "main.cpp", "model.o", "-lm"], cwd=tmp_path, check=True)
    subprocess.run(["./program"], cwd=tmp_path, check=True)


def test_several_functions_in_one_module(tmp_path):
    f, jac = gs.compile(residual), gs.compile(gs.grad(residual))
    inputs = rng().normal(size=3), rng(1).normal(size=(6, 3)), rng(2).normal(size=6)
    f(*inputs), jac(*inputs)
    gs.export_c(tmp_path / "mpc", {"f": f, "jac": jac})
    module = Module(tmp_path, "mpc", ["f", "jac"])
    np.testing.assert_allclose(module("f", *inputs)[0], f(*inputs), rtol=1e-14)
    np.testing.assert_allclose(module("jac", *inputs)[0], jac(*inputs), rtol=1e-13)


def test_random_programs_of_views_and_writes(tmp_path):
    """Those of `replayed_programs`; most read an index, which is refused."""
    found = {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(80):
            mode = MODES[seed % len(MODES)]
            first, other = np.random.default_rng((seed, 1)).normal(size=(2, 2, 3))
            compiled = gs.compile(function_of(seed, mode), recheck=False)
            try:
                for _ in range(3):
                    compiled(first.copy())
                gs.export_c(tmp_path / "single", {"f": compiled})
            except (TypeError, RuntimeError):  # of autograd, or of the export
                continue
            found[f"f{seed}"] = compiled, other
        assert len(found) > 10
        gs.export_c(tmp_path / "all", {name: compiled for name, (compiled, _) in found.items()})
        module = Module(tmp_path, "all", found)
        for name, (compiled, other) in found.items():
            wanted = leaves(compiled(other.copy()))
            largest = max(np.abs(b).max(initial=1) for b in wanted)
            for a, b in zip(module(name, other.copy()), wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * largest)


IDS, WHOLE, FLAGS = np.array([2, 0, 0]), np.array([5, -3, 2]), np.array([True, False, True])


def repeated(x):
    y = x * 1
    y[[0, 0]] += 1
    y[IDS] *= x[IDS]
    z = gs.zeros(())
    for i in range(3):
        z += y[i]
        y += y[0] * z
    return y, z, y[IDS]


def beyond(n):
    return n < 2**40, n == 2**33 + 5, n > -(2**70), n != 2**31, n >= 3, n.astype(np.int64) < 2**40


@pytest.mark.parametrize("function, x", [
    (repeated, rng().normal(size=3)),
    (beyond, WHOLE.astype(np.int32)),
    (lambda n: (n < 2**70, n > 2**62, n == n, n != n), WHOLE),
    (lambda m: (m == 1, m == 2, m > 2, m >= 0, m <= 2**40, gs.maximum(m, 2), m == m), FLAGS),
    (lambda s: (s.sum(-1), s.sum(0, keepdims=True), s.max(-1), gs.argmax(s, 0), gs.reshape(s, (1,))[0].mean(-1)), np.array(2.0)),
    (lambda x: (gs.cross(x[0], x[1]), gs.cross(x, x[::-1]), gs.linalg.cross(x, x[1])), rng().normal(size=(2, 3))),
])  # fmt: skip
def test_programs_at_the_edges_of_numpy(tmp_path, function, x):
    """Elements that repeat, integers that a dtype lacks, comparisons of bools, axes of a number."""
    native, _ = exported(tmp_path, function, x.copy())
    x = x * x.dtype.type(2) if x.dtype.kind != "b" else ~x
    for a, b in zip(native(np.asarray(x).copy()), leaves(function(gs.asarray(x))), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("compiler", EACH)
def test_elements_that_computed_integers_choose(tmp_path, compiler):
    """Tables of one and two axes, with negative positions, gradients and writes; an element that is missing is NaN."""
    places, values = np.array([0.0, 0.5, 1.0, 3.0, 4.5]), rng().normal(size=5)

    def function(x, table, i, j):
        y = gs.interp(x, places, values)
        back = gs.grad(lambda table: (gs.take(table, j, 1) ** 2).sum() + (gs.take(table, i, 0) ** 3).sum())(table)
        return [y, gs.grad(lambda x: gs.interp(x, places, values).sum())(x), gs.take(table, i, 0), gs.take(table, j, 1), back,
                gs.take(table, gs.stack([i, j])), gs.take_along_axis(table, j[:, None], 1), gs.searchsorted(places, x),
                gs.searchsorted(places, x, side="right")]  # fmt: skip

    x, table, i, j = rng(1).normal(size=3) * 3, rng(2).normal(size=(3, 4)), np.array([0, -1, 1]), np.array([-4, 3, 0])
    native, _ = exported(tmp_path, function, x, table, i, j, compiler=compiler)
    for seed in range(4):
        r = rng(seed)
        x, i, j = r.normal(size=3) * 3, r.integers(-3, 3, 3), r.integers(-4, 4, 3)
        x[0] = [0.5, np.nan, -np.inf, 4.5][seed]
        found = native(x, table, i, j)
        for a, b in zip(found, leaves(function(gs.asarray(x), table, gs.asarray(i), gs.asarray(j))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
        np.testing.assert_allclose(found[0], np.interp(x, places, values), rtol=1e-14)
        assert np.array_equal(found[2], table[i]) and np.array_equal(found[3], table[:, j])
    found = native(x, table, np.array([0, 3, -4]), np.array([1, 1, 2**40]))
    assert np.array_equal(np.isnan(found[2]).all(1), [False, True, True]) and np.array_equal(found[2][0], table[0])
    assert np.array_equal(np.isnan(found[3]).all(0), [False, False, True])


# Robots.


def quadcopter(state, thrusts):
    """The change of position, speed, angles and rates of a quadcopter after a step of 0.01 s."""
    position, speed, angles, rates = (state[3 * k : 3 * k + 3] for k in range(4))
    (sa, sb, sc), (ca, cb, cc) = gs.sin(angles), gs.cos(angles)
    up = gs.stack([ca * sb * cc + sa * sc, ca * sb * sc - sa * cc, ca * cb])
    turn = gs.stack([thrusts[1] - thrusts[3], thrusts[2] - thrusts[0], 0.1 * (thrusts[0] - thrusts[1] + thrusts[2] - thrusts[3])])
    tilt = gs.stack([rates[0] + sa * sb / cb * rates[1] + ca * sb / cb * rates[2], ca * rates[1] - sa * rates[2],
                     (sa * rates[1] + ca * rates[2]) / cb])  # fmt: skip
    gravity = np.array([0.0, 0.0, -9.81])
    return state + 0.01 * gs.concat([speed, up * thrusts.sum() + gravity, tilt, turn * 20])


def kalman(state, covariance, thrusts, seen):
    """A step of the extended Kalman filter, which sees the position and the angles."""
    f = gs.jacobian(quadcopter)(state, thrusts)
    state, covariance = quadcopter(state, thrusts), f @ covariance @ f.T + 1e-4 * np.eye(12)
    h = np.eye(12)[[0, 1, 2, 6, 7, 8]]
    gain = gs.linalg.solve(h @ covariance @ h.T + 1e-2 * np.eye(6), h @ covariance).T
    return state + gain @ (seen - h @ state), (np.eye(12) - gain @ h) @ covariance


def arm(angles):
    """The place of an arm's hand, with links that turn about z, y, y, x, y and x in turn."""
    place, turned = gs.zeros(3), gs.eye(3)
    for angle, (about, length) in zip(angles, [(2, 0.4), (1, 0.5), (1, 0.4), (0, 0.1), (1, 0.1), (0, 0.05)]):
        s, c, one = gs.sin(angle), gs.cos(angle), gs.ones(())
        zero = one * 0
        rows = {0: [one, zero, zero, zero, c, -s, zero, s, c], 1: [c, zero, s, zero, one, zero, -s, zero, c],
                2: [c, -s, zero, s, c, zero, zero, zero, one]}[about]  # fmt: skip
        turned = turned @ gs.stack(rows).reshape(3, 3)
        place = place + turned @ np.array([0.0, 0.0, length])
    return place


def test_a_kalman_filter_and_the_jacobian_of_an_arm(tmp_path):
    """Along a flight of 50 steps: the covariance stays symmetric, and each step is the replay's."""
    r = rng()
    state, covariance = np.zeros(12), np.eye(12) / 10
    native, replayed = exported(tmp_path, kalman, state, covariance, np.full(4, 2.5), np.zeros(6))
    for _ in range(50):
        thrusts, seen = 2.45 + r.normal(size=4) / 20, r.normal(size=6) / 20
        wanted = leaves(replayed(state, covariance, thrusts, seen))
        for a, b in zip(native(state, covariance, thrusts, seen), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
        state, covariance = wanted
        assert np.abs(covariance - covariance.T).max() < 1e-12 and np.linalg.eigvalsh(covariance).min() > 0
    folder = tmp_path / "arm"
    folder.mkdir()
    native, _ = exported(folder, lambda q: (arm(q), gs.jacobian(arm)(q)), np.ones(6))
    for seed in range(4):
        q, step = rng(seed).normal(size=6), 1e-6
        place, jacobian = native(q)
        differences = [(arm(q + step * e).numpy() - arm(q - step * e).numpy()) / (2 * step) for e in np.eye(6)]
        np.testing.assert_allclose(jacobian, np.stack(differences, 1), atol=1e-9)
        np.testing.assert_allclose(place, arm(q).numpy(), atol=1e-14)


# Matrices.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch, n", [((), 1), ((), 2), ((), 7), ((2, 3), 4), ((), 20)])
def test_factors_and_solutions_of_matrices(tmp_path, batch, n, dtype):
    """Each satisfies its equation as well as LAPACK's does, with LAPACK's signs; matrices in a batch, and of one row, too."""

    def function(a, b, tall):
        spd, la = a @ a.mT + gs.eye(a.shape[-1], dtype=a.dtype), gs.linalg
        lower, (q, r), (sign, logarithm) = la.cholesky(spd), la.qr(tall), la.slogdet(a)
        return [lower, q, r, sign, logarithm, la.det(a), la.inv(a), la.solve(a, b), la.solve_triangular(lower, b, upper=False),
                la.solve_triangular(lower.mT, b, upper=True), gs.cholesky_solve(b, lower)]  # fmt: skip

    shapes = (*batch, n, n), (*batch, n, 3), (*batch, n + 2, n)
    native, replayed = exported(tmp_path, function, *[rng(k).normal(size=shape).astype(dtype) for k, shape in enumerate(shapes)])
    for seed in range(3):
        given = [rng(10 * seed + n + k).normal(size=shape).astype(dtype) for k, shape in enumerate(shapes)]
        condition = np.linalg.cond(given[0].astype(float)).max() ** 2
        for a, b in zip(native(*given), leaves(replayed(*given)), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert np.abs(a - b).max() <= 30 * n * condition * np.finfo(dtype).eps * max(np.abs(b).max(), 1)


def test_gradients_of_matrices(tmp_path):
    def function(a, b):
        spd = a @ a.mT + gs.eye(4)
        return (gs.linalg.cholesky(spd) @ gs.linalg.solve(spd, b)).sum() + gs.linalg.slogdet(spd)[1]

    a, b = rng().normal(size=(4, 4)), rng(1).normal(size=4)
    native, replayed = exported(tmp_path, gs.grad(function, argnums=(0, 1)), a, b)
    for seed in range(2, 6):
        a, b = rng(seed).normal(size=(4, 4)), rng(seed + 9).normal(size=4)
        for x, y in zip(native(a, b), leaves(replayed(a, b)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("function, wrong", [
    (gs.linalg.cholesky, -np.eye(3)), (gs.linalg.inv, np.ones((3, 3))),
    (lambda a: gs.linalg.solve(a, gs.ones(3)), np.zeros((3, 3))),
])  # fmt: skip
def test_a_singular_matrix_is_nan(tmp_path, function, wrong):
    native, replayed = exported(tmp_path, function, np.eye(3))
    assert np.isnan(native(wrong)[0]).all() and np.isfinite(native(2 * np.eye(3))[0]).all()
    with pytest.raises(np.linalg.LinAlgError):
        replayed(wrong)


# A controller.

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def page():
    """The example of docs/native.md: what its Python leaves, and its main.c, in the folder that it writes to."""
    text, space = (ROOT / "docs/native.md").read_text(), {}
    python, (declared, main, *_) = (re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) for language in ("python", "c"))
    exec("\n".join(python), space)
    folder = Path(space["folder"])
    (folder / "main.c").write_text(main)
    yield space, folder, declared
    shutil.rmtree(folder)


def test_the_header_that_the_page_shows(page):
    _, folder, declared = page
    header = (folder / "pendulum.h").read_text()
    shown = [line for line in declared.splitlines() if line.startswith("void")]
    assert len(shown) == 2 and all(line in header for line in shown)


@pytest.mark.parametrize("compiler", EACH)
def test_a_closed_loop_under_sanitizers(page, compiler):
    space, folder, _ = page
    flags = [*STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [compiler, *flags, "-o", "controller", "main.c", "pendulum.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert done.returncode == 0, done.stderr
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(["./controller"], cwd=folder, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    state = np.array([0.5, 0.0])
    for _ in range(1000):
        state = np.asarray(space["plant"](state, np.array(0.25)))
    np.testing.assert_allclose([float(word) for word in done.stdout.split()], state, rtol=1e-9)


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
def test_no_allocation_and_no_state(tmp_path):
    exported(tmp_path, gs.grad(network), *network_inputs(0))
    subprocess.run([COMPILERS[0], *STRICT, "-fno-pic", "-fno-stack-protector", "-c", "model.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    found = [line.split()[-2:] for line in symbols.splitlines()]
    assert {name for kind, name in found if kind == "U"} <= {"exp", "tanh", "fabs", "pow", "copysign", "sqrt", "memset", "memcpy"}
    assert not {name for kind, name in found if kind in "BbDdC"}


# Sparse matrices.


def arrow(u):
    """Chains, with a row and a column that are dense, and a row without elements."""
    return gs.concat([u[1:] * u[:-1], u[:1] * gs.sin(u), (u * u).sum(keepdims=True), gs.ones(1)])


@pytest.mark.parametrize("compiler", EACH)
def test_sparse_matrices_in_compressed_columns(tmp_path, compiler):
    """The Hessian is SciPy's, the Jacobian that of differences; the tables of columns and rows are in the module."""
    optimize = pytest.importorskip("scipy.optimize")

    def rosen(u):
        return (100 * (u[1:] - u[:-1] ** 2) ** 2 + (1 - u[:-1]) ** 2).sum()

    u = rng().normal(size=12)
    hessian, jacobian = gs.func.sparse_plan(rosen, u, hessian=True), gs.func.sparse_plan(arrow, u)
    nothing = gs.func.sparse_plan(lambda u: gs.ones(2), u)
    assert hessian.products == 3 and jacobian.products < 6
    compiled = gs.compile(
        lambda u: {"h": hessian.compressed(u), "j": [jacobian.compressed(u), nothing.compressed(u)], "v": rosen(u)}
    )
    compiled(u)
    gs.export_c(tmp_path / "model", {"f": compiled})
    module = Module(tmp_path, "model", ["f"], compiler)
    assert [row[0] for row in module.table("f_results")] == ["result_h", "result_j_0", "result_j_1", "result_v"]
    for seed in range(1, 4):
        u, step = rng(seed).normal(size=12), 1e-6
        h, j, zeros, value = module.matrices("f", module("f", u))
        np.testing.assert_allclose(h, optimize.rosen_hess(u), rtol=1e-13)
        differences = [(arrow(u + step * e).numpy() - arrow(u - step * e).numpy()) / (2 * step) for e in np.eye(12)]
        np.testing.assert_allclose(j, np.stack(differences, 1), atol=1e-8)
        assert zeros.shape == (2, 12) and not zeros.any() and value == pytest.approx(optimize.rosen(u))
        found = compiled(u)
        for a, b in ((found["h"], h), (found["j"][0], j), (found["j"][1], zeros)):
            np.testing.assert_allclose(a.to_scipy().toarray(), b, rtol=1e-14, atol=1e-15)
    u[3] = np.inf  # its group has other elements, which are not lost
    with np.errstate(invalid="ignore"):
        h, wanted = next(module.matrices("f", module("f", u))), optimize.rosen_hess(u)
    np.testing.assert_allclose(
        np.delete(np.delete(h, [2, 3, 4], 0), [2, 3, 4], 1), np.delete(np.delete(wanted, [2, 3, 4], 0), [2, 3, 4], 1)
    )
    with pytest.raises(ValueError, match="substitution"):
        gs.func.sparse_plan(rosen, u, hessian=True, substitution=True).compressed(u)
    with pytest.raises(TypeError, match="being differentiated"):
        hessian.compressed(gs.tensor(u, requires_grad=True))


# What is refused.


def refusal(tmp_path, function, *args, error=TypeError, **options):
    compiled = gs.compile(function, recheck=False, **options)
    compiled(*args)
    with pytest.raises(error) as caught:
        compiled.c(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    return str(caught.value)


def test_refusals_name_the_operator_and_the_line(tmp_path):
    x = np.eye(2) + 1
    line = r" at test_native.py:\d+"
    assert re.search("svd" + line + ".*LAPACK", refusal(tmp_path, lambda x: gs.linalg.svdvals(x), x))
    assert re.search(line + ": Python reads numbers, for a branch", refusal(tmp_path, lambda x: x * 2 if x.sum() > 0 else x, x))
    assert re.search("random", refusal(tmp_path, lambda x: x + gs.random.randn(2, 2), x))
    assert re.search("complex", refusal(tmp_path, lambda x: gs.real(x * 1j), x))
    assert re.search("sort" + line + ".*numpy.sort", refusal(tmp_path, lambda x: gs.sort(x), x))
    assert "C order" in refusal(tmp_path, lambda x: x * 2, x[::-1], error=RuntimeError)


def test_arguments_that_share_memory_are_refused(tmp_path):
    x = np.arange(6.0)
    held = gs.asarray(x)
    assert "another argument" in refusal(tmp_path, lambda a, b: a * 2 + b, x, x, error=RuntimeError)
    assert "shares memory with another" in refusal(tmp_path, lambda a, b: a * 2 + b, x[:3], x[3:], error=RuntimeError)
    assert "captured array" in refusal(tmp_path, lambda a: a * held, held, error=RuntimeError)
    part = gs.asarray(x[:3])
    assert "captured array" in refusal(tmp_path, lambda a: a * held[:2], x[4:], error=RuntimeError)
    assert "captured array" in refusal(tmp_path, lambda a: a[:2] * part[:2], x, error=RuntimeError)


def test_a_callback_is_refused(tmp_path):
    assert "calls back" in refusal(tmp_path, lambda x: gs.pure_callback(lambda a: np.sort(a), gs.ones(3), x) * 2, np.ones(3))


def test_effects_of_python_are_refused(tmp_path):
    total = gs.zeros(3)

    def adds(x):
        total.add_(x)
        return total * 2

    assert "captured array" in refusal(tmp_path, adds, np.ones(3))

    def adds_to_a_part(x):
        total[1:].add_(x[1:])
        return x * 2

    assert "captured array" in refusal(tmp_path, adds_to_a_part, np.ones(3))
    w = gs.ones(3, requires_grad=True)

    def accumulates(x):
        (w * x).sum().backward()
        return x * 2

    assert ".grad" in refusal(tmp_path, accumulates, np.ones(3), error=RuntimeError)


def test_a_state_that_has_changed_is_not_frozen(tmp_path):
    state = {"gain": 2.0, "bias": np.ones(2), "offset": gs.ones(2), "mask": gs.asarray([True, False])}

    def function(x):
        return x[state["mask"]] + x * state["gain"] + state["bias"] * float(state["bias"][0]) + state["offset"]

    compiled, x = gs.compile(function), np.ones(2)
    for name, change in (
        ("gain", lambda: state.update(gain=5.0)), ("bias", lambda: state["bias"].fill(3.0)),
        ("bias", lambda: state.update(bias=np.zeros(2))), ("offset", lambda: state.update(offset=gs.zeros(2))),
    ):  # fmt: skip
        compiled(x)
        change()
        with pytest.raises(RuntimeError, match=f"{name}.*has changed since the recording"):
            compiled.c(tmp_path / "model")
        with pytest.raises(RuntimeError, match=f"{name}.*has changed since the recording"):
            compiled.python(numpy=True)
    compiled(x)
    state["mask"][0] = False
    with pytest.raises(RuntimeError, match="captured array that decides at test_native.py"):
        compiled.c(tmp_path / "model")
    state["mask"][0] = True
    state["offset"] += 7  # a tensor keeps its recording
    compiled.c(tmp_path / "model")
    np.testing.assert_array_equal(Module(tmp_path, "model", ["model"])("model", x)[0], leaves(function(x))[0])


def test_the_latest_recording_is_written(tmp_path):
    compiled = gs.compile(lambda x, k: x * k)
    for number in (2.0, 3.0, 4.0):
        compiled(np.ones(2), number)
        compiled.c(tmp_path / "model")
        assert f"k is {number}" in (tmp_path / "model.h").read_text()


@pytest.mark.filterwarnings("ignore")
def test_a_call_without_a_recording_says_why(tmp_path):
    assert "print is called at" in refusal(tmp_path, lambda x: print(end="") or x * 2, np.ones(2), error=RuntimeError)
    assert "sparse_plan(f, x).compressed" in refusal(
        tmp_path, gs.sparse_jacobian(lambda x: x * x), np.ones(2), error=RuntimeError
    )
    assert "random numbers" in refusal(tmp_path, lambda x: x * np.random.rand(2), np.ones(2), error=RuntimeError)


def test_no_file_is_left_in_parts(tmp_path):
    compiled = gs.compile(lambda x: x * 2)
    compiled(np.ones(2))
    (tmp_path / "model.c").mkdir()
    with pytest.raises(OSError):
        compiled.c(tmp_path / "model")
    assert [one.name for one in tmp_path.iterdir()] == ["model.c"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        compiled.c(tmp_path / "none" / "model")
    for functions in (compiled, [compiled], {"f": np.sin}):
        with pytest.raises(TypeError, match="dict of functions of gs.compile"):
            gs.export_c(tmp_path / "other", functions)


def test_names_that_c_has_not(tmp_path):
    compiled = gs.compile(lambda x: x * 2)
    with pytest.raises(RuntimeError, match="call the function first"):
        compiled.c(tmp_path / "model")
    compiled(np.ones(2))
    for name in ("my-model", "exp", "2d", "double", "gs_sum", "round", "printf", "stdint", "gradspec_array", "uint8_t", "new"):
        with pytest.raises(ValueError, match="choose another"):
            compiled.c(tmp_path / name)
    for end in ("workspace", "arguments", "c1", "part0"):
        with pytest.raises(ValueError, match="choose another"):
            gs.export_c(tmp_path / "model", {"f": compiled, f"f_{end}": compiled})
    assert not list(tmp_path.iterdir())
