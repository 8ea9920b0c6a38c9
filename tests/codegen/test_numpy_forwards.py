"""Forwards over NumPy: what an entry becomes, and that it gives what the operator gives."""

import numpy as np

import gradspec as gs
from gradspec.codegen.write.numpy_forwards import function_text
from gradspec.generated import numpy_forwards
from tests.ops.spec import the_spec


def text_of(name):
    spec = the_spec()
    return function_text(spec.ops[name], {spelling: op.signature for spelling, op in spec.by_spelling.items()})


def test_an_expression_and_a_composite():
    assert text_of("tanh") == "def tanh(x):\n    return np.tanh(x)"
    assert text_of("rsub").startswith("def rsub(a, b, *, alpha=1):\n    return b - ")


def test_lets_and_branches():
    text = text_of("huber_loss")
    assert "    loss = _huber(x, target, formulas.checked_number(delta, 'delta', 0, math.inf, False))\n" in text and "loss if weight is None else weight * loss" in text


def test_lengths_and_lists():
    assert "stride=(1, 1)" in text_of("conv2d") and "stride=(1,)" in text_of("conv1d")
    assert "np.shape(part) for part in arrays" in text_of("dstack")


def test_a_kernel_that_writes_in_place_is_a_second_function():
    assert "\n\ndef index_put_(x, index, value, accumulate=False):\n    return kernels.index_put_(" in text_of("index_put")


def test_dropout_of_nothing():
    assert gs.nn.dropout(gs.ones(3), 0.0).tolist() == numpy_forwards.dropout(np.ones(3), 0.0).tolist()


def test_every_operator_is_there():
    spec = the_spec()
    assert all(callable(getattr(numpy_forwards, name)) for name in spec.ops)
