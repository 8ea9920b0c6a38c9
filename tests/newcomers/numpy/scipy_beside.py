"""SciPy beside: interpolation, root finding, quadrature, curve_fit with an exact Jacobian."""
import numpy as np
import scipy.optimize as so
import scipy.integrate as si
import gradspec as gs

def model(x, a, b, c):
    return a * np.exp(-b * x) + c
x = np.linspace(0, 4, 50)
y = model(x, 2.5, 1.3, 0.5) + 0.05 * np.random.default_rng(0).normal(size=50)
jac = gs.jacobian(lambda p: model(x, *p))
popt, pcov = so.curve_fit(model, x, y, p0=[1.0, 1.0, 1.0], jac=lambda x, *p: np.asarray(jac(np.array(p))))
print(popt)
f = lambda t: np.cos(t) - t
root = so.newton(f, 1.0, fprime=gs.grad(f), fprime2=gs.grad(gs.grad(f)))
print(root, so.root_scalar(f, x0=1.0, fprime=gs.grad(f), method="newton").root)
print(si.quad(gs.grad(np.sin), 0, np.pi / 2)[0])
print(so.fsolve(lambda v: [v[0] ** 2 + v[1] - 2, v[0] - v[1]], [1.0, 0.5], fprime=gs.jacobian(lambda v: gs.stack([v[0] ** 2 + v[1] - 2, v[0] - v[1]]))))
print(so.minimize(so.rosen, np.zeros(4), jac=gs.grad(so.rosen), hess=gs.hessian(so.rosen), method="trust-exact").x)
