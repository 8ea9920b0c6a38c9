"""One training step of a small classifier: forward, softmax cross entropy, backward, gradient descent."""

from itertools import pairwise

import numpy as np

title = "MLP training step, batch 32, 64-64-64-10, float32"
sizes, batch = (64, 64, 64, 10), 32
rate = 0.01


def inputs(sizes=sizes, batch=batch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
    targets = rng.integers(sizes[-1], size=batch)
    parameters = []
    for fan_in, fan_out in pairwise(sizes):
        parameters.append((rng.normal(size=(fan_in, fan_out)) / np.sqrt(fan_in)).astype(np.float32))
        parameters.append(np.zeros(fan_out, np.float32))
    return x, targets, *parameters


def logits(relu, x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return x @ w3 + b3


def with_gradspec(x, targets, *parameters):
    import gradspec as gs

    x, targets = gs.tensor(x), gs.tensor(targets)
    parameters = [gs.tensor(p, requires_grad=True) for p in parameters]

    def step():
        loss = gs.nn.cross_entropy(logits(gs.nn.relu, x, *parameters), targets)
        loss.backward()
        with gs.no_grad():
            for p in parameters:
                p -= rate * p.grad
                p.grad = None
        return loss, *parameters

    return step


def with_torch(x, targets, *parameters):
    import torch

    x, targets = torch.tensor(x), torch.tensor(targets)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]

    def step():
        loss = torch.nn.functional.cross_entropy(logits(torch.relu, x, *parameters), targets)
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=rate)
                p.grad = None
        return loss, *parameters

    return step


def with_jax(x, targets, *parameters):
    import jax
    import jax.numpy as jnp

    def loss(parameters, x, targets):
        log_p = jax.nn.log_softmax(logits(jax.nn.relu, x, *parameters))
        return -jnp.mean(jnp.take_along_axis(log_p, targets[:, None], axis=1))

    @jax.jit
    def update(parameters, x, targets):
        value, gradients = jax.value_and_grad(loss)(parameters, x, targets)
        return value, [p - rate * g for p, g in zip(parameters, gradients)]

    x, targets, parameters = jax.device_put((x, targets, list(parameters)))

    def step():
        nonlocal parameters
        value, parameters = jax.block_until_ready(update(parameters, x, targets))
        return value, *parameters

    return step


def with_autograd(x, targets, *parameters):
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy.special import logsumexp

    rows = np.arange(len(targets))

    def loss(parameters):
        z = logits(lambda x: np.maximum(x, 0), x, *parameters)
        return np.mean(logsumexp(z, axis=1) - z[rows, targets])

    gradient, parameters = value_and_grad(loss), list(parameters)

    def step():
        value, gradients = gradient(parameters)
        for p, g in zip(parameters, gradients):
            p -= rate * g
        return value, *parameters

    return step


def with_numpy(x, targets, *parameters):
    """Only the matrix products: for each layer one forward and two backward, except for the first layer's input."""
    weights = parameters[::2]
    layers = [np.empty((len(x), w.shape[1]), x.dtype) for w in weights]
    by_weight, by_input = [np.empty_like(w) for w in weights], [x.copy(), *(np.empty_like(layer) for layer in layers[:-1])]

    def step():
        for i, w in enumerate(weights):
            np.matmul(layers[i - 1] if i else x, w, layers[i])
        for i in reversed(range(len(weights))):
            np.matmul((layers[i - 1] if i else x).T, layers[i], by_weight[i])
            if i:
                np.matmul(layers[i], weights[i].T, by_input[i])
        return by_weight

    return step
