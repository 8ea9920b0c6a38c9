import gradspec.numpy as np
from gradspec import elementwise_grad as egrad
from gradspec import grad


def tanh(x):
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


grad_tanh = grad(tanh)
print(grad_tanh(1.0))
print((tanh(1.0001) - tanh(0.9999)) / 0.0002)
assert abs(grad_tanh(1.0) - (tanh(1.0001) - tanh(0.9999)) / 0.0002) < 1e-6

x = np.linspace(-7, 7, 200)
curves = [tanh(x), egrad(tanh)(x), egrad(egrad(tanh))(x), egrad(egrad(egrad(tanh)))(x)]
assert all(c.shape == (200,) for c in curves)
