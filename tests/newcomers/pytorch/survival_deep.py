import gradspec as torch
from gradspec import nn
from gradspec.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(7)


class SurvivalDataset(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 4)
        self.beta = torch.tensor([1.0, -1.0, 0.5, 0.0])
        hazard = torch.exp(self.x @ self.beta)
        self.time = torch.distributions.Exponential(hazard).sample()
        censor = torch.empty(n).exponential_(0.2)
        self.event = (self.time <= censor).float()
        self.time = torch.minimum(self.time, censor)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "time": self.time[i], "event": self.event[i]}


def cox_loss(risk, time, event):
    order = torch.argsort(time, descending=True)
    risk, event = risk[order], event[order]
    log_cumsum = torch.logcumsumexp(risk, dim=0)
    return -((risk - log_cumsum) * event).sum() / event.sum().clamp(min=1.0)


def concordance(risk, time, event):
    later = time[None, :] > time[:, None]
    usable = later & event.bool()[:, None]
    right = (risk[:, None] > risk[None, :]) & usable
    return (right.sum().float() / usable.sum().float()).item()


data = SurvivalDataset(400)
train, test = random_split(data, [300, 100], generator=torch.Generator().manual_seed(42))
loader = DataLoader(train, batch_size=100, shuffle=True, num_workers=0)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
linear = nn.Linear(4, 1, bias=False)
optimizer = torch.optim.SGD([{"params": model.parameters()}, {"params": linear.parameters(), "lr": 0.1}], lr=0.02, momentum=0.9)
for epoch in range(30):
    running = 0.0
    for i, batch in enumerate(loader, 0):
        optimizer.zero_grad()
        loss = cox_loss(model(batch["x"]).squeeze(-1), batch["time"], batch["event"])
        loss = loss + cox_loss(linear(batch["x"])[:, 0], batch["time"], batch["event"])
        loss.backward()
        optimizer.step()
        running += loss.item() * batch["x"].size(0)
    if (epoch + 1) % 10 == 0:
        print("[%d] loss: %.3f" % (epoch + 1, running / len(train)))
model.eval()
batch = next(iter(DataLoader(test, batch_size=len(test))))
with torch.inference_mode():
    c_net = concordance(model(batch["x"])[:, 0], batch["time"], batch["event"])
    c_lin = concordance(linear(batch["x"])[:, 0], batch["time"], batch["event"])
print(f"C-index {c_net:.3f} {c_lin:.3f}", linear.weight)
assert c_net > 0.7 and c_lin > 0.7
torch.testing.assert_close(linear.weight.detach()[0], data.beta, atol=0.35, rtol=0)

# log partial likelihood is invariant to a shift, so its gradient sums to zero
r = torch.randn(30, requires_grad=True)
cox_loss(r, torch.rand(30), torch.ones(30)).backward()
assert abs(r.grad.sum().item()) < 1e-5
