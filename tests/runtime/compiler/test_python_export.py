"""Written out: a recording is a module that runs where there is NumPy alone."""

import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs

from .test_compiled_function import bits, loss_of, two_layers, values

ALONE = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "gradspec":
            raise ImportError("this process has no gradspec")
sys.meta_path.insert(0, Refusing())
"""


def run_alone(folder, code):
    """Run code in a process that cannot import gradspec."""
    command = [sys.executable, "-c", ALONE + f"sys.path.insert(0, {str(folder)!r})\nimport numpy as np\n" + code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_network_runs_where_gradspec_is_not(tmp_path):
    w, v = gs.asarray(values((4, 5))), gs.asarray(values((5,), 1))

    def model(x, options):
        y = gs.nn.softmax(gs.nn.relu(x @ w + v) * options["scale"])
        return {"y": y, "top": (y.max(axis=1), options["name"])}

    compiled = gs.compile(model, strict=True)
    x = values((3, 4), 2)
    for _ in range(2):
        wanted = compiled(x, {"scale": 2.0, "name": "a"})
    compiled.save(tmp_path / "model.py")
    np.save(tmp_path / "x.npy", x)
    run_alone(tmp_path, """
from model import program
found = program(np.load("x.npy"), {"scale": 2.0, "name": "a"})
assert found["top"][1] == "a" and type(found["y"]) is np.ndarray
np.savez("y.npz", found["y"], found["top"][0])
try:
    program(np.load("x.npy"), {"scale": 3.0, "name": "a"})
except ValueError as error:
    assert "scale" in str(error)
else:
    raise AssertionError("another number was taken")
""")
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_allclose(found["arr_0"], wanted["y"].numpy(), rtol=1e-14)
        np.testing.assert_allclose(found["arr_1"], wanted["top"][0].numpy(), rtol=1e-14)


def trainer(parameters):
    def step(x, y):
        loss = loss_of(parameters, x, y)
        gradients = gs.autograd.grad(loss, parameters)
        with gs.no_grad():
            for p, gradient in zip(parameters, gradients):
                p -= 0.1 * gradient
        return loss.detach()

    return step


def test_training_goes_on_in_a_file(tmp_path):
    parameters = two_layers()
    compiled = gs.compile(trainer(parameters), strict=True)
    batches = [(values((6, 4), seed), values((6, 1), seed + 7)) for seed in range(6)]
    for batch in batches[:3]:
        compiled(*batch)
    compiled.save(str(tmp_path / "step.py"))
    wanted = [float(compiled(*batch)) for batch in batches[3:]]
    np.savez(tmp_path / "batches.npz", *[array for batch in batches[3:] for array in batch])
    run_alone(tmp_path, f"""
from step import program
with np.load("batches.npz") as file:
    arrays = [file[name] for name in file.files]
losses = [float(program(x, y)) for x, y in zip(arrays[::2], arrays[1::2])]
np.testing.assert_allclose(losses, {wanted!r}, rtol=1e-12)
""")


def test_a_branch_is_one_of_the_program():
    compiled = gs.compile(lambda x: gs.exp(x) if gs.sum(x) > 0 else gs.sin(x), strict=True)
    x = values((4,))
    x[0] = 5
    wanted = compiled(x).numpy()
    names = {}
    exec(compiled.python(numpy=True), names)
    found = names["program"](x)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert (np.abs(found - wanted) <= 2 * np.spacing(np.abs(wanted))).all()  # NumPy's exp and ours: each within an ulp, in the loops of any processor
    with pytest.raises(ValueError, match="another way"):
        names["program"](-x)


def test_over_gradspec_it_differentiates():
    w = gs.asarray(values((3,)))
    compiled = gs.compile(lambda x: gs.sum(gs.tanh(x) * w), strict=True)
    x = gs.tensor(values((3,), 1), requires_grad=True)
    compiled(x)
    names = {}
    exec(compiled.python(), names)
    assert bits(gs.autograd.grad(names["program"](x), x)[0]) == bits(gs.autograd.grad(compiled(x), x)[0])


def test_what_has_no_text_is_refused():
    compiled = gs.compile(lambda x: x * 2)
    with pytest.raises(RuntimeError, match="call the function first"):
        compiled.python(numpy=True)
    w = gs.ones(3, requires_grad=True)

    def leaves(x):
        gs.sum(w * x).backward()

    for function, why in ((leaves, r"writes a \.grad"), (lambda x: gs.nn.dropout(x), "draws random numbers"),
                          (lambda x: gs.debug.print("{}", x) or x * 2, "calls back")):  # fmt: skip
        compiled = gs.compile(function)
        for _ in range(3):
            compiled(gs.ones(3))
            w.grad = None
        with pytest.raises(RuntimeError, match=why):
            compiled.python(numpy=True)
    compiled = gs.compile(lambda x, rate: x * rate, dynamic="rate")
    compiled(gs.ones(3), 0.5)
    with pytest.raises(RuntimeError, match="dynamic"):
        compiled.python(numpy=True)


def test_an_argument_that_is_also_held_is_refused():
    held = gs.asarray(values((3,)))
    for function, args in ((lambda x: x * held, (held,)), (lambda x, y: x * 2 + y, (held, held))):
        compiled = gs.compile(function, strict=True)
        compiled(*args)
        with pytest.raises(RuntimeError, match="also a captured array or another argument"):
            compiled.python(numpy=True)
