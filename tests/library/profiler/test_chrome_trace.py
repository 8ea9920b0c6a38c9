"""Traces: what Chrome's viewer, Perfetto and TensorBoard read."""

import gzip
import json
import time

import numpy as np
import pytest

import gradspec as gs

KEYS = {"X": {"name", "cat", "ts", "dur", "pid", "tid", "args"}, "s": {"id", "ts", "pid", "tid", "name", "cat"}, "f": {"id", "ts", "pid", "tid", "bp", "name", "cat"},
        "C": {"name", "ts", "pid", "args"}, "M": {"name", "pid", "args"}, "i": {"name", "ts", "pid", "tid", "s"}}  # fmt: skip


def traced(path, **settings):
    x, weight = gs.ones((4, 3)), gs.ones((3, 2), requires_grad=True)
    with gs.profiler.profile(**settings) as profiled:
        with gs.profiler.record_function("forward"):
            y = gs.tanh(x @ weight).sum()
        y.backward()
    profiled.add_metadata("model", 'a "small" one')
    profiled.add_metadata_json("sizes", "[4, 3]")
    profiled.export_chrome_trace(str(path))
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return profiled, json.load(file)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_every_entry_has_what_its_phase_wants(tmp_path, name):
    profiled, trace = traced(tmp_path / name, profile_memory=True, record_shapes=True, with_stack=True, with_flops=True)
    assert trace["model"] == 'a "small" one' and trace["sizes"] == [4, 3] and trace["with_stack"] == trace["profile_memory"] == 1
    assert abs(trace["baseTimeNanoseconds"] / 1e9 - time.time()) < 60
    for entry in trace["traceEvents"]:
        assert KEYS[entry["ph"]] <= entry.keys(), entry
    slices = [entry for entry in trace["traceEvents"] if entry["ph"] == "X"]
    assert [entry["name"] for entry in slices] == [event.name for event in profiled.events()]
    assert [entry["cat"] for entry in slices[:3]] == ["user_annotation", "cpu_op", "cpu_op"]
    matmul = next(entry for entry in slices if entry["name"] == "matmul")
    assert matmul["args"]["Input Dims"] == [[4, 3], [3, 2]] and __file__ in matmul["args"]["Call stack"] and matmul["args"]["flops"] == 48
    named = [entry["args"]["name"] for entry in trace["traceEvents"] if entry["name"] == "thread_name"]
    assert named == ["thread 1 (MainThread)"]


def test_an_arrow_goes_from_each_call_to_its_node(tmp_path):
    _, trace = traced(tmp_path / "trace.json")
    starts = {(entry["tid"], entry["ts"]): entry["name"] for entry in trace["traceEvents"] if entry["ph"] == "X"}
    ends = {}
    assert {entry.get("bp") for entry in trace["traceEvents"] if entry["ph"] == "s"} == {None}
    assert not any("Input Dims" in entry["args"] for entry in trace["traceEvents"] if entry["ph"] == "X")
    for entry in trace["traceEvents"]:
        if entry["ph"] in "sf":
            ends.setdefault(entry["id"], {})[entry["ph"]] = starts[entry["tid"], entry["ts"]]
    assert sorted((end["s"], end["f"]) for end in ends.values()) == [
        ("matmul", "MatmulBackward"), ("sum", "SumBackward"), ("tanh", "TanhBackward")]  # fmt: skip


def test_slices_of_a_thread_stand_inside_of_each_other_or_apart(tmp_path):
    _, trace = traced(tmp_path / "trace.json")
    around = []
    for entry in sorted((entry for entry in trace["traceEvents"] if entry["ph"] == "X"), key=lambda entry: (entry["ts"], -entry["dur"])):
        while around and entry["ts"] >= around[-1]["ts"] + around[-1]["dur"]:
            around.pop()
        assert not around or entry["ts"] + entry["dur"] <= around[-1]["ts"] + around[-1]["dur"] + 1e-3
        around.append(entry)


def test_the_counter_is_the_sum_of_what_came_and_went(tmp_path):
    _, trace = traced(tmp_path / "trace.json", profile_memory=True)
    live = 0
    changes = [entry["args"] for entry in trace["traceEvents"] if entry["name"] == "[memory]"]
    counts = [entry["args"]["bytes alive"] for entry in trace["traceEvents"] if entry["ph"] == "C"]
    for change, count in zip(changes, counts, strict=True):
        live += change["Bytes"]
        assert live == change["Total Allocated"] == count >= 0
    assert max(counts) > 0


def training(x, weights, labels):
    """Steps with a checkpoint, a second derivative and an optimizer."""
    optimizer = gs.optim.Adam(weights, lr=0.01)
    for _ in range(3):
        with gs.profiler.record_function("forward"):
            hidden = gs.utils.checkpoint.checkpoint(lambda h: gs.tanh(h @ weights[0]), x, use_reentrant=False)
            loss = gs.nn.cross_entropy(hidden @ weights[1], labels)
        (slope,) = gs.autograd.grad(loss, weights[1:], create_graph=True)
        optimizer.zero_grad()
        (loss + slope.square().sum()).backward()
        optimizer.step()


def test_arrows_and_counters_of_training(tmp_path):
    rng = np.random.default_rng(0)
    weights = [gs.tensor(rng.normal(size=size), requires_grad=True) for size in ((8, 16), (16, 4))]
    with gs.profiler.profile(profile_memory=True) as profiled:
        training(rng.normal(size=(32, 8)), weights, rng.integers(0, 4, 32))
    profiled.export_chrome_trace(tmp_path / "trace.json")
    entries = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = {(entry["tid"], entry["ts"]) for entry in entries if entry["ph"] == "X"}
    ends = {phase: {entry["id"]: entry for entry in entries if entry["ph"] == phase} for phase in "sf"}
    assert len(ends["s"]) == len(ends["f"]) == sum(entry["ph"] in "sf" for entry in entries) / 2 > 15
    for number, start in ends["s"].items():
        end = ends["f"][number]
        assert start["ts"] < end["ts"] and {(start["tid"], start["ts"]), (end["tid"], end["ts"])} <= slices
        assert (start["name"], start["cat"], start["pid"]) == (end["name"], end["cat"], end["pid"])
    counts = [(entry["ts"], entry["args"]["bytes alive"]) for entry in entries if entry["ph"] == "C"]
    assert len(counts) > 30 and min(count for _, count in counts) >= 0 and counts == sorted(counts, key=lambda count: count[0])
    assert all(entry["dur"] >= 0 and entry["ts"] >= 0 for entry in entries if entry["ph"] == "X")
