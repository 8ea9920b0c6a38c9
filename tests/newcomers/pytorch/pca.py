"""PCA by gradient ascent on the Rayleigh quotient, beside torch.linalg."""
import gradspec as torch

g = torch.Generator().manual_seed(0)
A = torch.randn(200, 5, generator=g, dtype=torch.float64) @ torch.diag(torch.tensor([3.0, 1.5, 1.0, 0.5, 0.1], dtype=torch.float64))
A = A - A.mean(dim=0)
C = A.T @ A / (A.shape[0] - 1)
w = torch.randn(5, dtype=torch.float64, requires_grad=True)
for _ in range(200):
    v = w / w.norm()
    loss = -(v @ C @ v)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
L, Q = torch.linalg.eigh(C)
print(torch.allclose(-loss, L[-1], atol=1e-6), (v @ Q[:, -1]).abs().item())
U, S, Vh = torch.linalg.svd(A, full_matrices=False)
print(torch.allclose(S**2 / (A.size(0) - 1), L.flip(0)))
