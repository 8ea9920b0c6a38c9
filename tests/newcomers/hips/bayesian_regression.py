import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import grad, hessian, value_and_grad

npr.seed(0)
X = npr.randn(50, 3)
w_true = np.array([1.0, -2.0, 0.5])
y = np.dot(X, w_true) + 0.1 * npr.randn(50)


def log_posterior(w, sigma=0.1):
    return -0.5 * np.sum((y - np.dot(X, w)) ** 2) / sigma**2 - 0.5 * np.dot(w, w)


w = np.zeros(3)
for _ in range(5):
    g, H = grad(log_posterior)(w), hessian(log_posterior)(w)
    w = w - np.linalg.solve(H, g)
print(w, np.linalg.inv(-H))
