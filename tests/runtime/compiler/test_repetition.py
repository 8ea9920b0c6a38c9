"""Loops that stay loops in C: the bits of the statements one after the other, in fewer bytes, without a warning or a wrong access."""

import ctypes
import os
import subprocess

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.native import repetition, scalars

from .c_modules import COMPILERS, STRICT, Module
from .test_native import leaves, pendulum, same

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
UNROLLED = 10**9
SEEDS = int(os.environ.get("SEEDS", 12))
MAIN = """#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *block(long size) {{ return memset(malloc(size ? size : 1), 0x55, size); }}

int main(int count, char **words) {{
    FILE *in = fopen(words[count - 2], "rb"), *out = fopen(words[count - 1], "wb");
    model_workspace *work = block(sizeof *work);
{blocks}
    model({names}, work);
{results}
    return fclose(in) + fclose(out);
}}
"""


def rng(seed=0):
    return np.random.default_rng(seed)


def modules(folder, function, *args, flags=()):
    """A function, compiled; in C without loops of statements, and with them."""
    compiled = gs.compile(function, strict=True, recheck=False)
    compiled(*args)
    made = []
    for name, worth in (("unrolled", UNROLLED), ("rolled", repetition.WORTH)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(repetition, "WORTH", worth)
            patch.setattr(scalars, "MOST", -1)  # in loops of elements
            (folder / name).mkdir(parents=True)
            compiled.c(folder / name / "model")
        made.append(Module(folder / name, "model", ["model"], flags=flags))
    return compiled, *made


def text_of(folder, name="rolled"):
    return (folder / name / "model.c").read_text()


def other(args, seed):
    """Other numbers of the same shapes."""
    return [np.asarray(a + rng(seed).normal(size=a.shape) / 8).astype(a.dtype) if a.dtype.kind == "f" else a.copy() for a in leaves(args)]


def moved_by(a, tolerance):
    """Numbers at a small distance, which says how exactly the results can be known."""
    return (a * (1 + tolerance)).astype(a.dtype) if a.dtype.kind == "f" else a


def check(folder, function, *args, least=0.0, tolerance=1e-12):
    """The bits of both forms, and the numbers of the eager call; the text is shorter by a factor."""
    _, unrolled, rolled = modules(folder, function, *args)
    for seed in range(3):
        mine, theirs = other(args, seed), other(args, seed)
        for a, b in zip(rolled("model", *mine), unrolled("model", *theirs), strict=True):
            assert same(a, b)
        for a, b in zip(mine, theirs, strict=True):  # arguments that it writes to
            assert same(a, b)
        wanted, moved = (leaves(function(*gs.tree_util.tree_unflatten(gs.tree_util.tree_structure(args), given)))
                         for given in (other(args, seed), [moved_by(a, tolerance) for a in other(args, seed)]))  # fmt: skip
        for a, b, c in zip(rolled("model", *other(args, seed)), wanted, moved, strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance + np.abs(b - c).max(initial=0))
    before, after = (text_of(folder, name).count("\n") for name in ("unrolled", "rolled"))
    assert before > least * after, (before, after)
    return rolled


# Programs.


def path(state, torques, step=pendulum):
    for torque in torques:
        state = step(state, torque)
    return (state * state).sum()


def scanned(state, torques):
    state, seen = gs.func.scan(lambda s, t: (pendulum(s, t), s[0] * t), state, torques)
    return (state * state).sum() + gs.sin(seen).sum()


def recurrent(rows, w):
    h = gs.zeros(4)
    for row in rows:
        h = gs.tanh(w @ h + row)
    return (h * h).sum()


def kalman(x, p, rows, f):
    for row in rows:
        x, p = f @ x, f @ p @ f.T + 0.1 * gs.eye(3)
        gain = p[:, 0] / (p[0, 0] + 0.5)
        x, p = x + gain * (row[0] - x[0]), p - gs.outer(gain, p[0])
    return (x * x).sum() + p.sum()


def lagged(x, c):
    a, b = x, x * 2
    for k in range(40):
        a, b = b, gs.sin(a) * c[k] + b
    return a.sum() * b


def chain(x):
    for k in range(100):
        x = gs.sin(x) * (0.5 + k / 300) + 0.1 * x[::-1]
    return x.sum()


def states(x, rows, step):
    found = []
    for row in rows:
        x = step(x, row)
        found.append(x)
    return found


def written_to(x, y):
    for k in range(24):
        y[k] += x.sum()
        x[1:] *= gs.cos(y[k] * x[:-1])
    return x * 2


def lower(x):
    total = gs.zeros(())
    for k in range(1, 20):
        total = total + gs.exp(-x[:k]).sum() * k
    return total


def grid(x, w):
    for i in range(12):
        for j in range(10):
            x = gs.tanh(x * w[i, j] + x)
        x = x / (1 + (x * x).sum())
    return x.sum()


def solved(a, b):
    for k in range(12):
        b = gs.linalg.solve(a + (k + 1) * gs.eye(3), b) + gs.cos(b)
    return b.sum()


def chosen(x, n):
    for k in range(16):
        x = gs.where((x > 0.1 * k) & (n > k), x - 0.3, gs.abs(x) + 0.25)
        n = n + (x.sum() > 0).astype(np.int32)
    return x, n


START, TORQUES = rng().normal(size=2), rng(1).normal(size=30)
PROGRAMS = {
    "runge_kutta": (path, (START, TORQUES), 8),
    "runge_kutta_gradient": (gs.value_and_grad(path, argnums=(0, 1)), (START, TORQUES), 8),
    "scan": (lambda s, t: gs.func.scan(lambda s, t: (pendulum(s, t), s[0]), s, t), (START, TORQUES), 8),
    "scan_gradient": (gs.value_and_grad(scanned, argnums=(0, 1)), (START, TORQUES), 8),
    "rows": (recurrent, (rng().normal(size=(30, 4)), rng(1).normal(size=(4, 4)) / 2), 2),
    "rows_gradient": (gs.value_and_grad(recurrent, argnums=(0, 1)), (rng().normal(size=(30, 4)), rng(1).normal(size=(4, 4)) / 2), 5),
    "kalman": (gs.value_and_grad(kalman, argnums=(0, 1, 2, 3)),
               (rng().normal(size=3), np.eye(3), rng(1).normal(size=(15, 2)), np.eye(3) + rng(2).normal(size=(3, 3)) / 9), 4),
    "chain": (gs.value_and_grad(chain), (rng().normal(size=8),), 2),
    "lagged": (gs.value_and_grad(lambda x, c: lagged(x, c).sum()), (rng().normal(size=3), rng(1).normal(size=40)), 4),
    "states": (lambda s, t: states(s, t, pendulum), (START, TORQUES), 3),
    "written_to": (written_to, (rng().normal(size=4), rng(1).normal(size=24)), 2),
    "lower": (gs.value_and_grad(lower), (rng().normal(size=20),), 0),
    "grid": (grid, (rng().normal(size=3), rng(1).normal(size=(12, 10))), 5),
    "grid_gradient": (gs.grad(grid, argnums=(0, 1)), (rng().normal(size=3), rng(1).normal(size=(12, 10))), 4),
    "solved": (gs.value_and_grad(solved, argnums=(0, 1)), (rng().normal(size=(3, 3)) + 4 * np.eye(3), rng(1).normal(size=3)), 3),
    "chosen": (chosen, (rng().normal(size=5), np.array(3, np.int32)), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_has_the_bits_of_its_statements(tmp_path, name):
    function, args, least = PROGRAMS[name]
    check(tmp_path, function, *args, least=least)


# Random programs.

TABLE = rng(7).normal(size=(64, 3)) / 2
OPERATIONS = [
    lambda k, a, b, r, w: gs.tanh(a + b),
    lambda k, a, b, r, w: a * 0.5 + gs.sin(b) * float(TABLE[k, 0]),
    lambda k, a, b, r, w: gs.tanh(w @ a) + r[k],
    lambda k, a, b, r, w: a + gs.asarray(TABLE[k]) * b,
    lambda k, a, b, r, w: gs.maximum(a, b[::-1]) * 0.75,
    lambda k, a, b, r, w: gs.stack([b[2], a[0] * 0.5, (a * b).sum()]) / 2,
    lambda k, a, b, r, w: gs.where(a > r[k, 1], b * 0.5, a - 0.25),
    lambda k, a, b, r, w: gs.concat([a[1:], b[:1]]) * gs.cos(r[len(r) - 1 - k]),
    lambda k, a, b, r, w: a - a.mean() + 0.125 * gs.cumsum(b),
    lambda k, a, b, r, w: 0.5 * a + gs.outer(a, b).sum(0) / 8,
    lambda k, a, b, r, w: a + r[: k % 4 + 1].sum() / 16,
]


def added_to(k, a, b, r, w):
    c = a * 0.5
    c[1:] += b[:-1] * 0.5
    c[0] *= r[k, 2]
    return c


def program(seed):
    """Loops whose operators, operands and irregular iterations are chosen at random."""
    r = np.random.default_rng(seed)
    operations = [*OPERATIONS, added_to]
    loops = [
        (int(r.integers(3, 14)), [(operations[r.integers(len(operations))], *r.integers(4, size=3).tolist()) for _ in range(r.integers(1, 6))],
         int(r.integers(-1, 8)), int(r.integers(1, 4)))
        for _ in range(r.integers(1, 4))
    ]  # fmt: skip

    def function(a, b, rows, w):
        held, seen = [a, b, a * b, a - b], []
        for count, body, odd, inner in loops:
            for k in range(count):
                before = list(held)
                for operation, x, y, to in body:
                    for j in range(inner):
                        held[to] = gs.tanh(operation(k, held[x], before[y] if seed % 3 else held[y], rows, w))
                if k == odd:
                    held[0] = held[0] + held[1] * 0.25
                seen.append(held[body[0][3]] if seed % 2 else before[3].sum())
        total = sum((one * one).sum() for one in held)
        return total + sum(gs.sin(one).sum() for one in seen[:: max(seed % 5, 1)])

    return gs.value_and_grad(function, argnums=(0, 1, 2, 3)) if seed % 4 else function


def arguments_of(seed):
    r, dtype = np.random.default_rng(seed + 1), np.float32 if seed % 7 == 3 else np.float64
    return [r.normal(size=shape).astype(dtype) / 2 for shape in ((3,), (3,), (16, 3), (3, 3))]


def test_random_loops(tmp_path):
    rolled = 0
    for seed in range(SEEDS):
        args = arguments_of(seed)
        check(tmp_path / str(seed), program(seed), *args, tolerance=1e-4 if args[0].dtype == np.float32 else 1e-10)
        rolled += text_of(tmp_path / str(seed)) != text_of(tmp_path / str(seed), "unrolled")
    assert rolled > 0.3 * SEEDS
    print(rolled, "of", SEEDS)


# What is kept.


@pytest.mark.parametrize("function", [
    lambda x: (gs.sin(x) * gs.cos(x) + x).sum(),
    lambda x: [x := gs.tanh(x) * 0.5 + gs.sin(x) for _ in range(3)][-1],
])  # fmt: skip
def test_where_a_loop_gains_nothing_there_is_none(tmp_path, function):
    modules(tmp_path, function, np.ones(3))
    assert text_of(tmp_path) == text_of(tmp_path, "unrolled")


def test_a_simulation_needs_no_memory_for_each_step(tmp_path):
    sizes = []
    for count in (10, 30):
        _, _, rolled = modules(tmp_path / str(count), path, START, TORQUES[:count])
        sizes.append(ctypes.c_long.in_dll(rolled.library, "model_size").value)
    assert sizes[0] == sizes[1]


def test_the_file_does_not_grow_with_the_steps(tmp_path):
    lines = []
    for count in (20, 200):
        modules(tmp_path / str(count), gs.value_and_grad(path), START, rng(1).normal(size=count) / 4)
        lines.append(text_of(tmp_path / str(count)).count("\n"))
    assert lines[1] < 1.1 * lines[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_under_sanitizers(tmp_path, name):
    """Arguments, results and workspace are blocks of their own, and a workspace of other bytes changes nothing."""
    function, args, _ = PROGRAMS[name]
    _, _, rolled = modules(tmp_path, function, *args)
    folder, given = tmp_path / "rolled", [rolled.table(f"model_{kind}") for kind in ("arguments", "results")]
    sizes = [[(dtype, int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize) for _, dtype, shape in rows] for rows in given]
    types = {"float64": "double", "int32": "int32_t", "bool": "bool", "int64": "int64_t", "float32": "float"}
    blocks = [f"    {types[dtype]} *{letter}{k} = block({size});" + (f" if (fread({letter}{k}, 1, {size}, in) != {size}) return 1;" * (letter == "x"))
              for letter, rows in zip("xy", sizes) for k, (dtype, size) in enumerate(rows)]  # fmt: skip
    names = ", ".join(f"{letter}{k}" for letter, rows in zip("xy", sizes) for k in range(len(rows)))
    results = "\n".join(f"    fwrite(y{k}, 1, {size}, out);" for k, (_, size) in enumerate(sizes[1]))
    (folder / "main.c").write_text(MAIN.format(blocks="\n".join(blocks), names=names, results=results))
    inputs = other(args, 1)
    (folder / "in").write_bytes(b"".join(a.tobytes() for a in inputs))
    flags = [*STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [COMPILERS[0], *flags, "-o", "main", "main.c", "model.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert done.returncode == 0, done.stderr
    clean = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"} | {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(["./main", "in", "out"], cwd=folder, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr[:2000]
    assert (folder / "out").read_bytes() == b"".join(a.tobytes() for a in rolled("model", *inputs))
