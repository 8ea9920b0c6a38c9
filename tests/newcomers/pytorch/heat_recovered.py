"""In-place heat equation on a grid, the initial state is recovered."""
import gradspec as torch

n, steps = 32, 30
def simulate(u0):
    u = u0.clone()
    for _ in range(steps):
        lap = torch.zeros_like(u)
        lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u = u + 0.2 * lap
        u[0, :] = 0
        u[-1, :] = 0
    return u

xx, yy = torch.meshgrid(torch.linspace(-1, 1, n), torch.linspace(-1, 1, n), indexing="ij")
target = simulate(torch.exp(-10 * (xx ** 2 + yy ** 2)))
u0 = torch.zeros(n, n).requires_grad_(True)
opt = torch.optim.LBFGS([u0], lr=1, max_iter=20)
def closure():
    opt.zero_grad()
    loss = ((simulate(u0) - target) ** 2).sum()
    loss.backward()
    return loss
for _ in range(3):
    print(opt.step(closure).item())
