"""What entries state: the values of examples, and both modes at kinks (ties, zeros, infinities and NaN)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.codegen.spec.samples import evaluate_sample, evaluate_stated

from .calls import applied, array, flat, in_place_only
from .questions import of_each

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the infinities that are meant


def bind(op: Any, call: str) -> dict[str, Any]:
    positional = [name for name, _, _, keyword_only in op.arguments if not keyword_only]
    args, kwargs = evaluate_sample(call, None, np.float64, 0)
    return dict(zip(positional, args)) | kwargs


def arrays_of(op: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The array arguments that are given, as arrays; of a list of arrays each."""
    found = {}
    for name, type_, _, _ in op.arguments:
        if type_.startswith("Array") and arguments.get(name) is not None:
            value = arguments[name]
            found[name] = list(map(np.asarray, value)) if "[]" in type_ else np.asarray(value)
    return found


def floats_of(op: Any, arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: value for name, value in arrays_of(op, arguments).items() if value.dtype.kind in "fc"}


@of_each(lambda op: op.examples, lambda op: op.examples, "call", "stated")
def test_examples(op, call, stated):
    arguments = bind(op, call)
    given = arrays_of(op, arguments)
    if in_place_only(op):
        given = {name: gs.tensor(value) for name, value in given.items()}
    result = applied(op, arguments | given)
    outputs = flat(result)
    several = op.outputs[0][1].endswith("[]")
    values = evaluate_stated(stated, 1)[0] if several else evaluate_stated(stated, len(outputs))
    for got, wanted in zip(outputs, values, strict=True):
        assert got.shape == np.shape(wanted)
        np.testing.assert_allclose(array(got), wanted, rtol=1e-9, atol=1e-12)


@of_each(lambda op: op.kinks, lambda op: op.kinks, "call", "stated")
def test_reverse_mode(op, call, stated):
    arguments = bind(op, call)
    leaves = {name: gs.tensor(value, requires_grad=True) for name, value in floats_of(op, arguments).items()}
    outputs = [y for y in flat(applied(op, arguments | leaves)) if y.requires_grad]
    found = grad(outputs, list(leaves.values()), [gs.ones_like(y.detach()) for y in outputs])
    for got, wanted in zip(found, evaluate_stated(stated, len(leaves)), strict=True):
        np.testing.assert_allclose(array(got), wanted, rtol=1e-9)


@of_each(lambda op: op.kinks, lambda op: op.kinks, "call", "stated")
def test_forward_mode(op, call, stated):
    arguments = bind(op, call)
    arrays = floats_of(op, arguments)
    for (name, value), wanted in zip(arrays.items(), evaluate_stated(stated, len(arrays)), strict=True):
        for place in np.ndindex(value.shape):
            direction = np.zeros_like(value)
            direction[place] = 1
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(gs.tensor(value), gs.tensor(direction))
                outputs = flat(applied(op, arguments | {name: dual}))
                tangents = [forward_ad.unpack_dual(y).tangent for y in outputs]
            total = sum(array(t).real.sum() for t in tangents if t is not None)
            np.testing.assert_allclose(total, np.real(np.asarray(wanted)[place]), rtol=1e-9)
