r"""
A cloth in the wind
===================

A flag hangs from its pole: a mesh of masses and springs. All forces inside of the cloth are the gradient of its energy; the wind
pushes each triangle along its normal. And since the simulation is an ordinary program, a second gradient goes through all of its
steps: from the places of the cloth at the end it finds out how the wind blew.
"""

# %%
# Threads hold each point to its neighbours, also over the diagonal; longer, weaker ones resist the folding. A row of numbers a
# thread.
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

WIDE, HIGH, SIZE = 21, 15, 0.1
MASS, GRAVITY, DT = 0.003, 9.81, 0.002

x, y = np.meshgrid(np.arange(WIDE), np.arange(HIGH), indexing="ij")
rest = SIZE * np.stack([x, 0.0 * x, -y], axis=-1).reshape(-1, 3)  # hangs in the plane of x and z
number = np.arange(WIDE * HIGH).reshape(WIDE, HIGH)
threads = [
    (number[:-1], number[1:], 60.0), (number[:, :-1], number[:, 1:], 60.0),
    (number[:-1, :-1], number[1:, 1:], 15.0), (number[:-1, 1:], number[1:, :-1], 15.0),
    (number[:-2], number[2:], 3.0), (number[:, :-2], number[:, 2:], 3.0),
]  # fmt: skip
start = np.concatenate([one.ravel() for one, _, _ in threads])
end = np.concatenate([other.ravel() for _, other, _ in threads])
stiffness = np.concatenate([np.full(one.size, strength) for one, _, strength in threads])
length = np.linalg.norm(rest[start] - rest[end], axis=1)
a, b, c, d = (
    number[:-1, :-1].ravel(),
    number[1:, :-1].ravel(),
    number[:-1, 1:].ravel(),
    number[1:, 1:].ravel(),
)
triangles = np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)])
loose = (x > 0).reshape(-1, 1)  # the first column is fixed to the pole


def energy(points):
    stretched = gs.sqrt(((points[start] - points[end]) ** 2).sum(axis=1)) - length
    return (stiffness * stretched**2).sum() / 2 + MASS * GRAVITY * points[:, 2].sum()


# %%
# The force of the wind on a triangle is proportional to its area and to the speed of the air through it. A third of it is for each
# corner; the sum over the triangles of a point is an indexed addition.
def pressure(points, speeds, wind):
    one, two, three = (points[corner] for corner in triangles.T)
    normal = gs.linalg.cross(two - one, three - one) / 2
    air = wind - (speeds[triangles[:, 0]] + speeds[triangles[:, 1]] + speeds[triangles[:, 2]]) / 3
    unit = normal / gs.sqrt((normal**2).sum(axis=1, keepdims=True) + 1e-12)
    push = (unit * air).sum(axis=1, keepdims=True) * normal / 3
    return gs.zeros((len(rest), 3)).index_add(0, triangles.T.ravel(), gs.concatenate([push] * 3))


def friction(speeds):
    """Half of the power that the threads turn into heat: its gradient is the force, too."""
    return ((speeds[start] - speeds[end]) ** 2).sum() / 2


def forces(points, speeds, wind, air):
    """Of the cloth alone, or with the air and with friction."""
    force = -gs.grad(energy)(points)
    if air:
        force = force + 0.6 * pressure(points, speeds, wind) - 0.01 * gs.grad(friction)(speeds)
    return force


def step(points, speeds, wind, air=True):
    force = forces(points, speeds, wind, air)
    speeds = (speeds + DT / MASS * force) * loose
    return points + DT * speeds, speeds


# %%
# Without wind the cloth swings and keeps its energy. The speeds belong to the times between the places: the kinetic energy
# at a place takes the mean speed before and after it.
points, speeds = gs.asarray(rest), gs.zeros(rest.shape)
potential, kinetic = [], []
for _ in range(2000):
    potential.append(float(energy(points)))
    before, (points, speeds) = speeds, step(points, speeds, None, air=False)
    kinetic.append(MASS * float(((before + speeds) ** 2).sum()) / 8)
