import gradspec.numpy as jnp
from gradspec import grad, jvp, value_and_grad, vjp


def sigmoid(x):
    return 0.5 * (jnp.tanh(x / 2) + 1)


def predict(W, b, inputs):
    return sigmoid(jnp.dot(inputs, W) + b)


inputs = jnp.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
targets = jnp.array([True, True, False, True])


def loss(W, b):
    preds = predict(W, b, inputs)
    label_probs = preds * targets + (1 - preds) * (1 - targets)
    return -jnp.sum(jnp.log(label_probs))


W, b = jnp.array([0.1, -0.2, 0.3]), 0.5
W_grad, b_grad = grad(loss, (0, 1))(W, b)
loss_value, Wb_grad = value_and_grad(loss, (0, 1))(W, b)
assert jnp.allclose(W_grad, Wb_grad[0])

f = lambda W: predict(W, b, inputs)
v = jnp.array([1.0, 0.0, 0.0])
y, u = jvp(f, (W,), (v,))
y, vjp_fun = vjp(f, W)
cotangent = vjp_fun(jnp.ones(4))
assert jnp.allclose(jnp.dot(cotangent[0], v), jnp.sum(u))
