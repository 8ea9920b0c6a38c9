import gradspec as torch
import gradspec.nn as nn

text = "hello world, hello autograd"
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, 8)
        self.gru = nn.GRU(8, hidden, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, x, h=None):
        out, h = self.gru(self.embed(x), h)
        return self.fc(out), h

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden, device="cpu")


model = CharRNN(len(chars))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(15):
    x, y = data[:-1].unsqueeze(0), data[1:].unsqueeze(0)
    out, hidden = model(x, model.init_hidden(1))
    loss = criterion(out.transpose(1, 2), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
with torch.no_grad():
    x, h, out = data[:1].unsqueeze(0), None, ""
    for _ in range(5):
        logits, h = model(x, h)
        probs = torch.softmax(logits[:, -1] / 0.8, dim=-1)
        x = torch.multinomial(probs, num_samples=1)
        out += chars[x.item()]
print(loss.item(), out)
