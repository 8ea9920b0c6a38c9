"""What a call answers at shapes that no sample has, its backward and its tangents answer too, and they agree.

The shapes are those of the samples with an axis more, an axis less, none, or one of length 0, in one operand and in all.  A call may
refuse them; then nothing is asked.
"""

from __future__ import annotations

import copy
from functools import cache

import numpy as np

import gradspec as gs
from gradspec.autograd import grad
from gradspec.autograd.flat_derivatives import push
from gradspec.codegen.errors import ErrorList
from gradspec.codegen.verify import numeric
from gradspec.codegen.verify.case import Report, dtypes_of, make_sample
from gradspec.codegen.verify.check import _form, quiet
from gradspec.codegen.verify.evaluate import Evaluator
from gradspec.codegen.verify.forms import other_shapes
from gradspec.codegen.verify.laws import MOST, kind_of

from .calls import applied, flat, in_place_only
from .questions import of_each, of_entries
from .spec import PACKAGE, the_spec

ROWS = 2


def asked(info):
    return info.inputs and not info.name.startswith("_") and not in_place_only(info)


def calls(info):
    """Other shapes of the first samples of each kind."""
    op, kinds = the_spec().ops[info.name], {}
    for index in range(len(op.samples)):
        call = make_sample(op, index, dtypes_of(op)[0])
        kinds.setdefault(kind_of(op, call), call)
    for call in [*kinds.values()][:MOST]:
        yield from ((other,) for other in other_shapes(op, call))


@cache
def evaluator():
    return Evaluator(the_spec(), PACKAGE)


@of_entries(asked, slow=True)
def test_shapes_hold_and_rules_are_right(op):
    """By differences, on arrays: `shape:` is true of every call that is answered, and so are the rules and what calls make of them."""
    spec = the_spec()
    errors = ErrorList(spec.file, spec.source, spec.further)
    report = Report(spec.ops[op.name], errors, evaluator().record)
    report.hints = False
    with quiet():
        for (call,) in calls(op):
            _form(spec.ops[op.name], evaluator(), report, call)
    assert not errors.errors, "\n".join(map(str, errors.errors))


def places_of(op, arguments):
    return [name for name in op.inputs if isinstance(arguments[name], np.ndarray) and arguments[name].dtype.kind in "fc"]


@of_each(asked, calls, "call")
def test_both_modes_answer(op, call):
    """<grad, tangent of y> = <gradient of x, tangent of x>, and a batch of tangents has the shape of its rows."""
    arguments = {name: copy.deepcopy(value) for name, value in call.arguments.items()}
    places = places_of(op, arguments)
    leaves = [gs.tensor(arguments[name], requires_grad=True) for name in places]

    def function(*values):
        return [y for y in flat(applied(op, {**arguments, **dict(zip(places, values))})) if y.dtype.kind in "fc"]

    with quiet():
        try:
            everything = function(*leaves)
        except Exception:
            return  # it is no call of the operator
        wanted = [i for i, y in enumerate(everything) if y.requires_grad]
        outputs = [everything[i] for i in wanted]
        if not outputs:
            return
        random = np.random.default_rng(7)
        grads = numeric.random_like([np.zeros(y.shape, y.dtype) for y in outputs], random)
        tangents = numeric.random_like([np.zeros(x.shape, x.dtype) for x in leaves], random)
        found = grad(outputs, leaves, list(grads), materialize_grads=True)
        values = [x.detach() for x in leaves]
        _, moved = push(lambda duals: function(*duals), values, [gs.asarray(t) for t in tangents])
        assert [x.shape for x in found] == [x.shape for x in leaves]
        if "generator" not in {name for name, *_ in op.arguments}:
            forward = sum(numeric.inner(g, y.numpy()) for g, y in zip(grads, [moved[i] for i in wanted]))
            backward = sum(numeric.inner(x.numpy(), t) for x, t in zip(found, tangents))
            if np.isfinite(forward) and np.isfinite(backward):
                assert abs(forward - backward) <= 1e-6 * (1 + 2 * abs(backward)), f"forward {forward}, backward {backward}"
        batches = [gs.asarray(np.stack([t] * ROWS)) for t in tangents]
        _, together = push(lambda duals: function(*duals), values, batches, ROWS)
        for whole, alone in zip(together, moved):
            rows = np.stack([alone.numpy()] * ROWS)
            assert whole.shape == rows.shape
            if "generator" not in {name for name, *_ in op.arguments}:  # which draws other numbers at each call
                np.testing.assert_allclose(whole.numpy(), rows, rtol=1e-9, atol=1e-9)
