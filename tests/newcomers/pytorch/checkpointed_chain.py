import gradspec as torch
import gradspec.nn.functional as F
from gradspec.utils.checkpoint import checkpoint

torch.manual_seed(1)
weights = [torch.randn(32, 32) * 0.1 for _ in range(8)]
for w in weights:
    w.requires_grad_()


def block(h, w):
    return F.gelu(h @ w) + h


h = torch.randn(4, 32)
for w in weights:
    h = checkpoint(block, h, w, use_reentrant=False)
loss = h.pow(2).mean()
loss.backward()
assert all(w.grad is not None for w in weights)
print(loss.item(), torch.stack([w.grad.norm() for w in weights]).detach().numpy())
