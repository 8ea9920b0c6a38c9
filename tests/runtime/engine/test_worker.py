"""The threads of loops over large arrays: however they are met, asleep, awake or at work, each loop is whole.

And the threads that lend their stacks to deep passes: whatever is sent to them, and when, the caller goes on.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradspec as gs
from gradspec.engine import worker as stacks

SIZES = (1 << 17, (1 << 17) + 1, 200_003, 1 << 19)


@pytest.fixture(autouse=True)
def _number():
    let_go()  # where as many wait as may, a worker that has worked ends
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)
    let_go()


def let_go():
    """End the idle threads; one that a test calls by itself stands among them once for each call."""
    idle = set(stacks._idle)
    stacks._idle.clear()
    for worker in idle:
        if worker._thread.is_alive():
            worker._begin.release()


@pytest.mark.parametrize("number", [2, 3, 7])
def test_loops_are_whole_after_any_pause(number):
    gs.set_num_threads(number)
    rng = np.random.default_rng(number)
    for turn in range(300):
        x = np.arange(SIZES[turn % 4], dtype=np.float64)
        assert np.array_equal(gs.add(x, turn).numpy(), x + turn)
        if turn % 3 == 0:
            time.sleep(rng.choice([0, 1e-6, 2e-5, 1e-4, 2e-3]))


def test_loops_of_several_threads_are_whole():
    gs.set_num_threads(4)
    wrong = []

    def work(seed):
        x = np.arange(SIZES[seed % 4], dtype=np.float64) + seed
        for turn in range(100):
            if not np.array_equal(gs.multiply(x, turn).numpy(), x * turn):
                wrong.append((seed, turn))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_has_threads_of_its_own():
    gs.set_num_threads(3)
    x = np.arange(SIZES[2], dtype=np.float64)
    for _ in range(5):
        gs.add(x, 1)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(gs.add(x, 2).numpy(), x + 2) else 1)
        assert os.waitpid(child, 0)[1] == 0


# Passes nested so deep that they go on in a thread of their own.

STACKS = """
import random, signal, sys, threading, time
import gradspec as gs

def go(k):
    with gs.enable_grad():
        h = gs.sin(gs.tensor(0.5, requires_grad=True))
        if k:
            h.register_hook(lambda g: go(k - 1))
        (h * 2).sum().backward()

def interrupted(number, frame):
    taken.release()
    while frame is not None:  # no signal ends this program where it stands between two passes
        if frame.f_code is go.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back

def interrupt():
    for _ in range(15):
        time.sleep(random.uniform(0.01, 0.04))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        taken.acquire()
    over.append(True)

signal.signal(signal.SIGINT, interrupted)  # whoever started this may ignore it
over, taken, depth = [], threading.Semaphore(0), int(sys.argv[1])
random.seed(depth)
threading.Thread(target=interrupt, daemon=True).start()
while not over:
    try:
        while not over:
            go(depth)
    except KeyboardInterrupt:
        pass
go(130)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals to a thread")
@pytest.mark.parametrize("depth", [70, 130, 190])
def test_interrupts_of_deep_passes_end_them_and_nothing_else(depth):
    done = subprocess.run([sys.executable, "-c", STACKS, str(depth)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


class Interrupted:
    """A lock at which an exception arrives once, as soon as it was taken or given back, as if it had been sent."""

    def __init__(self, lock, where):
        self.lock, self.where = lock, where

    def acquire(self, *args, **kwargs):
        taken = self.lock.acquire(*args, **kwargs)
        if taken:
            self.interrupt("acquire")
        return taken

    def release(self):
        self.lock.release()
        self.interrupt("release")

    def interrupt(self, where):
        if where == self.where:
            self.where = None
            raise KeyboardInterrupt


def within(seconds, call):
    """What a call raises, in a thread that may hang."""
    found = []

    def run():
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    return found[0]


@pytest.mark.parametrize("where", ["acquire", "release"])
@pytest.mark.parametrize("name", ["_begin", "_end"])
def test_an_interrupt_at_any_lock_ends_the_call(name, where):
    worker = stacks._Worker()
    lock = Interrupted(getattr(worker, name), where)
    setattr(worker, name, lock)
    found = [within(10, lambda: worker.run(lambda: 1))]
    if lock.where:  # the thread stood in the lock that was there before
        found.append(within(10, lambda: worker.run(lambda: 2)))
    assert lock.where is None and isinstance(found[-1], (KeyboardInterrupt, int))
    let_go()
    assert stacks.run_on_own_stack(lambda: 3) == 3


def test_who_starts_a_worker_is_known_as_long_as_it_starts(monkeypatch):
    """Until the new thread runs, Python takes the starter's number for its own, so an interrupt would go astray."""
    marked, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: marked.append(set(stacks._starting)) or start(self))
    worker = stacks._Worker()
    assert marked == [{threading.get_ident()}] and not stacks._starting
    assert worker.run(lambda: 1) == 1


def test_an_interrupt_goes_to_a_call_or_nowhere():
    worker = stacks._Worker()
    assert worker.run(lambda: 1) == 1
    assert worker._interrupt(KeyboardInterrupt)  # it has no call any more: another thread may have its number
    assert worker.run(lambda: 2) == 2

    def starts():
        stacks._starting.add(threading.get_ident())
        try:
            return worker._interrupt(KeyboardInterrupt)
        finally:
            stacks._starting.discard(threading.get_ident())

    assert worker.run(starts) is False
