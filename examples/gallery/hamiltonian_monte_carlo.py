r"""
Hamiltonian Monte Carlo
=======================

Draws from a density that is known up to a factor. A ball rolls without friction on the surface :math:`U = -\log p`; where it is
after a while is a new draw, far from the old one. The force on the ball is :math:`-\partial U/\partial x`, the only thing that
the method asks of the density. Five hundred chains run at once, as rows of an array.
"""

# %%
# The banana can also be drawn from directly, so that the result can be compared: :math:`x \sim N(0, 1)` and
# :math:`y \sim N(x^2, 1/4)`. Hence the mean of :math:`y` is 1, and its variance :math:`2 + 1/4`.
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

try:
    from tqdm.auto import trange
except ImportError:
    trange = range

SPREAD = 0.5


def surface(z):
    """-log p of each row, without its constant."""
    x, y = z[..., 0], z[..., 1]
    return x**2 / 2 + (y - x**2) ** 2 / (2 * SPREAD**2)


def slope(z):
    """Rows do not meet: the gradient of the sum has the gradient of each."""
    return gs.grad(lambda z: surface(z).sum())(z)


# %%
# A path of leapfrog has an error, which the test of Metropolis repairs: the end is accepted with the probability
# :math:`\min(1, e^{H_0 - H_1})`. The whole path with its twenty gradients is one compiled program.
STEP, PATH, CHAINS, DRAWS = 0.1, 20, 500, 400


@gs.compile
def roll(z, push):
    states = [z]
    push = push - STEP / 2 * slope(z)
    for _ in range(PATH):
        z = z + STEP * push
        push = push - STEP * slope(z)
        states.append(z)
    return gs.stack(states), push + STEP / 2 * slope(z)


rng = np.random.default_rng(0)
z = gs.asarray(np.zeros((CHAINS, 2)))
kept, paths, accepted = [], [], 0
for draw in trange(DRAWS):
    push = gs.asarray(rng.normal(size=z.shape))
    states, end = roll(z, push)
    before = surface(z) + (push**2).sum(axis=1) / 2
    after = surface(states[-1]) + (end**2).sum(axis=1) / 2
    taken = rng.uniform(size=CHAINS) < np.exp(np.minimum(before - after, 0.0))
    z = gs.where(taken[:, None], states[-1], z)
    accepted += taken.mean() / DRAWS
    if draw >= 50:  # the chains have forgotten where they began
        kept.append(np.asarray(z))
        paths.append(np.asarray(states[:, 0]))
kept = np.array(kept)

# %%
# The moments agree with the exact ones within their errors. The error of a mean over chains needs no theory of correlations: the
# chains are independent, so the spread of their means has it.
means = np.stack([kept[..., 0], kept[..., 1], kept[..., 0] ** 2, kept[..., 1] ** 2]).mean(axis=1)
exact = np.array([0.0, 1.0, 1.0, 3 + SPREAD**2])
found, error = means.mean(axis=1), means.std(axis=1) / np.sqrt(CHAINS)
for name, a, b, c in zip(("x", "y", "x^2", "y^2"), found, error, exact):
    print(f"mean of {name:3}  {a:7.4f} +- {b:.4f}   exact {c:.4f}")
print(f"accepted: {accepted:.1%}")
assert np.all(abs(found - exact) < 4 * error) and error.max() < 0.1 and 0.7 < accepted < 0.99

# %%
# Left, ten paths of one chain in the valley; right, the draws of all chains and the exact marginal densities.
figure = plt.figure(figsize=(10, 4.6), layout="constrained")
grid = figure.add_gridspec(2, 3, width_ratios=[4, 4, 1.2], height_ratios=[1.2, 4])
left, right = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[1, 1])
top, side = (
    figure.add_subplot(grid[0, 1], sharex=right),
    figure.add_subplot(grid[1, 2], sharey=right),
)
x, y = np.meshgrid(np.linspace(-3, 3, 300), np.linspace(-1.5, 8, 300))
levels = np.asarray(surface(gs.asarray(np.stack([x, y], axis=-1))))
left.contourf(x, y, np.exp(-levels), levels=12, cmap="Blues")
for path in paths[100:110]:
    left.plot(*path.T, color="tab:red", linewidth=1)
    left.plot(*path[-1], "o", color="tab:red", markersize=5)
left.set(title="Ten paths of a chain", xlabel="x", ylabel="y")
draws = kept.reshape(-1, 2)
right.plot(*draws[::20].T, ".", markersize=1.5, alpha=0.5)
right.set(xlabel="x", xlim=(-3.2, 3.2), ylim=(-1.5, 8))
top.hist(draws[:, 0], bins=80, density=True, color="tab:blue", alpha=0.6)
normal = np.exp(-(x[0] ** 2) / 2) / np.sqrt(2 * np.pi)
top.plot(x[0], normal, color="black", linewidth=1)
side.hist(
    draws[:, 1],
    bins=120,
    range=(-1.5, 8),
    density=True,
    color="tab:blue",
    alpha=0.6,
    orientation="horizontal",
)
given_x = np.exp(-((y[:, :1] - x[:1] ** 2) ** 2) / (2 * SPREAD**2)) / np.sqrt(2 * np.pi * SPREAD**2)
side.plot(np.trapezoid(given_x * normal, x[0], axis=1), y[:, 0], color="black", linewidth=1)
top.set_title(f"{len(draws):,} draws, and the exact density")
for axis in (top, side):
    axis.axis("off")
plt.show()
