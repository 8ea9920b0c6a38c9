"""Profiles as users make them: `gs.autograd.profiler.profile` and `gs.profiler.profile`, ranges, pairs of calls and nodes, the sum."""

import cProfile
import doctest
import importlib
import json
import os
import pstats
import re
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.profiler import profile
from gradspec.profiler import ProfilerActivity, record_function, schedule, session

EVALUATE = "autograd::engine::evaluate_function: "
BETWEEN = "[between operators]"


def names(profiled):
    return [event.name for event in profiled.function_events]


def trained(steps=1):
    x, weight = gs.ones((4, 3)), gs.ones((3, 2), requires_grad=True)
    for _ in range(steps):
        (gs.tanh(x @ weight) * 2).sum().backward()


def test_the_operators_have_their_names_and_the_thread_says_that_it_is_profiled():
    x = gs.ones((10, 10))
    assert not gs.autograd._profiler_enabled()
    with profile() as profiled:
        assert gs.autograd._profiler_enabled()
        x * 2 + 4
    assert not gs.autograd._profiler_enabled()
    assert names(profiled) == ["multiply", "add"]


def test_a_call_and_its_node_share_a_number():
    x, y = gs.ones((10, 10), requires_grad=True), gs.ones((10, 10), requires_grad=True)
    with profile() as profiled:
        (x + y).sum().backward()
    found = {name: [event for event in profiled.function_events if event.name == name or f"{node}Backward" in event.name]
             for name, node in (("add", "Add"), ("sum", "Sum"))}  # fmt: skip
    for (name, events), node in zip(found.items(), ("AddBackward", "SumBackward")):
        assert [event.name for event in events] == [name, EVALUATE + node, node]
        assert len({event.sequence_nr for event in events}) == 1 and events[0].sequence_nr >= 0
        assert events[0].fwd_thread == 0 and events[1].fwd_thread == events[2].fwd_thread == events[0].thread
        assert [event.scope for event in events] == [0, 0, 1]
    assert found["add"][0].sequence_nr != found["sum"][0].sequence_nr
    leaves = [event for event in profiled.function_events if "AccumulateGrad" in event.name]
    assert len(leaves) == 4 and {event.sequence_nr for event in leaves} == {-1}


def test_a_call_that_records_nothing_has_no_number():
    with profile() as profiled:
        gs.ones(3) * 2
    assert [event.sequence_nr for event in profiled.function_events if event.name == "multiply"] == [-1]


def test_a_node_that_runs_in_another_thread_is_paired_with_the_call():
    """PyTorch runs nodes in threads of its own; here a thread may walk a graph that another one recorded."""
    x, results = gs.ones(3, requires_grad=True), {}

    def forward():
        with profile() as results["forward"]:
            results["y"] = gs.exp(x).sum()

    def backward():
        with profile() as results["backward"]:
            results["y"].backward()

    for step in (forward, backward):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    number = {event.name: event.sequence_nr for event in results["forward"].function_events}
    nodes = {event.name: event.sequence_nr for event in results["backward"].function_events}
    assert number["exp"] == nodes["ExpBackward"] and number["sum"] == nodes["SumBackward"] and number["exp"] != number["sum"]


def test_ranges_operators_and_ranges_inside_come_in_their_order():
    x = gs.ones((10, 10))

    def forward(x):
        with record_function("outer"):
            y = x * 2 + 4
            with record_function("inner"):
                y = y - 1
        return y / 1

    with profile() as profiled:
        forward(x)
    assert names(profiled) == ["outer", "multiply", "add", "inner", "subtract", "divide"]
    outer, multiply, _, inner, subtract, divide = profiled.function_events
    assert multiply.cpu_parent is outer and subtract.cpu_parent is inner and inner.cpu_parent is outer and divide.cpu_parent is None
    assert outer.is_user_annotation and not multiply.is_user_annotation


def test_a_range_decorates_functions_that_call_themselves():
    @record_function("call")
    def count(n):
        return gs.exp(gs.ones(2)) if n == 0 else count(n - 1)

    with profile() as profiled:
        count(2)
    ranges = [event for event in profiled.function_events if event.is_user_annotation]
    assert {event.name for event in ranges} == {"call"} and "exp" in names(profiled)
    count(1)  # when nobody listens


