import math

import gradspec as torch
from gradspec.distributions import MultivariateNormal, kl_divergence

torch.set_default_dtype(torch.double)
torch.manual_seed(8)


class RBF(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.raw_lengthscale = torch.nn.Parameter(torch.tensor(0.0))
        self.raw_outputscale = torch.nn.Parameter(torch.tensor(0.0))

    @property
    def lengthscale(self):
        return torch.nn.functional.softplus(self.raw_lengthscale)

    def forward(self, a, b):
        d2 = torch.cdist(a / self.lengthscale, b / self.lengthscale).pow(2)
        return torch.nn.functional.softplus(self.raw_outputscale) * torch.exp(-0.5 * d2)


X = torch.linspace(0, 4, 40).unsqueeze(-1)
y = torch.sin(2 * X).squeeze() + 0.1 * torch.randn(40)
kernel = RBF()
log_noise = torch.nn.Parameter(torch.tensor(-2.0))
Z = torch.nn.Parameter(torch.linspace(0, 4, 8)[:, None])
q_mean = torch.nn.Parameter(torch.zeros(8))
q_sqrt = torch.nn.Parameter(torch.eye(8))


def elbo():
    Kzz = kernel(Z, Z) + 1e-6 * torch.eye(8)
    Kxz = kernel(X, Z)
    L = torch.linalg.cholesky(Kzz)
    A = torch.linalg.solve_triangular(L, Kxz.T, upper=False)
    S = torch.tril(q_sqrt)
    mean = A.T @ q_mean
    var = kernel(X[:1], X[:1]).squeeze() - (A ** 2).sum(0) + ((S.T @ A) ** 2).sum(0)
    noise = log_noise.exp()
    ell = -0.5 * torch.log(2 * math.pi * noise) - 0.5 * ((y - mean) ** 2 + var) / noise
    q = MultivariateNormal(q_mean, scale_tril=S)
    p = MultivariateNormal(torch.zeros(8), torch.eye(8))
    return ell.sum() - kl_divergence(q, p)


def log_marginal():
    K = kernel(X, X) + log_noise.exp() * torch.eye(40)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], L)
    return -0.5 * (y[:, None].mT @ alpha).squeeze() - L.diagonal().log().sum() - 20 * math.log(2 * math.pi)


params = [*kernel.parameters(), log_noise, Z, q_mean, q_sqrt]
opt = torch.optim.Adam(params, lr=0.05)
for i in range(400):
    opt.zero_grad()
    loss = -elbo()
    loss.backward()
    opt.step()
bound, exact = elbo().item(), log_marginal().item()
print(f"elbo {bound:.3f} <= log p(y) {exact:.3f}; lengthscale {kernel.lengthscale.item():.2f}")
assert bound <= exact + 1e-6
assert exact - bound < 5.0
assert kernel.lengthscale.requires_grad

reference = MultivariateNormal(torch.zeros(40), kernel(X, X) + log_noise.exp() * torch.eye(40)).log_prob(y)
torch.testing.assert_close(reference, log_marginal())
g = torch.autograd.grad(log_marginal(), [log_noise, kernel.raw_lengthscale])
h = 1e-5
with torch.no_grad():
    log_noise += h
    up = log_marginal()
    log_noise -= 2 * h
    down = log_marginal()
    log_noise += h
assert torch.isclose(g[0], (up - down) / (2 * h), rtol=1e-4)
