"""Point clouds: Kabsch by the SVD, a rotation by the matrix exponential, and the Chamfer distance over k neighbours."""

import gradspec as torch
from gradspec import nn


def kabsch(p, q):
    pc, qc = p - p.mean(0, keepdim=True), q - q.mean(0, keepdim=True)
    U, S, Vh = torch.linalg.svd(pc.T @ qc)
    d = torch.sign(torch.det(Vh.mT @ U.mT))
    D = torch.diag(torch.stack([torch.ones(()), torch.ones(()), d]))
    return Vh.mT @ D @ U.mT


class Rigid(nn.Module):
    def __init__(self):
        super().__init__()
        self.omega = nn.Parameter(0.01 * torch.ones(3))
        self.shift = nn.Parameter(torch.zeros(1, 3))

    @property
    def rotation(self):
        wx, wy, wz = self.omega.unbind()
        zero = torch.zeros_like(wx)
        skew = torch.stack([zero, -wz, wy, wz, zero, -wx, -wy, wx, zero]).reshape(3, 3)
        return torch.matrix_exp(skew)

    def forward(self, pts):
        return pts @ self.rotation.T + self.shift


def chamfer(a, b, k=1):
    d = torch.cdist(a, b)
    ab, _ = d.topk(k, dim=1, largest=False)
    ba = d.min(dim=0)[0]
    return ab.mean() + ba.mean()


torch.manual_seed(3)
cloud = torch.randn(60, 3) * torch.tensor([3.0, 2.0, 1.0])
true = Rigid()
with torch.no_grad():
    true.omega.copy_(torch.tensor([0.2, -0.1, 0.3]))
    true.shift.add_(0.4)
    target = true(cloud)[torch.randperm(60)]

model = Rigid()
opt = torch.optim.SGD([{"params": [model.omega], "lr": 0.02}, {"params": [model.shift]}], lr=0.1, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=5)
for _ in range(150):
    opt.zero_grad()
    loss = chamfer(model(cloud), target)
    loss.backward()
    opt.step()
    plateau.step(loss.item())

assert loss < 0.1, loss
assert torch.allclose(model.rotation, true.rotation, atol=0.05)
nearest = torch.cdist(model(cloud), target).argmin(dim=1)
R = kabsch(cloud, target.gather(0, nearest.unsqueeze(1).repeat(1, 3)))
assert torch.norm(R - true.rotation) < 1e-3
normals = torch.linalg.cross(cloud[1:] - cloud[:-1], cloud.roll(1, 0)[1:] - cloud[:-1])
areas = normals.norm(dim=-1) / 2
assert torch.all(areas >= 0) and areas.shape == (59,)
state = {k: v.clone() for k, v in model.state_dict().items()}
fresh = Rigid()
print(fresh.load_state_dict(state))
assert torch.equal(fresh(cloud), model(cloud))
