"""Every example runs by itself and comes to the right result."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def number(pattern, text):
    return float(re.search(pattern + r"\s*(-?[\d.]+(?:e[-+]\d+)?)", text)[1])


def test_every_example_is_run():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_linear_regression():
    ours, exact = re.findall(r"y = (-?[\d.]+) x ([+-][\d.]+)", run("linear_regression.py"))
    assert [float(value) for value in ours] == pytest.approx([float(value) for value in exact], abs=1e-3)


def test_modules():
    text = run("modules.py")
    assert ")  # " in text and number(r"learning rate 0\.0000\n", text) > 0.97


def test_controller():
    angles = re.findall(r"the angle is (-?[\d.]+) pi, the speed (\S+)", run("controller.py"))
    assert 1 <= len(angles) <= 2 and all(float(a) == 1 and abs(float(speed)) < 1e-9 for a, speed in angles)


def test_poisson():
    assert number("largest error:", run("poisson.py")) < 0.02


@pytest.mark.slow
def test_checkpoint():
    rows = {int(row[0]): float(row[1]) for row in map(str.split, run("checkpoint.py").splitlines()[1:])}
    assert list(rows) == [1, 2, 4, 8, 16, 32]
    assert rows[8] < rows[1] / 2


def test_jacobian():
    out = run("jacobian.py")
    assert "dq/da    = [36. 81.]" in out and "dq/db    = [-12.  -8.]" in out
    assert number("by hand:", out.splitlines()[-2]) < 1e-12
    assert number("radius:", out) == pytest.approx(2)


def test_digits(tmp_path):
    pytest.importorskip("sklearn", reason="the digits come with scikit-learn")
    out = run("digits.py", "--epochs", 15, "--no-plot", "--output", tmp_path)
    assert out.splitlines()[-1].startswith("test accuracy")
    assert number("test accuracy", out) >= 0.97
    assert [path.name for path in tmp_path.iterdir()] == ["digits.npz"]


def test_profiling(tmp_path):
    out = run("profiling.py", "--output", tmp_path)
    assert "MatmulBackward" in out and "Self CPU time total" in out and "saved by the graph" in out
    assert {path.name for path in tmp_path.iterdir()} == {"trace.json", "profile.html"}


def test_gaussian_process():
    pytest.importorskip("scipy", reason="scipy.optimize does the fit")
    out = run("gaussian_process.py")
    assert number("noise", out) == pytest.approx(0.2, abs=0.05)
    assert 1 < number("length scale", out) < 4
    assert number("log likelihood.*->", out) > number("log likelihood", out)


def test_listeners():
    counted, stopped, peak = run("listeners.py").rsplit("\n", 3)[:3]
    assert "1  matmul" in counted and "1  AccumulateGrad" in counted
    assert stopped.startswith("stopped at tanh, line ") and number("at most", peak) == 4608


def test_trace():
    text = run("trace.py")
    assert "gs.tanh(" in text and number("its distance from the gradient", text) == 0
    before, after = re.search(r"(\d+) instructions, (\d+) after", text).groups()
    assert int(after) < int(before)


@pytest.mark.slow
def test_decay():
    found = re.search(r"rates ([\d.]+) and ([\d.]+), .* made ([\d.]+) and ([\d.]+)", run("decay.py"))
    assert [float(value) for value in found.group(1, 2)] == pytest.approx([float(value) for value in found.group(3, 4)], abs=0.02)


def test_replay():
    text = run("replay.py")
    assert number("loss", text) > 10 * number("to", text) and "the same when replayed: True" in text and "bytes planned" in text


@pytest.mark.slow
def test_equations():
    pytest.importorskip("scipy", reason="SciPy's solvers and optimiser do the work")
    rows = [line.split() for line in run("equations.py", "planet", "--solvers", "DOP853", "LSODA").splitlines()[1:]]
    assert len(rows) == 2
    for *_, solution, gradient, error, off in rows:
        assert int(gradient) < 12 * int(solution) and float(error) < 1e-4 and float(off) < 1e-3


@pytest.mark.slow
def test_curves():
    found = {line.split(",")[0]: line for line in run("curves.py", "vae", "gpt", "digits", 20).splitlines()}
    for name in ("vae", "gpt", "digits"):
        assert number("at first, ", found[name]) < 0.98 * number("loss ", found[name])
    assert number("held-out accuracy", found["digits"]) > 25  # a tenth is chance
