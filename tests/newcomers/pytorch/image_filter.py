import gradspec as torch
import gradspec.nn.functional as F

torch.manual_seed(0)
image = torch.rand(1, 1, 16, 16)
sobel = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]).view(1, 1, 3, 3)
target = F.conv2d(image, sobel, padding=1)
kernel = torch.nn.Parameter(torch.zeros(1, 1, 3, 3))
optimizer = torch.optim.Adam([kernel], lr=0.1)
for i in range(100):
    optimizer.zero_grad()
    out = F.conv2d(F.pad(image, (1, 1, 1, 1)), kernel)
    loss = F.mse_loss(out, target)
    loss.backward()
    optimizer.step()
print(kernel.data.squeeze())
assert torch.allclose(kernel, sobel, atol=0.2)
