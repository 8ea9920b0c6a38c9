"""What a graph keeps alive: which arrays, how many bytes, of which line; by counting by hand what each rule names."""

import inspect

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.graph import saved_memory


def rows(root):
    return {(row.node, row.name): (row.shape, row.nbytes, row.leaf) for row in saved_memory(root)}


def test_each_array_counts_once_with_its_operator_and_line():
    x = gs.ones((1000,), requires_grad=True)
    line = inspect.currentframe().f_lineno + 1
    y = gs.exp(x)
    z = gs.multiply(y, y)
    found = saved_memory(z.sum())
    assert [(row.node, row.shape, row.nbytes) for row in found] == [("ExpBackward", (1000,), 8000)]
    assert found[0].line == f"{__file__}:{line}" and found.nbytes == 8000


def test_a_parameter_is_shown_and_not_counted():
    a, b = gs.ones((30, 40), requires_grad=True), gs.ones((40, 2))
    found = saved_memory(a @ b)
    assert rows(a @ b) == {("MatmulBackward", "b"): ((40, 2), 640, False)} and found.nbytes == 640
    b.requires_grad_()
    found = saved_memory(a @ b)
    assert {(row.name, row.leaf) for row in found} == {("a", True), ("b", True)} and found.nbytes == 0


def test_a_view_keeps_the_whole_array():
    x, whole = gs.ones(10, requires_grad=True), gs.ones((100, 10))
    assert rows(x * whole[3]) == {("MultiplyBackward", "b"): ((10,), 8000, False)}


def test_nothing_is_left_when_backward_has_run():
    x = gs.ones(1000, requires_grad=True)
    y = gs.tanh(gs.exp(x)).sum()
    assert saved_memory(y).nbytes > 0
    y.backward()
    assert saved_memory(y).nbytes == 0 and saved_memory(x) == []


def test_custom_functions_and_several_roots():
    class Twice(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 1, x * 3)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = gs.ones(10, requires_grad=True)
    y = Twice.apply(x)
    assert sorted((row.name, row.nbytes) for row in saved_memory([y, y.grad_fn])) == [("saved_tensors[0]", 80), ("saved_tensors[1]", 80)]
    y.sum().backward()
    assert saved_memory(y) == []


def test_what_hooks_hold_is_not_looked_into():
    x = gs.ones(1000, requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(lambda tensor: "elsewhere", lambda packed: pytest.fail("unpacked")):
        y = gs.exp(x)
    assert saved_memory(y) == []


def test_it_is_shown_as_text_and_in_notebooks():
    x = gs.ones((1024,), requires_grad=True)
    found = saved_memory(gs.exp(x))
    assert "ExpBackward" in str(found) and "float64[1024]" in str(found) and str(found).endswith("saved by the graph: 8.00 KB")
    assert "<td>ExpBackward</td>" in found._repr_html_()


def test_the_sum_is_what_dies_with_the_graph():
    """Beside the arrays that a listener sees come and go."""
    rng = np.random.default_rng(0)
    x = gs.asarray(rng.normal(size=(64, 64)))
    weights = [gs.tensor(rng.normal(size=(64, 64)), requires_grad=True) for _ in range(3)]
    with gs.profiler.profile(profile_memory=True) as profiled:
        y = x
        for weight in weights:
            y = gs.tanh(y @ weight)
        y = y.sum()
        saved = saved_memory(y).nbytes
        with gs.profiler.record_function("free"):
            del y
    (free,) = [event for event in profiled.events() if event.name == "free"]
    assert -free.cpu_memory_usage == pytest.approx(saved - x.nbytes, abs=64)
