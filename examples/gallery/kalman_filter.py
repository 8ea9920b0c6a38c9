r"""
Kalman filter
=============

A boat drifts and is measured, badly. The filter of Kalman has the best guess after each measurement, the smoother of Rauch, Tung
and Striebel the best guess after all of them. How rough the sea is and how bad the measurements are, the filter finds out itself:
it computes the likelihood of the data, and ``gs.grad`` goes through all its steps.
"""

# %%
# The state has place and velocity in two directions; white noise of strength :math:`q` accelerates the boat, and the measured
# place has an error with standard deviation :math:`r`.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import gradspec as gs

STEPS, DT, Q, R = 120, 0.1, 1.0, 0.3
F = np.kron([[1.0, DT], [0.0, 1.0]], np.eye(2))
NOISE = np.kron([[DT**3 / 3, DT**2 / 2], [DT**2 / 2, DT]], np.eye(2))  # of a step, for strength 1
H = np.eye(2, 4)
MEAN, COVARIANCE = np.array([0.0, 0.0, 1.0, 0.5]), np.diag([0.5, 0.5, 0.5, 0.5]) ** 2

rng = np.random.default_rng(5)
state, states = rng.multivariate_normal(MEAN, COVARIANCE), []
for _ in range(STEPS):
    state = F @ state + rng.multivariate_normal(np.zeros(4), Q**2 * NOISE)
    states.append(state)
states = np.array(states)
measured = states @ H.T + R * rng.normal(size=(STEPS, 2))


# %%
# One step predicts, compares with the measurement, and corrects. ``gs.scan`` repeats it; the surprises add up to the
# likelihood.
def filtered(theta):
    """The states before and after each measurement, and the log-likelihood of all."""
    q, r = gs.exp(theta)

    def step(carry, y):
        m, P = carry
        m, P = F @ m, F @ P @ F.T + q**2 * NOISE
        surprise, S = y - H @ m, H @ P @ H.T + r**2 * np.eye(2)
        gain = gs.linalg.solve(S, H @ P).T
        after = m + gain @ surprise, P - gain @ S @ gain.T
        fit = -(surprise @ gs.linalg.solve(S, surprise) + gs.linalg.slogdet(2 * np.pi * S)[1]) / 2
        return after, (m, P, *after, fit)

    return gs.scan(step, (gs.asarray(MEAN), gs.asarray(COVARIANCE)), gs.asarray(measured))[1]


def cost(theta):
    return -filtered(theta)[-1].sum()


fit = gs.scipy.optimize.minimize(cost, np.log([0.3, 1.0]), method="BFGS", tol=1e-5)
error = gs.sqrt(gs.diagonal(gs.linalg.inv(gs.hessian(cost)(fit.x))))
for name, log, spread, true in zip(("sea", "measurement"), fit.x, error, (Q, R)):
    print(
        f"noise of the {name:12} {float(gs.exp(log)):.3f}, times or over {float(gs.exp(spread)):.2f}   true: {true}"
    )
assert np.all(abs(np.asarray(fit.x) - np.log([Q, R])) < 3 * np.asarray(error))

# %%
# The smoother goes back from the last step.
before, P_before, after, P_after, _ = map(np.asarray, filtered(fit.x.detach()))
smooth, P_smooth = [after[-1]], [P_after[-1]]
for t in range(STEPS - 2, -1, -1):
    gain = np.linalg.solve(P_before[t + 1], F @ P_after[t]).T
    smooth.append(after[t] + gain @ (smooth[-1] - before[t + 1]))
    P_smooth.append(P_after[t] + gain @ (P_smooth[-1] - P_before[t + 1]) @ gain.T)
smooth, P_smooth = np.array(smooth[::-1]), np.array(P_smooth[::-1])

# %%
# All of this is one large Gaussian distribution, which has no secrets: with the matrix of all states the likelihood and the smoothed
# states follow from linear algebra. They agree to the last digits.
q, r = np.exp(np.asarray(fit.x.detach()))
power = [np.linalg.matrix_power(F, k) for k in range(STEPS + 1)]
start = np.concatenate(power[1:]) @ np.linalg.cholesky(COVARIANCE)
pushes = np.block(
    [[power[i - j] if j <= i else np.zeros((4, 4)) for j in range(STEPS)] for i in range(STEPS)]
)
K = start @ start.T + pushes @ np.kron(np.eye(STEPS), q**2 * NOISE) @ pushes.T
prior = np.concatenate(power[1:]) @ MEAN
G = np.kron(np.eye(STEPS), H)
S = G @ K @ G.T + r**2 * np.eye(2 * STEPS)
surprise = measured.reshape(-1) - G @ prior
dense = -(surprise @ np.linalg.solve(S, surprise) + np.linalg.slogdet(2 * np.pi * S)[1]) / 2
posterior = (prior + K @ G.T @ np.linalg.solve(S, surprise)).reshape(STEPS, 4)
print(f"log-likelihood: filter {-float(cost(fit.x)):.9f}, one large Gaussian {dense:.9f}")
assert abs(float(cost(fit.x)) + dense) < 1e-7 * abs(dense) and abs(posterior - smooth).max() < 1e-7
distances = [
    np.sqrt(((track - states[:, :2]) ** 2).sum(1).mean())
    for track in (measured, after[:, :2], smooth[:, :2])
]
print(
    "distance from the truth: measured {:.3f}, filtered {:.3f}, smoothed {:.3f}".format(*distances)
)
assert distances[2] < distances[1] < distances[0]

# %%
# The ellipses hold the boat with a probability of 95 %, if the filter is right. Errors at neighbouring times are alike, so that the
# share in one run scatters around that.
inside = (
    np.einsum("ti,tij,tj->t", smooth - states, np.linalg.inv(P_smooth), smooth - states) < 9.488
)  # of chi-square with 4
print(f"inside of the smoother's 95 %: {inside.mean():.0%}")
assert inside.mean() > 0.85
figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharex=True, sharey=True, layout="constrained")
for axis, title, means, covariances, colour in (
    (axes[0], "Filter: what is known at the time", after, P_after, "tab:orange"),
    (axes[1], "Smoother: what is known at the end", smooth, P_smooth, "tab:blue"),
):
    for m, P in zip(means[::2], covariances[::2]):
        widths, vectors = np.linalg.eigh(P[:2, :2])
        angle = np.degrees(np.arctan2(*vectors[::-1, 1]))
        wide, narrow = 2 * np.sqrt(5.991 * widths[::-1])  # 95 % of chi-square with 2
        axis.add_patch(
            Ellipse(m[:2], wide, narrow, angle=angle, color=colour, alpha=0.2, linewidth=0)
        )
    axis.plot(*measured.T, "x", color="grey", markersize=4, label="measured")
    axis.plot(*states[:, :2].T, "--", color="black", linewidth=1.2, label="truth")
    axis.plot(*means[:, :2].T, color=colour, linewidth=2, label="found")
    axis.set(title=title, aspect="equal")
axes[0].legend(frameon=False)
plt.show()
