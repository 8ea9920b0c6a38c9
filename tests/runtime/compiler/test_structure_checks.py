"""Checked: no field of a program file is believed; the whole document of a saved program is changed, field by field."""

import copy
import io
import json
import zipfile

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.changed_files import at, nodes
from tests.runtime.fuzzed_files import numbers


def saved(path, function, *call):
    compiled = gs.compile(function)
    compiled(*call), compiled(*call)
    compiled.save(path)


def opened(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members["program.json"]), members


def packed(path, document, members, **others):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**members, "program.json": json.dumps(document), **others}.items():
            archive.writestr(name, data)
    return path


def npy(array):
    memory = io.BytesIO()
    np.save(memory, array)
    return memory.getvalue()


@pytest.fixture
def program(tmp_path):
    """A small program with a guard, a view, a write, a `.grad` and a backward pass."""
    w = gs.tensor(numbers(2, 3), requires_grad=True)
    w.grad = gs.ones((2, 3))
    counts = gs.zeros(3)

    def function(x, n):
        counts.add_(1)
        return {"y": [x[::-1] @ w.T, n]} if x.sum() > 0 else x

    path = tmp_path / "f.gsp"
    call = np.abs(numbers(2, 3)), 2
    saved(path, function, *call)
    return path, call


def test_no_field_is_believed(program):
    """Another type in the place of any node, and a key or an element less or more of any branch, is an error with the way to it."""
    path, call = program
    document, members = opened(path)
    ways = [way for way in nodes(document) if way]
    assert len(ways) > 300
    believed = []
    for way in ways:
        changed = copy.deepcopy(document)
        at(changed, way[:-1])[way[-1]] = 1.5
        with pytest.raises(ValueError, match=r"load_program: .*f.gsp.*program\.json") as caught:
            gs.load_program(packed(path, changed, members))
        assert type(caught.value) is ValueError, way
        branch = at(document, way)
        if isinstance(branch, dict) and len(branch) > 1:
            for how in ("less", "more"):
                changed = copy.deepcopy(document)
                if how == "less":
                    del at(changed, way)[next(iter(branch))]
                else:
                    at(changed, way)["unknown"] = 0
                try:
                    gs.load_program(packed(path, changed, members))
                    believed.append((way, how))
                except ValueError as error:
                    assert "program.json" in str(error)
    assert not believed
    assert gs.load_program(packed(path, document, members))(*call)["y"][1] == 2


@pytest.mark.parametrize(
    "array",
    [np.zeros(1), np.zeros((3, 2)), np.zeros((2, 3), "f4"), np.zeros((2, 3), "i8"), np.zeros((2, 3, 1)), np.zeros((0, 3))],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_other_members_are_refused(program, array):
    """Every array of a program in the place of another: at loading, or at the call, for what a held array is says only its member."""
    path, call = program
    document, members = opened(path)
    for name in [name for name in members if name.endswith(".npy")]:
        there = np.load(io.BytesIO(members[name]))
        if (there.dtype, there.shape) == (array.dtype, array.shape):
            continue
        with pytest.raises((ValueError, RuntimeError), match="load_program"):
            gs.load_program(packed(path, document, members, **{name: npy(array)}))(*call)


def test_what_was_found_in_an_attack(tmp_path):
    """A short member under a program that writes; strides beyond memory: the one ended the process, the other showed the heap."""
    w = gs.asarray(numbers(2000))
    path = tmp_path / "f.gsp"
    saved(path, lambda x: w.add_(x).sum(), numbers(2000))
    document, members = opened(path)
    with pytest.raises((ValueError, RuntimeError), match=r"load_program.*held|array"):
        gs.load_program(packed(path, document, members, **{"0.npy": npy(np.zeros(1))}))(numbers(2000))
    for stride in (9, -9, -8, 16, 2**40, 2**61, -(2**63)):
        for place in ("held", "values"):
            changed = copy.deepcopy(document)
            for one in changed[place]:
                if place == "held":
                    one["data"][1][0] = stride
                elif one[3]:
                    one[3][0] = stride
            with pytest.raises((ValueError, RuntimeError), match="load_program"):
                gs.load_program(packed(path, changed, members))(numbers(2000))


@pytest.mark.parametrize("name", ["save", "load", "load_program", "manual_seed", "compile", "operator", "callback", "__init__", "debug", "nothing", "exp_.out", ""])
def test_only_operators_of_the_spec_are_called(tmp_path, name):
    """A recording finds operators by name; gradspec's functions, one of which writes files, have names as well."""
    path = tmp_path / "f.gsp"
    saved(path, lambda x: gs.exp(x), np.ones(2))
    document, members = opened(path)
    for line in document["kinds"][0]["programs"][0]["lines"][0]:
        line[0] = name
    with pytest.raises(ValueError, match=r"program\.json: kinds\[0\].programs\[0\].lines\[0\]\[0\] calls"):
        gs.load_program(packed(path, document, members))


def test_unwritten_memory_is_zeros(tmp_path):
    path = tmp_path / "f.gsp"
    saved(path, lambda x: (gs.empty((50,)), gs.empty_like(x), x * 1), np.ones(40))
    for _ in range(3):
        held = [np.full(size, 7.0) for size in (40, 50) for _ in range(20)]
        del held
        first, second, _ = gs.load_program(path)(np.ones(40))
        assert not first.numpy().any() and not second.numpy().any()


def test_what_is_given_lies_as_the_program_says(tmp_path):
    path = tmp_path / "f.gsp"
    saved(path, lambda x: x.add_(1).sum(), gs.asarray(numbers(4)))
    loaded = gs.load_program(path)
    frozen = numbers(4)
    frozen.flags.writeable = False
    with pytest.raises(RuntimeError, match="is written to, and this one is read-only"):
        loaded(frozen)
    odd = np.zeros(33, np.uint8)[1:].view("f8")
    with pytest.raises(RuntimeError, match=r"array 0 was float64\[4\]"):
        loaded(odd)
    assert loaded(numbers(4)).item() == pytest.approx(numbers(4).sum() + 4)


def test_members_of_a_program(program):
    path, _ = program
    document, members = opened(path)
    with pytest.raises(ValueError, match="'x/../../y.npy' does not belong to a program"):
        gs.load_program(packed(path, document, members, **{"x/../../y.npy": b""}))
