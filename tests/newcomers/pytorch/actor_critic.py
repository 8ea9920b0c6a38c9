from collections import deque, namedtuple

import numpy as np

import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F
import gradspec.optim as optim
from gradspec.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])
torch.manual_seed(4)


class Corridor:
    """Walk right five steps; each step costs."""

    def reset(self):
        self.x = 0
        return np.eye(6, dtype=np.float32)[self.x]

    def step(self, action):
        self.x = max(0, self.x + (1 if action == 1 else -1))
        done = self.x == 5
        return np.eye(6, dtype=np.float32)[self.x], (1.0 if done else -0.1), done


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(6, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    state = torch.from_numpy(state).float()
    probs, state_value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item(), m.entropy()


def finish_episode(entropies):
    R = 0
    returns = deque()
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    if len(returns) > 1:
        returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum() - 0.01 * torch.stack(entropies).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


env = Corridor()
lengths = []
for i_episode in range(150):
    state, entropies = env.reset(), []
    for t in range(1, 50):
        action, entropy = select_action(state)
        entropies.append(entropy)
        state, reward, done = env.step(action)
        model.rewards.append(reward)
        if done:
            break
    finish_episode(entropies)
    lengths.append(t)
print("Average length: {:.2f} -> {:.2f}".format(np.mean(lengths[:20]), np.mean(lengths[-20:])))
assert np.mean(lengths[-20:]) < 10

# the entropy's gradient has a closed form
logits = torch.tensor([0.1, 0.5, -1.0], requires_grad=True)
H = Categorical(logits=logits).entropy()
H.backward()
p = logits.detach().softmax(0)
torch.testing.assert_close(logits.grad, -p * (p.log() + H.detach()))
