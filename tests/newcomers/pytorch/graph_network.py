import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F

torch.manual_seed(3)


class GCNConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self):
        self.lin.reset_parameters()
        self.bias.data.zero_()

    def forward(self, x, edge_index):
        row, col = edge_index
        deg = torch.zeros(x.size(0)).scatter_add_(0, col, torch.ones(col.numel()))
        deg_inv_sqrt = deg.pow(-0.5)
        deg_inv_sqrt[deg_inv_sqrt == float("inf")] = 0
        norm = deg_inv_sqrt[row] * deg_inv_sqrt[col]
        x = self.lin(x)
        out = torch.zeros_like(x).index_add_(0, col, norm.view(-1, 1) * x[row])
        return out + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(8, 16)
        self.conv2 = GCNConv(16, 2)
        self.dropout = nn.Dropout(p=0.2)

    def forward(self, x, edge_index):
        x = self.dropout(F.relu(self.conv1(x, edge_index)))
        return F.log_softmax(self.conv2(x, edge_index), dim=1)


# two communities of ten
labels = torch.tensor([0] * 10 + [1] * 10)
same = labels.unsqueeze(0) == labels.unsqueeze(1)
prob = torch.where(same, 0.7, 0.05)
adj = (torch.rand(20, 20) < prob).triu(1)
adj = adj | adj.t() | torch.eye(20, dtype=torch.bool)
edge_index = adj.nonzero().t().contiguous()
x = torch.randn(20, 8) + labels[:, None].float()
train_mask = torch.zeros(20, dtype=torch.bool)
train_mask[[0, 1, 2, 10, 11, 12]] = True

model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for epoch in range(80):
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index)
    loss = F.nll_loss(out[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    pred = model(x, edge_index).max(1)[1]
acc = pred[~train_mask].eq(labels[~train_mask]).sum().item() / int((~train_mask).sum())
print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Test: {acc:.3f}")
assert acc > 0.7

# scatter equals the dense product
A = adj.float()
d = A.sum(0).rsqrt()
dense = (d[:, None] * A * d[None, :]).t() @ model.conv1.lin(x) + model.conv1.bias
torch.testing.assert_close(model.conv1(x, edge_index), dense, rtol=1e-4, atol=1e-5)
pooled = torch.zeros(2, 16).index_add(0, labels, dense)
count = torch.bincount(labels, minlength=2).unsqueeze(-1)
means = pooled / count.clamp(min=1)
assert torch.allclose(means[0], dense[labels == 0].mean(dim=0), atol=1e-5)
maxed = torch.full((2, 16), -1e9).scatter_reduce(0, labels[:, None].expand(-1, 16), dense, reduce="amax")
assert torch.equal(maxed[1], dense[10:].amax(0))
