r"""
Digits
======

A small convolutional network learns to read 1797 handwritten digits. Then a second gradient, by the pixels and not by the weights,
shows which of them speak for the answer.
"""

# %%
# Pictures of 8 by 8 pixels, three quarters for training.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradspec as gs

try:
    from tqdm.auto import trange
except ImportError:
    trange = range

images, labels = load_digits(return_X_y=True)
images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
train, test, train_labels, test_labels = train_test_split(
    images, labels, test_size=0.25, random_state=0, stratify=labels
)

gs.manual_seed(0)
net = gs.nn.Sequential(
    gs.nn.Conv2d(1, 24, 3, padding=1), gs.nn.ReLU(), gs.nn.Conv2d(24, 32, 3, padding=1), gs.nn.ReLU(), gs.nn.MaxPool2d(2),
    gs.nn.Flatten(), gs.nn.Linear(512, 64), gs.nn.ReLU(), gs.nn.Linear(64, 10),
).float()  # fmt: skip
net

# %%
# Forward, backward and the optimiser are one compiled program. Each batch is shifted by a pixel at most: a digit is the same
# digit beside its place. The learning rate is a tensor, which the schedule writes to.
optimizer = gs.optim.AdamW(net.parameters(), lr=gs.tensor(3e-3))
STEPS = 600
schedule = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)


@gs.compile
def step(x, wanted):
    optimizer.zero_grad()
    loss = gs.nn.cross_entropy(net(x), wanted)
    loss.backward()
    optimizer.step()
    return loss.detach()


rng = np.random.default_rng(0)
losses = []
for _ in trange(STEPS):
    rows = rng.integers(len(train), size=64)
    shift = rng.integers(-1, 2, size=2)
    losses.append(float(step(np.roll(train[rows], shift, (2, 3)), train_labels[rows])))
    schedule.step()

net.eval()
with gs.no_grad():
    scores = np.asarray(net(test))
answers = scores.argmax(axis=1)
print(
    f"held out: {(answers == test_labels).sum()} of {len(test)} right, {(answers == test_labels).mean():.2%}"
)
assert (answers == test_labels).mean() > 0.97


# %%
# The margin of the answer, by the pixels. One function for one picture; ``gs.vmap`` applies it to all.
def margin(picture, answer):
    score = net(picture[None])[0]
    return score[answer] - gs.logsumexp(score, axis=0)


with gs.no_grad():
    saliency = np.asarray(gs.vmap(gs.grad(margin))(gs.asarray(test), gs.asarray(answers)))
direction = rng.normal(size=test[0].shape)
picture = gs.asarray(test[7].astype(np.float64))
net.double()
with gs.no_grad():
    slope = float((gs.grad(margin)(picture, int(answers[7])) * direction).sum())
    ahead, behind = (margin(picture + step * direction, int(answers[7])) for step in (1e-6, -1e-6))
    difference = float(ahead - behind) / 2e-6
assert abs(slope - difference) < 1e-5 * abs(slope)

# %%
# Above, the ten least certain answers, wrong ones in red. Below, their gradients: more ink in the red pixels
# speaks for the answer, ink in the blue ones against it.
sure = (scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))).max(axis=1)
shown = np.argsort(sure)[:10]
figure, axes = plt.subplots(2, 10, figsize=(11, 3), layout="constrained")
for (top, below), row in zip(axes.T, shown):
    right = answers[row] == test_labels[row]
    top.imshow(test[row, 0], cmap="Greys")
    top.set_title(
        str(answers[row]) if right else f"{answers[row]}, is {test_labels[row]}",
        color="black" if right else "tab:red",
    )
    limit = abs(saliency[row]).max()
    below.imshow(saliency[row, 0], cmap="coolwarm", vmin=-limit, vmax=limit)
    for axis in (top, below):
        axis.set(xticks=[], yticks=[])
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[1.5, 1]
)
left.semilogy(losses, linewidth=0.5, alpha=0.6)
left.semilogy(np.arange(12, 588), np.convolve(losses, np.ones(25) / 25, "valid"), color="tab:blue")
left.set(xlabel="step", title="Cross entropy")
table = np.zeros((10, 10), int)
np.add.at(table, (test_labels, answers), 1)
right.imshow(np.log1p(table), cmap="Blues")
for (wanted, answer), count in np.ndenumerate(table):
    if count:
        right.text(
            answer,
            wanted,
            count,
            ha="center",
            va="center",
            color="white" if count > 20 else "black",
            fontsize=8,
        )
right.set(xticks=range(10), yticks=range(10), xlabel="answer", ylabel="digit", title="Held out")
plt.show()
