"""What PyTorch's own tests ask of its profiler, asked of ours in our names.

Not asked: compiled graphs that fork, of which there are none (tasks of threads are asked instead), and other devices.
"""

import importlib
import inspect
import json
import math
from concurrent.futures import ThreadPoolExecutor

import pytest

import gradspec as gs
from gradspec.autograd.profiler import EventList, FunctionEvent, FunctionEventAvg, kineto_available, profile, record_function
from gradspec.autograd.profiler_util import FormattedTimesMixin


def outer(events):
    """The events that stand inside of no other, by their times alone."""
    found, last = [], -math.inf
    for event in events:
        if event.time_range.start >= last:
            found.append(event)
            last = event.time_range.end
    return found


def test_a_profile_is_on_inside_and_its_outer_events_are_the_operators():
    x = gs.randn(10, 10)
    with profile(use_kineto=kineto_available()) as profiled:
        assert gs.autograd._profiler_enabled()
        x * 2 + 4
    assert not gs.autograd._profiler_enabled()
    assert [event.name for event in outer(profiled.function_events)] == ["multiply", "add"]


def test_calls_and_nodes_have_one_number_and_parts_of_calls_have_none():
    with profile() as profiled:
        x, y = gs.randn(10, 10, requires_grad=True), gs.randn(10, 10, requires_grad=True)
        (x + y).sum().backward()
    numbers = {event.name: event.sequence_nr for event in profiled.function_events}
    assert numbers["add"] == numbers["AddBackward"] >= 0 and numbers["sum"] == numbers["SumBackward"] >= 0
    assert numbers["add"] != numbers["sum"] and numbers["randn"] == -1


def test_an_operator_in_place_that_gives_its_operand_is_an_event():
    x = gs.rand(3, 4)
    with profile() as profiled:
        x.copy_(x).squeeze_()
    assert [event.name for event in profiled.function_events][:1] == ["copy_"]


def test_ranges_of_tasks_are_found_where_each_task_is_profiled():
    def task(x):
        with profile() as profiled, record_function("in_task"):
            y = x * 2
        return y, profiled

    with profile() as profiled, record_function("around"), ThreadPoolExecutor(1) as pool:
        y, inner = pool.submit(task, gs.rand(3, 4)).result()
        with record_function("after"):
            y * 2
    assert [event.name for event in profiled.function_events] == ["around", "rand", "after", "multiply"]
    assert [event.name for event in inner.function_events] == ["in_task", "multiply"]


def test_ranges_stand_around_what_runs_in_them():
    def forward(x):
        with record_function("outer"):
            y = x * 2 + 4
            with record_function("inner"):
                y = y - 1
        return y / 1

    with profile() as profiled:
        forward(gs.randn(10, 10))
    assert [event.name for event in profiled.function_events] == ["randn", "outer", "multiply", "add", "inner", "subtract", "divide"]


def test_a_range_counts_once():
    x = gs.randn(10, 10)
    with profile() as profiled:
        with record_function("foo"):
            x * 2 + 4
    assert [event.count for event in profiled.function_events if "foo" in event.name] == [1]


def test_children_by_times_alone():
    def event(number, thread, start, end):
        return FunctionEvent(id=number, node_id=0, name="", thread=thread, start_us=start, end_us=end)

    events = EventList([event(1, 1, 0, 1), event(2, 1, 1, 2), event(3, 0, 0, 2), event(4, 0, 1, 2), event(5, 0, 1, 3)])
    events._populate_cpu_children()
    assert {parent.id: [child.id for child in parent.cpu_children] for parent in events if parent.cpu_children} == {5: [4]}


def test_the_text_of_a_profile_is_its_table():
    with profile() as profiled:
        gs.einsum("i->", gs.randn(1024))
    assert str(profiled) == profiled.table() and "einsum" in profiled.table()


def test_sums_of_events():
    average = FunctionEventAvg()
    average.add(FunctionEvent(id=0, node_id=0, name="foo", thread=0, start_us=10, end_us=15))
    average.add(FunctionEvent(id=1, node_id=0, name="foo", thread=0, start_us=20, end_us=30))
    average.add(average)
    assert (average.key, average.count, average.cpu_time_total, average.self_cpu_time_total) == ("foo", 4, 30, 30)
    assert average.cpu_time == 7.5 and average.device_time_total == 0 and isinstance(average, FormattedTimesMixin)


def test_shapes_of_a_network():
    x, first, second = gs.randn(128, 20), (gs.randn(30, 20), gs.randn(30)), (gs.randn(40, 30), gs.randn(40))
    with profile(record_shapes=True) as profiled:
        gs.nn.linear(gs.nn.linear(x, *first), *second)
    linear = [event.input_shapes for event in profiled.function_events if event.name == "linear"]
    assert linear == [[[128, 20], [30, 20], [30]], [[128, 30], [40, 30], [40]]]


def test_a_recurrent_network_and_its_tables(tmp_path):
    sizes = [(80, 10), (80, 20), (80,), (80,), (80, 20), (80, 20), (80,), (80,)]
    weights = [gs.randn(*size) for size in sizes]
    with profile(record_shapes=True) as profiled:
        for _ in range(3):
            gs.nn.lstm(gs.randn(5, 3, 10), (gs.randn(2, 3, 20), gs.randn(2, 3, 20)), weights, True, 2)
    assert "TEST" in profiled.table(sort_by="self_cpu_time_total", row_limit=10, header="TEST")
    assert "Input Shapes" in profiled.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=10)
    profiled.export_chrome_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert profiled.self_cpu_time_total >= sum(event.self_cpu_time_total for event in outer(profiled.function_events)) > 0


