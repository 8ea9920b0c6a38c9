"""Captured state: what a function can reach without being given it."""

import collections
import functools
import sys
import types

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.record.captured_state import CapturedState

SCALE = 2.0


def held(function):
    return [way for way, _ in CapturedState(function).tensors]


def test_closures_globals_defaults_and_attributes():
    w, deep = gs.ones(2), {"layers": [gs.ones(3), (np.ones(4),)]}

    class Model:
        bias = gs.zeros(2)

        def __init__(self):
            self.w = gs.ones(5)

        def __call__(self, x, b=gs.ones(6)):
            return self.scaled(x) + b

        def scaled(self, x):
            return x * self.w * SCALE

    def function(x):
        return x * w + inner(x)

    def inner(x):
        return deep["layers"][0] * x

    assert sorted(held(function)) == ["deep['layers'][0]", "deep['layers'][1][0]", "w"]
    model = Model()
    assert {way.rpartition(".")[2] for way in held(model)} >= {"w", "bias"}
    assert len(held(model.scaled)) == len(held(model)) and held(functools.partial(lambda x, y: x, gs.ones(2))) != []
    assert any(guard[3] == ("SCALE", SCALE) for guard in CapturedState(model).guards)


def test_what_changes_is_named():
    values = {"rate": 0.5, "w": gs.ones(2), "nan": float("nan"), "zero": 0.0}
    captured_state = CapturedState(lambda x: x * values["rate"])
    assert captured_state.changed() is None
    values["rate"], values["nan"] = 1.0 / 2, float("nan")  # the same numbers
    assert captured_state.changed() is None
    values["zero"] = -0.0
    assert captured_state.changed()[0] == "values['zero']"
    values["zero"], values["rate"] = 0.0, 0.25
    assert captured_state.changed() == ("values['rate']", 0.5, 0.25)
    values["rate"], values["new"] = 0.5, 1
    assert captured_state.changed() == ("values", 4, 5)
    del values["new"]
    values["w"] = gs.ones(2)
    assert captured_state.changed()[0] == "values['w']"


def test_circles_and_libraries_end():
    class Node:
        def __init__(self):
            self.me, self.np, self.gs = self, np, gs

    captured_state = CapturedState(functools.partial(gs.sin, Node()))
    assert captured_state.tensors == [] and len(captured_state.guards) < 20


class Settings:
    rate, table, weights = 1.25, {"k": 1.25}, np.ones(2)

    @staticmethod
    def scaled(x):
        return x * SETTINGS["scale"]

    class Inner:
        rate = 1.25

    inner = Inner()


class Derived(Settings):
    pass


class Slotted:
    __slots__ = ("rate", "weights", "__own")

    def __init__(self):
        self.rate, self.weights, self.__own = 1.25, np.ones(2), 1.25

    def scaled(self, x):
        return x * self.__own

    def double(self):
        self.__own *= 2


class DerivedSlotted(Slotted):
    __slots__ = "more"


SETTINGS = {"scale": 1.25}
MODULE = types.ModuleType("settings_of_a_user")


def imported(x):
    import settings_of_a_user

    return x * settings_of_a_user.rate


