import random

import gradspec as torch
import gradspec.nn as nn
from gradspec.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from gradspec.utils.data import DataLoader

random.seed(0)
torch.manual_seed(9)
PAD, SOS, VOCAB = 0, 1, 8


def make_example():
    return torch.randint(2, VOCAB, (random.randint(2, 5),))


def collate_fn(batch):
    batch.sort(key=len, reverse=True)
    lengths = torch.tensor([len(b) for b in batch])
    return pad_sequence(batch, batch_first=True, padding_value=PAD), lengths


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 48, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True)
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return out, h


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 16)
        self.rnn = nn.GRU(16 + 48, 48, batch_first=True)
        self.out = nn.Linear(48, VOCAB)

    def forward(self, y, h, enc, mask):
        score = torch.bmm(enc, h.permute(1, 2, 0)).squeeze(2)
        score.masked_fill_(mask, -1e9)
        context = torch.bmm(score.softmax(1).unsqueeze(1), enc)
        out, h = self.rnn(torch.cat([self.embedding(y), context], dim=2), h)
        return self.out(out), h


encoder, decoder = Encoder(), Decoder()
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adam(params, lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=5)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
examples = [make_example() for _ in range(128)]
for epoch in range(12):
    total, right, count = 0, 0, 0
    for x, lengths in DataLoader(examples, batch_size=32, shuffle=True, collate_fn=collate_fn):
        enc, h = encoder(x, lengths)
        y = torch.full((x.shape[0], 1), SOS)
        logits = []
        for t in range(x.shape[1]):
            out, h = decoder(y, h, enc, x == PAD)
            logits.append(out)
            y = x[:, t : t + 1]
        logits = torch.cat(logits, 1)
        loss = criterion(logits.transpose(1, 2), x)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(params, 1.0)
        optimizer.step()
        keep = x != PAD
        total += loss.item()
        right += (logits.argmax(-1)[keep] == x[keep]).sum().item()
        count += keep.sum().item()
    scheduler.step(total)
print(f"loss {total:.3f}, accuracy {right / count:.2%}, lr {optimizer.param_groups[0]['lr']}")
assert right / count > 0.5
assert torch.all(encoder.embedding.weight.grad[PAD] == 0)

# packing changes nothing for the valid steps
x, lengths = collate_fn(examples[:6])
with torch.no_grad():
    full, _ = encoder.rnn(encoder.embedding(x))
    packed, h = encoder(x, lengths)
    for i, n in enumerate(lengths.tolist()):
        assert torch.allclose(full[i, :n], packed[i, :n], atol=1e-6)
        assert torch.allclose(h[0, i], packed[i, n - 1])
