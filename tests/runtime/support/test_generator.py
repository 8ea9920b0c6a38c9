"""generator: the default, its seed, and what may be passed in its place."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.support import generator
from gradspec.support.generator import as_generator


def draw(generator):
    return generator.standard_normal(4).tolist()


def test_a_seed_makes_the_default_repeat_itself():
    assert gs.random.manual_seed(3) is as_generator(None, "op", "generator")
    first = [draw(as_generator(None, "op", "generator")) for _ in range(2)]
    gs.random.manual_seed(3)
    assert [draw(as_generator(None, "op", "generator")) for _ in range(2)] == first and first[0] != first[1]
    assert first[0] == draw(np.random.default_rng(3))


def test_without_a_seed_two_runs_differ():
    code = "from gradspec.support.generator import as_generator; print(as_generator(None, 'op', 'generator').standard_normal())"
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 2


def test_the_default_is_one_for_all_threads():
    gs.random.manual_seed(0)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(as_generator(None, "op", "generator")))
    thread.start()
    thread.join()
    assert seen == [as_generator(None, "op", "generator")]


def test_who_waits_takes_the_default_that_another_has_set(monkeypatch):
    monkeypatch.setattr(generator, "_default", None)
    asks, seen = threading.Event(), []
    thread = threading.Thread(target=lambda: asks.set() or seen.append(as_generator(None, "op", "generator")))
    with generator._making:
        thread.start()
        asks.wait()
        thread.join(0.02)  # it waits for who makes one
        made = gs.random.manual_seed(3)
    thread.join()
    assert seen == [made]


def test_a_generator_is_moved_on_and_an_int_is_a_seed():
    held = gs.random.Generator()
    assert as_generator(held, "op", "generator") is held.generator
    mine = np.random.default_rng(5)
    assert as_generator(mine, "op", "generator") is mine
    for seed in (5, np.int64(5)):
        assert draw(as_generator(seed, "op", "generator")) == draw(np.random.default_rng(5))


@pytest.mark.parametrize("value", [1.0, True, "seed", np.random.RandomState(0)])
def test_anything_else_is_refused(value):
    with pytest.raises(TypeError, match=rf"^dropout: argument 'generator' must be .* got {type(value).__name__}$"):
        as_generator(value, "dropout", "generator")


def test_refusals_that_know_more():
    with pytest.raises(TypeError, match=r"got PCG64; wrap it: numpy.random.Generator"):
        as_generator(np.random.PCG64(0), "dropout", "generator")
    with pytest.raises(ValueError, match=r"^dropout: argument 'generator' is a seed and must not be negative, got -1"):
        as_generator(-1, "dropout", "generator")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_draws_whoever_drew_when_it_was_forked():
    program = """
import os, signal, threading
import gradspec as gs

gs.manual_seed(0)
done, drawn = threading.Event(), threading.Event()

def draw():
    while not done.is_set():
        gs.randn(200000)
        drawn.set()

thread = threading.Thread(target=draw)
thread.start()
drawn.wait()
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # which ends a child that waits
        gs.randn(3)
        gs.manual_seed(1)
        os._exit(int(gs.randn(2).shape != (2,)))
    assert os.waitpid(child, 0)[1] == 0
done.set()
thread.join()
print("drawn")
"""
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=100)
    assert found.stdout == "drawn\n", found.stderr
