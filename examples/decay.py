"""Fit a differential equation to measurements: Runge-Kutta steps by scan, gradients through all steps, Adam.

    python examples/decay.py
"""

import numpy as np

import gradspec as gs

RATES = np.array([0.9, 0.35])  # to be found: of A to B, and of the decay of B
TIMES, STEP = 120, 0.1


def slope(amounts, rates):
    """The rates of change when A becomes B and B decays."""
    flow = rates * amounts
    return gs.stack([-flow[0], flow[0] - flow[1]])


def amounts_over_time(rates, start):
    """The amounts of A and B after each step, by the classical Runge-Kutta method."""
    def step(amounts, _):
        a = slope(amounts, rates)
        b = slope(amounts + STEP / 2 * a, rates)
        c = slope(amounts + STEP / 2 * b, rates)
        d = slope(amounts + STEP * c, rates)
        amounts = amounts + STEP / 6 * (a + 2 * b + 2 * c + d)
        return amounts, amounts

    return gs.scan(step, start, length=TIMES, checkpoint=True)[1]


def main():
    rng = np.random.default_rng(0)
    start = np.array([1.0, 0.0])
    measured = amounts_over_time(RATES, start).numpy() + rng.normal(0, 0.01, (TIMES, 2))

    logs = gs.zeros(2, requires_grad=True)  # logarithms of the rates, which stay positive
    optimizer = gs.optim.Adam([logs], lr=0.1)
    for number in range(80):
        optimizer.zero_grad()
        loss = ((amounts_over_time(gs.exp(logs), start) - measured) ** 2).mean()
        loss.backward()
        optimizer.step()
        if number % 20 == 0:
            print(f"step {number:2d}: misfit {loss.item():.6f}")

    found = np.exp(logs.detach().numpy())
    print(f"rates {found[0]:.3f} and {found[1]:.3f}, of which the measurements were made {RATES[0]} and {RATES[1]}")


if __name__ == "__main__":
    main()
