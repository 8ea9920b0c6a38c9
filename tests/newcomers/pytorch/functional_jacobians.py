import gradspec as torch
from gradspec.func import functional_call, grad, hessian, jacrev, vmap

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
params = dict(model.named_parameters())
f = lambda p, x: functional_call(model, p, (x.unsqueeze(0),)).squeeze()
x = torch.randn(5, 3)
per_sample = vmap(grad(f), in_dims=(None, 0))(params, x)
laplacian = vmap(lambda x: torch.trace(hessian(f, argnums=1)(params, x)))(x)
ntk = vmap(lambda a: vmap(lambda b: sum(torch.sum(p * q) for p, q in zip(jacrev(f)(params, a).values(), jacrev(f)(params, b).values())))(x))(x)
eigenvalues = torch.linalg.eigvalsh(ntk)
assert torch.all(eigenvalues > -1e-8) and {k: v.shape[0] for k, v in per_sample.items()} == dict.fromkeys(params, 5)
print(laplacian.shape, torch.einsum("ij,ij->i", x, x).sum(dim=0))
