import gradspec as torch
from gradspec import nn

torch.manual_seed(0)
latent = 4
G = nn.Sequential(nn.Linear(latent, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())
adversarial_loss = nn.BCELoss()
optimizer_G = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(20):
    real = torch.randn(32, 2) * 0.5 + torch.tensor([1.0, -1.0])
    valid = torch.ones(real.shape[0], 1, requires_grad=False)
    fake = torch.zeros(real.shape[0], 1, requires_grad=False)
    optimizer_G.zero_grad()
    z = torch.randn(real.shape[0], latent)
    gen = G(z)
    g_loss = adversarial_loss(D(gen), valid)
    g_loss.backward()
    optimizer_G.step()
    optimizer_D.zero_grad()
    d_loss = (adversarial_loss(D(real), valid) + adversarial_loss(D(gen.detach()), fake)) / 2
    d_loss.backward()
    optimizer_D.step()
print(g_loss.item(), d_loss.item(), gen.mean(dim=0))
