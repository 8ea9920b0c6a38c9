r"""
Lotka-Volterra fit
==================

For ninety years the Hudson's Bay Company counted the pelts that it bought. The lynx eats the hare, and both numbers swing. The
equations of Lotka and Volterra have four rates; with the two numbers at the beginning they are six unknowns. A fit needs the
derivatives of the solution by all six: ``gs.scipy.integrate.solve_ivp`` has them.
"""

# %%
# Thousands of pelts, 1900 to 1920 (C. Elton and M. Nicholson, *The ten-year cycle in numbers of the lynx in Canada*, 1942; the
# numbers as P. Howard tabulated them).
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs
from gradspec.scipy.integrate import solve_ivp
from gradspec.scipy.optimize import least_squares

hare = "30 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22 25.4 27.1 40.3 57 76.6 52.3 19.5 11.2 7.6 14.6 16.2 24.7"
lynx = "4 6.1 9.8 35.2 59.4 41.7 19 13 8.3 9.1 7.4 8 12.3 19.5 45.7 51.1 29.7 15.8 9.7 10.1 8.6"
pelts = np.array([hare.split(), lynx.split()], float)
years = np.arange(21.0)


# %%
# Errors of such counts are relative, so that the fit compares logarithms. In the logarithms :math:`u` of the numbers the equations
# read :math:`du_1/dt = a - b\,e^{u_2}`, :math:`du_2/dt = d\,e^{u_1} - c`. The unknowns are logarithms as well.
def rates_of_change(t, u, a, b, c, d):
    return gs.stack([a - b * gs.exp(u[1]), d * gs.exp(u[0]) - c])


def solution(theta, times=years):
    span = (0.0, float(times[-1]))
    return solve_ivp(
        rates_of_change,
        span,
        theta[4:],
        t_eval=times,
        args=tuple(gs.exp(theta[:4])),
        method="RK4",
        step=0.05,
    ).y


def residuals(theta):
    return (solution(theta) - np.log(pelts)).reshape(-1)


guess = np.log([0.6, 0.03, 0.9, 0.03, 30.0, 4.0])
fit = least_squares(residuals, guess)
theta = fit.x

# %%
# The Jacobian of the residuals gives the covariance of the six unknowns; with the Jacobian of the curve it gives a band.
jacobian = gs.jacfwd(residuals)(theta)
noise = gs.sqrt((residuals(theta) ** 2).sum() / (42 - 6))
covariance = noise**2 * gs.linalg.inv(jacobian.T @ jacobian)
errors = gs.sqrt(gs.diagonal(covariance))
# Posterior means and deviations of B. Carpenter's case study in Stan: the same model and data.
published = np.array([0.55, 0.028, 0.80, 0.024])
spread = np.array([0.064, 0.0042, 0.092, 0.0036])
for name, value, error, other in zip("abcd", gs.exp(theta[:4]), errors, published):
    print(f"{name} = {float(value):.4f} +- {float(value * error):.4f}   published: {other}")
print(f"noise of the logarithms: {float(noise):.3f}   published: 0.25")
rates = gs.exp(theta[:4])
assert np.all(abs(rates - published) < spread) and abs(float(noise) - 0.25) < 0.05

# %%
# Two more checks. The quantity :math:`d e^{u_1} - c u_1 + b e^{u_2} - a u_2` is constant on a solution. And the Jacobian through the
# solver agrees with differences of solutions.
times = np.linspace(0, 26, 400)
curve = solution(theta, times)
a, b, c, d = rates
constant = d * gs.exp(curve[0]) - c * curve[0] + b * gs.exp(curve[1]) - a * curve[1]
print(f"the constant of the motion varies by {float(constant.max() - constant.min()):.1e}")
assert float(constant.max() - constant.min()) < 1e-5
direction = np.random.default_rng(0).normal(size=6)
difference = (residuals(theta + 1e-4 * direction) - residuals(theta - 1e-4 * direction)) / 2e-4
assert abs(jacobian @ direction - difference).max() < 1e-4 * abs(difference).max()

# %%
# The band is the uncertainty of the curve, not of a count. It widens where the fit predicts.
sensitivity = gs.jacfwd(lambda theta: solution(theta, times))(theta)
band = np.asarray(gs.sqrt(gs.einsum("cti,ij,ctj->ct", sensitivity, covariance, sensitivity)))
curve = np.asarray(curve)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.4), layout="constrained", width_ratios=[1.9, 1]
)
for row, (name, colour) in enumerate((("hare", "tab:blue"), ("lynx", "tab:red"))):
    left.fill_between(
        1900 + times,
        np.exp(curve[row] - 2 * band[row]),
        np.exp(curve[row] + 2 * band[row]),
        color=colour,
        alpha=0.25,
        linewidth=0,
    )
    left.plot(1900 + times, np.exp(curve[row]), color=colour, label=name)
    left.plot(1900 + years, pelts[row], "o", color=colour, markersize=5)
left.axvline(1920, color="grey", linewidth=0.8, linestyle=":")
left.set(ylabel="thousands of pelts", title="Fit to 1920, then six years ahead", ylim=(0, 120))
left.legend(frameon=False)
hare, lynx = np.meshgrid(np.linspace(2, 95, 200), np.linspace(2, 80, 200))
height = float(d) * hare - float(c) * np.log(hare) + float(b) * lynx - float(a) * np.log(lynx)
right.contour(hare, lynx, height, levels=14, cmap="Greys_r", linewidths=0.6)
right.plot(*np.exp(curve), color="tab:purple", linewidth=2)
right.plot(*pelts, "o", color="black", markersize=4)
right.plot(float(c / d), float(a / b), "+", color="tab:purple", markersize=12)
right.set(xlabel="hare", ylabel="lynx", title="The same, without time")
plt.show()
