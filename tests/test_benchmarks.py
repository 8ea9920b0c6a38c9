"""The benchmark's cases: every peer is there, and gradspec computes what PyTorch computes."""

import importlib

import pytest

from benchmarks.cases import CASES
from benchmarks.rounds import Figures, difference
from benchmarks.table import markdown, multiples
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


def test_multiples_of_a_base_are_each_peers_own():
    results = {
        "f": {"torch": Figures([2.0, 2.0]), "gradspec": Figures([1.0])},
        "g": {"torch": Figures([9.0]), "torch, 2 threads": Figures([8.0]), "gradspec": Figures([2.5])},
        "h": {"torch": Figures([9.0]), "gradspec": Figures(note="crashed")},
        "alone": {"torch": Figures([9.0])},
    }
    titles = {name: f"title of {name}" for name in results}
    table = multiples(titles, {"g": "f", "h": "f", "alone": "missing"}, results).splitlines()
    assert table[2:] == ["| title of g | 4 | 2.5 |", "| title of h | 4.5 | - |"]
    assert multiples(titles, {"g": "missing"}, results) == ""


def test_an_earlier_gradspec_stands_beside_this_one():
    results = {"f": {"torch-1": Figures([2.0]), "gradspec": Figures([1.0]), "before": Figures([1.25])},
               "g": {"torch-1": Figures([2.0]), "gradspec": Figures([1.0]), "before": Figures(note="no such operator")}}
    lines = markdown({"f": "F", "g": "G"}, results).splitlines()
    assert lines[0] == "|  | PyTorch | gradspec before | gradspec to that | gradspec | ratio |"
    assert lines[2:4] == ["| F | 2 s | 1.25 s | 0.80 | 1 s | **0.50** |", "| G | 2 s | - [1] |  | 1 s | **0.50** |"]


@pytest.mark.parametrize("name", CASES)
def test_bases_come_before_what_they_are_bases_of(name):
    base = getattr(case_of(name), "multiple_of", None)
    assert base is None or CASES.index(base) < CASES.index(name)
