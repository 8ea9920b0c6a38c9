import numpy as onp

import gradspec.numpy as anp
from gradspec import grad, make_jvp, value_and_grad
from gradspec.extend import defvjp, primitive
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu


@primitive
def solve_coo(entries, indices, b):
    n = b.size
    A = coo_matrix((entries, (indices[0], indices[1])), shape=(n, n)).tocsc()
    return splu(A).solve(b)


def grad_solve_entries(ans, entries, indices, b):
    def jvp(g):
        lam = solve_coo(entries, indices[::-1], g)
        return -lam[indices[0]] * ans[indices[1]]

    return jvp


def grad_solve_b(ans, entries, indices, b):
    return lambda g: solve_coo(entries, indices[::-1], g)


defvjp(solve_coo, grad_solve_entries, None, grad_solve_b)

# a chain of springs, one end fixed
n = 12
rows = onp.array([i for i in range(n)] + [i for i in range(n - 1)] + [i + 1 for i in range(n - 1)])
cols = onp.array([i for i in range(n)] + [i + 1 for i in range(n - 1)] + [i for i in range(n - 1)])
force = onp.zeros(n)
force[-1] = 1.0
force[n // 2] = 0.5


def stiffness(x):
    k = 1e-3 + x**3
    diag = k + anp.concatenate([k[1:], anp.zeros(1)])
    return anp.concatenate([diag, -k[1:], -k[1:]])


def compliance(x):
    u = solve_coo(stiffness(x), (rows, cols), force)
    return anp.dot(u, force)


x = onp.full(n, 0.5)
c, g = value_and_grad(compliance)(x)
assert g.shape == (n,) and onp.all(g < 0)
for i in (0, 5, 11):
    e = onp.zeros(n)
    e[i] = 1e-6
    onp.testing.assert_allclose(g[i], (compliance(x + e) - compliance(x - e)) / 2e-6, rtol=1e-5)
# springs in series: exact
tension = onp.where(onp.arange(n) <= n // 2, 1.5, 1.0)
onp.testing.assert_allclose(c, onp.sum(tension**2 / (1e-3 + x**3)))

# optimality criteria with a bisected multiplier
for it in range(60):
    dc = grad(compliance)(x)
    lo, hi = 1e-9, 1e9
    while hi - lo > 1e-9 * hi:
        mid = 0.5 * (lo + hi)
        xn = onp.clip(x * (-dc / mid) ** 0.25, 1e-3, 1.0)
        lo, hi = (mid, hi) if xn.sum() > 0.5 * n else (lo, mid)
    x = xn
print("compliance %.4f -> %.4f, volume %.3f" % (c, compliance(x), x.sum()), x.round(2))
assert compliance(x) < c
# k = x^3 in series: x ~ tension^(1/2)
onp.testing.assert_allclose(x / x[-1], onp.sqrt(tension), rtol=1e-2)
assert onp.isclose(make_jvp(lambda s: anp.sum(stiffness(s)))(x)(onp.ones(n))[1], 3 * x[0] ** 2 + 0 * n, rtol=1e-6)
