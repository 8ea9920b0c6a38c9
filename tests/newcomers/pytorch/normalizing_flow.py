import gradspec as torch
from gradspec import nn, optim
from gradspec.distributions import Independent, MultivariateNormal, Normal

torch.manual_seed(1)


class AffineCoupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, hidden), nn.Tanh(), nn.Linear(hidden, dim))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        if self.flip:
            x1, x2 = x2, x1
        s, t = self.net(x1).chunk(2, dim=1)
        s = torch.tanh(s)
        y2 = x2 * torch.exp(s) + t
        y = torch.cat([y2, x1] if self.flip else [x1, y2], dim=1)
        return y, s.sum(dim=1)

    def inverse(self, y):
        y1, y2 = y.chunk(2, dim=1)
        if self.flip:
            y1, y2 = y2, y1
        s, t = self.net(y1).chunk(2, dim=1)
        x2 = (y2 - t) * torch.exp(-torch.tanh(s))
        return torch.cat([x2, y1] if self.flip else [y1, x2], dim=1)


class Flow(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.layers = nn.ModuleList(AffineCoupling(dim, 16, i % 2 == 1) for i in range(n))
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("scale", torch.ones(dim))

    @property
    def base(self):
        return Independent(Normal(self.loc, self.scale), 1)

    def log_prob(self, x):
        logdet = torch.zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            logdet += ld
        return self.base.log_prob(x) + logdet


cov = torch.tensor([[1.0, 0.8], [0.8, 1.0]])
target = MultivariateNormal(torch.tensor([1.0, -1.0]), covariance_matrix=cov)
data = target.sample((512,))
flow = Flow(2, 4)
opt = optim.Adam(flow.parameters(), lr=1e-2)
sched = optim.lr_scheduler.StepLR(opt, step_size=100, gamma=0.5)
for it in range(200):
    opt.zero_grad()
    loss = -flow.log_prob(data).mean()
    loss.backward()
    opt.step()
    sched.step()
best = -target.log_prob(data).mean()
print("nll %.3f, truth %.3f, lr %g" % (loss.item(), best.item(), sched.get_last_lr()[0]))
assert loss.item() < best.item() + 0.05

# change of variables: logdet is the determinant of the jacobian
layer = flow.layers[0]
x0 = data[:1]
J = torch.autograd.functional.jacobian(lambda x: layer(x)[0], x0).squeeze()
torch.testing.assert_close(torch.linalg.slogdet(J)[1], layer(x0)[1][0].detach())
torch.testing.assert_close(layer.inverse(layer(x0)[0]), x0)
assert set(flow.state_dict()) >= {"loc", "scale", "layers.0.net.0.weight"}
