"""A dilated convolution reads tones from a spectrogram; the CTC loss aligns them."""

import math

import gradspec as torch
import gradspec.nn as nn
import gradspec.nn.functional as F
from gradspec.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
RATE, NFFT, HOP = 1000, 64, 32
TONES = torch.tensor([0.0, 100.0, 200.0, 300.0])  # the zeroth is the blank


def utterance(symbols):
    t = torch.arange(256) / RATE
    parts = [torch.sin(2 * math.pi * TONES[s] * t) * torch.hann_window(256) for s in symbols]
    return torch.cat(parts) + 0.01 * torch.randn(256 * len(symbols))


def features(wave):
    spec = torch.stft(wave, n_fft=NFFT, hop_length=HOP, window=torch.hann_window(NFFT), return_complex=True)
    return spec.abs().pow(2).clamp_min(1e-6).log10()


words = [[1, 2, 3], [3, 1, 2], [2, 2, 1], [1, 3, 3], [3, 2, 1], [2, 1, 3]]
waves = torch.stack([utterance(w) for w in words])
x = features(waves)
x = (x - x.mean()) / x.std(unbiased=False)
assert x.shape == (6, NFFT // 2 + 1, 1 + 768 // HOP)

net = nn.Sequential(
    weight_norm(nn.Conv1d(NFFT // 2 + 1, 16, 3, padding="same", dilation=2)),
    nn.GELU(),
    nn.GroupNorm(4, 16),
    nn.Conv1d(16, len(TONES), kernel_size=1),
)
opt = torch.optim.RMSprop(net.parameters(), lr=1e-2, momentum=0.5)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
targets = torch.tensor(words)
losses = []
for _ in range(60):
    logp = F.log_softmax(net(x).permute(2, 0, 1), dim=-1)
    lengths = torch.full((len(words),), logp.size(0), dtype=torch.long)
    loss = ctc(logp, targets, lengths, torch.tensor([len(w) for w in words]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())

best = logp.argmax(-1).t()
decoded = []
for row in best:
    collapsed = torch.unique_consecutive(row)
    decoded.append(collapsed[collapsed != 0].tolist())
correct = sum(d == w for d, w in zip(decoded, words))
assert losses[-1] < 0.1 * losses[0], losses[::10]
assert correct >= 5, decoded
