import gradspec as gs
import numpy as np
from scipy import signal

freq = np.logspace(1, 5, 60)
w = 2 * np.pi * freq


def transfer(R, L, C):
    s = 1j * w
    return 1 / (1 + s * R * C + s**2 * L * C)


def db(H):
    return 20 * gs.log10(gs.abs(H))


truth = (100.0, 1e-2, 1e-7)
measured = db(transfer(*truth)) + 0.01 * np.random.RandomState(0).randn(60)
sys = signal.TransferFunction([1], [truth[1] * truth[2], truth[0] * truth[2], 1])
_, mag, phase = signal.bode(sys, w)
np.testing.assert_allclose(db(transfer(*truth)), mag, atol=1e-8)
np.testing.assert_allclose(np.rad2deg(np.unwrap(gs.angle(transfer(*truth)))), phase, atol=1e-6)


def residual(logp):
    R, tau2 = gs.exp(logp[0]), gs.exp(logp[1])
    return db(transfer(R, tau2 / 1e-7, 1e-7)) - measured


p = np.log([80.0, 1.2e-9])
for k in range(20):
    r = residual(p)
    J = gs.jacobian(residual)(p)
    p -= np.linalg.lstsq(J, r, rcond=-1)[0]
print("R = {:.2f} ohm, L = {:.3e} H".format(*np.exp(p) * [1, 1e7]))
np.testing.assert_allclose(np.exp(p), [100.0, 1e-9], rtol=1e-2)


# nodal analysis of a ladder, and its sensitivities
def ladder(R):
    n = len(R)
    G = gs.zeros((n, n), dtype=complex)
    for i in range(n):
        G[i, i] += 1 / R[i] + 1j * 1e-3
        if i + 1 < n:
            G[i, i] += 1 / R[i + 1]
            G[i, i + 1] -= 1 / R[i + 1]
            G[i + 1, i] -= 1 / R[i + 1]
    I = np.zeros(n, complex)
    I[0] = 1 / 50.0
    return gs.linalg.solve(G, I)


R = np.array([50.0, 100.0, 220.0])
v = ladder(R)
gain = lambda R: gs.abs(ladder(R)[-1])
g = gs.grad(gain)(R)
e = np.array([0, 1e-4, 0])
np.testing.assert_allclose(g[1], (gain(R + e) - gain(R - e)) / 2e-4, rtol=1e-6)
assert v.dtype == np.complex128 and np.iscomplexobj(v)
power = gs.real(v * gs.conj(v)).sum()
np.testing.assert_allclose(power, np.linalg.norm(v) ** 2)
worst = max(abs(g * R / gain(R)))
print(f"worst sensitivity {worst:.3f}", v.real.round(3))
q = 1 / truth[0] * np.sqrt(truth[1] / truth[2])
peak = freq[np.argmax(np.asarray(measured))]
assert abs(peak - 1 / (2 * np.pi * np.sqrt(1e-9))) / peak < 0.2 and q > 1
