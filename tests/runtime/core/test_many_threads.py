"""Many threads that build and differentiate at once: under the GIL, which an import of gradspec restores where Python has none."""

import sys
import threading

import numpy as np

import gradspec as gs
from tests.asked import each

X = np.linspace(0.1, 1, 7)


def test_the_gil_is_there():
    """A Python without the GIL takes it back for extensions that have not declared to work without it; ours do not."""
    assert getattr(sys, "_is_gil_enabled", lambda: True)()


@each("shared", [False, True])
def test_eight_threads_build_and_differentiate_at_once(shared):
    leaf, right, interval = gs.tensor(X, requires_grad=True), [], sys.getswitchinterval()

    def work(number):
        draws = np.random.default_rng(number)
        for _ in range(40):
            x = leaf if shared else gs.tensor(X.copy(), requires_grad=True)
            (found,) = gs.autograd.grad((gs.sin(x) * x * 2).sum(), x)
            z = gs.tensor(draws.normal(size=(3, 4)), requires_grad=True)
            w = z[1:] * 1.0
            w[0] = w[1] * 2
            (w @ z.T).sum().backward()
            by_hand = np.zeros((3, 4))
            by_hand[2] += 3 * z.detach().numpy().sum(0)
            by_hand += 3 * z.detach().numpy()[2]
            right.append(np.allclose(found, 2 * np.cos(X) * X + 2 * np.sin(X)) and np.allclose(z.grad, by_hand))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert right == [True] * 8 * 40  # a thread that raised has fewer
