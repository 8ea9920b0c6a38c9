"""Classify handwritten digits with a small neural network, save it, load it and evaluate it again.

    python examples/digits.py
    python examples/digits.py --epochs 10 --no-plot

Needs scikit-learn for the data; shows a progress bar with tqdm and saves the loss curve with matplotlib if they are installed.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradspec as gs

try:
    from tqdm import trange
except ImportError:
    trange = range

SIZES = (64, 128, 64, 10)
BATCH = 64


def initial_model(rng):
    model = {}
    for i, (fan_in, fan_out) in enumerate(zip(SIZES, SIZES[1:])):
        weight = rng.normal(size=(fan_in, fan_out)) * np.sqrt(2 / fan_in)
        model[f"layer{i}/weight"] = gs.tensor(weight, dtype=np.float32, requires_grad=True)
        model[f"layer{i}/bias"] = gs.tensor(np.zeros(fan_out), dtype=np.float32, requires_grad=True)
    return model


def logits(model, x):
    x = gs.nn.relu(x @ model["layer0/weight"] + model["layer0/bias"])
    x = gs.nn.relu(x @ model["layer1/weight"] + model["layer1/bias"])
    return x @ model["layer2/weight"] + model["layer2/bias"]


def train(model, images, labels, epochs, rng):
    optimizer = gs.optim.AdamW(model.values(), lr=3e-3)
    losses = []
    for epoch in trange(epochs):
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 - epoch / epochs)
        for batch in np.array_split(rng.permutation(len(images)), len(images) // BATCH):
            optimizer.zero_grad()
            loss = gs.nn.cross_entropy(logits(model, images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def accuracy(model, images, labels):
    with gs.no_grad():
        return np.mean(logits(model, images).numpy().argmax(axis=1) == labels)


def save_plot(losses, path):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no loss curve")
        return
    figure = Figure(layout="constrained")
    figure.subplots().semilogy(losses)
    figure.supxlabel("step")
    figure.supylabel("cross entropy")
    figure.savefig(path)
    print(f"loss curve in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--no-plot", action="store_true", help="do not save the loss curve")
    parser.add_argument("--output", type=Path, default=Path(tempfile.gettempdir()), help="folder of the model and the plot")
    options = parser.parse_args()

    options.output.mkdir(parents=True, exist_ok=True)
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    images, test_images, labels, test_labels = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)

    rng = np.random.default_rng(1)
    model = initial_model(rng)
    losses = train(model, images, labels, options.epochs, rng)
    if not options.no_plot:
        save_plot(losses, options.output / "digits_loss.png")

    path = options.output / "digits.npz"
    gs.save(path, model)
    loaded = gs.load(path)
    print(f"model in {path}, {path.stat().st_size / 1024:.0f} kB")

    before, after = accuracy(model, test_images, test_labels), accuracy(loaded, test_images, test_labels)
    if before != after:
        raise SystemExit(f"the loaded model differs: accuracy {after:.4f}, was {before:.4f}")
    print(f"training loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    print(f"test accuracy {after:.4f}")


if __name__ == "__main__":
    main()
