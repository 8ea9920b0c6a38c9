"""The benchmark's cases: every peer is there, and gradspec computes what PyTorch computes."""

import importlib

import pytest

from benchmarks.cases import CASES
from benchmarks.rounds import difference
from benchmarks.worker import digest

INFINITY = float("inf")
LIBRARIES = ("gradspec", "torch", "jax", "autograd")


def case_of(name):
    return importlib.import_module(f"benchmarks.cases.{name}")


@pytest.mark.parametrize("name", CASES)
def test_every_peer_is_there_or_says_why_not(name):
    case = case_of(name)
    excused = getattr(case, "not_comparable", {})
    for library in LIBRARIES:
        assert hasattr(case, f"with_{library}") != (library in excused), library


@pytest.mark.parametrize("name", CASES)
def test_same_results_as_torch(name):
    pytest.importorskip("torch", reason="compares with PyTorch's results, and torch is not installed")
    case = case_of(name)
    ours, theirs = (
        [digest(value) for value in getattr(case, f"with_{library}")(*case.inputs())()] for library in ("gradspec", "torch")
    )
    assert difference(ours, theirs) <= getattr(case, "tolerance", 1e-4)


def test_difference_sees_size_value_order_and_nan():
    reference = [digest([1.0, 2.0, 3.0])]
    assert difference([digest([1.0, 2.0, 3.0])], reference) == 0
    assert difference([digest([1.0, 2.0])], reference) == INFINITY
    assert difference([], reference) == INFINITY
    assert difference([digest([1.0, 2.0, 3.1])], reference) > 1e-3
    assert difference([digest([1.0, 3.0, 2.0])], reference) > 1e-3
    assert difference([digest([1.0, 2.0, float("nan")])], reference) == INFINITY
