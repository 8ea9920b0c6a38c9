r"""
Gaussian process with uncertainty
=================================

A Gaussian process is a distribution over functions. Its length scale, amplitude and noise make the data as likely as
possible: ``gs.scipy.optimize.minimize`` gets the exact gradient of the likelihood, through a Cholesky factor. A second
gradient gives the slope of the function that was found, with its own uncertainty.
"""

# %%
# Forty noisy values of a function, with a gap in the middle where the process has to admit that it does not know.
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs
from gradspec.scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from gradspec.scipy.optimize import minimize


def truth(x):
    return np.sin(x) + 0.3 * x


rng = np.random.default_rng(3)
x = np.sort(np.concatenate([rng.uniform(0, 3.5, 22), rng.uniform(7, 10, 18)]))
y = truth(x) + 0.2 * rng.normal(size=40)


def kernel(a, b, length, amplitude):
    return amplitude**2 * gs.exp(-(((a[:, None] - b) / length) ** 2) / 2)


# %%
# The negative logarithm of the likelihood is :math:`\tfrac{1}{2} y^\top K^{-1} y + \log\det L + \tfrac{n}{2}\log 2\pi`, where
# :math:`K = LL^\top`. The parameters are logarithms, so that they stay positive.
def negative_log_likelihood(theta):
    length, amplitude, noise = gs.exp(theta)
    factor = cholesky(kernel(x, x, length, amplitude) + noise**2 * np.eye(len(x)), lower=True)
    whitened = solve_triangular(factor, y, lower=True)
    return (
        (whitened**2).sum() / 2 + gs.log(gs.diagonal(factor)).sum() + len(x) / 2 * np.log(2 * np.pi)
    )


found = minimize(negative_log_likelihood, np.log([0.3, 0.5, 0.5]), method="BFGS", tol=1e-6)
theta = found.x
length, amplitude, noise = gs.exp(theta)
spread = gs.sqrt(gs.diagonal(gs.linalg.inv(gs.hessian(negative_log_likelihood)(theta))))
for name, value, error in zip(("length scale", "amplitude", "noise"), gs.exp(theta), spread):
    print(f"{name:13}{float(value):.3f} times or over {float(gs.exp(error)):.2f}")

# %%
# Given the data, the process is a Gaussian process again. Its mean at a point is a sum of kernels; derivatives of the kernel give
# the slope: the mean of the slope is the gradient of the mean, and its covariance is the mixed second derivative of the covariance.
factor = cho_factor(kernel(x, x, length, amplitude) + noise**2 * np.eye(len(x)), lower=True)
weights = cho_solve(factor, y)


def mean(s):
    return (kernel(s[None], x, length, amplitude) @ weights)[0]


def covariance(s, t):
    across = kernel(x, t[None], length, amplitude)
    return (
        kernel(s[None], t[None], length, amplitude)
        - kernel(s[None], x, length, amplitude) @ cho_solve(factor, across)
    )[0, 0]


def curve(s):
    """Mean and variance of the function and of its slope at a point."""
    mixed = gs.grad(gs.grad(covariance, 0), 1)
    return mean(s), covariance(s, s), gs.grad(mean)(s), mixed(s, s)


s = np.linspace(-0.5, 11, 300)
with gs.no_grad():
    value, variance, slope, slope_variance = (
        np.asarray(part) for part in gs.vmap(curve)(gs.asarray(s))
    )

# %%
# Two checks: the gradient of the likelihood against the textbook's
# :math:`\tfrac{1}{2}\operatorname{tr}\left((K^{-1} - \alpha\alpha^\top)\,\partial K/\partial\theta\right)`, and the band, which holds the
# true function where there are data.
start = np.log([1.0, 1.5, 0.3])
a, b, c = np.exp(start)
distance = (x[:, None] - x) ** 2
smooth = b**2 * np.exp(-distance / (2 * a**2))
inverse = np.linalg.inv(smooth + c**2 * np.eye(40))
alpha = inverse @ y
slopes = [smooth * distance / a**2, 2 * smooth, 2 * c**2 * np.eye(40)]
textbook = [np.trace((inverse - np.outer(alpha, alpha)) @ one) / 2 for one in slopes]
assert np.allclose(gs.grad(negative_log_likelihood)(start), textbook, rtol=1e-9)

near = ((s > 0) & (s < 3.5)) | ((s > 7) & (s < 10))
inside = (abs(truth(s) - value) < 2 * np.sqrt(variance))[near].mean()
inside_slope = (abs(np.cos(s) + 0.3 - slope) < 2 * np.sqrt(slope_variance))[near].mean()
print(
    f"the true function is within two standard deviations at {inside:.0%} of the points, its slope at {inside_slope:.0%}"
)
assert inside > 0.85 and inside_slope > 0.8 and abs(float(noise) - 0.2) < 0.08

# %%
# The band opens in the gap and beyond the data.
spaces = kernel(s, s, length, amplitude) - kernel(s, x, length, amplitude) @ cho_solve(
    factor, kernel(x, s, length, amplitude)
)
root = np.linalg.cholesky(np.asarray(spaces) + 1e-8 * np.eye(300))
figure, (top, below) = plt.subplots(
    2, 1, figsize=(9, 6.4), sharex=True, layout="constrained", height_ratios=[3, 2]
)
for axis, middle, deviation, exact, colour in (
    (top, value, np.sqrt(variance), truth(s), "tab:blue"),
    (below, slope, np.sqrt(slope_variance), np.cos(s) + 0.3, "tab:orange"),
):
    for width in (2, 1):
        axis.fill_between(
            s,
            middle - width * deviation,
            middle + width * deviation,
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
    axis.plot(s, middle, color=colour, linewidth=2)
    axis.plot(s, exact, "--", color="black", linewidth=1.2)
top.plot(
    s, value[:, None] + root @ rng.normal(size=(300, 4)), color="tab:blue", linewidth=0.5, alpha=0.8
)
top.plot(x, y, "o", color="black", markersize=4)
top.set(title="Data, mean, one and two standard deviations, four draws; dashed: the truth")
below.set(title="The slope of the function", xlim=(s[0], s[-1]))
plt.show()