def test_ranges_that_end_out_of_order_or_in_another_thread():
    with profile() as profiled:
        first, second = record_function("first"), record_function("second")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        y = gs.exp(gs.ones(2))
        second.__exit__(None, None, None)
        third = record_function("third")
        third.__enter__()
        thread = threading.Thread(target=third.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        gs.sin(y)
    assert names(profiled) == ["first", "second", "ones", "exp", "third", "sin"]
    times = {event.name: event.time_range for event in profiled.function_events}
    assert times["first"].end < times["exp"].start < times["exp"].end < times["second"].end
    assert all(event.cpu_time_total >= 0 for event in profiled.function_events)


def test_pythons_own_tools():
    """docs/observe.md: operators are not among what they are told of, but where a call by name is an event."""
    def program():
        for _ in range(20):
            gs.exp(x @ x)

    x, heard = gs.ones((64, 64)), []
    timed = cProfile.Profile()
    timed.runcall(program)
    stats = pstats.Stats(timed)
    functions = {name: row for (_, _, name), row in stats.stats.items()}
    assert "program" in functions and not any("exp" in name or "matmul" in name for name in functions)
    assert functions["program"][2] > 0.8 * stats.total_tt  # its own time has that of the operators
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: heard.append((event, frame.f_code.co_name)))
    try:
        program()
    finally:
        sys.setprofile(before)
    assert ("call", "program") in heard and not any(event.startswith("c_") and name == "program" for event, name in heard[:-1])
    if sys.version_info >= (3, 12):
        assert "exp" in called_by_monitoring(program)


def called_by_monitoring(program):
    names, monitoring = [], sys.monitoring
    monitoring.use_tool_id(monitoring.PROFILER_ID, "names")
    monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.CALL,
                                 lambda code, offset, function, argument: names.append(getattr(function, "__name__", "")))  # fmt: skip
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.CALL)
    try:
        program()
    finally:
        monitoring.set_events(monitoring.PROFILER_ID, 0)
        monitoring.free_tool_id(monitoring.PROFILER_ID)
    return names


def test_a_profile_of_a_program_that_fails():
    with pytest.raises(ValueError, match="shape|broadcast"), profile() as profiled:
        gs.ones(3) + gs.ones(4)
    assert "add" in names(profiled) and not gs.autograd._profiler_enabled()


def test_the_sum_of_a_profile_is_the_wall_time():
    """Python between the operators has a row of its own."""
    trained()
    with profile() as profiled:
        start = time.perf_counter_ns()
        for _ in range(20):
            trained()
            time.sleep(0.001)
        wall = (time.perf_counter_ns() - start) / 1000
    averages = profiled.key_averages()
    assert sum(event.self_cpu_time_total for event in averages) == pytest.approx(wall, rel=0.02)
    assert profiled.self_cpu_time_total == pytest.approx(wall, rel=0.02)
    assert profiled.total_average().self_cpu_time_total == pytest.approx(wall, rel=0.02)
    (between,) = [event for event in averages if event.key == BETWEEN]
    assert between.self_cpu_time_total > 20 * 1000
    assert all(event.self_cpu_time_total >= -1e-6 for event in averages)


def test_a_deep_pass_counts_once_though_it_runs_on_the_stack_of_another_thread():
    @gs.enable_grad()
    def nested(depth):
        x = gs.ones(3, requires_grad=True)
        y = gs.exp(x)
        if depth:
            y.register_hook(lambda grad: nested(depth - 1))
        y.sum().backward()

    with profile() as profiled:
        start = time.perf_counter_ns()
        nested(150)
        wall = (time.perf_counter_ns() - start) / 1000
    assert sum(event.name == "exp" for event in profiled.function_events) == 151
    assert {event.thread for event in profiled.function_events} == {1}
    assert profiled.self_cpu_time_total == pytest.approx(wall, rel=0.02)


def test_events_have_the_line_of_the_user():
    with profile() as profiled:
        gs.exp(gs.ones(3, requires_grad=True)).sum().backward()
    lines = {event.name: event.line for event in profiled.function_events}
    assert lines["exp"] == lines["ExpBackward"] and lines["exp"].rpartition(":")[0] == __file__


def test_shapes_of_what_operators_take():
    x, weight, bias = gs.ones((20, 50)), gs.ones((30, 50)), gs.ones(30)
    with profile(record_shapes=True) as profiled:
        gs.nn.linear(x, weight, bias)
        gs.concatenate([x, x], 0)
    linear, joined = profiled.function_events
    assert linear.input_shapes[:3] == [[20, 50], [30, 50], [30]]
    assert joined.input_shapes[0] == [] and joined.structured_input_shapes[0] == [[20, 50], [20, 50]]
    assert {str(event.input_shapes) for event in profiled.key_averages(group_by_input_shape=True)} >= {str(linear.input_shapes)}


def test_stacks_are_those_of_the_functions_that_run():
    def inner():
        return gs.exp(gs.ones(3, requires_grad=True))

    with profile(with_stack=True) as profiled:
        inner().sum().backward()
    events = {event.name: event for event in profiled.function_events}
    assert ["inner" in entry for entry in events["exp"].stack[:2]] == [True, False]
    assert events["ExpBackward"].stack == events["exp"].stack
    assert any("inner" in entry for average in profiled.key_averages(group_by_stack_n=3) for entry in average.stack)


