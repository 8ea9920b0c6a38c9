"""NumPy's functions on tensors do what they do on arrays: every row of the generated table, on every sample of its operator."""

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
