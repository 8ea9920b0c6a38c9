r"""
A neural field
==============

A shape is known by points on its edge. A network :math:`f(x, y)` learns to be 0 at them, and to have a gradient of length 1
everywhere: then it is the distance to the edge, negative inside. The gradient by the coordinates is a part of the loss, so that
training differentiates a derivative.
"""

# %%
# Three hundred points of a curve, and the normals there.
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

try:
    from tqdm.auto import trange
except ImportError:
    trange = range


def curve(t):
    radius = 0.62 + 0.16 * np.cos(5 * t) + 0.06 * np.sin(2 * t)
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=-1)


angles = np.linspace(0, 2 * np.pi, 300, endpoint=False)
edge = curve(angles).astype(np.float32)
along = curve(angles + 1e-4) - curve(angles - 1e-4)
normals = (
    np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
).astype(np.float32)


# %%
# Softplus with a sharp bend is smooth, so that the field has a gradient everywhere; the skipping connection gives the coordinates
# to the last layers again. At first the field is a circle.
class Field(gs.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.first = gs.nn.Sequential(
            gs.nn.Linear(2, width),
            gs.nn.Softplus(30),
            gs.nn.Linear(width, width),
            gs.nn.Softplus(30),
        )
        self.last = gs.nn.Sequential(
            gs.nn.Linear(width + 2, width),
            gs.nn.Softplus(30),
            gs.nn.Linear(width, width),
            gs.nn.Softplus(30),
            gs.nn.Linear(width, 1),
        )

    def forward(self, x):
        distance = self.last(gs.concatenate([self.first(x), x], axis=-1))[..., 0]
        return gs.sqrt((x**2).sum(axis=-1) + 1e-6) - 0.6 + distance


gs.manual_seed(0)
field = Field().float()
field


# %%
# Points do not meet in the network, so that the gradient of the sum has the gradient of each. With ``create_graph`` it can be
# differentiated again.
def with_slopes(x):
    x = x.detach().requires_grad_()
    y = field(x)
    (slope,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    return y, slope


optimizer = gs.optim.Adam(field.parameters(), lr=gs.tensor(3e-3))
STEPS = 800
schedule = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)


@gs.compile
def step(anywhere):
    optimizer.zero_grad()
    y, slope = with_slopes(gs.asarray(edge))
    there = with_slopes(anywhere)[1]
    length = gs.sqrt((gs.concatenate([slope, there]) ** 2).sum(axis=1) + 1e-12)
    loss = (
        30 * abs(y).mean()
        + ((slope - normals) ** 2).sum(axis=1).mean()
        + 2 * ((length - 1) ** 2).mean()
    )
    loss.backward()
    optimizer.step()
    return loss.detach()


rng = np.random.default_rng(0)
losses = []
for _ in trange(STEPS):
    losses.append(float(step(gs.asarray(rng.uniform(-1.2, 1.2, size=(300, 2)).astype(np.float32)))))
    schedule.step()
print(f"loss {losses[0]:.3f} -> {np.mean(losses[-20:]):.4f}")

# %%
# The true distance is that to the nearest of many points of the curve.
x, y = np.meshgrid(np.linspace(-1.2, 1.2, 161), np.linspace(-1.2, 1.2, 161))
grid = np.stack([x, y], axis=-1).reshape(-1, 2).astype(np.float32)
found, slope = (
    np.asarray(part.detach()).reshape(161, 161, *part.shape[1:])
    for part in with_slopes(gs.asarray(grid))
)
dense = curve(np.linspace(0, 2 * np.pi, 1500))
distance = np.sqrt(((grid[:, None] - dense[None]) ** 2).sum(axis=-1).min(axis=1)).reshape(161, 161)
angle = np.arctan2(y, x)
true = np.where(np.hypot(x, y) < np.linalg.norm(curve(angle), axis=-1), -distance, distance)
off, length = abs(found - true), np.linalg.norm(slope, axis=-1)
print(
    f"mean error of the distance {off.mean():.4f}, on the edge {abs(np.asarray(field(gs.asarray(edge)).detach())).mean():.4f}"
)
print(
    f"the gradient's length is within 0.1 of 1 at {(abs(length - 1) < 0.1).mean():.0%} of the points"
)
assert off.mean() < 0.02 and (abs(length - 1) < 0.1).mean() > 0.75

# %%
# The levels of the field are the offsets of the curve. Its gradient has a jump where two sides of the curve are equally far: along
# the skeleton, which the network rounds off.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.9), layout="constrained", sharey=True)
limit = abs(found).max()
levels = left.contourf(x, y, found, levels=np.linspace(-limit, limit, 41), cmap="RdBu")
left.contour(x, y, found, levels=np.arange(-0.5, 1.2, 0.1), colors="black", linewidths=0.4)
left.contour(x, y, found, levels=[0], colors="black", linewidths=2.5)
left.plot(*edge[::5].T, ".", color="gold", markersize=5)
left.set(aspect="equal", title="Signed distance")
figure.colorbar(levels, ax=left, shrink=0.8, ticks=[-0.5, 0, 0.5])
direction = np.arctan2(slope[..., 1], slope[..., 0])
right.imshow(
    direction,
    extent=(-1.2, 1.2, -1.2, 1.2),
    origin="lower",
    cmap="twilight",
    interpolation="bilinear",
)
right.contour(x, y, found, levels=[0], colors="white", linewidths=2)
every = slice(4, None, 10)
right.quiver(
    x[every, every],
    y[every, every],
    slope[every, every, 0],
    slope[every, every, 1],
    color="white",
    width=0.003,
    scale=32,
)
right.set(aspect="equal", title="Direction of its gradient")
plt.show()