drift = np.ptp(np.add(potential, kinetic)[1:])
print(
    f"four seconds without wind: at most {max(kinetic):.2f} J of motion, and the whole energy varies by {drift:.1e} J"
)
assert drift < 0.02 * max(kinetic)

# %%
# Now the wind blows past the flag, with a gust from the side.


def gust(time):
    return np.array([12.0 + 2 * np.sin(1.3 * time), 4 * np.sin(2.1 * time) + 1.0, 1.0])


points, speeds, frames = gs.asarray(rest), gs.zeros(rest.shape), []
for number_of_step in range(2400):
    points, speeds = step(points, speeds, gust(DT * number_of_step))
    frames.append(np.asarray(points))
frames = np.array(frames)
stretch = abs(np.linalg.norm(frames[-1][start] - frames[-1][end], axis=1) / length - 1)
print(f"mean stretch {stretch.mean():.1%}")
assert stretch.mean() < 0.1


# %%
# The question backwards: from here on a steady wind blows for a fifth of a second. Which wind was it, if the cloth is seen at the
# end, with errors of five millimetres? The derivatives of all places by the three components come in forward mode, which is the
# cheap one for few unknowns, and Gauss and Newton take it from there.
def after(wind):
    now, moving = points, speeds
    for _ in range(100):
        now, moving = step(now, moving, wind)
    return now.reshape(-1)


blown, rng = np.array([10.0, 3.0, -1.0]), np.random.default_rng(0)
with gs.no_grad():
    seen = after(gs.asarray(blown)) + 0.005 * rng.normal(size=rest.size)
    wind = gs.asarray([12.0, 0.0, 0.0])
    for _ in range(4):
        jacobian = gs.jacfwd(after)(wind)
        wind = wind + gs.linalg.lstsq(jacobian, seen - after(wind))[0]
error = 0.005 * np.sqrt(np.diagonal(np.linalg.inv(np.asarray(jacobian.T @ jacobian))))
print("wind found", np.asarray(wind).round(3), "+-", error.round(3), "true", blown)
assert np.all(abs(np.asarray(wind) - blown) < 4 * error) and error.max() < 0.2

direction = rng.normal(size=3)
difference = (
    after(gs.asarray(wind + 1e-5 * direction)) - after(gs.asarray(wind - 1e-5 * direction))
) / 2e-5
slope = gs.jvp(after, (wind,), (gs.asarray(direction),))[1]
assert abs(slope - difference).max() < 1e-5 * abs(slope).max()

# %%
# Six moments of the flag.
figure = plt.figure(figsize=(11, 6.6), layout="constrained")
stripes = np.where(
    (np.arange(HIGH - 1) // 3 % 2)[None, :, None], (0.97, 0.95, 0.9), (0.8, 0.15, 0.2)
) * np.ones((WIDE - 1, 1, 1))
for place, moment in enumerate((100, 500, 950, 1400, 1850, 2350)):
    axis = figure.add_subplot(2, 3, place + 1, projection="3d", computed_zorder=False)
    axis.plot([0, 0], [0, 0], [-2.1, 0.1], color="saddlebrown", linewidth=5)
    grid = frames[moment].reshape(WIDE, HIGH, 3)
    axis.plot_surface(
        *np.moveaxis(grid, -1, 0),
        facecolors=stripes,
        rstride=1,
        cstride=1,
        linewidth=0,
        shade=True,
        antialiased=False,
    )
    axis.set(xlim=(0, 2.1), ylim=(-1, 1), zlim=(-2.1, 0.1))
    axis.set_box_aspect((2.1, 2, 2.2), zoom=1.5)
    axis.set_title(f"{DT * moment:.1f} s", y=0.93)
    axis.view_init(14, -70)
    axis.set_axis_off()
plt.show()
