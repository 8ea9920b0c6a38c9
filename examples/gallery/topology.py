r"""
Topology of a beam
==================

Half of a plate may be taken away. Which half, so that the beam is as stiff as possible? The plate has a density in each of its
elements; the compliance is the work of the load on the displacements, which solve a sparse system of equations. The derivative by
all densities at once comes back through the solver (*A 99 line topology optimization code*, O. Sigmund, 2001).
"""

# %%
# The stiffness of a square element under plane stress, with Poisson's ratio 0.3, and the places of its numbers in the matrix.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse

import gradspec as gs

try:
    from tqdm.auto import trange
except ImportError:
    trange = range

WIDE, HIGH, VOLUME, PENALTY, RADIUS = 90, 30, 0.5, 3, 1.5
k = np.array([1 / 2, 1 / 8, -1 / 4, -1 / 8, -1 / 4, -1 / 8, 0, 1 / 8])
k += 0.3 * np.array([-1 / 6, 1 / 8, -1 / 12, 3 / 8, 1 / 12, -1 / 8, 1 / 6, -3 / 8])
ORDER = [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 7, 6, 5, 4, 3, 2], [2, 7, 0, 5, 6, 3, 4, 1], [3, 6, 5, 0, 7, 2, 1, 4],
         [4, 5, 6, 7, 0, 1, 2, 3], [5, 4, 3, 2, 1, 0, 7, 6], [6, 3, 4, 1, 2, 7, 0, 5], [7, 2, 1, 4, 3, 6, 5, 0]]  # fmt: skip
ELEMENT = k[np.array(ORDER)] / (1 - 0.3**2)

column, row = (
    part.reshape(-1) for part in np.meshgrid(np.arange(WIDE), np.arange(HIGH), indexing="ij")
)
corner = (HIGH + 1) * column + row
nodes = np.stack([corner + 1, corner + HIGH + 2, corner + HIGH + 1, corner], axis=1)
places = np.stack([2 * nodes, 2 * nodes + 1], axis=2).reshape(-1, 8)

# %%
# By symmetry half of the beam is enough: it slides along the left edge and rests on its right lower corner, and the load is on the
# left upper corner. The filter makes each density a mean of its neighbours, lest the result be a chequerboard.
size = 2 * (WIDE + 1) * (HIGH + 1)
free = np.setdiff1d(np.arange(size), [*range(0, 2 * (HIGH + 1), 2), size - 1])
number = np.full(size, -1)
number[free] = np.arange(len(free))
rows, columns = np.repeat(places, 8, axis=1).reshape(-1), np.tile(places, 8).reshape(-1)
kept = (number[rows] >= 0) & (number[columns] >= 0)
indices = np.stack([number[rows[kept]], number[columns[kept]]])
load = np.zeros(size)
load[1] = -1.0

distance = np.hypot(column[:, None] - column, row[:, None] - row)
near = scipy.sparse.csr_array(np.maximum(RADIUS - distance, 0))
near = gs.sparse.from_scipy(scipy.sparse.csr_array(near / near.sum(axis=1)[:, None]))


def displacements(density):
    """A power of the density makes half-dense elements a bad bargain."""
    stiffness = 1e-9 + density**PENALTY * (1 - 1e-9)
    values = (stiffness[:, None] * ELEMENT.reshape(-1)).reshape(-1)[kept]
    matrix = gs.sparse.sparse_coo_tensor(indices, values, (len(free), len(free)))
    return gs.sparse.spsolve(matrix, load[free])


def compliance(design):
    return load[free] @ displacements(near @ design)


# %%
# The textbook derives the gradient by hand: the problem is its own adjoint, so that the derivative by the density of an element is
# :math:`-p\,\rho^{p-1} u^\top k\,u`. The backward pass does not know that and has the same.
density = np.full(WIDE * HIGH, VOLUME)
slope = np.asarray(gs.grad(lambda density: load[free] @ displacements(density))(density))
moved = np.zeros(size)
moved[free] = np.asarray(displacements(density))
own = np.einsum("ei,ij,ej->e", moved[places], ELEMENT, moved[places])
textbook = -PENALTY * density ** (PENALTY - 1) * (1 - 1e-9) * own
print(
    f"largest difference from the textbook's gradient: {abs(slope - textbook).max() / abs(slope).max():.1e}"
)
assert np.allclose(slope, textbook, rtol=1e-6, atol=1e-9 * abs(textbook).max())

# %%
# The optimality criterion moves material to where it is worth most, by bisection of its price.
weight = np.asarray(gs.grad(lambda design: (near @ design).sum())(density))
design, history = density, []
for _ in trange(60):
    value, slope = gs.value_and_grad(compliance)(design)
    worth = np.sqrt(np.maximum(-np.asarray(slope) / weight, 0))
    low, high = 0.0, 1e5
    while high - low > 1e-6 * high:
        price = (low + high) / 2
        trial = np.clip(
            np.clip(design * worth / np.sqrt(price), design - 0.2, design + 0.2), 0.0, 1.0
        )
        low, high = (price, high) if weight @ trial > VOLUME * len(design) else (low, price)
    design = trial
    history.append(float(value))
    if len(history) == 5:
        early = np.asarray(near @ design)
density = np.asarray(near @ design)
print(f"compliance {history[0]:.1f} -> {history[-1]:.1f}; volume {density.mean():.4f}")
assert history[-1] < 0.3 * history[0] and abs(density.mean() - VOLUME) < 1e-3

# %%
# The whole beam.
shown = [one.reshape(WIDE, HIGH).T for one in (early, density)]
figure, axes = plt.subplots(3, 1, figsize=(9, 7.6), layout="constrained", height_ratios=[1, 1, 0.8])
for axis, one, title in zip(axes, shown, ("After 5 steps", f"After {len(history)} steps")):
    axis.imshow(np.hstack([one[:, ::-1], one]), cmap="Greys", vmin=0, vmax=1)
    axis.annotate(
        "",
        (WIDE, 0),
        (WIDE, -7),
        arrowprops={"arrowstyle": "-|>", "color": "tab:red", "lw": 2},
        annotation_clip=False,
    )
    axis.plot(
        [0, 2 * WIDE - 1],
        [HIGH + 1.5, HIGH + 1.5],
        "^",
        color="tab:blue",
        markersize=10,
        clip_on=False,
    )
    axis.set(xticks=[], yticks=[], ylim=(HIGH - 0.5, -0.5))
    axis.set_title(title, loc="left")
axes[2].semilogy(history, color="tab:blue")
axes[2].set(xlabel="step", ylim=(180, 1100), yticks=[200, 500, 1000], yticklabels=[200, 500, 1000])
axes[2].set_title("Compliance", loc="left")
axes[2].minorticks_off()
plt.show()
