"""Architectures as people write them for PyTorch, at small sizes: each is a function of the library, `torch` or `gradspec`.

Owns the models, in PyTorch's spelling: what differs by library is what is imported.  Each builder gives the model and the inputs that it
is called with.
"""

import math

import numpy as np

rng = np.random.default_rng(5)


def normal(*shape):
    return rng.normal(size=shape)


def resnet(T, nn, F):
    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(outputs, outputs, kernel_size=3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.downsample = None
            if stride != 1 or inputs != outputs:
                self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            identity = x if self.downsample is None else self.downsample(x)
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2))
            self.layer1 = nn.Sequential(Block(4, 4), Block(4, 8, 2))
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8, 5)
            for module in self.modules():
                if isinstance(module, nn.Conv2d):
                    nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

        def forward(self, x):
            return self.fc(self.avgpool(self.layer1(self.stem(x))).flatten(1))

    return ResNet(), [normal(2, 3, 12, 12)]


def unet(T, nn, F):
    def double(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                             nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.ReLU(inplace=True))  # fmt: skip

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down1, self.down2, self.pool = double(1, 4), double(4, 8), nn.MaxPool2d(2)
            self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.up2 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.out, self.head = double(8, 4), nn.Conv2d(4, 2, 1)

        def forward(self, x):
            a = self.down1(x)
            b = self.down2(self.pool(a))
            y = self.out(T.cat([a, self.up(b)], dim=1))
            return self.head(self.pool(self.up2(y)))

    return UNet(), [normal(2, 1, 8, 8)]


def gpt(T, nn, F):
    class SelfAttention(nn.Module):
        def __init__(self, width, heads, longest):
            super().__init__()
            self.c_attn, self.c_proj, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads
            self.register_buffer("mask", T.tril(T.ones((longest, longest))).view(1, 1, longest, longest))

        def forward(self, x):
            B, L, C = x.shape
            q, k, v = self.c_attn(x).chunk(3, dim=2)
            q, k, v = (z.view(B, L, self.heads, C // self.heads).transpose(1, 2) for z in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
            att = att.masked_fill(self.mask[:, :, :L, :L] == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            y = att @ v
            return self.c_proj(y.transpose(1, 2).contiguous().view(B, L, C))

    class Block(nn.Module):
        def __init__(self, width, heads, longest):
            super().__init__()
            self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), SelfAttention(width, heads, longest), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width), nn.Dropout(0.0))

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict(dict(wte=nn.Embedding(11, 8), wpe=nn.Embedding(6, 8), drop=nn.Dropout(0.0),
                                                  h=nn.ModuleList([Block(8, 2, 6) for _ in range(2)]), ln_f=nn.LayerNorm(8)))  # fmt: skip
            self.lm_head = nn.Linear(8, 11, bias=False)
            self.transformer.wte.weight = self.lm_head.weight  # tied
            self.apply(self.begin)

        def begin(self, module):
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, mean=0.0, std=0.2)
                if isinstance(module, nn.Linear) and module.bias is not None:
                    nn.init.zeros_(module.bias)

        def forward(self, idx):
            x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(T.arange(0, idx.shape[1], device=idx.device)))
            for block in self.transformer.h:
                x = block(x)
            return self.lm_head(self.transformer.ln_f(x))

    return GPT(), [rng.integers(0, 11, (2, 5))]


def lstm_language_model(T, nn, F):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.drop = nn.Embedding(7, 4), nn.Dropout(0.0)
            self.rnn, self.decoder = nn.LSTM(4, 5, 2, batch_first=True), nn.Linear(5, 7)

        def forward(self, x):
            output, (h, c) = self.rnn(self.drop(self.encoder(x)))
            return self.decoder(output), h, c

    return Model(), [rng.integers(0, 7, (3, 6))]


def vae(T, nn, F):
    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc21, self.fc22 = nn.Linear(12, 8), nn.Linear(8, 3), nn.Linear(8, 3)
            self.fc3, self.fc4 = nn.Linear(3, 8), nn.Linear(8, 12)

        def forward(self, x, noise):
            h = F.relu(self.fc1(x))
            mu, logvar = self.fc21(h), self.fc22(h)
            z = mu + noise * T.exp(0.5 * logvar)
            y = T.sigmoid(self.fc4(F.relu(self.fc3(z))))
            bce = F.binary_cross_entropy(y, T.sigmoid(x), reduction="sum")
            return y, bce - 0.5 * T.sum(1 + logvar - mu**2 - logvar.exp())

    return VAE(), [normal(4, 12), normal(4, 3)]


def transformer(T, nn, F):
    class Seq2Seq(nn.Module):
        def __init__(self):
            super().__init__()
            self.src, self.tgt = nn.Embedding(9, 8), nn.Embedding(7, 8)
            self.transformer = nn.Transformer(8, 2, 2, 2, 16, 0.0, batch_first=True)
            self.generator = nn.Linear(8, 7)

        def forward(self, src, tgt):
            mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
            out = self.transformer(self.src(src) * math.sqrt(8), self.tgt(tgt), tgt_mask=mask, src_key_padding_mask=src == 0)
            return F.log_softmax(self.generator(out), dim=-1)

    return Seq2Seq(), [np.array([[3, 1, 5, 0], [2, 8, 8, 4]]), rng.integers(0, 7, (2, 3))]


