import gradspec as torch
from gradspec.func import grad, vmap


def loss_fn(w, x, y):
    return (torch.dot(w, x) - y) ** 2


w = torch.randn(3)
X = torch.randn(10, 3)
y = torch.randn(10)
per_sample = vmap(grad(loss_fn), in_dims=(None, 0, 0))(w, X, y)
assert per_sample.shape == (10, 3)
