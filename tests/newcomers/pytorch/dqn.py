import random
from collections import deque

import gradspec as torch
import gradspec.nn as nn

random.seed(0)
policy, target = [nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in range(2)]
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, amsgrad=True)
memory = deque(maxlen=200)
for _ in range(100):
    memory.append((torch.randn(1, 4), torch.tensor([[random.randrange(2)]]), torch.tensor([random.random()]), torch.randn(1, 4)))
states, actions, rewards, following = (torch.cat(items) for items in zip(*random.sample(memory, 32)))
values = policy(states).gather(1, actions)
with torch.no_grad():
    best = target(following).max(dim=1)[0]
loss = nn.SmoothL1Loss()(values, (rewards + 0.99 * best).unsqueeze(1))
optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_value_(policy.parameters(), 100)
optimizer.step()
