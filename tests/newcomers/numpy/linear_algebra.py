"""np.linalg code: least squares, PCA, condition numbers, projections, through np alone."""
import numpy as np
import gradspec as gs

rng = np.random.default_rng(1)
A = gs.tensor(rng.normal(size=(6, 3)), requires_grad=True)
b = rng.normal(size=6)
x, res, rank, sv = np.linalg.lstsq(A, b, rcond=None)
Q, R = np.linalg.qr(A)
U, s, Vt = np.linalg.svd(A, full_matrices=False)
P = A @ np.linalg.inv(A.T @ A) @ A.T
w, V = np.linalg.eigh(A.T @ A)
total = (np.sum(x**2) + np.trace(P) + np.log(np.linalg.det(R) ** 2) + np.linalg.norm(A, "nuc") + s.max() / s.min()
         + np.linalg.cond(A) + w[0] + np.linalg.matrix_power(A.T @ A, 2).sum() + np.kron(A, A).mean()
         + np.einsum("ij,ik->jk", A, A).trace() + np.linalg.norm(A @ x - b) + np.linalg.multi_dot([A.T, A, A.T]).sum()
         + np.linalg.slogdet(A.T @ A)[1] + np.linalg.pinv(A).sum() + np.linalg.solve(A.T @ A, A.T @ b).sum())
total.backward()
print(total, rank, A.grad)
print(np.linalg.matrix_rank(A), np.allclose(P, P.T), np.allclose(V @ np.diag(w) @ V.T, A.T @ A))
