"""Junk for every argument of every operator: refused by the names of both, at once, with nothing changed; never a crash.

What is junk for one argument is fine for another, so an answer passes as well; what must not be accepted in silence is
listed by type below.
"""

from __future__ import annotations

import itertools
import random
import re
import time

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from gradspec.support.dispatch import ops

from .calls import REAL, applied, array, flat, in_place_only, samples_of
from .questions import of_entries

SECONDS = 5.0


def circle():
    found = [1.0]
    found.append(found)
    return found


JUNK = {
    "None": lambda: None, "text": lambda: "abc", "no text": lambda: "", "digits": lambda: "12", "bytes": lambda: b"\x01",
    "fraction": lambda: 1.5, "whole": lambda: 2.0, "negative": lambda: -1, "many": lambda: 10**5, "2**40": lambda: 2**40,
    "huge": lambda: 10**30, "true": lambda: True, "object": object, "dict": dict, "dict of 0": lambda: {0: 1}, "set": set,
    "empty": list, "nested": lambda: [[]], "ragged": lambda: [[1.0], [2.0, 3.0]], "nan": lambda: float("nan"),
    "inf": lambda: float("inf"), "imaginary": lambda: 1j, "text array": lambda: np.array(["a"]),
    "object array": lambda: np.array([object(), None]), "time": lambda: np.datetime64("2020-01-01"), "record": lambda: np.zeros(2, "i4,f8"),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]), "matrix": lambda: np.ones((2, 2)).view(np.matrix),
    "function": lambda: len, "type": lambda: float, "slice": lambda: slice(None), "...": lambda: Ellipsis, "circle": circle,
    "generator": lambda: (i for i in range(3)), "range": lambda: range(3), "endless": itertools.count, "no elements": lambda: gs.ones(0),
    "two": lambda: gs.ones(2), "leaf": lambda: gs.ones(()).requires_grad_(), "leaves": lambda: [gs.ones(2).requires_grad_()] * 2,
    "floats": lambda: [0.5, 1.5], "far": lambda: (9, -9), "twice": lambda: (0, 0), "bad dtype": lambda: np.dtype("U3"),
}  # fmt: skip

# By type of the argument: what has to be refused whatever the operator.
STRANGERS = ["text", "digits", "no text", "bytes", "object", "dict", "dict of 0", "function", "type", "object array", "text array",
             "time", "record", "endless"]  # fmt: skip
REFUSED = {
    "Array": [*STRANGERS, "None", "ragged", "masked", "matrix", "circle", "set", "slice", "..."],
    "Mask": [*STRANGERS, "None", "ragged", "slice", "...", "set", "circle"],
    "Index": [name for name in STRANGERS if name != "endless"] + ["fraction", "imaginary", "set", "circle", "floats", "nan"],
    "int": [*STRANGERS, "None", "fraction", "whole", "true", "huge", "nan", "imaginary", "empty", "slice", "two", "floats", "ragged"],
    "int[]": [*STRANGERS, "fraction", "whole", "true", "huge", "nan", "imaginary", "nested", "slice", "generator", "floats", "set"],
    "float": [*STRANGERS, "None", "true", "imaginary", "empty", "slice", "two", "leaf", "floats", "ragged"],
    "Scalar": [*STRANGERS, "None", "empty", "slice", "two", "leaf", "floats", "ragged", "circle"],
    "bool": [*STRANGERS, "None", "fraction", "nan", "empty", "floats", "two", "slice"],
    "str": [name for name in JUNK if name not in ("text", "digits", "no text")],
    "DType": ["text", "object", "fraction", "nan", "function", "bad dtype", "circle", "slice", "dict of 0", "record", "text array"],
    "Array[]": [*STRANGERS, "None", "fraction", "set", "generator", "circle", "slice"],
    "Generator": ["text", "object", "fraction", "dict", "function", "true", "circle"],
}  # fmt: skip


def plain(type_):
    """The type without `?`, `|str` and lengths."""
    base = type_.removesuffix("?").removesuffix("|str")
    return base[: base.index("[")] + "[]" if "[" in base else base


def must_refuse(type_, name):
    """A word may be one that the operator knows, or is refused by the operator."""
    taken = [*(["None"] if type_.endswith("?") else []), *(["text", "digits", "no text"] if "|str" in type_ else [])]
    return name in REFUSED[plain(type_)] and name not in taken


