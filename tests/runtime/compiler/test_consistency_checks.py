"""Consistent: what a recording says of its results, their views, versions and backward passes is not believed."""

import copy

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.changed_files import at, nodes
from tests.runtime.fuzzed_files import bits, numbers, several, slopes

from .test_structure_checks import opened, packed, saved

FIELDS = ("roots", "looks", "versions", "freeing", "differentiated", "cotangents", "targets", "gradients", "passed", "spent", "returned")
NUMBERS = (-(2**63), -2, -1, 0, 1, 2, 7, 2**20, 2**64)
VIEWS = ("exp", "reshape", "getitem", "T", "mT", "split", "broadcast_to", "add_", "windows", "_strided", "nothing", "save")


def call():
    return gs.tensor(numbers(2, 3), requires_grad=True), gs.asarray(numbers(4))


def answers(function, given=None):
    given = call() if given is None else given
    found = function(*given)
    return [bits(found), *slopes(found, given), bits(list(given)), [item._version for item in given]]


@pytest.fixture
def program(tmp_path):
    """Results with a graph, one whose graph is gone, views of results and of what is given, and writes."""
    path = tmp_path / "f.gsp"
    saved(path, several, *call())
    document, members = opened(path)
    recording = document["kinds"][0]["programs"][0]
    assert all(recording[name] for name in FIELDS if name != "gradients") and len(recording["lines"]) == 4
    return path, document, members


def changes(document):
    """Ways to a number, a word, a value or an element of a list in one of the fields, with another content."""
    recording = document["kinds"][0]["programs"][0]
    for field in FIELDS:
        for way in nodes(recording[field], (field,)):
            now = at(recording, way)
            if type(now) is int:
                yield from ((way, other) for other in (*NUMBERS, *range(0, len(document["values"]), 3)) if other != now)
            elif type(now) is bool:
                yield way, not now
            elif type(now) is str and way[-1] == "int":
                yield from ((way, str(other)) for other in NUMBERS if str(other) != now)
            elif type(now) is str and way[-1] == "str":
                yield from ((way, other) for other in VIEWS if other != now)
            elif type(now) is list:
                yield from ((way, [part for n, part in enumerate(now) if n != number]) for number in range(len(now)))
                yield from ((way, [*now, part]) for part in now)
                yield way, now[::-1]
    for number in range(len(recording["lines"])):
        yield ("lines",), recording["lines"][:number] + recording["lines"][number + 1 :]
        yield ("lines",), [*recording["lines"], recording["lines"][number]]


def test_a_program_of_a_file_is_the_call_that_was_recorded(program):
    path, _, _ = program
    loaded, compiled = gs.load_program(path), gs.compile(several, recheck=False)
    answers(compiled)
    for _ in range(2):
        assert answers(loaded) == answers(compiled)


@pytest.mark.slow
def test_no_part_of_a_recording_is_believed(program):
    """Another number, name or length of each part: it is refused, or it says the same; what stays free is named here."""
    path, document, members = program
    right, free, count = answers(gs.load_program(path)), set(), 0
    for way, content in changes(document):
        changed = copy.deepcopy(document)
        at(changed["kinds"][0]["programs"][0], way[:-1])[way[-1]] = copy.deepcopy(content)
        count += 1
        try:
            found = answers(gs.load_program(packed(path, changed, members)))
        except (ValueError, RuntimeError) as error:
            assert "load_program" in str(error), (way, content, error)
        else:
            if found != right:
                free.add((way, str(content)))
    fields = {way[0] for way, _ in free}
    assert count > 800
    assert fields <= {"versions", "roots", "freeing", "targets", "looks", "spent"}, sorted(free, key=str)


@pytest.mark.parametrize("strides", [0, 800, -8, 2**40])
def test_a_gradient_lies_as_its_tape_was_made_for(program, strides):
    path, document, members = program
    changed = copy.deepcopy(document)
    for item in document["kinds"][0]["programs"][0]["cotangents"]:
        changed["values"][item["value"]][3][0] = strides
    with pytest.raises(ValueError, match=r"load_program: .*cotangents has the strides|load_program: .*out of memory"):
        gs.load_program(packed(path, changed, members))(*call())


def test_what_a_backward_pass_reads_lies_as_it_did(tmp_path):
    """A copy of an array with gaps is laid out with these gaps, for the tape steps over them."""
    path = tmp_path / "f.gsp"
    x = np.arange(4000.0).reshape(4, 1000)[:, ::250]
    w = gs.tensor(numbers(4, 4), requires_grad=True)
    saved(path, lambda w, x: w * x, w, x)
    loaded, poisoned = gs.load_program(path), np.full(4000, 7.0)
    for given in (x, x + 1):
        wide = np.zeros((4, 1000))[:, ::250]
        wide[...] = given
        (grad,) = gs.autograd.grad(loaded(w, wide), w, [np.ones((4, 4))])
        assert np.array_equal(grad.numpy(), given)
    del poisoned


def test_a_write_is_counted_whatever_the_file_says(program):
    """A file that names no write: a graph that has saved the tensor sees it all the same."""
    path, document, members = program
    changed = copy.deepcopy(document)
    changed["kinds"][0]["programs"][0]["versions"] = []
    x, buffer = call()
    y = gs.exp(x[0, 0]) * buffer.detach() * x[0, 0]
    gs.load_program(packed(path, changed, members))(x, buffer)
    assert buffer._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
