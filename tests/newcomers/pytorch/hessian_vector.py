import gradspec as torch
from gradspec.autograd.functional import hessian, hvp, vhp

x = torch.randn(4, dtype=torch.double, requires_grad=True)
v = torch.randn(4, dtype=torch.double)


def f(x):
    return torch.sum(x**4) + torch.prod(torch.sin(x))


loss = f(x)
(g,) = torch.autograd.grad(loss, x, create_graph=True)
(hv,) = torch.autograd.grad(g @ v, x)
assert torch.allclose(hv, hessian(f, x) @ v)
assert torch.allclose(hvp(f, x, v)[1], hv) and torch.allclose(vhp(f, x, v)[1], hv)
