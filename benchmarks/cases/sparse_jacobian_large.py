"""The sparse Jacobian of a reaction-diffusion model of 10 000 unknowns; as a dense matrix it would take 800 MB."""

import numpy as np

from .sparse_jacobian import reaction_diffusion

title = "sparse Jacobian of reaction-diffusion, 10 000 unknowns, float64"
not_comparable = {name: "it has no sparse Jacobians" for name in ("torch", "jax", "autograd")}
SHAPE = (2, 50, 100)


def inputs():
    return (np.random.default_rng(0).random(np.prod(SHAPE)),)


def with_gradspec(u):
    import gradspec as gs

    jacobian = gs.sparse_jacobian(lambda u: reaction_diffusion(gs, u, SHAPE))
    return lambda: (jacobian(u).data,)
