"""Results of backward: first a gradient, then a whole Jacobian, one row for each call.

Run it with `python examples/jacobian.py`.
"""

import numpy as np

import gradspec as gs

# An expression of two arrays.  Operations on tensors with requires_grad=True are recorded.
a = gs.tensor([2.0, 3.0], requires_grad=True)
b = gs.tensor([6.0, 4.0], requires_grad=True)
q = 3 * a**3 - b**2
print("q        =", q)

# q is not a scalar, so backward needs the combination of its elements that is differentiated: here their sum.
q.backward(np.ones(2))
print("dq/da    =", a.grad.numpy(), "  by hand: 9 a^2 =", 9 * a.detach().numpy() ** 2)
print("dq/db    =", b.grad.numpy(), "  by hand: -2 b  =", -2 * b.detach().numpy())


def polar_to_cartesian(p):
    radius, angle = p[0], p[1]
    return gs.stack([radius * gs.cos(angle), radius * gs.sin(angle)])


# backward multiplies a row vector by the Jacobian.  A unit vector selects one row; the graph is kept for the next call.
p = gs.tensor([2.0, np.pi / 3], requires_grad=True)
y = polar_to_cartesian(p)
rows = []
for unit in np.eye(2):
    p.grad = None
    y.backward(unit, retain_graph=True)
    rows.append(p.grad.numpy())
jacobian = np.stack(rows)
print("Jacobian =", np.array2string(jacobian, prefix="Jacobian = ", precision=6))

radius, angle = p.detach().numpy()
by_hand = np.array([[np.cos(angle), -radius * np.sin(angle)], [np.sin(angle), radius * np.cos(angle)]])
print("largest difference from the one by hand:", np.abs(jacobian - by_hand).max())
print("its determinant is the radius:", np.linalg.det(jacobian).round(12))
