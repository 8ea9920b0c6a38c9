"""Random programs of views, in-place writes, no_grad and detach, in every order of differentiation: no difference."""

import pytest

from gradspec.kernels.fusion_engine import fusion
from tests.runtime.programs import MODES, run

COUNT = 600  # in a test run; python -m tests.runtime.programs takes any number


@pytest.mark.parametrize("mode", MODES)
def test_random_programs(mode):
    outcomes = [run(seed, mode) for seed in range(COUNT)]
    assert outcomes.count("equal") > COUNT // 2 and outcomes.count("refused") < COUNT // 10


def test_random_programs_whose_gradients_are_put_off():
    """As if every array were large."""
    before = fusion.set_large(0)
    try:
        outcomes = [run(seed, "reverse") for seed in range(COUNT)]
    finally:
        fusion.set_large(before)
    assert outcomes.count("equal") > COUNT // 2 and outcomes.count("refused") < COUNT // 10
