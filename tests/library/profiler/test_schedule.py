"""Which steps of a program are profiled, and the files of their traces."""

import gzip
import json
import os
import re
import socket

import pytest

import gradspec as gs
from gradspec.profiler import ProfilerAction, schedule, tensorboard_trace_handler


def actions(count, **settings):
    plan = schedule(**settings)
    return "".join({"NONE": ".", "WARMUP": "w", "RECORD": "r", "RECORD_AND_SAVE": "s"}[plan(step).name] for step in range(count))


@pytest.mark.parametrize("settings, expected", [
    ({"wait": 1, "warmup": 1, "active": 2}, ".wrs.wrs.w"),
    ({"wait": 1, "warmup": 1, "active": 2, "repeat": 1}, ".wrs......"),
    ({"wait": 0, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 3}, "...wsws..."),
    ({"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1}, ".ws..ws..w"),
])  # fmt: skip
def test_actions_of_steps(settings, expected):
    assert actions(10, **settings) == expected


def test_actions_are_those_of_pytorch():
    torch = pytest.importorskip("torch", reason="compares with PyTorch's schedule, and PyTorch is not installed")
    for settings in ({"wait": w, "warmup": u, "active": a, "repeat": r, "skip_first": f, "skip_first_wait": s}
                     for w in (0, 2) for u in (1, 2) for a in (1, 3) for r in (0, 2) for f in (0, 1) for s in (0, 1)):  # fmt: skip
        ours, theirs = schedule(**settings), torch.profiler.schedule(**settings)
        assert [ours(step).name for step in range(25)] == [theirs(step).name for step in range(25)], settings


@pytest.mark.parametrize("settings", [{"wait": -1, "warmup": 1, "active": 1}, {"wait": 0, "warmup": 1, "active": 0}])
def test_a_schedule_that_makes_no_sense(settings):
    with pytest.raises(AssertionError, match="active="):
        schedule(**settings)


def test_a_schedule_without_warmup_is_warned_of():
    with pytest.warns(UserWarning, match="warmup"):
        plan = schedule(wait=0, warmup=0, active=1)
    with pytest.raises(AssertionError, match="at least 0"):
        plan(-1)


@pytest.mark.parametrize("compressed", [False, True])
def test_files_of_traces_have_the_names_that_tensorboard_looks_for(tmp_path, compressed):
    folder = tmp_path / "runs"
    handler = tensorboard_trace_handler(str(folder), worker_name="worker", use_gzip=compressed)
    with gs.profiler.profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=2), on_trace_ready=handler) as profiled:
        for _ in range(4):
            gs.exp(gs.ones(2))
            profiled.step()
    paths = sorted(folder.iterdir())
    assert len(paths) == 2 and all(re.fullmatch(r"worker\.\d+\.pt\.trace\.json" + (r"\.gz" if compressed else ""), path.name) for path in paths)
    with gzip.open(paths[0], "rt") if compressed else open(paths[0]) as file:
        assert any(entry["name"] == "exp" for entry in json.load(file)["traceEvents"])


def test_names_of_files_begin_with_the_machine_and_the_process(tmp_path):
    with gs.profiler.profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "a" / "b"))):
        gs.exp(gs.ones(2))
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert re.fullmatch(rf"{re.escape(socket.gethostname())}_{os.getpid()}\.\d+\.pt\.trace\.json", path.name)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Can't create directory"):
        tensorboard_trace_handler(str(tmp_path / "file" / "below"))(None)


def test_actions_have_pytorchs_numbers_and_to_record_is_the_default():
    assert [(action.name, action.value) for action in ProfilerAction] == [("NONE", 0), ("WARMUP", 1), ("RECORD", 2), ("RECORD_AND_SAVE", 3)]
    assert gs.profiler.profile().schedule(5) is ProfilerAction.RECORD
