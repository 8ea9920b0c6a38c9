"""Cooley-style updates with .at, where and cond."""
import gradspec as jax
import gradspec.numpy as jnp

def f(x):
    y = jnp.zeros(5)
    y = y.at[1:4].set(x ** 2)
    y = y.at[0].add(x.sum())
    return jnp.where(y > 1, jnp.log1p(y), y).sum()
x = jnp.arange(3.0)
print(jax.grad(f)(x))