# Places where state stands: what a function reads, and a change of it.
TABLES = {name: np.array([1.25, 1.0]) for name in ("element", "one", "branch", "count", "made", "sum", "beside", "taken", "list", "copy")}
MATRIX = np.eye(2)
slotted, derived, numbers, names, lines, frozen = DerivedSlotted(), Derived(), {1.25}, {"a"}, collections.deque([1.25, 2.0]), [frozenset([1.25])]
PLACES = {
    "a class": (lambda x: x * Settings.rate, lambda: setattr(Settings, "rate", 3.0)),
    "a class of a class": (lambda x: x * Settings.Inner.rate, lambda: setattr(Settings.Inner, "rate", 3.0)),
    "an object of a class": (lambda x: x * Settings.inner.rate, lambda: setattr(Settings.inner, "rate", 5.0)),
    "a base class": (lambda x: x * Derived.rate, lambda: setattr(Settings, "rate", 4.0)),
    "a class's dictionary": (lambda x: x * Settings.table["k"], lambda: Settings.table.update(k=3.0)),
    "a dictionary of an object's class": (lambda x: x * derived.table["k"], lambda: Settings.table.update(k=4.0)),
    "a class's array": (lambda x: x * Settings.weights, lambda: setattr(Settings, "weights", np.full(2, 3.0))),
    "a class's array, written to": (lambda x: x * Settings.weights, lambda: Settings.weights.fill(4.0)),
    "a static method": (lambda x: Settings.scaled(x), lambda: SETTINGS.update(scale=3.0)),
    "slots": (lambda x: x * slotted.rate, lambda: setattr(slotted, "rate", 3.0)),
    "a private slot": (lambda x: slotted.scaled(x), lambda: slotted.double()),
    "an array in slots": (lambda x: x * slotted.weights, lambda: setattr(slotted, "weights", np.full(2, 3.0))),
    "an array in slots, written to": (lambda x: x * slotted.weights, lambda: slotted.weights.fill(4.0)),
    "a set": (lambda x: x * sum(numbers), lambda: numbers.add(3.0)),
    "a set of as many": (lambda x: x * sum(numbers), lambda: (numbers.clear(), numbers.update([5.0, 6.0]))),
    "a set of names": (lambda x: x * 2 if "a" in names else x, lambda: (names.clear(), names.add("b"))),
    "a frozen set": (lambda x: x * sum(frozen[0]), lambda: frozen.__setitem__(0, frozenset([3.0]))),
    "a deque": (lambda x: x * sum(lines), lambda: lines.append(3.0)),
    "a deque of as many": (lambda x: x * sum(lines), lambda: lines.rotate(1) or lines.__setitem__(0, 7.0)),
    "an element of an array": (lambda x: x * TABLES["element"][0], lambda: TABLES["element"].fill(3.0)),
    "an element that is a known number": (lambda x: x * TABLES["one"][1], lambda: TABLES["one"].fill(3.0)),
    "a branch": (lambda x: x * 2 if TABLES["branch"][1] > 2 else x, lambda: TABLES["branch"].fill(3.0)),
    "a count": (lambda x: sum(x for _ in range(int(TABLES["count"][1]))), lambda: TABLES["count"].fill(3.0)),
    "an array made of one that is held": (lambda x: x * np.sin(TABLES["made"]), lambda: TABLES["made"].fill(3.0)),
    "a sum": (lambda x: x * TABLES["sum"].sum(), lambda: TABLES["sum"].fill(3.0)),
    "an element beside the array": (lambda x: x * TABLES["beside"][0] + TABLES["beside"], lambda: TABLES["beside"].fill(3.0)),
    "elements that are taken": (lambda x: x * TABLES["taken"][[1, 0]], lambda: TABLES["taken"].fill(3.0)),
    "a list": (lambda x: x * gs.tensor(TABLES["list"].tolist()), lambda: TABLES["list"].fill(3.0)),
    "a copy": (lambda x: x * TABLES["copy"].copy(), lambda: TABLES["copy"].fill(3.0)),
    "a matrix": (lambda x: np.linalg.solve(MATRIX + np.eye(2), x), lambda: MATRIX.fill(0.5)),
    "a module imported inside": (imported, lambda: setattr(MODULE, "rate", 3.0)),
}  # fmt: skip


def test_wherever_state_stands_a_change_of_it_is_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, MODULE.__name__, MODULE)
    MODULE.rate = 1.25
    x, stale = np.ones(2), []
    for place, (function, change) in PLACES.items():
        compiled = gs.compile(function)
        for _ in range(3):
            compiled(x)
        change()
        stale += [place] * (np.asarray(compiled(x)).tolist() != np.asarray(function(x)).tolist())
    assert stale == []


def test_a_callback_may_change_sets_and_shorten_lists():
    seen, last, queue = set(), [1.0, 2.0, 3.0], collections.deque()

    def log(value):
        seen.add(float(value))
        queue.append(float(value))
        last.pop()

    @gs.compile
    def function(x):
        gs.debug.callback(log, x.sum())
        return x * 2

    for k in range(3):
        function(np.full(2, k + 1.0))
    assert seen == {2.0, 4.0, 6.0} and list(queue) == [2.0, 4.0, 6.0] and last == []


def test_an_array_that_callbacks_fill_is_no_guard():
    """Nor is one that is another one at each call recorded for ever: the function runs as it is then, and says why."""
    total, log, place = np.zeros(2), np.zeros(9), iter(range(9))
    shared = gs.asarray(total)  # Python reads a tensor's numbers by guards, and an ndarray's unseen

    @gs.compile
    def function(x):
        shared[:] += x
        gs.debug.callback(lambda value: log.__setitem__(next(place), value), x.sum())
        return x * 2

    for k in range(4):
        function(np.full(2, k + 1.0))
    assert total.tolist() == [10.0, 10.0] and log[:4].tolist() == [2.0, 4.0, 6.0, 8.0] and len(function.signatures) == 1
    written = gs.compile(lambda x: gs.asarray(total).add_(x))
    with pytest.warns(RuntimeWarning, match="each call changes total"):
        for _ in range(8):
            written(np.ones(2))
    assert total.tolist() == [18.0, 18.0]
    table = np.zeros(2)
    moving = gs.compile(lambda x: x * table[0])
    with pytest.warns(RuntimeWarning, match="at each call"):
        for k in range(40):
            table[0] = k
            assert moving(np.ones(1)).tolist() == [k]
