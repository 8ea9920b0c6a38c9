"""Three bodies with in-place arrays; gradient of the final distance by the first velocity."""
import numpy as np
import gradspec as gs

m = np.array([1.0, 0.5, 0.2])
def accelerations(r):
    a = gs.zeros_like(r)
    for i in range(3):
        for j in range(3):
            if i != j:
                d = r[j] - r[i]
                a[i] += m[j] * d / (np.dot(d, d) + 1e-3) ** 1.5
    return a
def simulate(v0, steps=40, dt=0.01):
    r = gs.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    v = v0.copy()
    a = accelerations(r)
    for _ in range(steps):
        v += 0.5 * dt * a
        r += dt * v
        a = accelerations(r)
        v += 0.5 * dt * a
    return np.hypot(*(r[1] - r[2]))
v0 = gs.array([[0.0, 0.0], [0.0, 1.0], [-0.8, 0.0]], requires_grad=True)
d = simulate(v0)
d.backward()
eps = 1e-6
bumped = v0.detach().copy()
bumped[1, 1] += eps
print(d.item(), v0.grad[1, 1].item(), ((simulate(bumped) - d) / eps).item())
