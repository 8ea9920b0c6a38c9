import gradspec as torch
from gradspec.autograd.functional import hessian, jacobian


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


x = torch.tensor([-1.2, 1.0])
for i in range(20):
    g = jacobian(rosenbrock, x)
    H = hessian(rosenbrock, x)
    x = x - torch.linalg.solve(H, g.unsqueeze(-1)).squeeze(-1)
assert torch.allclose(x, torch.ones(2), atol=1e-5)

x = x.detach().clone().requires_grad_(True)
opt = torch.optim.LBFGS([x], max_iter=20)


def closure():
    opt.zero_grad()
    loss = rosenbrock(x)
    loss.backward()
    return loss


opt.step(closure)
print(x)
