"""Sinkhorn optimal transport between two clouds, differentiated by the points."""
import gradspec as torch

def sinkhorn(x, y, eps=0.05, iters=100):
    C = torch.cdist(x, y, p=2) ** 2
    n, m = C.shape
    mu = torch.full((n,), 1.0 / n)
    nu = torch.full((m,), 1.0 / m)
    u, v = torch.zeros_like(mu), torch.zeros_like(nu)
    for _ in range(iters):
        u = eps * (torch.log(mu) - torch.logsumexp((v[None, :] - C) / eps, dim=1))
        v = eps * (torch.log(nu) - torch.logsumexp((u[:, None] - C) / eps, dim=0))
    P = torch.exp((u[:, None] + v[None, :] - C) / eps)
    return (P * C).sum(), P

torch.manual_seed(0)
x = torch.rand(20, 2, requires_grad=True)
y = torch.rand(30, 2) + torch.tensor([1.0, 0.0])
for i in range(5):
    cost, P = sinkhorn(x, y)
    grad, = torch.autograd.grad(cost, [x])
    with torch.no_grad():
        x.add_(grad, alpha=-2.0)
    print(i, cost.item(), P.sum().item())
