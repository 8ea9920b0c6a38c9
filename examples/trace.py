"""The operators of a training step as a program, which is printed, shortened, saved and run.

    python examples/trace.py
"""

import numpy as np

import gradspec as gs


def loss(w, x, y):
    """Mean squared error of a small network."""
    hidden = gs.tanh(x @ w["first"])
    return gs.mean((hidden @ w["second"] - y) ** 2)


def main():
    rng = np.random.default_rng(0)
    w = {"first": rng.normal(size=(3, 4)), "second": rng.normal(size=(4, 1))}
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 1))

    forward = gs.trace(loss, w, x, y)
    print(forward, end="\n\n")

    step = forward.derivative()
    short = step.without_looks().without_common_subexpressions().without_dead_code()
    print(f"the gradient: {len(step.instructions)} instructions, {len(short.instructions)} after three passes")

    program = {}
    exec(short.python(), program)  # or write it to a file, and import that
    value, gradient = program["program"](w, x, y)
    wanted = gs.value_and_grad(loss)(w, x, y)[1]
    distance = max(abs(gradient[key] - wanted[key]).max().item() for key in w)
    print(f"its value is {value.item():.6f}, its distance from the gradient {distance}")


if __name__ == "__main__":
    main()
