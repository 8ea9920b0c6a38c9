"""Lists of events: their tree, their sums, their table beside PyTorch's, stacks for flame graphs, what a notebook shows."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.profiler import profile
from gradspec.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from gradspec.profiler import flame_graph

TORCH = "compares with PyTorch's tables, and PyTorch is not installed"


def test_events_stand_inside_of_those_whose_times_hold_theirs():
    spans = [(0, "parent", 1, 0, 100), (1, "part", 1, 10, 50), (2, "inside", 1, 20, 30), (3, "last", 1, 60, 100), (4, "other", 2, 5, 95),
             (5, "partly", 1, 90, 120), (6, "alone", 1, 130, 140)]  # fmt: skip
    events = EventList([FunctionEvent(id=i, node_id=0, name=name, thread=thread, start_us=start, end_us=end)
                        for i, name, thread, start, end in reversed(spans)])  # fmt: skip
    events._populate_cpu_children()
    children = {event.name: [child.name for child in event.cpu_children] for event in events}
    assert children == {"parent": ["part", "last"], "part": ["inside"], "inside": [], "last": [], "other": [], "partly": [], "alone": []}
    times = {event.name: event.self_cpu_time_total for event in events}
    assert times == {"parent": 20, "part": 30, "inside": 10, "last": 40, "other": 90, "partly": 30, "alone": 10}


def test_events_of_two_processes_do_not_stand_inside_of_each_other():
    events = EventList([FunctionEvent(id=i, node_id=i, name="a", thread=0, start_us=i, end_us=10 - i) for i in range(2)])
    events._populate_cpu_children()
    assert [event.cpu_children for event in events] == [[], []]


def test_an_event_that_only_holds_one_of_its_name_is_that_one():
    events = EventList([FunctionEvent(id=i, name=name, thread=0, start_us=i, end_us=20 - i) for i, name in enumerate(["a", "a", "b", "a"])])
    events._build_tree()
    assert [event.name for event in events] == ["a", "b", "a"]
    assert [child.name for child in events[0].cpu_children] == ["b"] and events[1].cpu_parent is events[0]


def test_sums_of_events():
    average = FunctionEventAvg()
    for start, end in ((0, 3), (10, 17)):
        event = FunctionEvent(id=2, node_id=0, name="foo", thread=0, start_us=start, end_us=end, cpu_memory_usage=8)
        assert average.add(event) is average
    average += average
    assert (average.key, average.count, average.cpu_time_total, average.self_cpu_time_total) == ("foo", 4, 20, 20)
    assert (average.cpu_time, average.device_time_total, average.cpu_memory_usage, average.cpu_time_str) == (5, 0, 32, "5.000us")
    with pytest.raises(AssertionError, match="one name"):
        average.add(FunctionEvent(id=0, name="bar", thread=0, start_us=0, end_us=1))
    with pytest.raises(AssertionError, match="FunctionEvent"):
        average.add("bar")


def hand_made(event, events, flops):
    """Events of each kind of name and time, made by the classes of either library."""
    made = []
    for i in range(12):
        name = ["short", "a_name_that_is_rather_long_" * 3, "outer"][i % 3]
        made.append(event(id=i, name=name, thread=0, start_us=i * 1000.25, end_us=i * 1000.25 + [0.5, 900, 2e6][i % 3] / (1 + i),
                          cpu_memory_usage=[0, 5000, -(3 << 20)][i % 3], input_shapes=[[i % 2, 3], []], stack=["f.py(3): g", "main"][: i % 4],
                          flops=[0, 10, 2500][i % 3]))  # fmt: skip
    return events(made, profile_memory=True, with_flops=flops)


TABLES = [
    {}, {"sort_by": "self_cpu_time_total"}, {"row_limit": 3, "header": "TITLE"}, {"top_level_events_only": True}, {"time_unit": "ms"},
    {"max_name_column_width": 20, "max_shapes_column_width": 12, "max_src_column_width": 8}, {"sort_by": "cpu_memory_usage", "row_limit": -1},
]  # fmt: skip


def test_tables_are_those_of_pytorch():
    pytest.importorskip("torch", reason=TORCH)
    from torch.autograd import profiler_util as theirs

    for averages in (None, {}, {"group_by_input_shapes": True}, {"group_by_stack_n": 2}):
        stacks = averages is None or "group_by_stack_n" in averages  # beside which PyTorch puts operations under another title
        for settings in TABLES:
            tables = []
            for module in (gs.autograd.profiler_util, theirs):
                events = hand_made(module.FunctionEvent, module.EventList, not stacks)
                events._build_tree()
                tables.append((events if averages is None else events.key_averages(**averages)).table(**settings))
            ours, expected = [[line.rstrip() for line in table.splitlines()] for table in tables]
            assert ours == expected, (averages, settings)


def step():
    x, weight = gs.ones((4, 3)), gs.ones((3, 2), requires_grad=True)
    gs.tanh(x @ weight).sum().backward()


def test_tables_of_a_program():
    with profile(record_shapes=True) as profiled:
        step()
    assert str(profiled) == profiled.table()
    for settings in ({"sort_by": "self_cpu_time_total", "row_limit": 10, "header": "TEST"}, {"top_level_events_only": True, "row_limit": 10}):
        table = profiled.table(**settings)
        assert "Self CPU time total" in table and ("TEST" in table) == ("header" in settings)
    assert "MatmulBackward" not in profiled.table(top_level_events_only=True)
    assert "[[4, 3], [3, 2]]" in profiled.key_averages(group_by_input_shape=True).table()
    assert len(profiled.key_averages().table(row_limit=2).splitlines()) == 7
    assert EventList().table() == ""


def test_sums_by_name_are_those_of_the_events():
    with profile() as profiled:
        for _ in range(3):
            step()
    for average in profiled.key_averages():
        events = [event for event in profiled.function_events if event.key == average.key]
        if events:
            assert average.count == len(events) and average.cpu_time_total == pytest.approx(sum(event.cpu_time_total for event in events))
    assert {average.key: average.count for average in profiled.key_averages()}["tanh"] == 3


def test_the_sum_of_own_times_has_the_time_between_the_events():
    between = FunctionEventAvg().add(FunctionEvent(id=1, name="between", thread=0, start_us=0, end_us=5))
    events = EventList([FunctionEvent(id=0, name="a", thread=0, start_us=0, end_us=3, flops=7)], between=[between])
    events._build_tree()
    assert events.self_cpu_time_total == events.key_averages().self_cpu_time_total == events.total_average().self_cpu_time_total == 8
    assert [average.key for average in events.key_averages()] == ["a", "between"]
    assert EventList().self_cpu_time_total == 0 and EventList().changes == () and "FLOPs" not in events.table()


def test_averages_want_the_tree():
    with pytest.raises(AssertionError, match="tree"):
        EventList().key_averages()


def test_stacks_for_flame_graphs(tmp_path):
    path = tmp_path / "stacks.txt"
    with profile() as without, pytest.raises(AssertionError, match="with_stack"):
        without.export_stacks(str(path))
    with profile(with_stack=True) as profiled:
        for _ in range(20):
            step()
    profiled.export_stacks(str(path))
    lines = path.read_text().splitlines()
    assert lines and all(re.fullmatch(r"\S+ \d+", line) for line in lines)
    assert all(line.split(" ")[0].endswith("step") or "test_stacks" in line.split(";")[-1] for line in lines)
    with pytest.raises(ValueError, match="self_cpu_time_total"):
        profiled.export_stacks(str(path), "cuda")


def test_what_a_notebook_shows():
    with profile(profile_memory=True) as profiled:
        step()
    shown = profiled._repr_html_()
    table, picture = shown[: shown.index("<svg")], shown[shown.index("<svg") :]
    assert "<code>matmul</code>" in table and "CPU Mem" in table and "[between operators]" in table
    boxes = ElementTree.fromstring(picture).findall("{*}g")
    assert {"backward", "tanh"} <= {box.find("{*}title").text.split(":")[0] for box in boxes}
    ElementTree.fromstring(table)


def test_boxes_of_a_flame_graph_are_as_wide_as_their_times():
    spans = [("a", 0, 60), ("b", 10, 40), ("c", 60, 100), ("a", 100, 120)]
    events = EventList([FunctionEvent(id=i, name=name, thread=0, start_us=start, end_us=end) for i, (name, start, end) in enumerate(spans)])
    events._build_tree()
    boxes = ElementTree.fromstring(flame_graph.svg_of(events)).findall("{*}g")
    found = {box.find("{*}text").text: [float(box.find("{*}rect").get(name)) for name in ("x", "y", "width")] for box in boxes}
    unit = flame_graph.WIDTH / 120
    assert found["a"] == pytest.approx([0, 0, 80 * unit], abs=0.1) and found["c"] == pytest.approx([80 * unit, 0, 40 * unit], abs=0.1)
    assert found["b"] == pytest.approx([0, flame_graph.HEIGHT, 30 * unit], abs=0.1)
    assert flame_graph.svg_of(EventList()) == ""


def test_names_of_the_user_are_text_and_no_html():
    with profile() as profiled, gs.profiler.record_function("<b>&"):
        gs.exp(np.ones(3))
    assert "<b>" not in profiled._repr_html_()
    json.dumps([event.name for event in profiled.function_events])
