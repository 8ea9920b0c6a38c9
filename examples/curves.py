"""Training curves beside PyTorch's: digits, a character GPT and a variational autoencoder, on one picture.

Both libraries run the same code on the same batches from the same weights, on one thread; if PyTorch is not installed, only
gradspec runs.  `python examples/curves.py` trains all three in some minutes and writes docs/curves.svg; with `vae 20` it
runs 20 steps of one of them with gradspec only.  The GPT is trained on the text of Python's own help.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradspec as gs

gs.set_num_threads(1)


def pytorch():
    """PyTorch, or None if it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def digits(rng):
    """Images of 8 by 8 pixels in [0, 1] and their labels: three quarters for training, a quarter held out."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, labels, test_size=0.25, random_state=0, stratify=labels)


class Digits:
    """A convolutional net on images that are randomly shifted by a pixel; held-out accuracy at the end."""

    steps, rate, title = 500, 2e-3, "digits: cross entropy"

    def __init__(self):
        rng = np.random.default_rng(0)
        self.train, self.test, self.labels, self.wanted = digits(rng)

    def net(self, nn):
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 10),
        )  # fmt: skip

    def batch(self, rng):
        rows = rng.integers(len(self.train), size=64)
        shift = rng.integers(-1, 2, size=2)
        return np.roll(self.train[rows], shift, (2, 3)), self.labels[rows]

    def loss(self, net, nn, images, labels):
        return nn.CrossEntropyLoss()(net(images), labels)

    def verdict(self, net, tensor):
        found = np.asarray(net(tensor(self.test)).detach()).argmax(1)
        return f"held-out accuracy {100 * (found == self.wanted).mean():.2f} %"


class Characters:
    """A GPT of two blocks, which reads 32 characters and predicts the next."""

    steps, rate, title = 300, 3e-3, "character GPT: cross entropy"
    length, width, heads, blocks = 32, 64, 4, 2

    def __init__(self):
        from pydoc_data.topics import topics

        text = "\n".join(topics[name] for name in sorted(topics))[:200_000]
        letters = sorted(set(text))
        self.text = np.array([letters.index(letter) for letter in text])
        self.letters = letters

    def net(self, nn):
        width, heads = self.width, self.heads

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.attention = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, batch_first=True)
                wide = 4 * width
                self.rest = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, wide), nn.GELU(), nn.Linear(wide, width))

            def forward(self, x, mask):
                y = self.norm(x)
                x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
                return x + self.rest(x)

        class Net(nn.Module):
            def __init__(self, letters, length, blocks):
                super().__init__()
                self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(length, width)
                self.blocks = nn.ModuleList([Block() for _ in range(blocks)])
                self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, letters))

            def forward(self, x, places, mask):
                x = self.letters(x) + self.places(places)
                for block in self.blocks:
                    x = block(x, mask)
                return self.out(x)

        return Net(len(self.letters), self.length, self.blocks)

    def batch(self, rng):
        starts = rng.integers(len(self.text) - self.length - 1, size=(16, 1))
        rows = self.text[starts + np.arange(self.length + 1)]
        mask = np.triu(np.ones((self.length, self.length), bool), 1)
        return rows[:, :-1], np.arange(self.length), mask, rows[:, 1:].ravel()

    def loss(self, net, nn, x, places, mask, wanted):
        return nn.CrossEntropyLoss()(net(x, places, mask).reshape(-1, len(self.letters)), wanted)

    def verdict(self, net, tensor):
        return ""


class Autoencoder:
    """Digits encoded by eight normal variables, whose noise is an input."""

    steps, rate, title = 600, 2e-3, "VAE of digits: bound of the negative log-likelihood"

    def __init__(self):
        self.images = digits(np.random.default_rng(0))[0].reshape(-1, 64)

    def net(self, nn):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.encode = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
                self.mean, self.spread = nn.Linear(128, 8), nn.Linear(128, 8)
                self.decode = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 64))

            def forward(self, x, noise):
                hidden = self.encode(x)
                mean, spread = self.mean(hidden), self.spread(hidden)
                return self.decode(mean + noise * (spread / 2).exp()), mean, spread

        return Net()

    def batch(self, rng):
        rows = rng.integers(len(self.images), size=100)
        return self.images[rows], rng.normal(size=(100, 8)).astype(np.float32)

    def loss(self, net, nn, x, noise):
        logits, mean, spread = net(x, noise)
        distance = -0.5 * (1 + spread - mean * mean - spread.exp()).sum()
        return (nn.BCEWithLogitsLoss(reduction="sum")(logits, x) + distance) / 100

    def verdict(self, net, tensor):
        return ""


def trained(task, library, tensor, start, steps):
    """The losses, the milliseconds of a step and the net, trained from the given weights."""
    nn, rng = library.nn, np.random.default_rng(1)
    net = task.net(nn).float()
    net.load_state_dict(start)
    optimizer = library.optim.Adam(net.parameters(), lr=task.rate)
    schedule = library.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses, times = [], []
    for _ in range(steps):
        batch = [tensor(array) for array in task.batch(rng)]
        begun = time.perf_counter()
        optimizer.zero_grad()
        loss = task.loss(net, nn, *batch)
        loss.backward()
        optimizer.step()
        schedule.step()
        times.append(time.perf_counter() - begun)
        losses.append(loss.item())
    return np.array(losses), 1e3 * np.median(times), net.eval()


def main(names, steps=None, torch=None):
    found = {}
    for name in names:
        task = TASKS[name]()
        count = steps or task.steps
        gs.manual_seed(0)
        first = task.net(gs.nn).float()
        start = {key: np.array(value.detach()) for key, value in first.state_dict().items()}
        found[name] = {"gradspec": trained(task, gs, gs.asarray, start, count)}
        if torch is not None:
            there = {key: torch.tensor(value) for key, value in start.items()}
            found[name]["PyTorch"] = trained(task, torch, torch.as_tensor, there, count)
        for library, (losses, milliseconds, net) in found[name].items():
            tensor = gs.asarray if library == "gradspec" else torch.as_tensor
            print(f"{name}, {library}: loss {losses[:10].mean():.3f} at first, {losses[-10:].mean():.3f} after {count} steps of "
                  f"{milliseconds:.1f} ms {task.verdict(net, tensor)}")  # fmt: skip
    return found


def draw(found, path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(4 * len(found), 3.2), layout="constrained")
    for axis, (name, curves) in zip(np.atleast_1d(axes), found.items()):
        for (library, (losses, _, _)), style in zip(curves.items(), ("-", "--")):
            smooth = np.convolve(losses, np.ones(10) / 10, "valid")
            axis.plot(np.arange(len(smooth)) + 10, smooth, style, label=library, linewidth=2.5 if style == "-" else 1.2)
        axis.set(title=TASKS[name].title, xlabel="step")
        axis.title.set_fontsize(9)
        axis.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


TASKS = {"digits": Digits, "gpt": Characters, "vae": Autoencoder}

if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name in TASKS] or list(TASKS)
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    curves = main(chosen, *numbers) if numbers else main(chosen, torch=pytorch())
    if not numbers and chosen == list(TASKS):
        draw(curves, Path(__file__).parents[1] / "docs" / "curves.svg")
