import math

import gradspec as torch
import gradspec.nn.functional as F

torch.manual_seed(0)
B, T, C, H = 2, 5, 8, 2
x = torch.randn(B, T, C)
Wq, Wk, Wv = (torch.randn(C, C, requires_grad=True) for _ in range(3))


def split(t):
    return t.view(B, T, H, C // H).transpose(1, 2)


q, k, v = split(x @ Wq), split(x @ Wk), split(x @ Wv)
att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
mask = torch.tril(torch.ones(T, T)).view(1, 1, T, T)
att = att.masked_fill(mask == 0, float("-inf"))
att = F.softmax(att, dim=-1)
y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
loss = y.pow(2).mean()
loss.backward()
print(Wq.grad.norm().item())
