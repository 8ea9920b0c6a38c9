import gradspec.numpy as np
from gradspec import grad
from gradspec.extend import defvjp, primitive


@primitive
def logsumexp(x):
    max_x = np.max(x)
    return max_x + np.log(np.sum(np.exp(x - max_x)))


def logsumexp_vjp(ans, x):
    x_shape = x.shape
    return lambda g: np.full(x_shape, g) * np.exp(x - np.full(x_shape, ans))


defvjp(logsumexp, logsumexp_vjp)
print(grad(logsumexp)(np.array([1.5, 6.7, 1e-10])))
