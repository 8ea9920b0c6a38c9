import numpy as np

import gradspec as gs

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
labels = rng.integers(0, 3, size=60)
X[np.arange(60), labels] += 2.0
Y = np.eye(3)[labels]


def loss(W, b):
    logits = np.dot(X, W) + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(np.sum(Y * log_p, axis=1)) + 0.01 * np.linalg.norm(W) ** 2


W, b = np.zeros((4, 3)), np.zeros(3)
for step in range(100):
    dW, db = gs.grad(loss, argnums=(0, 1))(W, b)
    W -= 0.5 * dW
    b -= 0.5 * db
accuracy = np.mean(np.argmax(X @ W + b, axis=1) == labels)
print(accuracy)
assert accuracy > 0.8
