import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F


class SkipGram(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.u = nn.Embedding(vocab_size, dim)
        self.v = nn.Embedding(vocab_size, dim)
        nn.init.uniform_(self.u.weight, -0.5 / dim, 0.5 / dim)
        nn.init.constant_(self.v.weight, 0)

    def forward(self, centre, context, negative):
        u, v, n = self.u(centre), self.v(context), self.v(negative)
        score = F.logsigmoid(torch.sum(torch.mul(u, v), dim=1))
        noise = F.logsigmoid(-torch.bmm(n, u.unsqueeze(2)).squeeze(dim=2)).sum(dim=1)
        return -(score + noise).mean()


model = SkipGram(20, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
centre = torch.randint(0, 20, (64,))
for step in range(10):
    loss = model(centre, (centre + 1) % 20, torch.randint(0, 20, (64, 5)))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
similar = F.cosine_similarity(model.u.weight.detach()[None, 3], model.u.weight.detach(), dim=-1)
print(loss.item(), torch.topk(similar, k=3, dim=0).indices)
