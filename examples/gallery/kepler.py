r"""
Kepler's orbits
===============

A planet moves by Hamilton's equations. From the energy :math:`H(q, p) = p^2/2 - 1/|q|` they take two gradients,

.. math:: \dot q = \partial H/\partial p, \qquad \dot p = -\partial H/\partial q,

and ``gs.grad`` writes both. The leapfrog method keeps the energy for any number of years; the method of Runge and
Kutta, with as many gradients, loses it. Kepler's equation has the exact positions.
"""

# %%
# The energy is the only physics in this program. Its gradients act on a batch of planets, a row each, which do not attract each
# other.
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

ECCENTRICITIES = np.array([0.0, 0.3, 0.6, 0.8])


def kinetic(p):
    return (p**2).sum() / 2


def potential(q):
    return -(1 / gs.sqrt((q**2).sum(axis=-1))).sum()


velocity, slope = gs.grad(kinetic), gs.grad(potential)


# %%
# A step of leapfrog is three shears of the phase space, so that it keeps areas. Four of a quarter take as many gradients as one
# step of Runge and Kutta.
def leapfrog(q, p, h):
    for _ in range(4):
        p = p - h / 8 * slope(q)
        q = q + h / 4 * velocity(p)
        p = p - h / 8 * slope(q)
    return q, p


def runge_kutta(q, p, h):
    a, b = velocity(p), -slope(q)
    c, d = velocity(p + h / 2 * b), -slope(q + h / 2 * a)
    e, f = velocity(p + h / 2 * d), -slope(q + h / 2 * c)
    g, k = velocity(p + h * f), -slope(q + h * e)
    return q + h / 6 * (a + 2 * c + 2 * e + g), p + h / 6 * (b + 2 * d + 2 * f + k)


# %%
# At the perihelion an orbit with half axis 1 has the distance :math:`1-e` and the speed :math:`\sqrt{(1+e)/(1-e)}`; its period is
# :math:`2\pi`.
q0 = np.stack([1 - ECCENTRICITIES, 0 * ECCENTRICITIES], axis=1)
p0 = np.stack([0 * ECCENTRICITIES, np.sqrt((1 + ECCENTRICITIES) / (1 - ECCENTRICITIES))], axis=1)


def orbits(method, years, steps_a_year):
    """Places and energies after each step."""
    step = gs.compile(method)  # recorded once, then replayed without Python
    q, p = gs.asarray(q0), gs.asarray(p0)
    places, energies = [q0], [-0.5 + 0 * ECCENTRICITIES]
    for _ in range(int(years * steps_a_year)):
        q, p = step(q, p, 2 * np.pi / steps_a_year)
        places.append(np.asarray(q))
        energies.append(
            (np.asarray(p) ** 2).sum(axis=1) / 2 - 1 / np.linalg.norm(places[-1], axis=1)
        )
    return np.array(places), np.array(energies)


# %%
# Kepler's equation :math:`M = E - e\sin E` gives the exact place at the mean anomaly :math:`M`, which is the time.
# ``gs.scipy.optimize.newton`` solves it. Leapfrog is of second order: half the step, a quarter of the error.
mean_anomaly = 2 * np.pi * 5 / 8
exact = []
for e in ECCENTRICITIES:
    anomaly = float(
        gs.scipy.optimize.newton(lambda x, e: x - e * gs.sin(x) - mean_anomaly, np.pi, args=(e,))
    )
    exact.append([np.cos(anomaly) - e, np.sqrt(1 - e**2) * np.sin(anomaly)])
coarse, fine = (
    np.linalg.norm(orbits(leapfrog, 5 / 8, steps)[0][-1] - exact, axis=1) for steps in (1600, 3200)
)
print("distance to Kepler's place after 5/8 of a year:", coarse, "with half the step:", fine)
assert coarse.max() < 1e-3 and np.allclose(coarse / fine, 4, rtol=0.01)

# %%
# Now a hundred years with large steps.
YEARS, STEPS = 100, 100
q, energy = orbits(leapfrog, YEARS, STEPS)
q_rk, energy_rk = orbits(runge_kutta, YEARS, STEPS)
error, error_rk = abs(energy / 0.5 + 1), abs(energy_rk / 0.5 + 1)
print(
    "relative error of the energy in the last year, leapfrog:        ", error[-STEPS:].max(axis=0)
)
print(
    "relative error of the energy in the last year, Runge and Kutta: ",
    error_rk[-STEPS:].max(axis=0),
)
first, last = error[:STEPS].max(axis=0), error[-STEPS:].max(axis=0)
assert np.all(last < 1.1 * first + 1e-9)  # leapfrog's does not grow
assert error_rk[-1, 2] > 20 * error_rk[STEPS, 2]  # the other does

# %%
# The planets move fast where they are close to the sun: a dot each twentieth of a year. On the long way leapfrog turns the ellipse,
# but keeps its shape; the method of Runge and Kutta draws the planet into the sun.
figure, axes = plt.subplot_mosaic(
    [["one", "leapfrog", "Runge and Kutta"], ["energy"] * 3],
    figsize=(11, 7),
    layout="constrained",
    height_ratios=[3, 2],
)
year = orbits(leapfrog, 1, 400)[0]
for number, e in enumerate(ECCENTRICITIES):
    (line,) = axes["one"].plot(*year[:, number].T, linewidth=1.5, label=f"$e$ = {e}")
    axes["one"].plot(*year[::20, number].T, "o", markersize=4, color=line.get_color())
    if e:  # the largest error of each year
        for found, style in ((error, "-"), (error_rk, "--")):
            yearly = found[1:, number].reshape(YEARS, STEPS).max(axis=1)
            axes["energy"].semilogy(
                1 + np.arange(YEARS), yearly, style, color=line.get_color(), linewidth=2
            )
axes["one"].set(title="One year")
axes["one"].legend(loc="upper left", frameon=False, fontsize="small")
for name, track in (("leapfrog", q), ("Runge and Kutta", q_rk)):
    axes[name].scatter(
        *track[: 25 * STEPS, 3].T, c=np.arange(25 * STEPS) / STEPS, s=1.5, cmap="viridis"
    )
    axes[name].set(title=f"25 years, $e$ = 0.8, {name}")
for name in ("one", "leapfrog", "Runge and Kutta"):
    axes[name].plot(0, 0, "*", color="goldenrod", markersize=16)
    axes[name].set(aspect="equal", xlim=(-2.1, 1.3), ylim=(-1.7, 1.7))
axes["energy"].set(
    xlabel="years",
    xlim=(1, YEARS),
    ylim=(1e-6, 3),
    title="Largest error of the energy: leapfrog —, Runge and Kutta - -",
)
plt.show()
