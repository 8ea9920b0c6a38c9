"""An LSTM cell by hand that learns to sum a sequence."""
import math
import gradspec as torch
import gradspec.nn.functional as F

torch.manual_seed(1)
H, T, B = 16, 8, 32
def init(*size):
    return (torch.randn(*size) / math.sqrt(size[0])).requires_grad_()
Wx, Wh, b = init(1, 4 * H), init(H, 4 * H), torch.zeros(4 * H, requires_grad=True)
Wo, bo = init(H, 1), torch.zeros(1, requires_grad=True)
params = [Wx, Wh, b, Wo, bo]
optimizer = torch.optim.Adam(params, lr=1e-2)

def forward(x):
    h = c = torch.zeros(x.shape[1], H)
    for x_t in x:
        gates = x_t @ Wx + h @ Wh + b
        i, f, g, o = gates.chunk(4, dim=1)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        c = f * c + i * g
        h = o * torch.tanh(c)
    return h @ Wo + bo

for epoch in range(40):
    x = torch.rand(T, B, 1)
    loss = F.mse_loss(forward(x), x.sum(0))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