def vit(T, nn, F):
    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch = nn.Conv2d(3, 8, 4, stride=4)
            self.cls_token, self.pos = nn.Parameter(T.zeros(1, 1, 8)), nn.Parameter(T.zeros(1, 5, 8))
            layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation="gelu", batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))
            nn.init.trunc_normal_(self.pos, std=0.02)

        def forward(self, x):
            x = self.patch(x).flatten(2).transpose(1, 2)
            x = T.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
            return self.head(self.encoder(x)[:, 0])

    return ViT(), [normal(2, 3, 8, 8)]


def mlp_mixer(T, nn, F):
    def feed(width, hidden):
        return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Dropout(0.0), nn.Linear(hidden, width))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.tokens, self.norm2, self.channels = nn.LayerNorm(6), feed(4, 8), nn.LayerNorm(6), feed(6, 12)

        def forward(self, x):
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    return nn.Sequential(Mixer(), Mixer()), [normal(2, 4, 6)]


def real_nvp(T, nn, F):
    class Coupling(nn.Module):
        def __init__(self, mask):
            super().__init__()
            self.scale = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), nn.Tanh())
            self.shift = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2))
            self.register_buffer("mask", T.tensor(mask))

        def forward(self, x, total):
            kept = x * self.mask
            s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
            return kept + (1 - self.mask) * (x * T.exp(s) + t), total + s.sum(dim=-1)

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Coupling([0.0, 1.0]), Coupling([1.0, 0.0]), Coupling([0.0, 1.0])])

        def forward(self, x):
            total = T.zeros(x.shape[0])
            for layer in self.layers:
                x, total = layer(x, total)
            return total - 0.5 * (x**2).sum(dim=-1) - math.log(2 * math.pi)

    return Flow(), [normal(5, 2)]


def gcn(T, nn, F):
    class Layer(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight, self.bias = nn.Parameter(T.zeros(inputs, outputs)), nn.Parameter(T.zeros(outputs))
            nn.init.xavier_uniform_(self.weight)

        def forward(self, x, adjacency):
            return adjacency @ (x @ self.weight) + self.bias

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.gc2 = Layer(4, 6), Layer(6, 3)

        def forward(self, x, adjacency):
            return F.log_softmax(self.gc2(F.relu(self.gc1(x, adjacency)), adjacency), dim=1)

    links = (rng.random((7, 7)) < 0.4) + np.eye(7)
    return GCN(), [normal(7, 4), links / links.sum(1, keepdims=True)]


def deep_sets(T, nn, F):
    class DeepSets(nn.Module):
        def __init__(self):
            super().__init__()
            self.phi = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU())
            self.rho = nn.Sequential(nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 1))

        def forward(self, x):
            return self.rho(self.phi(x).sum(dim=1))

    return DeepSets(), [normal(4, 6, 3)]


def siren(T, nn, F):
    class Sine(nn.Module):
        def __init__(self, inputs, outputs, omega=30.0, first=False):
            super().__init__()
            self.omega, self.linear = omega, nn.Linear(inputs, outputs)
            bound = 1 / inputs if first else math.sqrt(6 / inputs) / omega
            nn.init.uniform_(self.linear.weight, -bound, bound)

        def forward(self, x):
            return T.sin(self.omega * self.linear(x))

    return nn.Sequential(Sine(2, 8, first=True), Sine(8, 8), nn.Linear(8, 1)), [normal(5, 2) / 9]


def tcn(T, nn, F):
    class Chomp(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.size = size

        def forward(self, x):
            return x[:, :, : -self.size]

    class Block(nn.Module):
        def __init__(self, inputs, outputs, dilation):
            super().__init__()
            pad = 2 * dilation
            self.net = nn.Sequential(nn.Conv1d(inputs, outputs, 3, padding=pad, dilation=dilation), Chomp(pad), nn.ReLU(), nn.Dropout(0.0))
            self.down = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None

        def forward(self, x):
            return F.relu(self.net(x) + (x if self.down is None else self.down(x)))

    return nn.Sequential(Block(2, 4, 1), Block(4, 4, 2)), [normal(2, 2, 10)]


def nerf(T, nn, F):
    class NeRF(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.ModuleList([nn.Linear(15, 16), nn.Linear(16, 16), nn.Linear(16 + 15, 16)])
            self.sigma, self.color = nn.Linear(16, 1), nn.Sequential(nn.Linear(16 + 3, 8), nn.ReLU(), nn.Linear(8, 3), nn.Sigmoid())

        def forward(self, x, direction):
            e = T.cat([x, *(f(2**i * x) for i in range(2) for f in (T.sin, T.cos))], dim=-1)
            h = e
            for number, layer in enumerate(self.first):
                h = F.relu(layer(T.cat([h, e], dim=-1) if number == 2 else h))
            return self.color(T.cat([h, direction], dim=-1)), F.softplus(self.sigma(h))

    return NeRF(), [normal(6, 3), normal(6, 3)]


def wgan_critic(T, nn, F):
    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.InstanceNorm2d(4, affine=True), nn.LeakyReLU(0.2, inplace=True),
                                     nn.Conv2d(4, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32, 1))  # fmt: skip

        def forward(self, x):
            (slope,) = T.autograd.grad(self.net(x).sum(), x, create_graph=True)
            return self.net(x).mean(), ((slope.flatten(1).norm(2, 1) - 1) ** 2).mean()  # the penalty of the gradient

    return Critic(), [normal(2, 1, 8, 8)]


ALL = [resnet, unet, gpt, lstm_language_model, vae, wgan_critic, real_nvp, gcn, deep_sets, siren, mlp_mixer, vit, tcn, transformer, nerf]
