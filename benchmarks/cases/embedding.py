"""Repeated look-ups of rows of a table, and sums of rows by index: gather, scatter-add, and both backward."""

import numpy as np

title = "embedding: 20 000 rows of 16 gathered and summed into 1000, forward and backward"


def inputs():
    rng = np.random.default_rng(0)
    table, weights = rng.normal(size=(1000, 16)), rng.normal(size=(20000, 16))
    return table, weights, rng.integers(1000, size=20000), rng.integers(1000, size=20000)


def with_gradspec(table, weights, items, users):
    import gradspec as gs

    table, weights = gs.tensor(table, requires_grad=True), gs.tensor(weights)
    items, users, zeros = gs.tensor(items), gs.tensor(users), gs.zeros((1000, 16))

    def step():
        sums = gs.index_add(zeros, 0, users, table[items] * weights)
        loss = (sums * sums).sum()
        return loss, *gs.autograd.grad(loss, [table])

    return step


def with_torch(table, weights, items, users):
    import torch

    table, weights = torch.tensor(table, requires_grad=True), torch.tensor(weights)
    items, users, zeros = torch.tensor(items), torch.tensor(users), torch.zeros((1000, 16), dtype=torch.float64)

    def step():
        sums = torch.index_add(zeros, 0, users, table[items] * weights)
        loss = (sums * sums).sum()
        return loss, *torch.autograd.grad(loss, [table])

    return step


def with_jax(table, weights, items, users):
    import jax
    import jax.numpy as jnp

    def loss(table, weights, items, users):
        sums = jnp.zeros((1000, 16)).at[users].add(table[items] * weights)
        return (sums * sums).sum()

    arguments = jax.device_put((table, weights, items, users))
    gradient = jax.jit(jax.value_and_grad(loss))
    return lambda: jax.block_until_ready(gradient(*arguments))


not_comparable = {"autograd": "it has no differentiable sum into rows"}
