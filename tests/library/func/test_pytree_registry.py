"""Values of classes of one's own as arguments and results: registered classes, dataclasses, named tuples."""

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import tree_util
from gradspec.scipy import objective
from gradspec.support.pytree import flatten, places, rebuild
from tests.asked import each


@gs.func.register_nest
class Methods:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def tree_flatten(self):
        return (self.w, self.b), None

    @classmethod
    def tree_unflatten(cls, rest, parts):
        assert rest is None
        return cls(*parts)


class Functions:
    def __init__(self, w, b, name="f"):
        self.w, self.b, self.name = w, b, name


tree_util.register_pytree_node(Functions, lambda one: ({"w": one.w, "b": one.b}.values(), one.name), lambda name, parts: Functions(*parts, name))


@dataclass(frozen=True)
class Frozen:
    w: Any
    b: Any
    name: str = "frozen"
    call: Any = np.tanh
    count: int = field(default=3, metadata={"static": True})


@dataclass(slots=True)
class Slots:
    w: Any
    b: Any
    biased: bool = True
    inner: Any = None

    def __post_init__(self):
        assert not isinstance(self.w, str)


@dataclass
class Named:
    w: Any
    b: Any
    shape: tuple = (1, 2)


tree_util.register_dataclass(Named, ["w", "b"], ["shape"])


class Attributes:
    def __init__(self, w, b):
        self.w, self.b = w, b


tree_util.register_dataclass(Attributes, ["w", "b"], [])
Pair = namedtuple("Pair", "w b")
CLASSES = {"methods": Methods, "functions": Functions, "frozen": Frozen, "slots": Slots, "named": Named, "attributes": Attributes, "pair": Pair}
W, B = gs.asarray([1.0, -2.0, 0.5]), gs.asarray([0.3, 0.1, -0.7])


def f(one):
    return (gs.sin(one.w) * one.b + one.w**2).sum()


def by_w(w, b):
    return np.cos(w) * b + 2 * w


@each("cls", list(CLASSES.values()), ids=lambda cls: cls.__name__)
def test_transforms_take_and_give_them(cls):
    one, step = cls(W, B), cls(gs.ones(3), gs.zeros(3))

    def holds(found, w, b=None):
        assert type(found) is cls
        np.testing.assert_allclose(found.w, w)
        if b is not None:
            np.testing.assert_allclose(found.b, b)

    holds(gs.grad(f)(one), by_w(W, B), np.sin(W))
    holds(gs.value_and_grad(f)(one)[1], by_w(W, B))
    holds(gs.vjp(f, one)[1](1.0)[0], by_w(W, B))
    value, slope = gs.jvp(lambda one: cls(one.w * 2, one.b * one.w), (one,), (step,))
    holds(value, 2 * W, W * B)
    holds(slope, 2 * gs.ones(3), B)
    holds(gs.jacrev(lambda one: one.w * one.b)(one), np.diag(B), np.diag(W))
    np.testing.assert_allclose(gs.hessian(f)(one).w.b, np.diag(np.cos(W)))
    holds(gs.vmap(lambda one: cls(gs.sin(one.w), one.b))(one), np.sin(W), B)
    holds(gs.vmap(gs.grad(f), in_axes=(cls(0, None),))(cls(gs.stack([W, B]), B)), np.stack([by_w(W, B), by_w(B, B)]))
    if cls is not Pair:  # a tuple holds the arguments there
        holds(gs.autograd.functional.vjp(f, one)[1], by_w(W, B))
    holds(gs.scan(lambda c, _: (cls(c.w + 1, c.b), None), one, gs.zeros(2))[0], W + 2, B)
    holds(gs.grad(gs.checkpoint(f))(one), by_w(W, B))
    holds(gs.cond(True, lambda one: cls(one.b, one.w), lambda one: one, one), B, W)


@each("cls", list(CLASSES.values()), ids=lambda cls: cls.__name__)
def test_compiled_functions_take_and_give_them(cls):
    step = gs.compile(lambda one, rate: tree_util.tree_map(lambda p, g: p - rate * g, one, gs.grad(f)(one)), strict=True)
    one = expected = cls(W, B)
    for _ in range(4):
        one, expected = step(one, 0.1), tree_util.tree_map(lambda p, g: p - 0.1 * g, expected, gs.grad(f)(expected))
        assert type(one) is cls
        np.testing.assert_array_equal(one.w, expected.w)
    nested = gs.compile(lambda x: {"a": [cls(x * 2, x)], "b": (x, 1)}, strict=True)
    for number in range(3):
        found = nested(W * number)
        assert type(found["a"][0]) is cls and found["b"][1] == 1
        np.testing.assert_array_equal(found["a"][0].w, 2 * W * number)


