import math

import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F

torch.manual_seed(5)
T = 50
betas = torch.linspace(1e-4, 0.2, T)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)


def extract(a, t, x_shape):
    out = a.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


def q_sample(x_start, t, noise=None):
    if noise is None:
        noise = torch.randn_like(x_start)
    return extract(alphas_cumprod.sqrt(), t, x_start.shape) * x_start + extract((1 - alphas_cumprod).sqrt(), t, x_start.shape) * noise


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=time.device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.time_mlp = nn.Sequential(SinusoidalPositionEmbeddings(16), nn.Linear(16, hidden), nn.SiLU())
        self.inp = nn.Linear(1, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.time_mlp(t))
        return self.out(F.silu(self.mid(h)))


def sample_data(n):
    return torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0) + 0.05 * torch.randn(n, 1)


model = Denoiser()
ema = {k: v.clone().detach() for k, v in model.state_dict().items()}
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(400):
    x0 = sample_data(128)
    t = torch.randint(0, T, (x0.shape[0],)).long()
    noise = torch.randn_like(x0)
    loss = F.mse_loss(model(q_sample(x0, t, noise), t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].mul_(0.98).add_(v, alpha=0.02)
model.load_state_dict(ema)
model.eval()


@torch.no_grad()
def p_sample_loop(shape):
    img = torch.randn(shape)
    for i in reversed(range(T)):
        t = torch.full((shape[0],), i, dtype=torch.long)
        mean = (img - extract(betas, t, img.shape) * model(img, t) / extract((1 - alphas_cumprod).sqrt(), t, img.shape)) / extract(alphas.sqrt(), t, img.shape)
        img = mean if i == 0 else mean + extract(posterior_variance, t, img.shape).sqrt() * torch.randn_like(img)
    return img


samples = p_sample_loop((256, 1))
print(f"mean |x| = {samples.abs().mean():.3f} +- {samples.abs().std():.3f}")
assert abs(samples.abs().mean().item() - 1) < 0.2
# marginal variance is preserved for unit data
x = q_sample(torch.randn(20000, 1), torch.full((20000,), 25))
assert abs(x.var().item() - 1) < 0.06
