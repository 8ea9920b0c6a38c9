import gradspec as torch
from gradspec.utils.data import DataLoader, TensorDataset

X = torch.randn(100, 5)
y = X.sum(dim=1)
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
w = torch.zeros(5, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for epoch in range(5):
    for xb, yb in loader:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(xb @ w, yb)
        loss.backward()
        opt.step()
