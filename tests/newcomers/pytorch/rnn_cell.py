import gradspec as torch

torch.manual_seed(0)
hidden, steps, batch = 6, 7, 3
W_xh = (0.1 * torch.randn(1, hidden)).requires_grad_()
W_hh = (0.1 * torch.randn(hidden, hidden)).requires_grad_()
b_h = torch.zeros(hidden, requires_grad=True)
W_hy = torch.nn.init.xavier_uniform_(torch.empty(hidden, 1, requires_grad=True))
params = [W_xh, W_hh, b_h, W_hy]
optimizer = torch.optim.Adam(params, lr=1e-2)
t = torch.linspace(0, 6.28, steps + 1).unsqueeze(1).repeat(1, batch)
x, target = torch.sin(t[:-1]).unsqueeze(-1), torch.sin(t[1:]).unsqueeze(-1)
for epoch in range(20):
    h = torch.zeros(batch, hidden)
    outputs = []
    for step in range(steps):
        h = torch.tanh(x[step] @ W_xh + h @ W_hh + b_h)
        outputs.append(h @ W_hy)
    loss = torch.nn.functional.mse_loss(torch.stack(outputs, dim=0), target)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, max_norm=1.0)
    optimizer.step()
    if epoch % 5 == 0:
        print(f"{epoch}: {loss.item():.4f}")