def call(case, argument, junk):
    """The operator with junk for one argument, on tensors of which none may change; the error, or None."""
    arguments = case.arguments()
    for name, _ in case.places:
        if name != argument and isinstance(arguments[name], np.ndarray):
            arguments[name] = gs.asarray(arguments[name])
    arguments[argument] = junk
    before = {name: np.array(array(value)) for name, value in arguments.items() if isinstance(value, (np.ndarray, gs.Tensor))}
    started = time.monotonic()
    try:
        with np.errstate(all="ignore"):
            applied(case.op, arguments)
    except Exception as error:
        found = error
    else:
        found = None
    assert time.monotonic() - started < SECONDS, "took too long"
    for name, value in before.items():
        if found is not None or not in_place_only(case.op):
            np.testing.assert_array_equal(array(arguments[name]), value)
    return found


PAIRED = {("max", "axis"): "maximum", ("min", "axis"): "minimum"}  # a tensor is the second of two arrays there, as in PyTorch


PRIVATE = re.compile(r"(, in |^)_[a-z]\w*")  # an operator that only formulas call


def names_of(op):
    """A pattern of what errors may call the operator: its name, or NumPy's where that is in its namespace."""
    return "|".join(map(re.escape, (op.name, *[name for name in op.numpy if op.namespace and name.startswith(f"{op.namespace}.")])))


def mistaken(case, argument, type_, name):
    """What is wrong with how the operator takes one piece of junk."""
    op, error = case.op, call(case, argument, JUNK[name]())
    if error is None:
        alone = f"{argument} : array_like, one or more" in getattr(ops, op.name).__doc__  # a number is one of them
        return "accepted" if must_refuse(type_, name) and not alone else None
    if in_place_only(op) and "leaf Variable" in str(error):
        return None  # a leaf is no junk, but is not to be written to
    if (op.name, argument) in PAIRED and isinstance(JUNK[name](), gs.Tensor):
        return None if PAIRED[op.name, argument] in str(error) else f"does not name the operator of two: {error!r}"
    shown = PRIVATE.search(str(error).partition(" (called with ")[0])
    if shown and not op.name.startswith("_"):
        return f"names {shown[0]}, which users do not know: {error!r}"
    if not re.search(names_of(op), str(error)) or (argument not in str(error) and "the first argument" not in str(error)):
        return f"does not say where: {error!r}"
    if not isinstance(error, (TypeError, ValueError, IndexError, OverflowError, MemoryError)):
        return f"another kind of error: {error!r}"
    return None


def junk(op):
    chosen = random.Random(op.name)  # of the samples, the same ones in each run
    samples, wrong = samples_of(op, REAL), []
    for argument, type_, *_ in op.arguments:
        if plain(type_) not in REFUSED:
            continue  # str[], of private operators only
        for name in JUNK:
            case = chosen.choice(samples)
            mistake = mistaken(case, argument, type_, name)
            if mistake is not None:
                wrong.append(f"{argument} ({type_}) = {name}, sample {case.source}: {mistake}")
    assert not wrong, "\n".join(wrong)


def shapes_that_do_not_broadcast(op):
    if op.family == "pointwise_binary" and len(op.arguments) == 2:
        with pytest.raises(ValueError, match=rf"{op.name}: .*\[2\].*\[3\]"):
            getattr(ops, op.name)(gs.ones((2,)), gs.ones((3,)))


def wrong_types(op):
    first, type_, *_ = op.arguments[0]
    for value in (object(), "text", {}) if type_ == "Array" else ():
        with pytest.raises(TypeError, match=rf"({names_of(op)}): .*(argument '{first}'|first argument)"):
            getattr(ops, op.name)(**samples_of(op)[0].arguments() | {first: value})


def axis_out_of_range(op):
    if any(name == "axis" and type_.startswith("int") for name, type_, *_ in op.arguments):
        with pytest.raises((IndexError, ValueError)) as caught:
            getattr(ops, op.name)(**samples_of(op)[0].arguments() | {"axis": 9})
        reason = str(caught.value).partition("(called with")[0].removeprefix(op.name)
        assert op.name.startswith("_") or "axis" in reason, str(caught.value)  # users do not call operators with an underscore
        if op.form != "composite":  # a composite fails in an op that it calls, or in a helper, which knows no op
            assert re.search(names_of(op), str(caught.value)) and "9" in str(caught.value)


@pytest.mark.filterwarnings("ignore")
@of_entries(lambda op: op.arguments, given=[junk, wrong_types, shapes_that_do_not_broadcast, axis_out_of_range])
def test_refused_by_name_or_answered(op, given):
    given(op)