@each("cls", list(CLASSES.values()), ids=lambda cls: cls.__name__)
def test_trees_and_minimisers_take_them(cls):
    one = cls(W, B)
    vector, unravel = tree_util.ravel_pytree(one)
    assert vector.tolist() == [*W.tolist(), *B.tolist()] and unravel(vector).b.tolist() == B.tolist()
    assert len(tree_util.tree_leaves({"x": one, "y": [one]})) == 4
    assert tree_util.tree_structure(one) == tree_util.tree_structure(cls(B, W)) != tree_util.tree_structure((W, B, W))
    target = objective(f, one)
    np.testing.assert_allclose(target.jac(target.x0)[:3], by_w(W, B))
    assert type(target.unflatten(target.x0)) is cls


def test_what_is_no_number_stays():
    one = gs.grad(f)(Frozen(W, B, "mine", count=5))
    assert (one.name, one.call, one.count) == ("mine", np.tanh, 5)
    assert gs.grad(f)(Slots(W, B, False)).biased is False
    assert gs.vmap(lambda one: one)(Named(W, B, (3,))).shape == (3,)
    assert places(flatten({"x": [Slots(1.0, Pair(2.0, 3.0), inner=Methods(4.0, 5.0))]})[1]) == [
        "['x'][0].w", "['x'][0].b[0]", "['x'][0].b[1]", "['x'][0].inner[0]", "['x'][0].inner[1]",
    ]  # fmt: skip
    with pytest.raises(TypeError, match=r"argument 0 of the function is differentiated.* \.count has dtype int64"):
        gs.grad(lambda one: one.w)(tree_util.register_dataclass(dataclass(type("Counted", (), {"__annotations__": {"w": Any, "count": int}})))(1.0, 2))


def test_a_class_that_computes_keeps_its_method():
    @dataclass
    class Layer:
        w: Any

        def __call__(self, x):
            return gs.tanh(self.w * x)

    @dataclass
    class Model:
        first: Layer
        second: Layer

        def __call__(self, x):
            return self.second(self.first(x)).sum()

    model = Model(Layer(W), Layer(B))
    found = gs.grad(lambda model: model(gs.ones(3)))(model)
    inner = np.tanh(W)
    np.testing.assert_allclose(found.second.w, inner * (1 - np.tanh(B * inner) ** 2))
    assert isinstance(found.first, Layer)


def test_a_dataclass_whose_other_fields_differ_is_another_nest():
    with pytest.raises(ValueError, match=r"the first pytree has a Frozen of \['w', 'b'\]"):
        tree_util.tree_map(lambda a, b: a, Frozen(W, B), Frozen(W, B, "other"))
    calls = []
    compiled = gs.compile(lambda one: calls.append(1) or one.w * len(one.name))
    for name in ("a", "bb", "a", "bb"):
        np.testing.assert_array_equal(compiled(Frozen(W, B, name)), W * len(name))


def test_static_classes_have_no_leaves():
    class Static(str):
        pass

    tree_util.register_static(Static)
    assert tree_util.tree_leaves({"x": Static("a"), "y": 1}) == [1]
    assert gs.grad(lambda p: p["w"] * len(p["s"]))({"w": 2.0, "s": Static("abc")})["w"].item() == 3


def test_a_value_without_all_of_its_fields():
    one = Slots.__new__(Slots)
    one.w = W
    leaves, form = flatten(one)
    assert leaves == [W] and rebuild(form, [B]).w is B


@each("call, error, message", [
    (lambda: gs.func.register_nest(Methods), ValueError, "Methods is registered already"),
    (lambda: gs.func.register_nest(type("Bare", (), {})), TypeError, "give flatten and unflatten"),
    (lambda: gs.func.register_nest(dict, lambda one: ((), None), lambda rest, parts: {}), TypeError, "has a meaning of its own"),
    (lambda: gs.func.register_nest(gs.Tensor, lambda one: ((), None), lambda rest, parts: {}), TypeError, "has a meaning of its own"),
    (lambda: gs.func.register_nest(3, len, len), TypeError, "a class is needed"),
    (lambda: tree_util.register_dataclass(int), TypeError, "is not a dataclass"),
    (lambda: tree_util.register_dataclass(Slots, ["w"], ["b"]), ValueError, "biased, inner of Slots are neither in"),
    (lambda: flatten(gs.func.register_nest(type("Wrong", (), {}), lambda one: [1, 2, 3], len)()), TypeError, "must return a pair"),
])  # fmt: skip
def test_what_cannot_be_registered(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.filterwarnings("ignore:compile")
def test_what_a_compiled_function_returns_is_never_that_of_the_recording():
    class Box:
        pass

    def boxed(x):
        box = Box()
        box.value = x * 2
        return box

    compiled, pulled = gs.compile(boxed), gs.compile(lambda x: gs.vjp(gs.sin, x))
    for number in range(3):
        assert compiled(W * number).value.tolist() == (2 * W * number).tolist()
        np.testing.assert_allclose(pulled(W * number)[1](gs.ones(3))[0], np.cos(W * number))
    with pytest.raises(RuntimeError, match="the call returns a Box, which each replay would return with the content of the recorded call"):
        gs.compile(boxed, strict=True)(W)
