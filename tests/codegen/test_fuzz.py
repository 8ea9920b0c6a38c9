"""Mutated text of the spec: refused with a place or accepted, never another exception, never over a second.

A hundred and fifty mutants run here; `python -m tests.codegen.fuzz 10000`, or GRADSPEC_FUZZ=10000 in the environment of this
test, runs as many as one likes.
"""

from __future__ import annotations

import os
import sys

import fuzz
import pytest

from codegen.errors import SpecErrors
from codegen.spec.reader import read_text

COUNT = int(os.environ.get("GRADSPEC_FUZZ", "150"))
posix = pytest.mark.skipif(sys.platform == "win32", reason="the time limit is a signal of POSIX")


@pytest.mark.slow
@posix
def test_every_mutant_is_judged_with_a_place_within_a_second():
    outcomes = {mutant.number: fuzz.judge(mutant) for mutant in fuzz.mutants(COUNT)}
    assert [f"mutant {number}: {o.failure}\n{o.trace}" for number, o in outcomes.items() if o.failure] == []

    # The test of the test: what is mutated is right before, and seldom after.
    assert sum(not outcome.accepted for outcome in outcomes.values()) > COUNT / 2
    assert sum(outcome.accepted for outcome in outcomes.values()) > COUNT / 30
    assert fuzz.run(fuzz.cut(0), {}, 10.0).accepted


@pytest.mark.slow
@posix
def test_what_is_accepted_can_be_written():
    assert [m.number for m in fuzz.mutants(30) if fuzz.judge(m, write=True).failure] == []


@posix
@pytest.mark.parametrize(
    "raised, failure",
    [(ValueError("no"), "ValueError: outside"), (SpecErrors([]), "a refusal without a message"), (None, "takes too long: outside")],
    ids=["exception", "nothing said", "hang"],
)
def test_failures_are_found(raised, failure, monkeypatch):
    def read(*_, **__):
        while raised is None:
            pass
        raise raised

    monkeypatch.setattr(fuzz, "read_text", read)
    assert fuzz.run("", {}, 0.1).failure == failure


def test_the_same_number_gives_the_same_mutant():
    one, two = (list(fuzz.mutants(5, seed=7, first=40)) for _ in range(2))
    assert one == two and next(fuzz.mutants(1, seed=7, first=42)) == one[2]
    assert len({mutant.text for mutant in one}) > 1


@pytest.mark.parametrize("seed", range(3))
def test_a_cut_is_right_and_small(seed):
    text = fuzz.cut(seed)
    source, further = fuzz.files_of(text)
    assert 0 < len(read_text(source, further=further).ops) < 150 and len(text) < len(fuzz.whole())
