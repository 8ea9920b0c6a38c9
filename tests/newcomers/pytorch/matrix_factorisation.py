import gradspec as torch

torch.manual_seed(0)
n_users, n_items, rank = 20, 15, 3
ratings = torch.rand(n_users, n_items)
observed = torch.rand(n_users, n_items) < 0.5
users = torch.randn(n_users, rank, requires_grad=True)
items = torch.randn(n_items, rank, requires_grad=True)
optimizer = torch.optim.SGD([users, items], lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
for epoch in range(50):
    optimizer.zero_grad(set_to_none=True)
    error = (users.mm(items.t()) - ratings)[observed]
    loss = error.square().mean() + 1e-3 * (users.norm() ** 2 + items.norm() ** 2)
    loss.backward()
    optimizer.step()
    scheduler.step()
with torch.no_grad():
    values, best = torch.topk(users @ items.T, k=3, dim=1)
print(loss.item(), best[:2].tolist())
