"""Real and complex operands mixed: the gradient of a real one is real, and a negative real one has complex powers and logs."""

from __future__ import annotations

import numpy as np

import gradspec as gs
from gradspec.autograd import gradcheck
from gradspec.support.dispatch import ops

from .calls import array
from .questions import of_entries


def elementwise(op):
    every = all(type_ == "Array" for _, type_, *_ in op.arguments)
    return every and op.family == "pointwise_binary" and op.form != "nondifferentiable" and op.dtype in ("any", "float")


@of_entries(elementwise)
def test_against_differences_in_both_modes(op):
    """One operand real and of either sign, the others complex, and the other way round."""
    count, function, tried = len(op.arguments), getattr(ops, op.name), 0
    random = np.random.default_rng(3)
    for place in range(count):
        for alone, rest in (("real", "complex"), ("complex", "real")):
            operands = []
            for i in range(count):
                values = np.array([-1.3, 0.7, -0.4]) + 0.1 * random.uniform(-1, 1, 3)
                phases = 1j * random.uniform(0.3, 0.9, 3) if (alone if i == place else rest) == "complex" else 0
                operands.append(gs.tensor(values + phases, requires_grad=True))
            with np.errstate(all="ignore"):
                if not np.isfinite(array(function(*operands))).all():
                    continue  # a real power of a negative number
            assert gradcheck(function, operands, check_forward_ad=True, atol=1e-6)
            tried += 1
    assert tried


def test_a_complex_power_of_a_negative_number():
    b = gs.tensor([0.3 + 0.4j], requires_grad=True)
    gs.pow(gs.tensor([-1.0]), b).backward(gs.tensor([1 + 0j]))
    y = np.power(-1 + 0j, 0.3 + 0.4j)
    np.testing.assert_allclose(b.grad.numpy(), np.conj(y * np.log(-1 + 0j)))
