"""Fully manual classification with autograd's own optimizers."""
import gradspec.numpy as np
from gradspec.linalg import inv, slogdet
from gradspec import grad, elementwise_grad as egrad, jacobian
from gradspec.misc.optimizers import adam

A = np.eye(3) * 2.0
print(grad(lambda a: slogdet(a)[1])(A) - inv(A).T)
print(egrad(np.tanh)(np.linspace(-1, 1, 5)), jacobian(lambda x: np.outer(x, x))(np.arange(3.0)).shape)
def objective(w, i):
    return np.dot(w, np.dot(A, w)) / 2 - np.sum(w)
print(adam(grad(objective), np.ones(3), num_iters=50, step_size=0.1))
