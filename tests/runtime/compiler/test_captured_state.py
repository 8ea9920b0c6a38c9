"""Captured state: wherever Python state stands, a change of it is seen, or the function runs eagerly from the first call on.

Each place is a function that reads it and a change.  After five calls the state changes; the next result has to be the eager
call's.  Which of the places run eagerly is stated: it may only become fewer.
"""

import array
import cmd
import collections
import colorsys
import contextvars
import ctypes
import enum
import functools
import itertools
import operator
import random
import sys
import threading
import time
import types
import warnings
import weakref

import numpy as np
import pytest

import gradspec as gs
from tests import day

STATED = 2.0
TIMES = contextvars.ContextVar("times", default=2.0)
CONFIG = types.ModuleType("config_of_a_user")
CONFIG.sub, CONFIG.rate = types.ModuleType("config_of_a_user.sub"), 2.0
CONFIG.sub.rate = 2.0


HANDLES = []  # of hooks of all modules


class Namespace:
    """State of one test."""

    def __init__(self):
        self.k, self.name = 2.0, "k"


def stated(name):
    return globals()[name]


class Reads:
    """A class whose special methods read a global."""

    def __getitem__(self, key):
        return STATED

    def __len__(self):
        return int(STATED)

    def __float__(self):
        return STATED

    def __call__(self):
        return STATED

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return STATED

    def __iter__(self):
        return iter([STATED])

    def __contains__(self, item):
        return STATED > 2

    def __eq__(self, other):
        return STATED > 2

    def __bool__(self):
        return STATED > 2

    __hash__ = None

    @property
    def number(self):
        return STATED


class Meta(type):
    rate = 2.0

    def __call__(cls, *args):
        return cls.rate


class Made(metaclass=Meta):
    pass


