import gradspec.numpy as np
from gradspec import value_and_grad
from gradspec.scipy.integrate import odeint
from scipy.optimize import minimize


def func(y, t, A):
    return np.dot(y**3, A)


true_y0 = np.array([2.0, 0.0])
t = np.linspace(0.0, 5.0, 50)
true_A = np.array([[-0.1, 2.0], [-2.0, -0.1]])
true_y = odeint(func, true_y0, t, args=tuple((true_A,)))
loss = lambda A: np.mean((odeint(func, true_y0, t, args=(np.reshape(A, (2, 2)),)) - true_y) ** 2)
result = minimize(value_and_grad(loss), np.zeros(4), jac=True, options={"maxiter": 2})
