"""Greeks of options: Black-Scholes by autograd, Monte Carlo by pathwise gradients, calibration by L-BFGS."""

import gradspec as torch

torch.set_default_dtype(torch.float64)


def black_scholes(S, K, T, r, sigma):
    N = torch.distributions.Normal(0.0, 1.0)
    d1 = (torch.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * torch.sqrt(T))
    d2 = d1 - sigma * T.sqrt()
    return S * N.cdf(d1) - K * torch.exp(-r * T) * N.cdf(d2)


S = torch.tensor(100.0, requires_grad=True)
sigma = torch.tensor(0.2, requires_grad=True)
T = torch.tensor(1.0, requires_grad=True)
r = torch.tensor(0.03, requires_grad=True)
K = torch.tensor(105.0)

price = black_scholes(S, K, T, r, sigma)
delta, vega, theta, rho = torch.autograd.grad(price, (S, sigma, T, r), create_graph=True)
(gamma,) = torch.autograd.grad(delta, S, retain_graph=True)
vanna = torch.autograd.grad(delta, sigma)[0]
assert torch.isclose(vega, S**2 * gamma * sigma * T)
pde = -theta + 0.5 * sigma**2 * S**2 * gamma + r * S * delta - r * price
assert pde.abs().item() < 1e-10 and vanna.item() > 0

gen = torch.Generator().manual_seed(7)
z = torch.randn(20000, 12, generator=gen)
z = torch.cat((z, -z))
dt = T / z.shape[1]
steps = (r - sigma.square() / 2) * dt + sigma * dt.sqrt() * z
paths = S * torch.cumsum(steps, dim=1).exp()
payoff = torch.relu(paths[:, -1] - K) * torch.exp(-r * T)
payoff.mean().backward()
assert abs(S.grad.item() - delta.item()) < 0.02
assert abs(sigma.grad / vega - 1) < 0.05
lookback = paths.detach().max(dim=1).values
q = torch.quantile(lookback, torch.tensor([0.05, 0.95]))
assert q[0] < 105 < q[1]

strikes = torch.linspace(80, 120, 9)
smile = 0.2 + 0.1 * ((strikes - 100) / 100) ** 2
market = black_scholes(S.detach(), strikes, T.detach(), r.detach(), smile)
log_vol = torch.full_like(strikes, -1.0).requires_grad_()
opt = torch.optim.LBFGS([log_vol], max_iter=100, line_search_fn="strong_wolfe", tolerance_grad=1e-10, tolerance_change=1e-14)


def closure():
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(black_scholes(S.detach(), strikes, T.detach(), r.detach(), log_vol.exp()), market)
    loss.backward()
    return loss


opt.step(closure)
torch.testing.assert_close(log_vol.detach().exp(), smile, rtol=1e-3, atol=1e-3)
