import gradspec as torch

torch.manual_seed(0)
X = torch.randn(100, 3)
true_w = torch.tensor([1.5, -2.0, 0.5])
y = X @ true_w + 0.01 * torch.randn(100)

w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1
for epoch in range(200):
    y_pred = X @ w + b
    loss = ((y_pred - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
    w.grad.zero_()
    b.grad.zero_()

print(f"final loss {loss.item():.6f}")
assert torch.allclose(w, true_w, atol=0.05)
