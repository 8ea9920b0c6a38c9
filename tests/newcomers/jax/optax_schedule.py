import collections

import gradspec as jax
import gradspec.numpy as jnp
import numpy as np
from gradspec import lax

GradientTransformation = collections.namedtuple("GradientTransformation", "init update")


def clip_by_global_norm(max_norm):
    def update(updates, state, params=None):
        g_norm = jnp.sqrt(sum(jnp.sum(jnp.square(u)) for u in jax.tree_util.tree_leaves(updates)))
        trigger = g_norm < max_norm
        return jax.tree_util.tree_map(lambda t: jnp.where(trigger, t, (t / g_norm) * max_norm), updates), state

    return GradientTransformation(lambda params: (), update)


def scale_by_schedule(fn):
    def update(updates, count, params=None):
        return jax.tree_util.tree_map(lambda g: fn(count) * g, updates), count + 1

    return GradientTransformation(lambda params: jnp.zeros((), dtype=jnp.int32), update)


def trace(decay):
    def update(updates, state, params=None):
        new = jax.tree_util.tree_map(lambda g, t: g + decay * t, updates, state)
        return new, new

    return GradientTransformation(lambda params: jax.tree_util.tree_map(jnp.zeros_like, params), update)


def chain(*args):
    def init(params):
        return tuple(t.init(params) for t in args)

    def update(updates, state, params=None):
        new_state = []
        for s, t in zip(state, args):
            updates, s = t.update(updates, s, params)
            new_state.append(s)
        return updates, tuple(new_state)

    return GradientTransformation(init, update)


def warmup_cosine(peak, warmup, total):
    def schedule(count):
        warm = peak * count / warmup
        frac = jnp.clip((count - warmup) / (total - warmup), 0.0, 1.0)
        return jnp.where(count < warmup, warm, peak * 0.5 * (1 + jnp.cos(jnp.pi * frac)))

    return schedule


schedule = warmup_cosine(0.1, 10, 200)
np.testing.assert_allclose([schedule(0), schedule(10), schedule(200)], [0.0, 0.1, 0.0], atol=1e-7)
assert jax.vmap(schedule)(jnp.arange(201)).max() == jnp.float32(0.1)


def huber(r, delta=1.0):
    a = jnp.abs(r)
    return lax.select(a <= delta, 0.5 * r**2, delta * (a - 0.5 * delta))


rng = np.random.RandomState(0)
X = jnp.asarray(rng.randn(80, 3), dtype=jnp.float32)
w_true = jnp.array([1.0, -2.0, 0.5])
y = X @ w_true + 0.3
y = y.at[:8].add(25.0)


def loss(params):
    return huber(X @ params["w"] + params["b"] - y).mean()


tx = chain(clip_by_global_norm(1.0), trace(0.9), scale_by_schedule(lambda c: -schedule(c)))
params = {"w": jnp.zeros(3), "b": jnp.array(0.0)}
state = tx.init(params)


@jax.jit
def step(carry, _):
    params, state = carry
    l, g = jax.value_and_grad(loss)(params)
    u, state = tx.update(g, state, params)
    return (jax.tree_util.tree_map(jnp.add, params, u), state), l


(params, state), losses = lax.scan(step, (params, state), xs=None, length=200)
print({k: np.asarray(v).round(3) for k, v in params.items()}, losses[::50])
ols = jnp.linalg.lstsq(jnp.c_[X, jnp.ones(80)], y)[0]
assert jnp.linalg.norm(params["w"] - w_true) < 0.3
assert abs(params["b"] - 0.3) < abs(ols[3] - 0.3)
assert state[2] == 200
