import gradspec as torch
import gradspec.nn.functional as F

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.9)
for step in range(10):
    anchor, positive, negative = torch.randn(3, 24, 6).unbind(dim=0)
    a, p, n = (F.normalize(net(x), p=2, dim=1) for x in (anchor, positive, negative))
    loss = F.triplet_margin_loss(a, p, n, margin=0.5) + F.mse_loss(input=a, target=p)
    logits = torch.mm(a, p.t()) / 0.1
    loss = loss + F.cross_entropy(logits, torch.arange(logits.shape[0], device=logits.device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
distances = torch.cdist(a.detach(), n.detach(), p=2)
print(loss.item(), distances.mean(dim=1, keepdim=True).shape)
