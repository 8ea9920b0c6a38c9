"""The recorder: what it writes down of each event, and the bytes that are alive."""

import gc
import sys
import time

import numpy as np
import pytest

import gradspec as gs
from gradspec.profiler import recorder
from gradspec.profiler.recorder import CHANGE, ROW, Recorder


def recorded(program, **settings):
    with Recorder(**settings) as listener:
        program()
    rows, changes, kinds, names, shapes, stacks = listener.taken()
    rows = np.frombuffer(rows, ROW)
    return rows, np.frombuffer(changes, CHANGE), [kinds[row["kind"]] for row in rows], [names[row["name"]] for row in rows], shapes, stacks


def test_a_row_for_each_event_in_the_order_of_beginnings():
    x = gs.ones(3, requires_grad=True)
    rows, changes, kinds, names, _, _ = recorded(lambda: gs.exp(x).sum().backward())
    assert list(zip(kinds, names)) == [("operator", "exp"), ("operator", "sum"), ("pass", "backward"), ("node", "SumBackward"),
                                       ("node", "ExpBackward"), ("node", "AccumulateGrad")]  # fmt: skip
    assert (rows["end"] >= rows["start"]).all() and (np.diff(rows["start"]) > 0).all() and not rows["failed"].any()
    assert (rows[["inputs", "outputs", "stack"]].tolist() == np.array((-1, -1, -1))).all() and len(changes) == 0
    assert len(set(rows["thread"])) == 1 and (rows["origin"][:5] > 0).all()


def test_a_failure_is_noted():
    def program():
        with pytest.raises(ValueError):
            gs.ones(3) + gs.ones(4)

    rows, _, _, names, _, _ = recorded(program)
    assert dict(zip(names, rows["failed"])) == {"ones": 0, "add": 1}


def test_more_events_than_there_was_room_for():
    x = gs.ones(2)
    rows, *_ = recorded(lambda: [gs.exp(x) for _ in range(5000)])
    assert len(rows) == 5000 and (rows["end"] > 0).all()


def test_bytes_are_counted_until_their_array_dies():
    kept = []

    def program():
        kept.append(gs.zeros(1000))  # 8000
        gs.ones(500)  # 4000, and gone
        kept.append(kept[0] * 2)  # 8000
        kept.append(kept[1][10:20])  # a view
        kept[1].multiply_(3)  # in place
        del kept[0]

    rows, changes, _, _, _, _ = recorded(program, memory=True)
    assert changes["bytes"].tolist() == [8000, 4000, -4000, 8000, -8000]
    assert changes["live"].tolist() == [8000, 12000, 8000, 16000, 8000] and (np.diff(changes["time"]) >= 0).all()
    assert rows["bytes"].tolist() == [8000, 4000, 8000, 0, 0]


def test_what_was_there_before_does_not_count():
    x, out = gs.zeros(1000), gs.zeros(1000)

    def program():
        x.add_(1)
        gs.exp(x, out=out)
        x[:10] = 3

    _, changes, *_ = recorded(program, memory=True)
    assert changes["live"].max(initial=0) <= 80


def test_what_dies_after_the_end_is_not_counted():
    with Recorder(memory=True) as listener:
        x = gs.zeros(1000)
    del x
    gc.collect()
    assert np.frombuffer(listener.taken()[1], CHANGE)["bytes"].tolist() == [8000]


def test_a_tensor_made_of_numbers_counts():
    kept = []
    _, changes, *_ = recorded(lambda: kept.append(gs.tensor([1.0, 2.0])), memory=True)
    assert changes["bytes"].tolist() == [16]


def test_shapes_and_stacks_are_kept_once():
    x = gs.ones((2, 3))
    rows, _, _, _, shapes, stacks = recorded(lambda: [gs.exp(x) for _ in range(50)], shapes=True, stack=True)
    assert len(set(rows["inputs"])) == 1 and shapes[rows["inputs"][0]] == ("several", (2, 3)) and shapes[rows["outputs"][0]] == (2, 3)
    assert len(stacks) == 1 and stacks[0][0][0].co_filename == __file__


def test_stacks_are_told_apart_though_functions_come_and_go():
    """A new function may get the address of one that is gone, and two that are written alike are equal."""
    wanted = []

    def program():
        for i in range(300):
            names = {"gs": gs, "x": x}
            exec(compile(f"def f{i % 7}():\n    return gs.exp(x)", f"file {i}", "exec"), names)
            names[f"f{i % 7}"]()
            wanted.append((f"file {i}", f"f{i % 7}", 2))

    x = gs.ones(2)
    rows, _, _, _, _, stacks = recorded(program, stack=True)
    innermost = [stacks[row["stack"]][0] for row in rows]
    assert [(code.co_filename, code.co_name, line) for code, line in innermost] == wanted


def test_stacks_of_any_depth():
    def down(n):
        return gs.exp(x) if n == 0 else down(n - 1)

    x, depth = gs.ones(2), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(4000)
        rows, _, _, _, _, stacks = recorded(lambda: (down(3000), down(0)), stack=True)
    finally:
        sys.setrecursionlimit(depth)
    assert [sum(code.co_name == "down" for code, _ in stacks[row["stack"]]) for row in rows] == [3001, 1]


@pytest.mark.parametrize("values", [
    [gs.ones((2, 3)), gs.ones(())], [gs.ones((0, 3)), 2.0], [[gs.ones(2), gs.ones(3)]], [gs.ones((1,) * 60), gs.ones((1,) * 40)],
])  # fmt: skip
def test_shapes_are_those_of_the_operands(values):
    rows, _, _, _, shapes, _ = recorded(lambda: gs.concat(*values) if isinstance(values[0], list) else gs.add(*values), shapes=True)
    expected = ("several", ("several", (2,), (3,)), None) if isinstance(values[0], list) else (
        "several", *[getattr(value, "shape", None) for value in values])  # fmt: skip
    assert shapes[rows["inputs"][-1]] == expected


def test_a_list_of_numbers_is_not_looked_through():
    numbers, x = [1.0] * 100_000, gs.ones(3)
    rows, _, _, names, shapes, _ = recorded(lambda: (gs.concatenate([x, x], 0), gs.sum(numbers)), shapes=True, memory=True)
    known = [shapes[row["inputs"]] for row in rows]
    assert known[0][1] == ("several", (3,), (3,)) and known[names.index("sum")][1] is None


def test_a_reading_of_the_clock_goes_forward():
    times = [recorder.now() for _ in range(1000)]
    assert times == sorted(times) and abs(times[-1] - time.monotonic_ns()) < 10**9 or time.get_clock_info("monotonic").implementation != "clock_gettime(CLOCK_MONOTONIC)"