class Decorated:
    """A decorator with state of its own."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.k = function, 2.0

    def __call__(self, x):
        return self.function(x) * self.k


class Color(enum.Enum):
    RED = 2.0


class Rated(float):
    k = 2.0


class Listed(list):
    pass


class Mapped(dict):
    pass


class Set(set):
    pass


class Slotted:
    __slots__ = ("k",)


class Descriptor:
    def __init__(self):
        self.k = 2.0

    def __get__(self, instance, owner):
        return self.k


class Described:
    number = Descriptor()


class Broken:
    """A class whose missing attributes are a KeyError."""

    def __init__(self):
        self.values = {"k": 2.0}

    def __getattr__(self, name):
        return self.values[name]


@functools.singledispatch
def dispatched(x):
    return 2.0


@functools.lru_cache
def cached():
    return STATED


def keywords(x, *, k=2.0):
    return x * k


def other(x):
    return x * 3.0


def same(x):
    return x * 2.0


def outer():
    n = Namespace()

    def inner(x):
        return x * n.k

    return n, inner


def changed(**names):
    return lambda: globals().update(names)


def tensor_with(**attributes):
    found = gs.ones(2)
    for name, value in attributes.items():
        setattr(found, name, value)
    return found


def places():
    """Name -> (function, change, whether it runs eagerly from the first call on; None for either)."""
    n = [Namespace() for _ in range(80)]
    found = {}

    def add(name, function, change, eager=False):
        found[name] = function, change, eager

    # Attributes.
    def gains(x):
        return x

    w = tensor_with(k=2.0)
    add("an attribute of a tensor", lambda x: x * w.k, lambda: setattr(w, "k", 3.0))
    p = gs.nn.Parameter(gs.ones(2))
    p.k = 2.0
    add("an attribute of a parameter", lambda x: x * p.k, lambda: setattr(p, "k", 3.0))
    late = gs.ones(2)
    add("an attribute that a tensor gets", lambda x: x * getattr(late, "k", 2.0), lambda: setattr(late, "k", 3.0))
    same.k = 2.0
    add("an attribute of a function", lambda x: x * same.k, lambda: setattr(same, "k", 3.0))
    add("an attribute that a function gets", lambda x: x * getattr(gains, "late", 2.0), lambda: setattr(gains, "late", 3.0))
    compiled_sin = gs.sin
    add("an attribute that a compiled function gets", lambda x: x * getattr(compiled_sin, "late", 2.0), lambda: setattr(compiled_sin, "late", 3.0))
    add("an attribute that an object gets", lambda x: x * getattr(n[0], "late", 2.0), lambda: setattr(n[0], "late", 3.0))
    add("an attribute that an object loses", lambda x: x * getattr(n[1], "k", 3.0), lambda: delattr(n[1], "k"))
    add("an attribute by a held name", lambda x: x * getattr(n[2], n[2].name), lambda: setattr(n[2], "k", 3.0))
    add("vars()", lambda x: x * vars(n[3])["k"], lambda: setattr(n[3], "k", 3.0))
    add("the order of attributes", lambda x: x * len(list(vars(n[4]))[0]), lambda: setattr(n[4], "k", vars(n[4]).pop("k")))
    s = Slotted()
    add("a slot that is filled", lambda x: x * getattr(s, "k", 2.0), lambda: setattr(s, "k", 3.0))
    simple = types.SimpleNamespace(k=2.0)
    add("a simple namespace", lambda x: x * simple.k, lambda: setattr(simple, "k", 3.0))
    add("the class of an object", lambda x: x * n[5].k + len(type(n[5]).__name__), lambda: setattr(n[5], "__class__", Other))
    add("a property", lambda x: x * n6.number, changed(STATED=3.0))
    add("a descriptor", lambda x: x * Described.number, lambda: setattr(vars(Described)["number"], "k", 3.0))
    m = gs.nn.Linear(2, 2)
    m.config = types.SimpleNamespace(lr=2.0)
    add("a configuration of a module", lambda x: x * m.config.lr, lambda: setattr(m.config, "lr", 3.0))

    called = gs.nn.Linear(2, 2)
    add("a hook of all modules", lambda x: called(x),
        lambda: HANDLES.append(gs.nn.modules.module.register_module_forward_hook(lambda module, given, out: out * 2 if module is called else None)))
    add("a hook of one module", lambda x: m(x), lambda: m.register_forward_hook(lambda module, given, out: out * 2))

    # Containers and their classes.
    listed, mapped, members, rated = Listed([1.0]), Mapped(a=1.0), Set([1.0]), Rated(2.0)
    listed.k = mapped.k = members.k = 2.0
    add("an attribute of a list's subclass", lambda x: x * listed.k, lambda: setattr(listed, "k", 3.0))
    add("an element of a list's subclass", lambda x: x * listed[0], lambda: listed.__setitem__(0, 3.0))
    add("an attribute of a dictionary's subclass", lambda x: x * mapped.k, lambda: setattr(mapped, "k", 3.0))
    add("an attribute of a set's subclass", lambda x: x * members.k, lambda: setattr(members, "k", 3.0))
    add("a class attribute of a float's subclass", lambda x: x * rated.k, lambda: setattr(Rated, "k", 3.0))
    ordered, moved, counted = {"a": 2.0, "b": 3.0}, collections.OrderedDict(a=2.0, b=3.0), collections.Counter(a=2)
    add("the order of a dictionary", lambda x: x * list(ordered.values())[0], lambda: ordered.update(a=ordered.pop("a")))
    add("the order of an ordered dictionary", lambda x: x * next(iter(moved.values())), lambda: moved.move_to_end("a"))
    add("a counter", lambda x: x * counted["a"], lambda: counted.update(a=1))
    made = collections.defaultdict(lambda: 2.0)
    add("a default factory", lambda x: x * dict.get(made, "a", made.default_factory()), lambda: setattr(made, "default_factory", lambda: 3.0))
    chained = collections.ChainMap({"a": 2.0}, {})
    add("a chain of dictionaries", lambda x: x * chained["a"], lambda: chained.maps[0].update(a=3.0))
    pair = collections.namedtuple("Pair", "a b")(2.0, [2.0])
    add("a list in a named tuple", lambda x: x * pair.b[0], lambda: pair.b.__setitem__(0, 3.0))
    nested = {"a": [({"b": 2.0},)]}
    add("deep in containers", lambda x: x * nested["a"][0][0]["b"], lambda: nested["a"][0][0].update(b=3.0))
    objects = np.array([2.0, None], object)
    add("an array of objects", lambda x: x * objects[0], lambda: objects.__setitem__(0, 3.0), True)
    raw = bytearray([2])
    add("a bytearray", lambda x: x * raw[0], lambda: raw.__setitem__(0, 3), True)
    view = memoryview(bytearray([2]))
    add("a memoryview", lambda x: x * view[0], lambda: view.__setitem__(0, 3), True)
    typed = array.array("d", [2.0])
    add("an array.array", lambda x: x * typed[0], lambda: typed.__setitem__(0, 3.0), True)
    number = ctypes.c_double(2.0)
    add("a number of ctypes", lambda x: x * number.value, lambda: setattr(number, "value", 3.0), True)
    under = {"k": 2.0}
    proxy, keys = types.MappingProxyType(under), under.values()
    add("a proxy of a dictionary", lambda x: x * proxy["k"], lambda: under.update(k=3.0), True)
    shown = {"k": 2.0}
    keys = shown.values()
    add("a view of a dictionary", lambda x: x * list(keys)[0], lambda: shown.update(k=3.0), True)

    # Functions.
    def defaults(x, k=2.0):
        return x * k

    add("replaced defaults", lambda x: defaults(x), lambda: setattr(defaults, "__defaults__", (3.0,)))
    add("replaced keyword defaults", lambda x: keywords(x), lambda: setattr(keywords, "__kwdefaults__", {"k": 3.0}))
    add("changed keyword defaults", lambda x: keyworded(x), lambda: keyworded.__kwdefaults__.update(k=3.0))

    def coded(x):
        return x * 2.0

    add("replaced code", lambda x: coded(x), lambda: setattr(coded, "__code__", other.__code__))
    space, inner = outer()
    add("a closure of an inner function", lambda x: inner(x), lambda: setattr(space, "k", 3.0))
    wrapped = Decorated(lambda x: x)
    add("a decorator with state", lambda x: wrapped(x), lambda: setattr(wrapped, "k", 3.0))
    part = functools.partial(lambda x, k: x * k[0], k=[2.0])
    add("a partial's keywords", lambda x: part(x), lambda: part.keywords["k"].__setitem__(0, 3.0))
    add("a dispatcher", lambda x: x * dispatched(1.0), lambda: dispatched.register(float, lambda _: 3.0))
    add("a cache of results", lambda x: x * cached(), lambda: (changed(STATED=3.0)(), cached.cache_clear()), True)
    got = [2.0]
    get, held = got.__getitem__, {"k": 2.0}
    add("a bound method of C", lambda x: x * get(0), lambda: got.__setitem__(0, 3.0))
    of = held.get
    add("a bound method of a dictionary", lambda x: x * of("k"), lambda: held.update(k=3.0))
    picked = operator.attrgetter("k")
    add("an attribute getter", lambda x: x * picked(n[7]), lambda: setattr(n[7], "k", 3.0))
    add("a replaced method", lambda x: Methods().scaled(x), lambda: setattr(Methods, "scaled", lambda self, x: x * 3.0))
    add("a replaced library function", lambda x: x * CONFIG.made(2.0), lambda: setattr(CONFIG, "made", lambda k: 3.0))
    CONFIG.made = lambda k: k

    # Classes.
    reads = Reads()
    for name, function in {
        "__getitem__": lambda x: x * reads[0], "__len__": lambda x: x * len(reads), "__float__": lambda x: x * float(reads),
        "__call__": lambda x: x * reads(), "__getattr__": lambda x: x * reads.anything, "__iter__": lambda x: x * sum(reads),
        "__contains__": lambda x: x * (2 + (1 in reads)), "__eq__": lambda x: x * (2 + (reads == 1)),
        "__bool__": lambda x: x * (3 if reads else 2),
    }.items():  # fmt: skip
        add(f"what {name} reads", function, changed(STATED=3.0))
    n6 = Reads()
    add("a metaclass", lambda x: x * Made(), lambda: setattr(Meta, "rate", 3.0))
    add("an enumeration's member", lambda x: x * Color.RED.value, lambda: setattr(Color.RED, "_value_", 3.0))
    broken = Broken()
    add("a class whose missing attributes are a KeyError", lambda x: x * broken.k, lambda: broken.values.update(k=3.0))

    # Modules.
    add("a module in a module", lambda x: x * CONFIG.sub.rate, lambda: setattr(CONFIG.sub, "rate", 3.0))
    n[70].config, modules = CONFIG, [CONFIG]
    add("a module in an attribute", lambda x: x * n[70].config.rate, lambda: setattr(CONFIG, "rate", 3.0))
    add("a module of a module in an attribute", lambda x: x * n[70].config.sub.rate, lambda: setattr(CONFIG.sub, "rate", 3.0))
    add("getattr of a module in a list", lambda x: x * getattr(modules[0], "rate"), lambda: setattr(CONFIG, "rate", 3.0))
    add("an attribute that a module in an attribute gets", lambda x: x * getattr(n[70].config, "late", 2.0), lambda: setattr(CONFIG, "late", 3.0))
    add("an attribute that a module gets", lambda x: x * getattr(CONFIG, "late", 2.0), lambda: setattr(CONFIG, "late", 3.0))
    add("getattr of a module", lambda x: x * getattr(CONFIG, "rate"), lambda: setattr(CONFIG, "rate", 3.0))
    add("a module of a dictionary of modules", lambda x: x * sys.modules["config_of_a_user"].rate,
        lambda: sys.modules.update(config_of_a_user=types.SimpleNamespace(rate=3.0)), None)  # fmt: skip
    add("a global that hides a builtin", lambda x: x * len([1, 1]), changed(len=lambda _: 3))
    add("globals()", lambda x: x * globals()["STATED"], changed(STATED=3.0), True)
    add("eval", lambda x: x * eval("STATED"), changed(STATED=3.0), True)
    add("a name that is computed", lambda x: x * stated("STA" + "TED"), changed(STATED=3.0), True)

    # Installed packages, whose functions are walked once they have run.
    add("a global of an installed package", lambda x: x * colorsys.hls_to_rgb(0.0, 0.5, 0.5)[0], lambda: setattr(colorsys, "ONE_THIRD", 0.0))
    colorsys.rgb_to_yiq.k = 2.0
    add("an attribute of a package's function", lambda x: x * colorsys.rgb_to_yiq.k, lambda: setattr(colorsys.rgb_to_yiq, "k", 3.0))
    add("a function that a package calls", lambda x: x * cmd.Cmd.onecmd(n[9], "scaled"), lambda: setattr(n[9], "k", 3.0))
    n[9].parseline, n[9].do_scaled = lambda line: (line, "", line), lambda line: n[9].k

    # Arrays that are held.
    read, index = np.array([2.0, 1.0]), np.array([0, 1])
    add("an array that Python and an operator read", lambda x: x * read + float(read[0]), lambda: read.fill(3.0))
    add("an index that Python and an operator read", lambda x: x[index] * (2 + int(index[0])), lambda: index.__setitem__(slice(None), [1, 0]))
    large = np.full(1 << 20, 2.0)
    add("a large array", lambda x: x * float(large[0]), lambda: large.fill(3.0), True)
    tensor = gs.asarray(np.full(1 << 20, 2.0))
    add("a large tensor", lambda x: x * float(tensor[0]), lambda: tensor.fill_(3.0))

    # Objects that only C code knows.
    add("a context variable", lambda x: x * TIMES.get(), lambda: TIMES.set(3.0), True)
    ticks = iter([2.0] * 5 + [3.0] * 9)
    add("an iterator", lambda x: x * next(ticks), lambda: None, True)
    local = threading.local()
    local.k = 2.0
    add("a thread's own attributes", lambda x: x * local.k, lambda: setattr(local, "k", 3.0), True)
    weak = weakref.ref(n[8])
    add("a weak reference", lambda x: x * weak().k, lambda: setattr(n[8], "k", 3.0), True)
    add("a generator", lambda x: x * generated.send(None), lambda: None, True)
    generated = (k for k in itertools.chain([2.0] * 5, itertools.repeat(3.0)))
    add("the clock", lambda x: x * time.perf_counter() * 0, lambda: None, True)
    add("Python's random numbers", lambda x: x * (2 if random.random() < 2 else 3), lambda: None, True)
    add("NumPy's random numbers", lambda x: x * (2 if np.random.rand() < 2 else 3), lambda: None, True)
    return found


class Other(Namespace):
    pass


class Methods:
    def scaled(self, x):
        return x * 2.0


def keyworded(x, *, k=2.0):
    return x * k


CHANGED = [same, keywords, keyworded, Rated, Meta, Methods, dispatched]


@pytest.fixture
def restored():
    """Classes, functions and globals as they were."""
    before = {name: value for name, value in globals().items() if not name.startswith("__")}
    sys.modules["config_of_a_user"] = CONFIG
    yield
    for name in [name for name in globals() if not name.startswith("__") and name not in before]:
        del globals()[name]
    globals().update(before)
    Rated.k = Meta.rate = CONFIG.rate = CONFIG.sub.rate = 2.0
    Color.RED._value_, vars(Described)["number"].k, keywords.__kwdefaults__ = 2.0, 2.0, {"k": 2.0}
    Methods.scaled, keyworded.__kwdefaults__["k"] = Methods.__dict__["scaled"], 2.0
    colorsys.ONE_THIRD = 1.0 / 3.0
    vars(gs.sin).pop("late", None)
    vars(CONFIG).pop("late", None)
    TIMES.set(2.0)
    cached.cache_clear()
    while HANDLES:
        HANDLES.pop().remove()
    sys.modules.pop("config_of_a_user", None)


@pytest.mark.parametrize("recheck", [False, True])
def test_no_place_goes_stale(restored, recheck):
    wrong, eager = [], []
    assert len(places()) >= 60
    for name in day.part("no place goes stale", list(places())):
        globals()["STATED"] = 2.0
        function, change, runs_eagerly = places()[name]
        sys.modules["config_of_a_user"] = CONFIG
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled = gs.compile(function, recheck=recheck)
            for _ in range(5):
                compiled(np.ones(2))
            before = len([one for one in caught if "runs eagerly" in str(one.message)])
            change()
            found, wanted = compiled(np.ones(2)), function(gs.ones(2))
        globals().pop("len", None)
        if found.tolist() != wanted.tolist():
            wrong.append((name, found.tolist(), wanted.tolist()))
        if runs_eagerly is not None and bool(before) != runs_eagerly:  # None: more than can be guarded, in a large process
            eager.append((name, [str(one.message) for one in caught]))
    assert wrong == [] and eager == []


def test_a_package_that_is_named_is_walked_no_further_than_it_runs():
    def named(x):
        return pytest.main([str(x)]) if x.shape[0] > 100 else x * 2

    def run(x):
        assert pytest.approx(1.0) == 1.0
        return x * 2

    for function in (named, run):
        compiled = gs.compile(function, strict=True)
        for _ in range(4):
            assert compiled(np.ones(2)).tolist() == [2.0, 2.0]
        assert compiled.program is not None
        assert len(compiled.cache.states[0].captured_state.guards) < (30 if function is named else 5000)
