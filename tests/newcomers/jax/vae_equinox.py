import dataclasses

import gradspec as jax
import gradspec.nn as jnn
import gradspec.numpy as jnp
import gradspec.random as jr


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Linear:
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return self.weight @ x + self.bias


def linear(key, n_in, n_out):
    lim = 1 / jnp.sqrt(n_in)
    wkey, bkey = jr.split(key, 2)
    return Linear(jr.uniform(wkey, (n_out, n_in), minval=-lim, maxval=lim), jr.uniform(bkey, (n_out,), minval=-lim, maxval=lim))


def make_vae(key):
    k = jr.split(key, 4)
    return {"enc": linear(k[0], 8, 32), "stats": linear(k[1], 32, 4), "dec": linear(k[2], 2, 32), "out": linear(k[3], 32, 8)}


def encode(vae, x):
    return jnp.split(vae["stats"](jnn.gelu(vae["enc"](x))), 2)


def decode(vae, z):
    return vae["out"](jnn.gelu(vae["dec"](z)))


def elbo(vae, x, key):
    mu, logvar = encode(vae, x)
    z = mu + jnp.exp(0.5 * logvar) * jr.normal(key, mu.shape)
    recon = -0.5 * jnp.sum((x - decode(vae, z)) ** 2) / 0.1
    kl = -0.5 * jnp.sum(1 + logvar - mu**2 - jnp.exp(logvar))
    return recon - kl


def loss_fn(vae, xs, key):
    keys = jr.split(key, xs.shape[0])
    return -jax.vmap(elbo, in_axes=(None, 0, 0))(vae, xs, keys).mean()


@jax.jit
def make_step(vae, momentum, xs, key):
    loss, grads = jax.value_and_grad(loss_fn)(vae, xs, key)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    vae = jax.tree.map(lambda p, m: p - 1e-3 * m, vae, momentum)
    return vae, momentum, loss


key = jr.PRNGKey(0)
data_key, model_key, train_key = jr.split(key, 3)
zs = jr.normal(data_key, (256, 2))
W = jr.normal(jr.fold_in(data_key, 1), (2, 8))
xs = zs @ W
vae = make_vae(model_key)
momentum = jax.tree.map(jnp.zeros_like, vae)
losses = []
for step in range(200):
    train_key, sub, perm = jr.split(train_key, 3)
    batch = xs[jr.permutation(perm, xs.shape[0])[:64]]
    vae, momentum, loss = make_step(vae, momentum, batch, sub)
    losses.append(loss.item())
print(f"{losses[0]:.2f} -> {losses[-1]:.2f}", jax.tree.structure(vae))
assert losses[-1] < 0.2 * losses[0]
assert len(jax.tree.leaves(vae)) == 8

# the closed-form KL agrees with its estimate by sampling
mu, logvar = jnp.array([0.3, -0.2]), jnp.array([-0.5, 0.1])
z = mu + jnp.exp(logvar / 2) * jr.normal(key, (200_000, 2))
lp = jax.scipy.stats.norm.logpdf
estimate = jnp.mean(jnp.sum(lp(z, mu, jnp.exp(logvar / 2)) - lp(z), axis=1))
exact = -0.5 * jnp.sum(1 + logvar - mu**2 - jnp.exp(logvar))
assert jnp.abs(estimate - exact) < 0.01
params = jax.tree_util.tree_flatten_with_path(vae)[0]
assert [jax.tree_util.keystr(p) for p, _ in params][0].startswith("['dec']")
