"""Holdings: what a function can reach without being given it."""

import functools

import numpy as np

import gradspec as gs
from gradspec.replay.holdings import Holdings

SCALE = 2.0


def held(function):
    return [way for way, _ in Holdings(function).tensors]


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
    assert SCALE in Holdings(model).numbers


def test_what_changes_is_named():
    values = {"rate": 0.5, "w": gs.ones(2), "nan": float("nan"), "zero": 0.0}
    holdings = Holdings(lambda x: x * values["rate"])
    assert holdings.changed() is None
    values["rate"], values["nan"] = 1.0 / 2, float("nan")  # the same numbers
    assert holdings.changed() is None
    values["zero"] = -0.0
    assert holdings.changed()[0] == "values['zero']"
    values["zero"], values["rate"] = 0.0, 0.25
    assert holdings.changed() == ("values['rate']", 0.5, 0.25)
    values["rate"], values["new"] = 0.5, 1
    assert holdings.changed() == ("values", 4, 5)
    del values["new"]
    values["w"] = gs.ones(2)
    assert holdings.changed()[0] == "values['w']"


def test_circles_and_libraries_end():
    class Node:
        def __init__(self):
            self.me, self.np, self.gs = self, np, gs

    holdings = Holdings(functools.partial(gs.sin, Node()))
    assert holdings.tensors == [] and len(holdings.checks) < 20
