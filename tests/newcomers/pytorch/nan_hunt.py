import gradspec as torch

x = torch.tensor([1.0, 0.0, -1.0], requires_grad=True)
seen = []
x.register_hook(lambda g: seen.append(g))
try:
    with torch.autograd.detect_anomaly():
        y = torch.sqrt(x)
        y.sum().backward()
except RuntimeError as error:
    print(error)
    assert "nan" in str(error)
else:
    raise AssertionError
x.grad = None
torch.where(x > 0, x, torch.zeros_like(x)).sum().backward()
assert x.grad.tolist() == [1.0, 0.0, 0.0]
