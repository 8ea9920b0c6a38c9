import gradspec as torch

torch.manual_seed(0)
dtype, device = torch.float64, torch.device("cpu")
sizes = [1, 16, 16, 1]
weights = [torch.randn(m, n, dtype=dtype, device=device) / m**0.5 for m, n in zip(sizes[:-1], sizes[1:])]
biases = [torch.zeros(n, dtype=dtype, device=device) for n in sizes[1:]]
params = weights + biases
for p in params:
    p.requires_grad_(True)


def u(t):
    for W, b in zip(weights[:-1], biases[:-1]):
        t = torch.tanh(torch.matmul(t, W) + b)
    return t @ weights[-1] + biases[-1]


t = torch.linspace(0, 1, 30).reshape(-1, 1).requires_grad_(True)
t0 = torch.zeros(1, 1)
opt = torch.optim.LBFGS(params, lr=1, max_iter=20)


def closure():
    opt.zero_grad()
    y = u(t)
    dy_dt = torch.autograd.grad(y, t, grad_outputs=torch.ones_like(y), create_graph=True)[0]
    loss = ((dy_dt + y) ** 2).mean() + ((u(t0) - 1) ** 2).mean()
    loss.backward()
    return loss


for i in range(3):
    loss = opt.step(closure)
print(float(loss), (u(t).detach().squeeze().numpy()[-1]))