@of_entries(lambda op: any(plain(t) in ("Scalar", "float") for _, t, *_ in op.arguments) and op.samples)
def test_a_number_without_a_derivative_drops_neither_gradient_nor_tangent(op):
    case = samples_of(op, REAL)[0]
    for argument, type_, *_ in op.arguments:
        if plain(type_) not in ("Scalar", "float"):
            continue
        arguments = case.arguments()
        with pytest.raises(TypeError, match=f"^({names_of(op)}): argument '{argument}' .* cannot be differentiated"):
            case.apply(arguments | {argument: gs.tensor(0.5, requires_grad=True)})
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(gs.tensor(0.5), gs.tensor(1.0))
            with pytest.raises(TypeError, match=f"^({names_of(op)}): argument '{argument}' .* cannot carry a tangent"):
                case.apply(arguments | {argument: dual})


def test_a_list_made_an_array_drops_neither_gradient_nor_tangent():
    """A new leaf refuses what it would drop; `asarray` and operators stack."""
    x = gs.tensor(0.5, requires_grad=True)
    with pytest.raises((TypeError, RuntimeError), match="requires grad"):
        gs.tensor([x, 1.0])
    y = gs.asarray([x, 1.0, x])
    (y * np.array([1.0, 2.0, 4.0])).sum().backward()
    assert y.tolist() == [0.5, 1.0, 0.5] and x.grad.item() == 5.0
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(0.5), gs.tensor(1.0))
        with pytest.raises((TypeError, RuntimeError), match="tangent"):
            gs.tensor([dual, 1.0])
        assert forward_ad.unpack_dual(gs.asarray([dual, 1.0])).tangent.tolist() == [1.0, 0.0]
        assert forward_ad.unpack_dual(ops.multiply(2.0, [dual])).tangent.tolist() == [2.0]


@of_entries(lambda op: op.inputs and op.samples and op.form not in ("nondifferentiable", "unimplemented") and not in_place_only(op))
def test_a_list_of_tensors_is_what_stack_makes_of_it(op):
    """The same bits, and the same history: nothing that a list holds is dropped."""
    case = samples_of(op)[0]
    for place, (argument, position) in enumerate(case.places):
        if position is not None or case.arrays[place].ndim == 0 or not case.arrays[place].size:
            continue
        found = []
        for made in (list, gs.stack):
            pieces = [gs.asarray(piece, requires_grad=True) for piece in case.arrays[place]]
            values = case.leaves(requires_grad=False)
            values[place] = made(pieces)
            outputs = flat(case.apply(case.with_arrays(values)))
            roots = [y for y in outputs if isinstance(y, gs.Tensor) and y.requires_grad]
            grads = gs.autograd.grad([y.real.sum() for y in roots], pieces, allow_unused=True) if roots else []
            found.append([array(y) for y in (*outputs, *(g for g in grads if g is not None))])
        assert len(found[0]) == len(found[1])
        for one, other in zip(*found):
            np.testing.assert_array_equal(one, other)


class TestRecursionEnds:
    """A composite that calls itself is C code: Python's recursion limit does not hold it."""

    X = gs.tensor([1.0, 4.0, 9.0])

    def test_difference(self):
        with pytest.raises(ValueError, match="^diff: the order of the difference must not be negative"):
            gs.diff(self.X, -1)
        for x in (self.X, gs.tensor(self.X.numpy(), requires_grad=True)):
            assert gs.diff(x, 10**6).shape == (0,)
            with pytest.raises(OverflowError, match="^diff: "):
                gs.diff(gs.ones(10**5).requires_grad_(x.requires_grad), 10**5)

    def test_power(self):
        with pytest.raises(TypeError, match="^matrix_power: argument 'n' must be an int, got 2.5"):
            gs.linalg.matrix_power(gs.ones((2, 2)), 2.5)
        with pytest.raises(OverflowError, match="^matrix_power: argument 'n' must be an int of 64 bits"):
            gs.linalg.matrix_power(gs.ones((2, 2)), 10**4000)
        assert gs.linalg.matrix_power(gs.eye(2).requires_grad_(), 2**62).tolist() == [[1, 0], [0, 1]]


def test_a_composite_puts_its_own_name_first():
    with pytest.raises(IndexError, match=r"^nanmean: axis 9 .*, in \w+ \(called with x=float64\[3\], axis=\(9,\)"):
        gs.nanmean(gs.ones(3), axis=9)
    with pytest.raises(ValueError, match=r"^cross_entropy: reduction must be .* \(called with x=.*, target=.*, reduction='max', .*\)"):
        gs.nn.cross_entropy(gs.ones((2, 3)), [0, 1], reduction="max")
