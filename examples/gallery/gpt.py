r"""
A character GPT
===============

A transformer reads forty characters and guesses the next one. It learns from the documentation of gradspec itself, on two
cores, in some seconds: enough for words and code, not for sense. Two numbers judge the loss: a model that knows only the
frequencies of characters, and a model that knows only pairs.
"""

# %%
# The docstrings are the text.
import inspect
import math

import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

try:
    from tqdm.auto import trange
except ImportError:
    trange = range

members = [
    getattr(module, name)
    for module in (gs, gs.nn, gs.func, gs.optim)
    for name in sorted(dir(module))
    if name[0] != "_"
]
docs = dict.fromkeys(inspect.getdoc(member) for member in members if callable(member))
text = "\n\n".join(doc for doc in docs if doc and doc.isascii())[:250_000]
letters = sorted(set(text))
codes = np.searchsorted(letters, list(text))
print(f"{len(text):,} characters, {len(letters)} different ones")

# %%
# Two blocks of attention and a small network each. The mask hides what comes later.
LENGTH, WIDTH, HEADS = 40, 64, 4


class Block(gs.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = (
            gs.nn.LayerNorm(WIDTH),
            gs.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True),
        )
        self.rest = gs.nn.Sequential(
            gs.nn.LayerNorm(WIDTH),
            gs.nn.Linear(WIDTH, 4 * WIDTH),
            gs.nn.GELU(),
            gs.nn.Linear(4 * WIDTH, WIDTH),
        )

    def forward(self, x, mask, weights=False):
        y = self.norm(x)
        y, seen = self.attention(
            y, y, y, attn_mask=mask, need_weights=weights, average_attn_weights=False
        )
        x = x + y
        return x + self.rest(x), seen


class GPT(gs.nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = (
            gs.nn.Embedding(len(letters), WIDTH),
            gs.nn.Embedding(LENGTH, WIDTH),
        )
        self.blocks = gs.nn.ModuleList([Block() for _ in range(2)])
        self.out = gs.nn.Sequential(gs.nn.LayerNorm(WIDTH), gs.nn.Linear(WIDTH, len(letters)))

    def forward(self, x, weights=False):
        length = x.shape[1]
        mask = np.triu(np.ones((length, length), bool), 1)
        x, seen = self.letters(x) + self.places(np.arange(length)), None
        for block in self.blocks:
            x, seen = block(x, mask, weights)
        return (self.out(x), seen) if weights else self.out(x)


gs.manual_seed(0)
net = GPT().float()
net

# %%
# All of a step is compiled: forward, backward, the clipping of gradients and the optimiser.
optimizer = gs.optim.AdamW(net.parameters(), lr=gs.tensor(4e-3))
STEPS, BATCH = 500, 16
schedule = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)


@gs.compile
def step(x, wanted):
    optimizer.zero_grad()
    loss = gs.nn.cross_entropy(net(x).reshape(-1, len(letters)), wanted)
    loss.backward()
    gs.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


train, test = codes[: -len(codes) // 10], codes[-len(codes) // 10 :]
rng = np.random.default_rng(0)


def batch(part, size):
    rows = part[rng.integers(len(part) - LENGTH - 1, size=(size, 1)) + np.arange(LENGTH + 1)]
    return rows[:, :-1], rows[:, 1:].ravel()


losses = []
for _ in trange(STEPS):
    losses.append(float(step(*batch(train, BATCH))))
    schedule.step()

# %%
# The entropies of characters and of pairs, on the part that was held out. A model that knows only pairs cannot be better than the
# second.
net.eval()
with gs.no_grad():
    x, wanted = batch(test, 100)
    held_out = float(gs.nn.cross_entropy(net(x).reshape(-1, len(letters)), wanted))
counts = np.full((len(letters), len(letters)), 0.01)
np.add.at(counts, (train[:-1], train[1:]), 1)
single = -np.log(counts.sum(axis=0) / counts.sum())[test].mean()
pair = -np.log(counts / counts.sum(axis=1, keepdims=True))[test[:-1], test[1:]].mean()
print(
    f"loss {losses[0]:.2f} (log of {len(letters)} letters: {math.log(len(letters)):.2f}) -> held out {held_out:.2f}"
)
print(f"characters {single:.2f}, pairs {pair:.2f}")
assert abs(losses[0] - math.log(len(letters))) < 0.6 and held_out < pair - 0.15

# %%
# The network must not see later characters: the gradient of a score by the inputs is exactly 0 beyond its place.
x = gs.asarray(net.letters(gs.asarray(test[None, :LENGTH])).detach()).requires_grad_()
y = x + net.places(np.arange(LENGTH))
for block in net.blocks:
    y = block(y, np.triu(np.ones((LENGTH, LENGTH), bool), 1))[0]
(reach,) = gs.autograd.grad(net.out(y)[0, 20, 0], x)
reach = abs(np.asarray(reach))[0].sum(axis=1)
assert np.all(reach[21:] == 0) and np.all(reach[:21] > 0)

# %%
# A sample.
written = list(np.searchsorted(letters, list("\nParameters\n----------\n")))
with gs.no_grad():
    for _ in range(400):
        scores = np.asarray(net(np.array(written[-LENGTH:])[None]))[0, -1].astype(float) / 0.6
        chances = np.exp(scores - scores.max())
        written.append(rng.choice(len(letters), p=chances / chances.sum()))
print("".join(letters[code] for code in written))

# %%
# Right, where the four heads of the last block look, from each character of a line to those before.
line = "x : array_like  The input, of any shape."[:LENGTH]
with gs.no_grad():
    _, seen = net(np.searchsorted(letters, list(line))[None], weights=True)
figure = plt.figure(figsize=(12, 5.2), layout="constrained")
grid = figure.add_gridspec(2, 4)
axis = figure.add_subplot(grid[:, :2])
axis.plot(losses, linewidth=0.5, alpha=0.6, color="tab:blue")
axis.plot(
    np.arange(10, STEPS - 10), np.convolve(losses, np.ones(21) / 21, "valid"), color="tab:blue"
)
for level, name in ((single, "characters"), (pair, "pairs"), (held_out, "held out")):
    axis.axhline(level, color="grey", linestyle="--", linewidth=1)
    axis.text(STEPS, level + 0.03, name, ha="right")
axis.set(xlabel="step", title="Cross entropy", xlim=(0, STEPS))
for head in range(HEADS):
    axis = figure.add_subplot(grid[head // 2, 2 + head % 2])
    axis.imshow(np.sqrt(np.asarray(seen)[0, head]), cmap="magma")
    axis.set_xticks(range(len(line)), line, fontsize=5, family="monospace")
    axis.set_yticks(range(len(line)), line, fontsize=5, family="monospace")
    axis.tick_params(length=0)
plt.show()