def test_hooks_functions_and_leaves_have_rows():
    class Twice(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = gs.ones(3, requires_grad=True)
    x.register_hook(lambda grad: grad)
    with profile() as profiled:
        Twice.apply(x).sum().backward()
    found = names(profiled)
    assert {"Twice", "TwiceBackward", "AccumulateGrad", "backward"} <= set(found) and any(name.startswith("hook ") for name in found)
    function = next(event for event in profiled.function_events if event.name == "Twice")
    node = next(event for event in profiled.function_events if event.name == "TwiceBackward")
    assert [child.name for child in function.cpu_children] == ["multiply"] and function.sequence_nr == node.sequence_nr


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_that_runs_again_has_a_row(reentrant):
    x = gs.ones(3, requires_grad=True)
    with profile() as profiled:
        gs.utils.checkpoint.checkpoint(lambda x: gs.exp(gs.sin(x)), x, use_reentrant=reentrant).sum().backward()
    (again,) = [event for event in profiled.function_events if event.name == "checkpoint"]
    assert again.cpu_parent is not None and "sin" in [child.name for child in again.cpu_children]


def test_the_peak_and_its_moment():
    with gs.profiler.profile(profile_memory=True) as profiled:
        kept = gs.zeros(1000)
        gs.ones(500)
        gs.exp(kept)
    peak = max(profiled.memory(), key=lambda change: change.live)
    exp = next(event for event in profiled.events() if event.name == "exp")
    assert peak.live == 16000 and peak.bytes == 8000 and exp.time_range.start < peak.time
    with gs.profiler.profile() as without:
        pass
    with pytest.raises(AssertionError, match="profile_memory"):
        without.memory()


def test_the_programs_of_the_page():
    """docs/observe.md."""
    text = (Path(__file__).parents[3] / "docs/observe.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(programs) >= 2
    exec("\n".join(programs), {})


@pytest.mark.parametrize("name", ["profiler.profile", "profiler.session", "profiler.record_function", "profiler.schedule", "autograd.saved_memory"])
def test_the_examples_of_docstrings(name):
    found = doctest.testmod(importlib.import_module(f"gradspec.{name}"), extraglobs={"gs": gs})
    assert found.failed == 0 and found.attempted > 0


def test_a_profile_that_is_not_enabled_or_not_over():
    with profile(enabled=False):
        assert not gs.autograd._profiler_enabled()
    unfinished = profile()
    with unfinished:
        assert str(unfinished) == "<unfinished profile>"
        with pytest.raises(AssertionError, match="has not been stopped"):
            unfinished.function_events  # noqa: B018
        with pytest.raises(RuntimeError, match="not reentrant"):
            unfinished.__enter__()
        with pytest.raises(RuntimeError, match="profiled already"):
            profile().__enter__()
    assert str(unfinished) == ""


def test_other_devices_are_warned_of():
    with pytest.warns(UserWarning, match="cuda is not available"):
        profile(use_cuda=True)


def test_a_full_profile_says_how_many_events_it_dropped():
    with pytest.warns(RuntimeWarning, match="86 events were dropped"), profile(limit=14) as profiled:
        for _ in range(50):
            gs.exp(gs.ones(2))
    assert len(profiled.function_events) == 14 and profiled.dropped == 86
    assert "86 events were dropped" in profiled.key_averages().table()


def test_a_profile_ends_in_the_thread_that_it_began_in():
    profiled, failures = profile(), []
    profiled.__enter__()

    def stop():
        try:
            profiled.__exit__(None, None, None)
        except RuntimeError as error:
            failures.append(str(error))

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    profiled.__exit__(None, None, None)
    assert failures == ["a profile is stopped by the thread that started it"]


# `gs.profiler.profile`.


def test_start_stop_and_the_results():
    profiled = gs.profiler.profile(activities=[ProfilerActivity.CPU])
    with pytest.raises(AssertionError, match="recorded nothing"):
        profiled.events()
    profiled.start()
    with pytest.raises(RuntimeError, match="runs already"):
        profiled.start()
    gs.exp(gs.ones(3))
    profiled.stop()
    assert [event.name for event in profiled.events()] == ["ones", "exp"] and profiled.total_average().count == 5
    with pytest.raises(RuntimeError, match="not started"):
        profiled.stop()


def test_steps_follow_the_schedule():
    handed = []

    def ready(profiled):
        handed.append((profiled.step_num, [event.trace_name for event in profiled.events() if event.is_user_annotation],
                       sum(event.name == "exp" for event in profiled.events())))  # fmt: skip

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with gs.profiler.profile(schedule=plan, on_trace_ready=ready) as profiled:
        for _ in range(12):
            gs.exp(gs.ones(2))
            profiled.step()
    assert handed == [(4, ["ProfilerStep#2", "ProfilerStep#3"], 2), (8, ["ProfilerStep#6", "ProfilerStep#7"], 2)]
    assert "ProfilerStep*" in [event.key for event in profiled.key_averages()]


def test_a_cycle_that_is_cut_short_is_handed_on():
    handed = []
    with gs.profiler.profile(schedule=schedule(wait=0, warmup=1, active=5), on_trace_ready=handed.append) as profiled:
        for _ in range(3):
            gs.exp(gs.ones(2))
            profiled.step()
    assert handed == [profiled] and sum(event.name == "exp" for event in profiled.events()) == 2


def test_events_of_all_cycles_are_kept_where_that_is_asked_for():
    with gs.profiler.profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=2), acc_events=True) as profiled:
        for _ in range(6):
            gs.exp(gs.ones(2))
            profiled.step()
    assert sum(event.name == "exp" for event in profiled.events()) == 2


