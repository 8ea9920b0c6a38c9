"""Loops on several threads: the same bits for any number, in any program."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each

SIZES = [4 * (3 << 13) - 1, 4 * (3 << 13), 4 * (3 << 13) + 1, 400_003]  # from four chunks on there are several threads
UNARY = ["exp", "tanh", "log1p", "sqrt", "sin", "erf", "negative", "sigmoid"]


@pytest.fixture(autouse=True)
def threads():
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)


@each("dtype", ["float32", "float64", "complex64"])
@each("size", SIZES)
def test_results_are_those_of_one_thread_to_the_bit(size, dtype):
    rng = np.random.default_rng(size)
    data = rng.uniform(0.1, 2, (2, size)).astype(dtype)
    names = [name for name in UNARY if dtype != "complex64" or name in ("exp", "tanh", "sqrt", "sin", "negative")]

    def results():
        x, y = (gs.tensor(row, requires_grad=True) for row in data)
        z = x * y + x / 3 - y * y
        values = [getattr(gs, name)(x) for name in names] + [z]
        sum(abs(v) for v in values).sum().backward()
        return [v.detach().numpy() for v in values] + [x.grad.numpy(), y.grad.numpy()]

    found = {}
    for number in (1, 2, 3, 7):
        gs.set_num_threads(number)
        found[number] = [np.array(a) for a in results()]
    for number in (2, 3, 7):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found[1], found[number]))


def test_warnings_are_numpys():
    gs.set_num_threads(4)
    data = np.ones(300_000)
    data[-1] = 0
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        gs.log(gs.tensor(data))
    with np.errstate(all="raise"):
        gs.log(gs.tensor(data + 1))


def test_several_threads_of_the_program_at_once():
    gs.set_num_threads(3)
    data = [np.random.default_rng(i).normal(size=200_000) for i in range(4)]
    wrong = []

    def work(i):
        x = gs.tensor(data[i])
        for _ in range(20):
            if not np.array_equal((x * 2 + x).numpy(), data[i] * 2 + data[i]):
                wrong.append(i)

    running = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not wrong


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: "")(0)) < 2, reason="the process has one core, or cannot choose")
def test_a_woken_worker_keeps_the_cores_of_its_caller():
    """It is woken with the others than the caller's only: a scheduler that puts it on the caller's core lets it wait there."""
    code = """if True:
        import os, time, numpy as np, gradspec as gs
        gs.set_num_threads(2)
        here, x = set(os.listdir("/proc/self/task")), gs.tensor(np.arange(2_000_000.0))
        def cores(seconds):
            gs.add(x, x)  # long enough to wake a thread
            time.sleep(seconds)
            return [sorted(os.sched_getaffinity(int(thread))) for thread in set(os.listdir("/proc/self/task")) - here]
        everything = sorted(os.sched_getaffinity(0))
        assert cores(0.1) == [everything], "at first"
        assert any(cores(0.1) == [everything] for _ in range(100)), "after a sleep"
        os.sched_setaffinity(0, everything[:1])
        assert any(cores(0.1) == [everything[:1]] for _ in range(100)), "cores that the process was given later"
        assert np.array_equal(gs.add(x, x).numpy(), 2 * np.arange(2_000_000.0))
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    code = """if True:
        import os, numpy as np, gradspec as gs
        gs.set_num_threads(2)
        x = gs.tensor(np.arange(300_000.0))
        first = (x * x).numpy().copy()
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal((x * x).numpy(), first) else 1)
        print(os.waitpid(child, 0)[1])
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0", done.stderr


def test_the_number_is_checked():
    gs.set_num_threads(5)
    assert gs.get_num_threads() == 5
    for number in (0, -1, 65):
        with pytest.raises(ValueError, match="set_num_threads"):
            gs.set_num_threads(number)
    assert gs.get_num_threads() == 5


def test_the_environment_says_how_many_at_first():
    code = "import gradspec as gs; print(gs.get_num_threads())"
    for value, expected in (("3", "3"), ("2,4", "2")):
        env = os.environ | {"OMP_NUM_THREADS": value}
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout.strip() == expected
