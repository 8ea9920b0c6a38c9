"""Watch and clip gradients with hooks."""
import gradspec as torch

torch.manual_seed(0)
w1 = torch.randn(4, 8, requires_grad=True)
w2 = torch.randn(8, 1, requires_grad=True)
norms = {}

def watch(name):
    def hook(grad):
        norms[name] = grad.norm().item()
        return grad.clamp(-0.1, 0.1)
    return hook

handles = [w1.register_hook(watch("w1")), w2.register_hook(watch("w2"))]
x = torch.randn(16, 4)
y = torch.sin(x.sum(1, keepdim=True))
opt = torch.optim.SGD([w1, w2], lr=0.1, momentum=0.9)
for step in range(50):
    opt.zero_grad()
    h = torch.relu(x @ w1)
    h.retain_grad()
    loss = torch.nn.functional.mse_loss(h @ w2, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([w1, w2], 1.0)
    opt.step()
    if step % 10 == 0:
        print(f"step {step}: {loss.item():.4f} {norms} {h.grad.abs().max().item():.3g}")
for handle in handles:
    handle.remove()
