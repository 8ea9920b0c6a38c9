"""A small U-Net learns to segment discs in noise by the Dice loss."""

import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.LeakyReLU(0.1, inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.down1 = block(1, width)
        self.down2 = block(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, kernel_size=2, stride=2)
        self.merge = block(2 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
                nn.init.kaiming_normal_(m.weight, nonlinearity="leaky_relu")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        return self.head(self.merge(torch.cat([a, self.up(b)], dim=1)))


def dice_loss(logits, target, eps=1.0):
    p = logits.sigmoid().flatten(1)
    t = target.flatten(1)
    inter = (p * t).sum(-1)
    return (1 - (2 * inter + eps) / (p.sum(-1) + t.sum(-1) + eps)).mean()


torch.manual_seed(0)
ys, xs = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
centre = torch.rand(24, 2, 1, 1) * 8 + 4
mask = (((ys - centre[:, 0]) ** 2 + (xs - centre[:, 1]) ** 2) < 9).float().unsqueeze(1)
images = mask + 0.3 * torch.randn_like(mask)

net = UNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-2, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-2, total_steps=30)
for step in range(30):
    idx = torch.randperm(len(images))[:12]
    logits = net(images[idx])
    loss = dice_loss(logits, mask[idx]) + F.binary_cross_entropy_with_logits(logits, mask[idx])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()

net.eval()
with torch.no_grad():
    pred = net(images) > 0
iou = (pred & mask.bool()).sum().item() / (pred | mask.bool()).sum().item()
assert net(images).shape == torch.Size([24, 1, 16, 16])
assert iou > 0.8, iou
