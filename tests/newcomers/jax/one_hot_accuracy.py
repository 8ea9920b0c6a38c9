import gradspec as jax
import gradspec.numpy as jnp
from gradspec import value_and_grad, vmap

images = jnp.linspace(-1, 1, 6 * 4).reshape(6, 4)
labels = jnp.array([0, 2, 1, 2, 0, 1])
W, b = jnp.zeros((4, 3)), jnp.zeros((3,))
one_hot = lambda x, k: jnp.array(x[:, None] == jnp.arange(k), dtype=jnp.float32)


def predict(params, image):
    W, b = params
    logits = jnp.dot(image, W) + b
    return logits - jax.nn.logsumexp(logits)


def loss(params, images, targets):
    return -jnp.mean(jnp.sum(vmap(predict, in_axes=(None, 0))(params, images) * targets, axis=1))


value, grads = value_and_grad(loss)((W, b), images, one_hot(labels, 3))
accuracy = jnp.mean(jnp.argmax(vmap(predict, in_axes=(None, 0))((W, b), images), axis=1) == labels)
assert jnp.isclose(value, jnp.log(3.0)) and [g.shape for g in grads] == [(4, 3), (3,)]
