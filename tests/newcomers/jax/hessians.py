import gradspec.numpy as jnp
from gradspec import grad, hessian, jacfwd, jacrev


def f(x):
    return jnp.sum(jnp.sin(x) ** 2) * jnp.prod(x)


x = jnp.array([0.5, 1.0, 1.5])
H = jacfwd(jacrev(f))(x)
assert H.shape == (3, 3)
assert jnp.allclose(H, hessian(f)(x))
assert jnp.allclose(H, jacrev(grad(f))(x), atol=1e-6)
print(jnp.linalg.eigvalsh(H))
