import numpy.random as npr

import gradspec.numpy as np
from gradspec import elementwise_grad as egrad
from gradspec import grad
from gradspec.misc.flatten import flatten

params = {"W": npr.randn(3, 2), "b": npr.randn(2)}
flat, unflatten = flatten(params)
f = lambda flat: np.sum(np.tanh(np.dot(np.ones((4, 3)), unflatten(flat)["W"]) + unflatten(flat)["b"]))
print(grad(f)(flat).shape, egrad(np.sinc)(np.linspace(-2, 2, 5)))
