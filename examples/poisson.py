"""A Poisson equation solved by a small network: u'' + u'' = -2 pi^2 sin(pi x) sin(pi y) on the unit square, u = 0 on its border.

The network is multiplied by x (1 - x) y (1 - y), which is 0 on the border.  The loss is the mean square of the residual of
the equation at random points; its Laplacians come from `gs.func.laplacian`, and the gradient is taken through them.
"""

import numpy as np

import gradspec as gs

WIDTH, POINTS, STEPS = 16, 64, 400


def u(x, weights):
    first, bias, last = weights
    border = (x * (1 - x)).prod()
    return border * (gs.tanh(x @ first + bias) @ last)


def loss(weights, points):
    left = gs.vmap(gs.func.laplacian(u), in_dims=(0, None))(points, weights)
    right = -2 * np.pi**2 * gs.sin(np.pi * points).prod(axis=1)
    return ((left - right) ** 2).mean()


def main():
    rng = np.random.default_rng(0)
    weights = [gs.tensor(rng.normal(size=shape)) for shape in ((2, WIDTH), (WIDTH,), (WIDTH,))]
    for weight in weights:
        weight.requires_grad_()
    optimizer = gs.optim.Adam(weights, lr=0.02)
    for step in range(STEPS + 1):
        optimizer.zero_grad()
        value = loss(weights, gs.asarray(rng.uniform(size=(POINTS, 2))))
        value.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step:4}: loss {value.item():.5f}")
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21)), -1).reshape(-1, 2)
    exact = np.sin(np.pi * grid).prod(axis=1)
    found = gs.vmap(u, in_dims=(0, None))(gs.asarray(grid), weights).detach().numpy()
    print(f"largest error: {np.abs(found - exact).max():.4f}")


if __name__ == "__main__":
    main()
