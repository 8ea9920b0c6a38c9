import gradspec as torch
import gradspec.nn.functional as F

torch.manual_seed(6)
torch.set_default_dtype(torch.float64)


def gaussian_blob(cx, cy, n=24):
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, n), torch.linspace(-1, 1, n), indexing="ij")
    return torch.exp(-((xs - cx) ** 2 / 0.18 + (ys - cy) ** 2 / 0.08))


fixed = gaussian_blob(0.0, 0.0)[None, None]
true = torch.tensor([0.2, -0.15])
moving = gaussian_blob(true[0], true[1])[None, None]

shift = torch.zeros(2, requires_grad=True)
angle = torch.zeros(1, requires_grad=True)


def warp(img, shift, angle):
    c, s = torch.cos(angle), torch.sin(angle)
    theta = torch.stack([torch.cat([c, -s, shift[0:1]]), torch.cat([s, c, shift[1:2]])]).unsqueeze(0)
    grid = F.affine_grid(theta, img.size(), align_corners=True)
    return F.grid_sample(img, grid, mode="bilinear", padding_mode="zeros", align_corners=True)


def tv(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().sum() + (img[..., :, 1:] - img[..., :, :-1]).abs().sum()


optimizer = torch.optim.LBFGS([shift, angle], lr=0.5, max_iter=40, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(warp(moving, shift, angle), fixed)
    loss.backward()
    return loss


first = closure().item()
optimizer.step(closure)
last = closure().item()
print("loss: {:.2e} -> {:.2e}".format(first, last), "shift:", shift.data, "angle:", angle.item())
assert last < 1e-2 * first
torch.testing.assert_close(shift.detach(), true, atol=0.02, rtol=0)
assert abs(angle.item()) < 0.02

# blur with a separable kernel, the sum is kept in the interior
k = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0])
kernel = torch.outer(k, k)
kernel /= kernel.sum()
blurred = F.conv2d(fixed, kernel.view(1, 1, 5, 5), padding=2)
assert blurred.shape == fixed.shape and tv(blurred) < tv(fixed)
pyramid = [F.avg_pool2d(fixed, 2 ** i) for i in range(3)]
assert [p.shape[-1] for p in pyramid] == [24, 12, 6]
torch.testing.assert_close(pyramid[2].mean(), fixed.mean())
patches = F.unfold(fixed, kernel_size=3, padding=1)
mid = patches[:, 4].view(24, 24)
assert torch.equal(mid, fixed.squeeze())
assert torch.autograd.gradcheck(lambda s: warp(moving, s, angle.detach()).sum(), (torch.tensor([0.013, 0.027], requires_grad=True),))
