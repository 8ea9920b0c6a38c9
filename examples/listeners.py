"""Two listeners: one counts the operators of a training step, one stops a program that would use too much memory.

Every operator, node, hook and mode of a program is an event, which is reported to listeners.
"""

from collections import Counter

import numpy as np

import gradspec as gs
from gradspec.autograd import Event, Listener


class OperatorCounter(Listener):
    """Counts the calls of each operator and of each node."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def begin(self, event: Event) -> None:
        if event.kind in ("operator", "node"):
            self.calls[event.name] += 1


class MemoryBudget(Listener):
    """Refuses an operator whose result raises the number of live bytes above a limit."""

    memory = True

    def __init__(self, limit: int) -> None:
        self.limit, self.held, self.peak = limit, 0, 0

    def note(self, event: Event) -> None:
        if event.kind == "memory":
            self.held += event.bytes  # negative if an array was freed
            self.peak = max(self.peak, self.held)
            if self.held > self.limit and event.bytes > 0:
                where = f"line {event.line[1]}" if event.line else "somewhere"
                event.error = MemoryError(f"{event.name}, {where}: results hold {self.held} bytes")


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = gs.asarray(rng.normal(size=(64, 8))), gs.asarray(rng.normal(size=(64, 1)))
    w = gs.asarray(rng.normal(size=(8, 1)), requires_grad=True)

    with OperatorCounter() as counter:
        loss = ((gs.tanh(x @ w) - y) ** 2).mean()
        loss.backward()
    for name, calls in counter.calls.most_common():
        print(f"{calls:3d}  {name}")

    with MemoryBudget(limit=4096) as budget:
        try:
            chain = x @ w
            for _ in range(100):
                chain = gs.tanh(chain)  # each result is kept for the backward pass
        except MemoryError as error:
            print("stopped at", error)
    print(f"at most {budget.peak} bytes were held")


if __name__ == "__main__":
    main()
