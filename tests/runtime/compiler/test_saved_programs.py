"""Saved programs: a file of recordings gives the bits of the function, without it."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import gradspec as gs

from .test_compiled_function import bits, loss_of, two_layers, values


def trainer(parameters):
    def step(x, y, rate):
        loss = loss_of(parameters, x, y)
        loss.backward()
        with gs.no_grad():
            for p in parameters:
                p -= rate * p.grad
                p.grad = None
        return {"loss": loss.detach(), "rate": [rate, "words", None]}

    return step


def test_training_goes_on_from_a_file(tmp_path):
    parameters = two_layers()
    compiled = gs.compile(trainer(parameters), strict=True)
    batches = [(values((6, 4), seed), values((6, 1), seed + 7), 0.1) for seed in range(8)]
    for batch in batches[:4]:
        compiled(*batch)
    compiled.save(tmp_path / "step.gsp")
    loaded = gs.load_program(tmp_path / "step.gsp")
    assert len(loaded.weights) == 3 and all(w.requires_grad for w in loaded.weights.values())
    for batch in batches[4:]:
        found, wanted = loaded(*batch), compiled(*batch)
        assert bits(found["loss"]) == bits(wanted["loss"]) and found["rate"] == wanted["rate"] == [0.1, "words", None]
    assert sorted(map(bits, loaded.weights.values()), key=str) == sorted(map(bits, parameters), key=str)


def test_another_process_needs_no_function(tmp_path):
    w = gs.asarray(values((3, 2)))[::2]
    compiled = gs.compile(lambda x, i: (gs.exp(x[i:] @ w.T), x.sum(axis=0)[..., None]))
    wanted = compiled(values((4, 2)), 1)
    compiled.save(tmp_path / "f.gsp")
    np.save(tmp_path / "x.npy", values((4, 2)))
    code = f"""
import gradspec as gs, numpy as np
y = gs.load_program({str(tmp_path / "f.gsp")!r})(np.load({str(tmp_path / "x.npy")!r}), 1)
np.savez({str(tmp_path / "y.npz")!r}, *[one.numpy() for one in y])
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    with np.load(tmp_path / "y.npz") as found:
        assert [bits(found[name]) for name in found.files] == [bits(one) for one in wanted]


def test_results_are_differentiated(tmp_path):
    w = gs.tensor(values(), requires_grad=True)
    compiled = gs.compile(lambda x: (gs.sin(x * w) ** 2).sum())
    x = gs.tensor(values(seed=1), requires_grad=True)
    compiled(x), compiled(x)
    compiled.save(tmp_path / "f.gsp")
    loaded = gs.load_program(tmp_path / "f.gsp")
    (mine,) = loaded.weights.values()
    found, wanted = gs.autograd.grad(loaded(x), [x, mine]), gs.autograd.grad(compiled(x), [x, w])
    assert [bits(one) for one in found] == [bits(one) for one in wanted]
    with pytest.raises(RuntimeError, match="there is no function; compile"):
        gs.autograd.grad(loaded(x), x, create_graph=True)


def test_branches_draws_and_layouts(tmp_path):
    compiled = gs.compile(lambda x: x * 2 + gs.random.standard_normal(3) if x.sum() > 0 else x[::-1].T - 1)
    inputs = [values((2, 3), seed) for seed in range(12)]
    for x in inputs:
        compiled(x)
    compiled.save(tmp_path / "f.gsp")
    loaded = gs.load_program(tmp_path / "f.gsp")
    for seed, x in enumerate(inputs):
        for x in (x, np.asfortranarray(x)):
            gs.manual_seed(seed)
            found = loaded(x)
            gs.manual_seed(seed)
            assert bits(found) == bits(compiled.function(gs.asarray(x)))


def test_memory_that_is_shared(tmp_path):
    w = gs.asarray(values(6))
    views = {"front": w[:4], "back": w[2:]}

    def function(x):
        views["front"].add_(x)
        return views["back"] * 1

    compiled = gs.compile(function)
    compiled(values(4)), compiled(values(4))
    compiled.save(tmp_path / "f.gsp")
    loaded = gs.load_program(tmp_path / "f.gsp")
    for seed in range(3):
        assert bits(loaded(values(4, seed))) == bits(compiled(values(4, seed)))


def test_calls_that_were_not_recorded(tmp_path):
    compiled = gs.compile(lambda x, n: x * n if x.sum() > 0 else x)
    with pytest.raises(RuntimeError, match="no recording; call the function first"):
        compiled.save(tmp_path / "f.gsp")
    compiled(np.ones(2), 3), compiled(np.ones(2), 3)
    compiled.save(tmp_path / "f.gsp")
    loaded = gs.load_program(tmp_path / "f.gsp")
    for args, words in [((np.ones(3), 3), r"argument 0 was float64\[2\]"), ((np.ones(2, "float32"), 3), "argument 0 was float64"),
                        ((np.ones(2), 4), "argument 1 was int 3"), ((np.ones(2),), "a different pytree"),
                        ((-np.ones(2), 3), "another way"), ((gs.ones(2, requires_grad=True), 3), "requires_grad=False")]:  # fmt: skip
        with pytest.raises(RuntimeError, match=words):
            loaded(*args)
    with gs.no_grad(), pytest.raises(RuntimeError, match="grad was enabled"):
        loaded(np.ones(2), 3)
    assert loaded(np.ones(2), 3).tolist() == [3.0, 3.0]


def test_no_code_is_saved(tmp_path):
    compiled = gs.compile(lambda x: (gs.debug.callback(print, x), x * 2)[1])
    compiled(np.ones(2))
    with pytest.raises(RuntimeError, match="no code is saved"):
        compiled.save(tmp_path / "f.gsp")


def test_a_newer_file_is_refused_by_name(tmp_path):
    compiled = gs.compile(lambda x: x * 2)
    compiled(np.ones(2))
    compiled.save(tmp_path / "f.gsp")
    with zipfile.ZipFile(tmp_path / "f.gsp") as old, zipfile.ZipFile(tmp_path / "g.gsp", "w") as new:
        document = json.loads(old.read("program.json"))
        assert document["gradspec"] == gs.__version__
        new.writestr("program.json", json.dumps({**document, "format": 99, "gradspec": "7.0"}))
    with pytest.raises(ValueError, match="was written by gradspec 7.0 in format 99, and this version reads 2"):
        gs.load_program(tmp_path / "g.gsp")
    np.savez(tmp_path / "h.npz", np.ones(2))
    with pytest.raises(ValueError, match="contains no program"):
        gs.load_program(tmp_path / "h.npz")
