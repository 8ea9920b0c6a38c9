"""Options of gradspec.nn beside PyTorch's: calls with arguments drawn by their names, whose values, gradients and refusals agree."""

import copy
import fnmatch
import inspect
import random
import re
import warnings
import zlib

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.layers_of_nn import ROWS
from tests.runtime.options_of_nn import FUNCTIONS, MEANT, VALUES

from .test_layers_of_nn import DRAWS, Names, arrays, asked

EACH = {"class": 6, "function": 15}  # so many calls are drawn of a row
RANDOM = {"dropout", "lower", "upper"}  # arguments of layers that draw
HOLDS = ("bias", "weight", "running_mean")  # of functions an array, of classes whether there is one


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with PyTorch's options, and PyTorch is not installed")


class Function:
    """A function with its options, called as a layer."""

    def __init__(self, function, options):
        self.function, self.options = function, options

    def __call__(self, *arrays):
        return self.function(*arrays, **self.options)

    def named_parameters(self):
        return []

    named_buffers = named_parameters


def parameters_of(function):
    """The names of the arguments; those of a builtin stand in its docstring."""
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        head = (function.__doc__ or "").split("->")[0]
        return [name for name in VALUES if re.search(rf"\b{name}\b *=", head)]


def given(function, arguments, library):
    """The options of a row by name."""
    args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({arguments})", {"nn": Names(library.nn, library.tensor)})
    names = parameters_of(function) if args else ()
    return dict(zip(names, args)) | kwargs


def drawn(kind, function, row):
    """Changes of a row's options."""
    draw = random.Random(zlib.crc32(repr(row[:2]).encode()))
    names = [
        name
        for name in parameters_of(function)
        if name in VALUES and name not in RANDOM and not (kind == "function" and name in HOLDS)
    ]
    found = {}
    for _ in range(EACH[kind] if names else 0):
        chosen = draw.sample(names, min(len(names), draw.choice([1, 1, 2, 2, 3])))
        change = {name: draw.choice(VALUES[name]) for name in chosen}
        found[repr(change)] = change
    return list(found.values())


def answers(torch, kind, name, options, inputs):
    """What both give: arrays by name, or the error."""
    values = arrays(inputs)
    wanted = {0, *(i for i, item in enumerate(inputs) if isinstance(item, tuple))}  # what is differentiated
    state, found = {}, []
    for library in (torch, gs):
        try:
            if kind == "class":
                layer = getattr(library.nn, name)(**options[library.__name__])
                if library is torch:
                    layer, rng = layer.double(), np.random.default_rng(3)
                    for parameter in layer.parameters():
                        parameter.data += torch.tensor(rng.normal(size=tuple(parameter.shape))) / 4
                    state = copy.deepcopy(layer.state_dict())
                else:
                    layer.load_state_dict(state, strict=bool(state))
                layer.train(name not in DRAWS)
            else:
                layer = Function(getattr(library.nn.functional, name), options[library.__name__])
            make = lambda value, needs, library=library: library.tensor(value, requires_grad=needs)  # noqa: E731
            found.append(asked(make, layer, values, wanted, options["torch"].get("inplace")))
        except Exception as error:  # each has kinds of its own, and which one is no matter
            found.append(error)
    return found


def difference(there, here):
    """Where two answers differ, or an empty string."""
    if there.keys() != here.keys():
        return f"{sorted(here)} for {sorted(there)}"
    for key, value in there.items():
        if here[key].shape != value.shape:
            return f"{key} has the shape {here[key].shape} for {value.shape}"
        try:
            np.testing.assert_allclose(here[key], value, rtol=1e-7, atol=1e-9)
        except AssertionError as error:
            return f"{key}: {error}"
    return ""


def compared(torch, kind, row, counts):
    """Ask both for each change of a row; MEANT has the differences that are none."""
    name, arguments, inputs = row
    namespace = torch.nn if kind == "class" else torch.nn.functional
    function = getattr(namespace, name)
    wrong = []
    for change in drawn(kind, function, row):
        options = {library.__name__: given(function, arguments, library) | change for library in (torch, gs)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            there, here = answers(torch, kind, name, options, inputs)
        refusals = isinstance(there, Exception), isinstance(here, Exception)
        if all(refusals):
            counts["refused"] += 1
            continue
        refused = "there" if refusals[0] else "here" if refusals[1] else ""
        found = refused and f"{there if refusals[0] else here!r}" or difference(there, here)
        counts["compared"] += not refused
        if not found:
            continue
        reasons = [place for place, (names, condition, _) in enumerate(MEANT)
                   if any(fnmatch.fnmatchcase(name, pattern) for pattern in names.split())
                   and eval(condition, {"options": options["torch"], "refused": refused})]  # fmt: skip
        counts["meant"].update(reasons)
        if not reasons:
            wrong.append(f"{name}({arguments}) with {change}: {'refused ' + refused + ': ' if refused else ''}{found}")
    return wrong


def test_options_are_pytorchs(torch):
    counts = {"compared": 0, "refused": 0, "meant": set()}
    rows = [("class", row) for row in ROWS if row[0] != "LinearCrossEntropyLoss"] + [("function", row) for row in FUNCTIONS]
    wrong = [line for kind, row in rows for line in compared(torch, kind, row, counts)]
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong])
    assert counts["compared"] > 1000 and counts["refused"] > 300
    assert counts["meant"] == set(range(len(MEANT))), "a difference that is listed is none any more: take it out of MEANT"


def value_and_slope(library, loss, x):
    """Numbers of a loss of log-softmax of logits, and of its gradient."""
    logits = library.tensor(x, requires_grad=True)
    value = loss(logits)
    value.sum().backward()
    return np.array(value.detach().tolist()), np.array(logits.grad.tolist())


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("kept", [0, 1])
def test_classes_that_are_ignored_have_no_slope(reduction, smoothing, kept):
    x = np.random.default_rng(0).normal(size=(3, 4))
    target = [-100, 2 if kept else -100, -100]
    value, slope = value_and_slope(
        gs, lambda x: gs.nn.functional.cross_entropy(x, gs.tensor(target), reduction=reduction, label_smoothing=smoothing), x
    )
    assert (slope[[0, 2]] == 0).all() and (slope[1] != 0).all() == bool(kept)
    assert np.isnan(value).all() == (not kept and reduction == "mean")


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_a_target_that_no_sequence_is_has_no_derivative(torch, reduction, zero_infinity):
    x = np.random.default_rng(1).normal(size=(4, 3, 5))
    targets, steps, lengths = [[1, 1, 1], [1, 2, 3], [2, 2, 4]], [4, 4, 4], [3, 3, 2]  # the first needs five steps

    def loss(library):
        def of(logits):
            log = logits.log_softmax(-1)
            return library.nn.functional.ctc_loss(log, library.tensor(targets), library.tensor(steps), library.tensor(lengths),
                                                  reduction=reduction, zero_infinity=zero_infinity)  # fmt: skip

        return of

    here, there = value_and_slope(gs, loss(gs), x), value_and_slope(torch, loss(torch), x)
    np.testing.assert_allclose(here[0], there[0], rtol=1e-10)
    np.testing.assert_allclose(here[1], there[1], rtol=1e-8, atol=1e-12)
    assert np.isnan(here[1][:, 0]).all() == (not zero_infinity) and np.isfinite(here[1][:, 1:]).all()
