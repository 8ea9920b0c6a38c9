"""A message-passing network with segment sums learns the energies of small clusters of atoms."""

from functools import partial
from typing import NamedTuple

import gradspec as jax
import gradspec.numpy as jnp
import numpy as np


class Graph(NamedTuple):
    pos: jnp.ndarray
    senders: jnp.ndarray
    receivers: jnp.ndarray
    graph_id: jnp.ndarray


def init_mlp(key, sizes):
    init = jax.nn.initializers.lecun_normal()
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": init(k, (m, n)), "b": jnp.zeros((n,))} for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def mlp(layers, x):
    *hidden, last = layers
    for layer in hidden:
        x = jax.nn.silu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


@partial(jax.jit, static_argnames="num_graphs")
def energy(params, graph, num_graphs):
    d = graph.pos[graph.senders] - graph.pos[graph.receivers]
    r = jnp.linalg.norm(d, axis=-1, keepdims=True)
    rbf = jnp.exp(-4.0 * (r - jnp.linspace(0.5, 3.0, 8)) ** 2)
    h = jnp.ones((graph.pos.shape[0], 8))
    for layer in params["message"]:
        m = mlp(layer, jnp.concatenate([h[graph.senders], rbf], axis=-1))
        h = h + jax.ops.segment_sum(m, graph.receivers, num_segments=h.shape[0])
    atom = mlp(params["readout"], h).squeeze(-1)
    return jax.ops.segment_sum(atom, graph.graph_id, num_segments=num_graphs)


rng = np.random.default_rng(0)
n_graphs, n_atoms = 16, 4
pos = rng.uniform(-1.2, 1.2, size=(n_graphs * n_atoms, 3))
gid = np.repeat(np.arange(n_graphs), n_atoms)
pairs = np.array([(i, j) for i in range(len(pos)) for j in range(len(pos)) if gid[i] == gid[j] and i != j])
graph = Graph(jnp.asarray(pos), jnp.array(pairs[:, 0]), jnp.array(pairs[:, 1]), jnp.array(gid))
dist = np.linalg.norm(pos[pairs[:, 0]] - pos[pairs[:, 1]], axis=1)
target = jnp.zeros(n_graphs).at[gid[pairs[:, 0]]].add(0.5 * (1 - np.exp(-(dist - 1.0))) ** 2)

k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
params = {"message": [init_mlp(k1, (16, 16, 8)), init_mlp(k2, (16, 16, 8))], "readout": init_mlp(k3, (8, 16, 1))}


def loss_fn(params):
    e = energy(params, graph, num_graphs=n_graphs)
    return jnp.mean((e - target) ** 2), {"mae": jnp.abs(e - target).mean()}


grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
momentum = jax.tree.map(jnp.zeros_like, params)
second = jax.tree.map(jnp.zeros_like, params)
for step in range(1, 101):
    (loss, aux), grads = grad_fn(params)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, momentum, grads)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * jnp.square(g), second, grads)
    params = jax.tree.map(
        lambda p, m, v: p - 0.01 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.99**step)) + 1e-8),
        params, momentum, second)
    if step == 1:
        first = float(loss)

assert float(loss) < 0.1 * first, (first, loss, aux["mae"])
forces = -jax.grad(lambda p: energy(params, graph._replace(pos=p), num_graphs=n_graphs).sum())(graph.pos)
net = jax.ops.segment_sum(forces, graph.graph_id, n_graphs)
np.testing.assert_allclose(net, 0, atol=1e-4)
assert len(jax.tree.leaves(params)) == 12
