"""Soak: a short run of what `python -m tests.runtime.soak` runs for long."""

import sys

import pytest

from tests.asked import each
from tests.runtime import soak

pytestmark = pytest.mark.skipif(not sys.getallocatedblocks(), reason="Python's own allocator, which counts, is switched off")
ALLOWED = 100  # blocks that the interpreter may still take for itself: less than one for each step


@pytest.mark.slow
@each("feature", soak.FEATURES, ids=lambda feature: feature.__name__)
def test_nothing_is_left_of_a_step(feature):
    blocks, garbage, _ = soak.growth([feature], 200)
    assert blocks < ALLOWED and garbage == 0


@pytest.mark.slow
def test_nothing_is_left_of_steps_with_every_feature():
    blocks, garbage, memory = soak.growth(soak.FEATURES, 150)
    assert blocks < ALLOWED and garbage == 0 and memory < 2**22


def test_what_is_left_is_seen():
    left = []
    blocks, _, _ = soak.growth([lambda state: left.append(object())], 200)
    assert blocks > 150

    def circle(state):
        left = []
        left.append(left)

    assert soak.growth([circle], 200)[1] == 200
