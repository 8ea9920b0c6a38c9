import gradspec as torch
import gradspec.autograd as autograd
import gradspec.nn as nn
import gradspec.optim as optim
from gradspec.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LAMBDA = 1.0


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_normal_(m.weight)
        m.bias.data.fill_(0.0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.main = nn.Sequential(nn.Linear(2, 32), nn.ReLU(True), nn.Linear(32, 2))

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x).view(-1)


def calc_gradient_penalty(netD, real, fake):
    alpha = torch.rand(real.size(0), 1).to(device)
    alpha = alpha.expand(real.size())
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d = netD(interpolates)
    gradients = autograd.grad(
        outputs=d, inputs=interpolates, grad_outputs=torch.ones(d.size(), device=device), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


netG, netD = Generator().to(device), Discriminator().to(device)
netG.apply(weights_init)
netD.apply(weights_init)
optD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.9))
optG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.9))
real_data = torch.randn(256, 2) * 0.5 + torch.Tensor([2.0, -1.0])
loader = DataLoader(TensorDataset(real_data), batch_size=64, shuffle=True, drop_last=True)
for epoch in range(40):
    for (real,) in loader:
        real = real.to(device)
        for p in netD.parameters():
            p.requires_grad = True
        netD.zero_grad()
        with torch.no_grad():
            fake = netG(torch.randn(real.size(0), 2, device=device))
        gp = calc_gradient_penalty(netD, real.data, fake.data)
        D_cost = netD(fake).mean() - netD(real).mean() + gp
        D_cost.backward()
        optD.step()
        for p in netD.parameters():
            p.requires_grad = False
        netG.zero_grad()
        G_cost = -netD(netG(torch.randn(64, 2))).mean()
        G_cost.backward()
        optG.step()
center = netG(torch.randn(500, 2)).mean(0)
print("center", center.data.cpu().numpy(), "gp", gp.item())
assert (center - torch.Tensor([2.0, -1.0])).norm() < (torch.Tensor([2.0, -1.0])).norm()

# the penalty's gradient against finite differences
netD64 = Discriminator().double()
for p in netD64.parameters():
    p.requires_grad_(True)
x, y = torch.randn(5, 2, dtype=torch.double), torch.randn(5, 2, dtype=torch.double)


def penalty(w):
    return ((autograd.grad(torch.tanh((z := x.clone().requires_grad_()) @ w).sum(), z, create_graph=True)[0].norm(2, dim=1) - 1) ** 2).mean()


w = torch.randn(2, 1, dtype=torch.double, requires_grad=True)
assert autograd.gradcheck(penalty, (w,), eps=1e-6, atol=1e-5)
