"""The benchmark's cases: every peer is there, and gradspec computes what PyTorch computes."""

import importlib
import json

import numpy as np
import pytest

from benchmarks import compiling, mapped, sweep, threads
from benchmarks.calls import calls
from benchmarks.cases import CASES
from benchmarks.operands import SHAPES, differentiable, operands
from benchmarks.rounds import Figures, difference
from benchmarks.table import markdown, multiples
from benchmarks.turns import in_turns
from benchmarks.worker import digest
from gradspec.generated.op_info import OPS
from tests.asked import each

INFINITY = float("inf")
LIBRARIES = ("gradspec", "torch", "jax", "autograd")


def case_of(name):
    return importlib.import_module(f"benchmarks.cases.{name}")


@each("name", CASES)
def test_every_peer_is_there_or_says_why_not(name):
    case = case_of(name)
    excused = getattr(case, "not_comparable", {})
    for library in LIBRARIES:
        assert hasattr(case, f"with_{library}") != (library in excused), library


@pytest.mark.slow
@each("name", [name for name in CASES if "torch" not in getattr(case_of(name), "not_comparable", {})])
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


@each("name", CASES)
def test_bases_come_before_what_they_are_bases_of(name):
    base = getattr(case_of(name), "multiple_of", None)
    assert base is None or CASES.index(base) < CASES.index(name)


@pytest.mark.parametrize("work", threads.WORKS)
def test_work_that_threads_share_runs(work):
    assert all(bool((gradient == gradient).all()) for gradient in work()())


@each("call", calls(), ids=lambda call: call.label)
def test_call_of_the_sweep_is_differentiable_and_has_operands(call):
    (op,) = (op for op in OPS if op.name == call.operator)
    arrays = operands(8, "float64")
    assert op.inputs and any(differentiable(name, arrays[name]) for name in call.names & set(arrays))


def test_calls_of_the_sweep_agree_with_torch(monkeypatch):
    """On eight elements; what raises in one of the three libraries has a note, too."""
    pytest.importorskip("torch", reason="compares with PyTorch's results, and torch is not installed")
    monkeypatch.setattr(sweep, "SECONDS", 0)
    cells = [cell for found in sweep.measured(calls(), [8], ["float64"], turns=1) for cell in found]
    assert [cell for cell in cells if cell.note] == [] and len(cells) == 3 * len(calls())


def test_the_committed_table_has_the_calls_of_the_sweep():
    head, columns, *rows = sweep.TABLE.read_text().splitlines()
    assert "load" in head and columns.split("\t") == ["operator", "call", "dtype", "elements", *sweep.PHASES]
    assert {tuple(row.split("\t")[:2]) for row in rows} == {(call.operator, call.label) for call in calls()}, "measure, and --accept"


def test_operands_of_the_sweep_have_about_their_size():
    for size in SHAPES:
        arrays = operands(size, "float32")
        for name in ("x", "d", "square", "general", "image", "signal", "volume", "query"):
            assert 0.4 < arrays[name].size / size <= 2, (size, name)
            assert arrays[name].dtype == "float32"


def test_sweep_refuses_what_differs():
    torch = pytest.importorskip("torch", reason="needs PyTorch's tensors, and torch is not installed")
    x = torch.tensor([1.0, 2.0])
    assert sweep.far(x, x) == 0
    assert sweep.far(x, torch.tensor([1.0, 2.001])) > 1e-4
    assert sweep.far(x, x[:1]) == sweep.far(x, x * float("nan")) == INFINITY
    sides = sweep.Sides(8, "float64")
    (call,) = (call for call in calls() if call.label == "tanh(x)")
    cell = sides.cell(call, "forward", (x, x + 1), [])
    assert cell.to_torch is None and cell.note.startswith("WRONG")


def test_summary_of_the_sweep_names_goals_and_the_worst():
    cells = [sweep.Cell(f"f{i}(x)", 8, "float32", "forward", to_torch=i / 4, to_numpy=1.0, seconds=1e-6) for i in range(1, 21)]
    text = sweep.summary([*cells, sweep.Cell("g(x)", 8, "float32", "forward", note="WRONG: far")])
    assert "| 8 | forward | 20 | 2.62 | 35.0% | 4 | 1.00 |" in text
    assert "Goals: a median of at most 0.8 at 100000 elements, 92% of the cells under 2, none over 4." in text
    worst = text[text.index("Worst of forward at 8") :].splitlines()
    assert worst[1].split()[:2] == ["5.00", "f20(x)"] and worst[10].split()[:2] == ["2.75", "f11(x)"]
    assert worst[-1].endswith("g(x): WRONG: far")


def test_turns_are_fewer_where_they_would_take_too_long():
    class Takes:
        def __init__(self, seconds):
            self.seconds = seconds

        def timeit(self, count):
            return count * self.seconds

    assert in_turns([Takes(1e-3), Takes(1e-4)], 1e-2, 5) == [[1e-3, 1e-4]] * 5
    assert len(in_turns([Takes(0.2), Takes(0.1)], 1e-2, 5, 1.0)) == 3
    assert in_turns([Takes(7), Takes(9)], 1e-2, 5, 1.0) == [[7, 9]]


def test_a_transform_gives_what_it_is_set_beside():
    each, whole = mapped.per_sample("gradspec")
    for one, other in zip(each(), whole(), strict=True):
        np.testing.assert_allclose(one.sum(axis=0).numpy(), other.numpy(), rtol=2e-4, atol=2e-4)
    together, loop = mapped.many_problems("gradspec")
    np.testing.assert_allclose(together().numpy(), np.stack([row.numpy() for row in loop()]), rtol=1e-10)
    second, value = mapped.laplacian("gradspec")
    assert second().shape == value().shape


def test_commands_of_a_build_are_run_without_what_is_for_ninja(tmp_path):
    command = "/usr/bin/ccache cc -Ia -O1 '-DA=b c' -MD -MQ a/m.c.o -MF a/m.c.o.d -o a/m.c.o -c gradspec.core.m.c"
    (tmp_path / "compile_commands.json").write_text(json.dumps([{"file": "gradspec.core.m.c", "command": command}]))
    (tmp_path / "build.ninja").write_text("build x.c: y\n COMMAND = python ../translate.py x.d . -3 -- gradspec.core.m=/m.pyx b=/b.pyx\n")
    assert compiling.compiler(tmp_path) == {
        "gradspec.core.m": ["/usr/bin/ccache", "cc", "-Ia", "-O1", "-DA=b c", "-c", "gradspec.core.m.c"]
    }
    start = ["python", "../translate.py", "x.d", ".", "-3"]
    assert compiling.translations(tmp_path) == [(start, ["gradspec.core.m=/m.pyx", "b=/b.pyx"])]