@pytest.mark.parametrize("settings", [{}, {"with_stack": True, "record_shapes": True, "profile_memory": True, "with_flops": True}])
def test_results_are_the_same_under_a_profile(settings):
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(8, 5)), rng.normal(size=(5, 3))

    def gradient():
        w = gs.tensor(weight, requires_grad=True)
        gs.nn.softmax(gs.asarray(x) @ w, -1).square().sum().backward()
        return w.grad.numpy()

    expected = gradient()
    with warnings.catch_warnings(), gs.profiler.profile(**settings):
        warnings.simplefilter("error")
        np.testing.assert_array_equal(gradient(), expected)


def large_loop():
    x = gs.ones(1 << 21)
    with profile() as profiled, gs.profiler.record_function("around"):
        gs.exp(x)
    return profiled, [event for event in profiled.function_events if event.kind == "loop"]


def test_parts_of_large_loops_have_rows_on_the_threads_that_ran_them():
    before = gs.get_num_threads()
    gs.set_num_threads(2)
    try:
        for _ in range(50):  # a worker that wakes too late takes nothing
            profiled, parts = large_loop()
            if parts:
                break
        gs.set_num_threads(1)
        assert large_loop()[1] == []
    finally:
        gs.set_num_threads(before)
    (part,) = parts
    exp = next(event for event in profiled.function_events if event.name == "exp")
    assert part.name == "loop of exp" and part.thread != exp.thread and 0 < part.elements <= 1 << 21 and part.line == exp.line
    assert exp.time_range.start < part.time_range.start < part.time_range.end < exp.time_range.end
    assert part.cpu_time_total > 0 and part.self_cpu_time_total == 0 and part.cpu_parent is None and exp.cpu_children == []
    around = next(event for event in profiled.function_events if event.name == "around")
    outer = sum(row.self_cpu_time_total for row in profiled.key_averages())
    assert outer >= around.cpu_time_total and outer == pytest.approx(profiled.self_cpu_time_total)
    names = [entry["args"]["name"] for entry in traced(profiled) if entry["name"] == "thread_name"]
    assert names[part.thread - 1] == f"thread {part.thread} (loops 1)"


def traced(profiled):
    with tempfile.TemporaryDirectory() as folder:
        profiled.export_chrome_trace(f"{folder}/trace.json")
        return json.loads(Path(f"{folder}/trace.json").read_text())["traceEvents"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's, of a fork beside other threads
def test_a_fork_is_not_profiled_and_its_parent_goes_on():
    reading, writing = os.pipe()
    with profile(profile_memory=True) as profiled:
        gs.exp(gs.ones(3))
        child = os.fork()
        if child == 0:
            try:
                said = f"{gs.autograd._profiler_enabled()} "
                gs.sin(gs.ones(3))
                with profile() as own:
                    gs.cos(gs.ones(3))
                said += " ".join(event.name for event in own.function_events)
                os.write(writing, said.encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        gs.tanh(gs.ones(3))
    assert os.read(reading, 1000).decode() == "False ones cos"
    os.close(reading), os.close(writing)
    assert [event.name for event in profiled.function_events] == ["ones", "exp", "ones", "tanh"]


def test_a_child_may_leave_the_profile_that_its_parent_began():
    profiled = profile()
    profiled.__enter__()
    gs.exp(gs.ones(3))
    session._stop_in_child()
    gs.sin(gs.ones(3))
    profiled.__exit__(None, None, None)
    assert [event.name for event in profiled.function_events] == ["ones", "exp"]
