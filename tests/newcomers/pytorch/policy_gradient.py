import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F

torch.manual_seed(3)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(inplace=True), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-2)
for episode in range(5):
    log_probs, rewards = [], []
    state = torch.randn(4)
    for t in range(10):
        probs = F.softmax(policy(state), dim=0)
        action = torch.multinomial(probs, 1)
        log_probs.append(torch.log(probs[action]))
        rewards.append(float(action.item() == 1))
        state = state + 0.1 * torch.randn_like(state)
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std(unbiased=True) + 1e-8)
    loss = torch.cat([-lp * R for lp, R in zip(log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
