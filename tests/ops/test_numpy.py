"""NumPy's functions on tensors do what they do on arrays: every row of the generated table, on every sample of its operator."""

import inspect
from functools import reduce

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.numpy_table import FUNCTIONS, UNIVERSAL
from gradspec.methods.numpy_parameters import dotted

from .calls import BY_NAME, REAL, array, flat, in_place_only, samples_of
from .questions import of_each
from .spec import the_spec

NAMES = {**{name: op for name, op in UNIVERSAL.items()}, **{name: row[0] for name, row in FUNCTIONS.items()}}
# What the two may have different ideas of: elements that nobody set, and a basis that is one of many.
UNSETTLED = ("creation", "linear_algebra")


def numpy_call(name, arguments):
    """Positional and keyword arguments of NumPy's function for those of the operator; None where it lacks one that is given."""
    if name in UNIVERSAL:
        count = dotted(name).nin
        ordered = [(a, arguments[a]) for a, _, _, _ in BY_NAME[UNIVERSAL[name]].arguments]
        keywords = dict(ordered[count:]) if dotted(name).signature is not None else {}
        return [value for _, value in ordered[:count]], keywords
    row = FUNCTIONS[name]
    targets = {}
    for word in row[5].split():
        own, equals, target = word.partition("=")
        targets.setdefault(target if equals else own, own)
    defaults = {a: eval(source) for a, _, source, _ in BY_NAME[row[0]].arguments if source is not None}
    given = {a: value for a, value in arguments.items() if a not in defaults or value is not defaults[a] or a in row[8]}
    if row[3] == 99:  # any number of operands
        first = [item for a in arguments if a not in defaults for item in (arguments[a] if isinstance(arguments[a], list) else [arguments[a]])]
        return first, {a: value for a, value in given.items() if a in defaults}
    if any(a not in targets and a not in row[4].split() for a in given):
        return None
    places = [word.partition("=")[0] for word in row[5].split()][: row[2]]
    keywords = {targets.get(a, a): value for a, value in given.items()}
    return [keywords.pop(place) for place in places], keywords


def names_of(op):
    """The functions of NumPy that an operator answers to."""
    return sorted(name for name, own in NAMES.items() if own == op.name)


@of_each(names_of, lambda op: [(name,) for name in names_of(op)], "name")
def test_as_on_arrays(op, name):
    function, compared, different, breaks = dotted(name), 0, 0, the_spec().ops[op.name].breaks
    if function is None:
        pytest.skip(f"this NumPy has no {name}")
    assert not op.inputs or op.samples
    for case in samples_of(op, REAL):
        call = numpy_call(name, case.arguments())
        if call is None:
            continue
        try:
            expected = function(*call[0], **call[1])
        except Exception:  # a sample of what NumPy's function does not do
            continue
        arguments = case.with_arrays(case.leaves())
        if in_place_only(op):
            first = op.arguments[0][0]
            arguments[first] = gs.tensor(array(arguments[first]))
        if not op.inputs:  # integers and truth values
            arguments = {name: gs.asarray(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
        if not any(isinstance(v, gs.Tensor) for v in flat(list(arguments.values()))):
            continue
        places, keywords = numpy_call(name, arguments)
        result = function(*places, **keywords)
        compared += 1
        if in_place_only(op):
            function(*call[0], **call[1])
            result, expected = places[0], call[0][0]
        elif op.inputs and any(o[1] in ("Array", "Array[]") for o in op.outputs):
            assert all(isinstance(y, gs.Tensor) for y in flat(result)), case.source
            of_operator = case.apply(arguments)
            assert [y.requires_grad for y in flat(result)] == [y.requires_grad for y in flat(of_operator)], case.source
        if op.family in UNSETTLED:
            assert [np.shape(y) for y in flat(result)] == [np.shape(y) for y in flat(expected)], case.source
            continue
        try:
            for y, wanted in zip(flat(result), flat(expected), strict=True):
                np.testing.assert_allclose(array(y), wanted, rtol=1e-13, atol=1e-14, err_msg=f"{name}: {case.source}")
        except AssertionError:
            if "numpy" not in breaks:
                raise
            different += 1
    assert compared > different or not op.inputs, f"no sample of {op.name} is a call of {name}"
    assert different or "numpy" not in breaks, "all samples agree with NumPy: leave `breaks: numpy` out"


# What is tried of a parameter of NumPy's that no sample sets, by its name.
TRIED = {"dtype": np.float32, "keepdims": True, "ddof": 1, "kind": "stable", "returned": True, "deg": True, "copy": True, "full": True,
         "return_index": True, "return_inverse": True, "return_counts": True, "overwrite_input": False, "mode": "clip", "compute_uv": True,
         "hermitian": False, "assume_unique": True, "invert": True, "density": True, "bias": True, "rowvar": False, "descending": True}  # fmt: skip


def by_position(name, arguments, keywords):
    """Calls with ever more arguments, all by position: one tried behind default values for those before it."""
    parameters = [p for p in inspect.signature(dotted(name)).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    ours = list(inspect.signature(function_of(name)).parameters.values())
    places = list(arguments)
    for parameter in parameters[len(places) :]:
        if parameter.name in ("subok", "order") and parameter.name not in {p.name for p in ours}:
            return  # about memory and subclasses: what follows is by name
        default = parameter.default
        if default is np._NoValue:
            default = ours[len(places)].default if len(places) < len(ours) else None
        places.append(keywords.get(parameter.name, TRIED.get(parameter.name, default)))
        if keywords.keys() <= {p.name for p in parameters[: len(places)]}:
            yield parameter.name, list(places)
        places[-1] = keywords.get(parameter.name, default)


def function_of(name):
    return reduce(getattr, name.split("."), gs)


def is_public(op, name):
    """Whether NumPy's name is that of a function here, with this operator behind it."""
    return name in FUNCTIONS and name in [f"{op.namespace}.{own}".lstrip(".") for own in (op.name, *the_spec().ops[op.name].aliases)]


@of_each(names_of, lambda op: [(name,) for name in names_of(op) if is_public(op, name)], "name")
def test_positions(op, name):
    """A function of NumPy's name takes NumPy's parameters by position, in NumPy's order, and `dtype` means what it does there."""
    function, ours, wrongs = dotted(name), function_of(name), []
    if "numpy" in the_spec().ops[op.name].breaks or FUNCTIONS[name][3] == 99:
        return
    for case in samples_of(op, REAL):
        call = numpy_call(name, case.arguments())
        for parameter, places in by_position(name, *call) if call and function else ():
            try:
                expected = function(*places)
                if parameter == "out":
                    places[-1] = np.empty_like(expected)
                    expected = function(*places)
            except Exception:  # NumPy refuses these values
                continue
            try:
                result = ours(*places[:-1], gs.tensor(places[-1])) if parameter == "out" else ours(*places)
            except Exception as error:
                wrongs.append(f"{case.source}, {parameter} by position: {type(error).__name__}: {error}")
                continue
            for y, wanted in zip(flat(result), flat(expected), strict=True):
                same = np.shape(y) == np.shape(wanted) and (parameter != "dtype" or array(y).dtype == np.asarray(wanted).dtype)
                if not same or op.family not in UNSETTLED and not np.allclose(array(y), wanted, 1e-5, 1e-6, equal_nan=True):
                    wrongs.append(f"{case.source}, {parameter}={places[-1]!r} by position: {array(y)!r}, NumPy has {wanted!r}")
    assert not wrongs, "\n".join(wrongs[:20])
