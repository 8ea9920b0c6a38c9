import numpy.random as npr

import gradspec.numpy as np
from gradspec import grad


def init_random_params(scale, layer_sizes, rs=npr.RandomState(0)):
    return [(scale * rs.randn(m, n), scale * rs.randn(n)) for m, n in zip(layer_sizes[:-1], layer_sizes[1:])]


def neural_net_predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs - np.logsumexp(outputs, axis=1, keepdims=True)


def log_likelihood(params, inputs, targets):
    return np.sum(neural_net_predict(params, inputs) * targets)


inputs = npr.RandomState(1).randn(50, 4)
targets = np.eye(3)[npr.RandomState(2).randint(3, size=50)]
params = init_random_params(0.1, [4, 10, 3])
objective = lambda params: -log_likelihood(params, inputs, targets)
objective_grad = grad(objective)
before = objective(params)
for i in range(20):
    gradient = objective_grad(params)
    params = [(W - 0.01 * dW, b - 0.01 * db) for (W, b), (dW, db) in zip(params, gradient)]
print(before, objective(params))
assert objective(params) < before
