"""The threads of loops over large arrays: however they are met, asleep, awake or at work, each loop is whole."""

import os
import threading
import time

import numpy as np
import pytest

import gradspec as gs

SIZES = (1 << 17, (1 << 17) + 1, 200_003, 1 << 19)


@pytest.fixture(autouse=True)
def _number():
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)


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