def test_memory_of_ranges():
    with profile(profile_memory=True, record_shapes=True) as profiled:
        with record_function("taken"):
            x = gs.rand(10, 10)
        with record_function("given back"):
            del x
    used = {row.key: row.cpu_memory_usage for row in profiled.key_averages(group_by_input_shape=True)}
    assert used["rand"] > 0 and used["taken"] > 0 and used["given back"] < 0


def test_nothing_is_said_of_other_devices():
    with profile(use_cuda=False) as profiled:
        gs.nn.linear(gs.randn(128, 20), gs.randn(30, 20))
    assert "cpu" in str(profiled).lower() and "cuda" not in str(profiled).lower()


# What PyTorch's classes have and ours have not: other devices, a file that `memory()` is instead of, its recorder's settings.
NOT_HERE = {"cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage", "append_kernel", "export_memory_timeline", "config"}
CLASSES = [("profiler", "profile"), ("profiler", "record_function"), ("autograd.profiler", "profile"), ("autograd.profiler", "record_function"),
           *[("autograd.profiler_util", name) for name in ("EventList", "FunctionEvent", "FunctionEventAvg", "Interval")]]  # fmt: skip


@pytest.mark.parametrize("module, name", CLASSES)
def test_classes_have_the_names_and_the_arguments_of_pytorchs(module, name):
    pytest.importorskip("torch")
    theirs, ours = (getattr(importlib.import_module(f"{package}.{module}"), name) for package in ("torch", "gradspec"))
    missing = [attribute for attribute in dir(theirs) if not attribute.startswith("_") and not hasattr(ours, attribute)]
    if name == "FunctionEvent":  # what is said of one event
        made = ours(id=0, name="", thread=0, start_us=0, end_us=1)
        missing = [attribute for attribute in [*missing, *vars(theirs(0, "", 0, 0, 1))] if not attribute.startswith("_") and not hasattr(made, attribute)]
    assert set(missing) <= NOT_HERE
    for method in ["__init__", *[method for method in dir(theirs) if not method.startswith("_") and inspect.isfunction(getattr(theirs, method))]]:
        if method in NOT_HERE or name in ("EventList", "Interval") and method == "__init__":
            continue
        wanted, known = (inspect.signature(getattr(owner, method)).parameters for owner in (theirs, ours))
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
        assert takes_all or set(wanted) <= set(known), (method, set(wanted) - set(known))
        for argument in wanted.keys() & known.keys():
            assert wanted[argument].default == known[argument].default or known[argument].default is not inspect.Parameter.empty, (method, argument)


def test_what_pytorch_calls_otherwise_is_said():
    for name in ("ExecutionTraceObserver", "itt"):
        with pytest.raises(AttributeError):
            getattr(gs.profiler, name)
    with pytest.raises(AttributeError, match="write gs.profiler.profile"):
        gs.profiler.ExecutionTraceObserver  # noqa: B018


def test_activities_are_named_once():
    from gradspec.profiler import ProfilerActivity, profile

    assert profile(activities=[{ProfilerActivity.CPU: ["range"]}]).activities == {ProfilerActivity.CPU}
    with pytest.raises(ValueError, match="more than once"):
        profile(activities=[ProfilerActivity.CPU, {ProfilerActivity.CPU: []}])
    with pytest.raises(TypeError, match="expected a ProfilerActivity"):
        profile(activities=["cpu"])


def test_a_collection_is_turned_off_and_on():
    from gradspec.profiler import ProfilerActivity, profile

    x = gs.ones(3)
    with profile() as profiled:
        gs.exp(x)
        profiled.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        gs.sin(x)
        profiled.toggle_collection_dynamic(True, [ProfilerActivity.CUDA])
        gs.sin(x)
        profiled.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        gs.cos(x)
        profiled.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
    assert [event.name for event in profiled.events()] == ["exp", "cos"]


def test_a_trace_has_a_name(tmp_path):
    names = iter(["first", "second"])
    with gs.profiler.profile(custom_trace_id_callback=lambda: next(names)) as profiled:
        gs.ones(3)
    assert profiled.get_trace_id() == "first"
    profiled.profiler.export_chrome_trace(tmp_path / "trace.json", {"about": [1, 2]})
    written = json.loads((tmp_path / "trace.json").read_text())
    assert written["trace_id"] == "first" and written["about"] == [1, 2]
    by_chance = gs.profiler.profile()
    assert by_chance.get_trace_id() is None
    by_chance.set_custom_trace_id_callback(lambda: "mine")
    with by_chance:
        pass
    assert by_chance.get_trace_id() == "mine" and len(profile().create_trace_id()) == 32
    with pytest.raises(ValueError, match="non-negative"):
        profile(post_processing_timeout_s=-1)


def test_a_trace_without_a_schedule():
    profiled = gs.profiler.profile()
    with pytest.raises(AssertionError):
        profiled.stop_trace()
    profiled.prepare_trace()
    profiled.start_trace()
    gs.ones(3)
    profiled.stop_trace()
    assert [event.name for event in profiled.events()] == ["ones"]


def test_what_an_event_is_said_to_be_is_kept():
    event = FunctionEvent(0, "add", 1, 0, 2, concrete_inputs=[[], 2], is_python_function=True, python_id=4)
    assert event.concrete_inputs == [[], 2] and event.is_python_function and event.python_id == 4 and event.device_index == 0
    with pytest.raises(TypeError, match="no argument 'colour'"):
        FunctionEvent(0, "add", 1, 0, 2, colour=3)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        event.colour  # noqa: B018
