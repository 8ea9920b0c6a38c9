import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F
import gradspec.optim as optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, 1)
        self.conv2 = nn.Conv2d(4, 8, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.1, training=self.training)
        return F.log_softmax(self.fc2(x), dim=1)


torch.manual_seed(1)
device = torch.device("cpu")
model = Net().to(device)
optimizer = optim.Adadelta(model.parameters(), lr=1.0)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
data = torch.randn(64, 1, 8, 8)
target = (data.mean(dim=(1, 2, 3)) > 0).long()
for epoch in range(3):
    model.train()
    for start in range(0, 64, 16):
        optimizer.zero_grad()
        output = model(data[start : start + 16].to(device))
        loss = F.nll_loss(output, target[start : start + 16])
        loss.backward()
        optimizer.step()
    scheduler.step()
model.eval()
with torch.no_grad():
    output = model(data)
    test_loss = F.nll_loss(output, target, reduction="sum").item()
    pred = output.argmax(dim=1, keepdim=True)
    correct = pred.eq(target.view_as(pred)).sum().item()
print(test_loss / 64, correct)
