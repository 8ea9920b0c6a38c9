"""MAML on sine waves: second order through an inner loop, functional parameters."""
import gradspec as torch
import numpy as np

rng = np.random.RandomState(0)
def net(x, p):
    return torch.tanh(torch.tanh(x.mm(p[0]).add(p[1])).mm(p[2]).add(p[3])).mm(p[4])
shapes = [(1, 20), (20,), (20, 20), (20,), (20, 1)]
params = [torch.tensor(rng.randn(*s) * 0.5, requires_grad=True) for s in shapes]
meta = torch.optim.Adam(params, lr=1e-3)
for it in range(10):
    meta_loss = 0.0
    for task in range(4):
        a, ph = rng.uniform(0.5, 2), rng.uniform(0, np.pi)
        x = torch.from_numpy(rng.uniform(-3, 3, (10, 1)))
        y = a * torch.sin(x + ph)
        loss = torch.mean((net(x, params) - y) ** 2)
        grads = torch.autograd.grad(loss, params, create_graph=True)
        fast = [p - 0.05 * g for p, g in zip(params, grads)]
        meta_loss = meta_loss + torch.mean((net(x, fast) - y) ** 2)
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
print(meta_loss.item(), sum(p.grad.norm().item() for p in params))
