"""A graph attention layer with scatter operations finds two communities."""

import gradspec as torch
from gradspec import nn
import gradspec.nn.functional as F


class GAT(nn.Module):
    def __init__(self, d_in, d_out, heads=2):
        super().__init__()
        self.heads, self.d_out = heads, d_out
        self.lin = nn.Linear(d_in, heads * d_out, bias=False)
        self.att = nn.ParameterDict({
            "src": nn.Parameter(torch.empty(1, heads, d_out)),
            "dst": nn.Parameter(torch.empty(1, heads, d_out)),
        })
        self.register_buffer("calls", torch.zeros(1, dtype=torch.long))
        for p in self.att.values():
            nn.init.xavier_uniform_(p)

    def forward(self, x, edge_index):
        src, dst = edge_index
        n = x.size(0)
        self.calls += 1
        h = self.lin(x).view(n, self.heads, self.d_out)
        e = (h * self.att["src"]).sum(-1)[src] + (h * self.att["dst"]).sum(-1)[dst]
        e = F.leaky_relu(e, negative_slope=0.2)
        top = torch.full((n, self.heads), -1e9).scatter_reduce(
            0, dst.unsqueeze(-1).expand_as(e), e.detach(), reduce="amax")
        w = torch.exp(e - top[dst])
        total = torch.zeros(n, self.heads).index_add(0, dst, w)
        w = w / total[dst].clamp(min=1e-12)
        out = torch.zeros(n, self.heads, self.d_out)
        out.scatter_add_(0, dst.view(-1, 1, 1).expand(-1, self.heads, self.d_out), w.unsqueeze(-1) * h[src])
        return out.mean(dim=1)


torch.manual_seed(1)
n = 30
label = (torch.arange(n) >= n // 2).long()
same = label[:, None] == label[None, :]
prob = torch.where(same, 0.4, 0.03)
adj = torch.bernoulli(prob).bool() | torch.eye(n, dtype=torch.bool)
edge_index = torch.stack(torch.where(adj | adj.T))
assert edge_index.shape[0] == 2 and edge_index.dtype == torch.int64

layers = nn.ModuleList([GAT(n, 8), GAT(8, 2)])
opt = torch.optim.Adam(layers.parameters(), lr=0.05)
train = torch.tensor([0, 1, 2, n - 3, n - 2, n - 1])
crit = nn.CrossEntropyLoss(label_smoothing=0.05)
x = torch.eye(n)
for _ in range(40):
    h = F.dropout(F.elu(layers[0](x, edge_index)), p=0.2, training=True)
    logits = layers[1](h, edge_index)
    loss = crit(logits[train], label[train])
    opt.zero_grad()
    loss.backward()
    opt.step()

with torch.no_grad():
    pred = layers[1](F.elu(layers[0](x, edge_index)), edge_index).argmax(dim=-1)
acc = (pred == label).float().mean().item()
assert acc > 0.85, acc
assert int(layers[0].calls) == 41
assert sorted(k for k, _ in layers[0].named_parameters()) == ["att.dst", "att.src", "lin.weight"]
