"""Models written once for gradspec and PyTorch, whose modules have the same names; the cases `module_*` train them.

Defines the models, the training step, and the common functions of the cases.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

NOT_COMPARABLE = dict.fromkeys(("jax", "autograd"), "has no modules of its own")


def mlp(library: Any) -> Any:
    nn = library.nn
    hidden = [layer for width in (64, 128) for layer in (nn.Linear(width, 128), nn.LayerNorm(128), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(128, 10))


def cnn(library: Any) -> Any:
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1),
        nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 7 * 7, 10),
    )  # fmt: skip


def gpt_block(library: Any) -> Any:
    nn = library.nn

    class Block(nn.Module):
        def __init__(self, width: int = 64, heads: int = 4) -> None:
            super().__init__()
            self.heads, self.before, self.between = heads, nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.rise, self.act, self.fall = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            self.head = nn.Linear(width, 32)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = self.qkv(self.before(x)).chunk(3, dim=-1)
            q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
            attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
            x = x + self.fall(self.act(self.rise(self.between(x))))
            return self.head(x).reshape(batch * length, -1)

    return Block()


def lstm(library: Any) -> Any:
    nn = library.nn

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.out = nn.LSTM(16, 64, batch_first=True), nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            return self.out(self.lstm(x)[0][:, -1])

    return Reader()


def inputs(shape: tuple[int, ...], classes: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs and their classes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=shape).astype(np.float32), rng.integers(classes, size=count)


def training(library: Any, model: Callable[[Any], Any], x: np.ndarray, classes: np.ndarray) -> Callable[[], tuple[Any, ...]]:
    """A training step: forward, softmax cross entropy, backward, clipping and gradient descent with momentum."""
    net = model(library).to(library.float32)
    rng = np.random.default_rng(1)
    with library.no_grad():
        for parameter in net.parameters():
            bound = 1 / np.sqrt(parameter.shape[-1])
            parameter.copy_(library.from_numpy(rng.uniform(-bound, bound, tuple(parameter.shape)).astype(np.float32)))
    examples, targets = library.from_numpy(x), library.from_numpy(classes)
    optimizer = library.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step() -> tuple[Any, ...]:
        optimizer.zero_grad()
        loss = library.nn.functional.cross_entropy(net(examples), targets)
        loss.backward()
        library.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        return loss.detach(), *[parameter.detach() for parameter in net.parameters()]

    return step


def case(model: Callable[[Any], Any], shape: tuple[int, ...], classes: int, count: int) -> tuple[Callable[..., Any], ...]:
    """The functions of a case: its inputs, and the training step with gradspec and with PyTorch."""

    def trained_by(name: str) -> Callable[..., Any]:
        return lambda x, labels: training(importlib.import_module(name), model, x, labels)

    return lambda: inputs(shape, classes, count), trained_by("gradspec"), trained_by("torch")
