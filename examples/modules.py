"""Train a module: a network with batch norm and dropout classifies two moons; its weights are saved and loaded again."""

import os
import tempfile

import numpy as np

import gradspec as gs
from gradspec import nn


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.05), nn.Linear(width, width), nn.ReLU()
        )
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.body(x))


def moons(rng, count):
    labels = rng.integers(0, 2, count)
    angle = rng.uniform(0, np.pi, count)
    x = np.where(labels, 1 - np.cos(angle), np.cos(angle))
    y = np.where(labels, 0.5 - np.sin(angle), np.sin(angle))
    return np.stack([x, y], 1) + rng.normal(scale=0.1, size=(count, 2)), labels


def main():
    rng = np.random.default_rng(0)
    gs.manual_seed(0)
    x, labels = moons(rng, 512)
    net, loss_of = Classifier(32), nn.CrossEntropyLoss()
    print(net)
    optimizer = gs.optim.AdamW(net.parameters(), lr=0.02)
    schedule = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
    for epoch in range(40):
        for rows in rng.permutation(len(x)).reshape(-1, 64):
            optimizer.zero_grad()
            loss = loss_of(net(gs.asarray(x[rows])), labels[rows])
            loss.backward()
            optimizer.step()
        schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}, learning rate {schedule.get_last_lr()[0]:.4f}")

    with tempfile.TemporaryDirectory() as folder:
        gs.save(os.path.join(folder, "moons.npz"), net.state_dict())
        other = Classifier(32).eval()
        other.load_state_dict(gs.load(os.path.join(folder, "moons.npz")))
    test, wanted = moons(rng, 512)
    with gs.no_grad():
        right = (other(gs.asarray(test)).argmax(axis=1).numpy() == wanted).mean()
    print(f"{right:.3f} of the test set")
    assert right > 0.97


if __name__ == "__main__":
    main()
