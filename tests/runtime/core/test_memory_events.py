"""Memory as events: what a listener hears of arrays that come and die, and what it may refuse."""

import gc
import threading
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Listener


class Heard(Listener):
    memory = True

    def __init__(self):
        self.told, self.operators = [], 0

    def begin(self, event):
        self.operators += event.kind == "operator"

    def note(self, event):
        if event.kind == "memory":
            self.told.append((event.name, event.bytes, event.line))

    @property
    def bytes(self):
        return [size for _, size, _ in self.told]


def test_who_takes_and_who_gives_back():
    x = gs.ones(100)
    with Heard() as heard:
        y = gs.exp(x)
        z = gs.tanh(y) * 2  # tanh's is gone when the product is there
        del y
        z[:10]
        z.add_(1)
    assert [(name, size) for name, size, _ in heard.told] == [("exp", 800), ("tanh", 800), ("multiply", 800), ("tanh", -800), ("exp", -800)]
    lines = [line for _, _, (_, line, _) in heard.told]
    assert lines[0] == lines[4] and lines[1] == lines[2] == lines[3] == lines[0] + 1
    assert heard.told[0][2][0] == __file__


def test_gradients_and_copies_are_arrays_too():
    x = gs.ones(100, requires_grad=True)
    with Heard() as heard:
        kept = gs.tensor(np.ones(50))
        (x * 3).sum().backward()
    assert ("MultiplyBackward", 800) in [(name, size) for name, size, _ in heard.told] and x.grad is not None
    assert kept.shape == (50,) and heard.bytes[0] == 400


def chain(x, y):
    return (gs.tanh(x * y) * gs.sigmoid(x)).sum()


def long_chain(x, y):
    """More calls than one program of what is put off can hold."""
    for _ in range(40):
        x = gs.tanh(x * y)
    return x.sum()


def with_a_product_behind(x, y):
    return gs.tanh((x * y).reshape(512, -1) @ gs.ones((y.size // 512, 2))).sum()


@pytest.mark.parametrize("program", [chain, long_chain, with_a_product_behind])
def test_gradients_that_were_put_off_are_told_of_when_they_are_computed(program):
    x, y = (gs.full(512 * 512, 0.5, requires_grad=True) for _ in range(2))  # large enough for a pass to put off
    loss = program(x, y)
    with Heard() as heard:
        loss.backward()
    assert sum(heard.bytes) == x.grad.nbytes + y.grad.nbytes
    assert ("put off", x.grad.nbytes) in [(name, size) for name, size, _ in heard.told]
    assert all(line is None or line[0] == __file__ for _, _, line in heard.told)


def test_what_is_alive_is_the_sum_whatever_a_program_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        with Heard() as heard:
            kept = []
            for _ in range(60):
                choice = rng.integers(5)
                if choice == 0 or not kept:
                    kept.append(gs.zeros(int(rng.integers(1, 50))))
                elif choice == 1:
                    kept.append(gs.sin(kept[rng.integers(len(kept))]))
                elif choice == 2:
                    kept[rng.integers(len(kept))].mul_(2)
                elif choice == 3:
                    kept.append(kept[rng.integers(len(kept))].clone())
                else:
                    del kept[rng.integers(len(kept))]
        assert sum(heard.bytes) == sum(value.nbytes for value in kept)


def test_a_budget_refuses_the_operator():
    class Budget(Heard):
        def note(self, event):
            super().note(event)
            if event.kind == "memory" and sum(self.bytes) > 2000:
                event.error = MemoryError(f"{event.name}: too much")

    with Budget(), pytest.raises(MemoryError, match="exp: too much"):
        kept = [gs.zeros(100)]
        for _ in range(10):
            kept.append(gs.exp(kept[-1]))
    assert len(kept) == 2


def test_listeners_hear_of_what_came_after_they_began():
    with Heard() as first:
        x = gs.zeros(10)
        with Heard() as second:
            y = gs.zeros(20)
            del x
        del y
    assert first.bytes == [80, 160, -80, -160] and second.bytes == [160]


def test_one_that_fails_is_taken_off_with_what_looks_for_arrays():
    class Fails(Heard):
        def note(self, event):
            raise ValueError("no")

    listener = Fails()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with listener:
            x = gs.exp(gs.zeros(10))
            y = gs.exp(x)
            del x
    assert [str(warning.message)[:28] for warning in caught] == ["Fails.note raised ValueError"] and y.shape == (10,)
    assert listener.operators == 1  # `zeros`, whose array it failed at


def test_what_a_listener_computes_is_no_event():
    class Computes(Heard):
        def note(self, event):
            super().note(event)
            gs.zeros(1000)

    with Computes() as heard:
        gs.exp(gs.zeros(10))
    gc.collect()
    assert heard.bytes == [80, 80, -80, -80]


def test_an_array_that_dies_on_another_thread():
    with Heard() as heard:
        box = [gs.zeros(10)]
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()
    assert heard.bytes == [80, -80]


def test_a_listener_may_begin_again():
    heard = Heard()
    with heard:
        x = gs.zeros(10)
    del x
    with heard:
        gs.zeros(20)
    assert heard.bytes == [80, 160, -160]


def test_those_who_do_not_ask_are_not_told():
    class Deaf(Heard):
        memory = False

    with Deaf() as heard:
        gs.exp(gs.zeros(10))
    assert heard.told == [] and heard.operators == 2
