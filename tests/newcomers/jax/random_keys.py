import gradspec.numpy as jnp
from gradspec import random

key = random.PRNGKey(0)
key, subkey = random.split(key)
w = random.normal(subkey, (3, 2))
print(jnp.sum(w))
