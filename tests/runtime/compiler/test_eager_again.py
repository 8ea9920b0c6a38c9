"""Calls that run eagerly in the place of a replay: after an error, for a comparison, and where a replay would lose a write."""

import functools
import gc
import subprocess
import sys
import threading
import types
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.cache import KINDS
from gradspec.compiler.recorder import Stale


def compiled_silently(function, *calls, **options):
    """The results of some calls, and the messages of the warnings."""
    compiled = gs.compile(function, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return [compiled(*call) for call in calls], [str(one.message) for one in caught], compiled


def inverse(x):
    try:
        return gs.linalg.inv(x)
    except np.linalg.LinAlgError:
        return x * 0 - 1


def noted(x):
    try:
        gs.debug.callback(NOTES.append, x.sum())
        return gs.linalg.cholesky(x)
    except Exception:
        return x - 7


def written(x):
    w = gs.asarray(x) * 1
    try:
        w.add_(1)
        return w @ gs.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return w


def drawn(x):
    noise = gs.random.standard_normal(2)
    try:
        return gs.linalg.inv(x) @ noise
    except np.linalg.LinAlgError:
        return noise


NOTES = []


@pytest.mark.parametrize("recheck", [False, True])
@pytest.mark.parametrize("function", [inverse, noted, written, drawn])
def test_an_error_is_caught_where_eager_code_catches_it(function, recheck):
    good, bad = np.eye(2) * 2, -np.zeros((2, 2))
    for order in ([good, good, good, bad, good, bad], [bad, bad, good, good, bad, good]):
        compiled = gs.compile(function, recheck=recheck)
        for turn, x in enumerate(order):
            gs.manual_seed(turn)
            del NOTES[:]
            wanted, notes = function(gs.asarray(x)), [one.tolist() for one in NOTES]
            gs.manual_seed(turn)
            del NOTES[:]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = compiled(x)
            assert found.tolist() == wanted.tolist(), turn
            assert [one.tolist() for one in NOTES] == notes


def quiet(x):
    with np.errstate(all="ignore"):
        return gs.log(x)


def strict(x):
    try:
        with np.errstate(invalid="raise", divide="raise"):
            return gs.log(x)
    except FloatingPointError:
        return x - 100


def quiet_backwards(x):
    x = x.detach().requires_grad_()
    y = gs.sqrt(x).sum()
    with np.errstate(all="ignore"):
        return gs.autograd.grad(y, x)[0]


def louder(x):
    with np.errstate(divide="warn"):
        y = gs.log(x)
    return y / y


@pytest.mark.parametrize("function", [quiet, strict, quiet_backwards, louder])
@pytest.mark.parametrize("around", ["warn", "ignore", "raise"])
def test_floating_point_modes_inside_hold(function, around):
    """Results, warnings and errors are the eager call's, whatever mode the caller has."""

    def outcome(call, x):
        with np.errstate(all=around), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = call(np.full(2, x) if call is not function else gs.full(2, x)).tolist()
            except FloatingPointError as error:
                found = [str(error)]
        return repr(found), [str(one.message) for one in caught if "compile: " not in str(one.message)]

    compiled = gs.compile(function, recheck=False)
    for x in (1.5, 2.0, 0.0, 3.0, -1.0, 2.5):
        assert outcome(compiled, x) == outcome(function, x), x
    assert compiled.program is not None


def caught_behind_a_write(x):
    x.add_(1)
    try:
        return gs.log(x)
    except (FloatingPointError, RuntimeWarning):
        return x * 0 - 7


def caught_behind_a_write_to_shared_memory(x):
    x[:1].mul_(2)
    x.add_(1)
    try:
        return gs.log(x)
    except (FloatingPointError, RuntimeWarning):
        return x * 0 - 7
    finally:
        x.sub_(1)


@pytest.mark.parametrize("function", [caught_behind_a_write, caught_behind_a_write_to_shared_memory])
@pytest.mark.parametrize("mode, action", [("raise", "ignore"), ("warn", "error"), ("warn", "ignore")])
def test_a_write_happens_once_where_a_loop_fails(function, mode, action):
    compiled = gs.compile(function, recheck=False)
    with np.errstate(all=mode):
        for x in (1.0, 2.0, -1.0, 3.0, -1.0):
            mine, theirs = np.full(3, x), gs.full(3, x)
            with warnings.catch_warnings():
                warnings.filterwarnings(action, category=RuntimeWarning)
                warnings.filterwarnings("ignore", "compile: ")
                found, wanted = compiled(mine), function(theirs)
            assert repr((found.tolist(), mine.tolist())) == repr((wanted.tolist(), theirs.tolist())), x
    assert compiled.program is not None


def test_floating_point_modes_around_a_call_are_its_own():
    with np.errstate(all="ignore"):
        _, messages, compiled = compiled_silently(gs.log, *[(np.full(2, x),) for x in (1.0, 2.0, 0.0, -1.0)])
    assert messages == [] and compiled.program is not None


WRITES = {
    "update": (lambda d: (d.update(b=d["a"] * 2), d["a"].sum())[1], lambda a: {"a": a}),
    "pop": (lambda d: d.pop("a").sum(), lambda a: {"a": a, "b": a}),
    "append": (lambda items: (items.append(items[0] + 1), items[0].sum())[1], lambda a: [a]),
    "replace": (lambda items: (items.__setitem__(0, items[0] * 2), items[0].sum())[1], lambda a: [a, a]),
    "deep": (lambda d: (d["in"][0].update(c=1.0), d["a"].sum())[1], lambda a: {"a": a, "in": [{"b": 2}]}),
    "order": (lambda d: (d.update(a=d.pop("a")), d["a"].sum())[1], lambda a: {"a": a, "b": 1.0}),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("make", [np.ones, gs.ones])
def test_writes_to_dictionaries_and_lists_that_are_given_happen(name, make):
    function, nest = WRITES[name]
    for _ in range(2):
        mine, theirs = nest(make(2)), nest(make(2))
        found, messages, _ = compiled_silently(function, (theirs,))
        assert found[0].item() == function(mine).item() and repr(theirs).replace("tensor", "array") == repr(mine).replace("tensor", "array")
        assert "writes to a dictionary or a list among its arguments" in messages[0]
    with pytest.raises(RuntimeError, match="writes to a dictionary"):
        gs.compile(function, strict=True)(nest(make(2)))


def test_a_recording_that_differs_is_an_error():
    """State that the user vouches for and changes all the same: calls 4, 8, 16 find it, and name both lines."""
    rate = [2.0]
    compiled = gs.compile(lambda x: x * rate[0], static="rate")
    assert [compiled(np.ones(1)).item() for _ in range(4)] == [2.0] * 4
    rate[0] = 3.0
    assert [compiled(np.ones(1)).item() for _ in range(3)] == [2.0] * 3
    with pytest.raises(Stale, match="multiply at test_eager_again.py:.* and multiply at test_eager_again.py:.*: other numbers"):
        compiled(np.ones(1))
    assert compiled(np.ones(1)).item() == 3.0  # what was wrong is forgotten


def test_a_function_that_never_does_the_same_twice_is_eager():
    found, messages, _ = compiled_silently(lambda x: x * np.random.default_rng().normal(), *[(np.ones(1),)] * 6)
    assert len({one.item() for one in found}) == 6 and len(messages) == 1


def test_a_static_object_is_taken_as_it_is():
    raw = bytearray([2])
    for static in ("raw", (raw,), ["raw", "other"]):
        found, messages, compiled = compiled_silently(lambda x: x * raw[0], *[(np.ones(1),)] * 4, static=static)
        assert [one.item() for one in found] == [2.0] * 4 and messages == [] and compiled.program is not None


def reads_a_cursor(x):
    return x * 2 if CURSOR is not None else x


CURSOR = iter([1])


class Cached:
    def __init__(self):
        self.lock, self.rate = threading.Lock(), 2.0

    @functools.cached_property
    def table(self):
        return iter([3.0]) and 3.0

    def __call__(self, x):
        with self.lock:
            return x * self.rate * self.table


class Slotted:
    __slots__ = "__own", "cursor", "rate"

    def __init__(self):
        self.__own, self.cursor, self.rate = iter([1]), iter([1]), 6.0

    def __call__(self, x):
        return x * self.rate if self.__own and self.cursor else x


class Computed:
    def __init__(self):
        self._source = {"it": iter([1])}

    @property
    def factor(self):
        return 6.0 if self._source["it"] else 0.0

    @staticmethod
    def passed(x):
        return x if CURSOR is not None else x * 0

    @classmethod
    def also(cls, x):
        return x if CURSOR is not None else x * 0

    def __call__(self, x):
        return self.passed(self.also(x)) * self.factor


@pytest.mark.parametrize("made, static", [
    (Cached, "lock"), (Slotted, ("_Slotted__own", "cursor")), (Computed, ("_source", "passed", "also")), (Computed, ("_source", "CURSOR")),
    (lambda: lambda x: reads_a_cursor(x) * 3, "reads_a_cursor"), (lambda: lambda x: reads_a_cursor(x) * 3, reads_a_cursor),
    (lambda: lambda x: reads_a_cursor(x) * 3, (CURSOR,)), (lambda: functools.partial(lambda f, x: f(x) * 3, reads_a_cursor), (reads_a_cursor,)),
])
def test_a_static_name_holds_for_whatever_has_it(made, static):
    """Attributes, slots, descriptors, what a descriptor of Python's keeps, and functions; without the name each of them is refused."""
    found, messages, compiled = compiled_silently(made(), *[(np.ones(1),)] * 4, static=static)
    assert [one.item() for one in found] == [6.0] * 4 and messages == [] and compiled.program is not None
    assert len(compiled_silently(made(), *[(np.ones(1),)] * 4)[1]) == 1


@pytest.mark.parametrize("table", [
    np.array([3.0, 4.0]), np.zeros((0, 2)), np.array([[2.0]]), gs.asarray([3.0, 4.0]), {"k": 3.0}, {3.0}, (3.0, [4.0]), types.SimpleNamespace(k=3.0), 3.0, None,
], ids=lambda table: type(table).__name__)  # fmt: skip
def test_any_object_may_be_static(table):
    """Also one whose equality is no bool."""
    found, messages, compiled = compiled_silently(lambda x: x * len(str(table)), *[(np.ones(1),)] * 4, static=(table,))
    assert [one.item() for one in found] == [len(str(table))] * 4 and messages == [] and compiled.program is not None


def test_kinds_that_are_never_met_again_are_dropped():
    compiled = gs.compile(lambda x, k: x * k, recheck=False)
    for k in range(KINDS + 60):
        assert compiled(np.ones(1), float(k)).item() == k
    assert len(compiled.signatures) == KINDS
    for k in (0, KINDS, 0, KINDS):
        assert compiled(np.ones(1), float(k)).item() == k


MADE = """
import gc, resource
import numpy as np
import gradspec as gs

def made(k):
    w = gs.ones(3)
    return gs.compile(lambda x: gs.sin(x * w).sum() * k)

def several(count):
    for k in range(count):
        f = made(float(k))
        f(np.ones(3)), f(np.ones(3)), f(np.ones(3))
    gc.collect()
    return len(gc.get_objects())

before = several(60)
print(several(60) - before)
"""


def test_compiled_functions_that_are_dropped_leave_nothing():
    found = subprocess.run([sys.executable, "-c", MADE], capture_output=True, text=True, check=True).stdout
    assert int(found) < 60  # objects that the collector knows; a function has hundreds
    gc.collect()
