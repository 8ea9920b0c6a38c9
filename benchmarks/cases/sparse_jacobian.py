"""The Jacobian of a reaction-diffusion model of 1000 unknowns: a sparse plan against the dense Jacobian of other libraries."""

import numpy as np

title = "Jacobian of reaction-diffusion, 1000 unknowns, float64 (gradspec: sparse plan)"
tolerance = 1e-9
not_comparable = {"autograd": "its jacobian takes a thousand backward passes"}
SHAPE = (2, 20, 25)


def inputs():
    return (np.random.default_rng(0).random(np.prod(SHAPE)),)


def reaction_diffusion(xp, u, shape=SHAPE):
    a, b = xp.reshape(u, shape)
    reaction = a * b * b
    da = 0.16 * laplacian(xp, a) - reaction + 0.06 * (1 - a)
    db = 0.08 * laplacian(xp, b) + reaction - 0.12 * b
    return xp.reshape(xp.stack([da, db]), (-1,))


def laplacian(xp, z):
    return xp.roll(z, 1, 0) + xp.roll(z, -1, 0) + xp.roll(z, 1, 1) + xp.roll(z, -1, 1) - 4 * z


def with_gradspec(u):
    import gradspec as gs

    jacobian = gs.sparse_jacobian(lambda u: reaction_diffusion(gs, u))
    return lambda: (jacobian(u).toarray(),)


def with_torch(u):
    import torch

    u = torch.tensor(u)
    jacobian = torch.func.jacfwd(lambda u: reaction_diffusion(torch, u))
    return lambda: (jacobian(u),)


def with_jax(u):
    import jax

    u = jax.device_put(u)
    jacobian = jax.jit(jax.jacfwd(lambda u: reaction_diffusion(jax.numpy, u)))
    return lambda: (jax.block_until_ready(jacobian(u)),)
