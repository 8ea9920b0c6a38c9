"""Programs as they are typed from memory by who comes from PyTorch, each a function of `torch`, `nn` and `F`, whichever library these are.

Owns the programs.  Each gives what is compared: losses, gradients, weights, as a list.  `draw(*shape)` gives a tensor of normal
numbers and `fill(module)` the first numbers of its parameters, the same for both libraries; all else is the program's own.
"""

import copy
import io
import math
import random
from collections import OrderedDict, deque


def grads(module):
    return [p.grad for p in module.parameters() if p.grad is not None]


def weights(module):
    return [p.detach().clone() for p in module.parameters()]


def blitz_tensors(torch, nn, F, draw, fill):
    data = [[1, 2], [3, 4]]
    x_data = torch.tensor(data)
    x_ones, x_rand = torch.ones_like(x_data), torch.rand_like(x_data, dtype=torch.float)
    assert x_rand.shape == torch.zeros(2, 2).size() and x_ones.dtype == torch.long
    tensor = torch.ones(4, 4)
    tensor[:, 1] = 0
    t1 = torch.cat([tensor, tensor, tensor], dim=1)
    y = torch.mul(tensor, tensor) + tensor.matmul(tensor.T)
    y.add_(5)
    t = torch.ones(5)
    n = t.numpy()
    t.add_(1)
    assert n.tolist() == [2.0] * 5 and t1.size(1) == 12 and tensor.device.type == "cpu" and torch.is_tensor(t)
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    b = torch.tensor([6.0, 4.0], requires_grad=True)
    Q = 3 * a**3 - b**2
    Q.backward(gradient=torch.tensor([1.0, 1.0]))
    return [y, Q, a.grad, b.grad]


def blitz_classifier(torch, nn, F, draw, fill):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 6, 5)
            self.pool = nn.MaxPool2d(2, 2)
            self.conv2 = nn.Conv2d(6, 16, 5)
            self.fc1 = nn.Linear(16 * 5 * 5, 24)
            self.fc2 = nn.Linear(24, 10)

        def forward(self, x):
            x = self.pool(F.relu(self.conv1(x)))
            x = self.pool(F.relu(self.conv2(x)))
            x = torch.flatten(x, 1)
            return self.fc2(F.relu(self.fc1(x)))

    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    net = fill(Net()).to(device)
    criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    running_loss, correct, total = 0.0, 0, 0
    for epoch in range(2):
        inputs, labels = draw(4, 3, 32, 32).to(device), torch.tensor([1, 0, 7, 3]).to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    with torch.no_grad():
        outputs = net(inputs)
        predicted = outputs.argmax(1)
        total += labels.size(0)
        correct += (predicted == labels).sum().item()
    return [running_loss, *grads(net), predicted, correct / total]


def nano_gpt(torch, nn, F, draw, fill):
    class CausalSelfAttention(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            assert n_embd % n_head == 0
            self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd, bias=False), nn.Linear(n_embd, n_embd, bias=False)
            self.attn_dropout, self.n_head, self.n_embd = nn.Dropout(0.0), n_head, n_embd
            self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).chunk(3, dim=2)
            k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
            att = self.attn_dropout(F.softmax(att, dim=-1))
            y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
            return self.c_proj(y)

    class Block(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(n_embd), CausalSelfAttention(n_embd, n_head, block_size), nn.LayerNorm(n_embd)
            self.mlp = nn.ModuleDict(dict(c_fc=nn.Linear(n_embd, 4 * n_embd), act=nn.GELU(), c_proj=nn.Linear(4 * n_embd, n_embd)))

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp.c_proj(self.mlp.act(self.mlp.c_fc(self.ln_2(x))))

    class GPT(nn.Module):
        def __init__(self, vocab_size=11, block_size=8, n_layer=2, n_embd=12):
            super().__init__()
            self.block_size = block_size
            self.transformer = nn.ModuleDict(dict(
                wte=nn.Embedding(vocab_size, n_embd), wpe=nn.Embedding(block_size, n_embd), drop=nn.Dropout(0.0),
                h=nn.ModuleList([Block(n_embd, 3, block_size) for _ in range(n_layer)]), ln_f=nn.LayerNorm(n_embd)))  # fmt: skip
            self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._init_weights)

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    torch.nn.init.zeros_(module.bias)

        def forward(self, idx, targets=None):
            device = idx.device
            b, t = idx.size()
            pos = torch.arange(0, t, dtype=torch.long, device=device)
            x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
            for block in self.transformer.h:
                x = block(x)
            x = self.transformer.ln_f(x)
            if targets is None:
                return self.lm_head(x[:, [-1], :]), None
            logits = self.lm_head(x)
            return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

        @torch.no_grad()
        def generate(self, idx, max_new_tokens, temperature=1.0, top_k=None):
            for _ in range(max_new_tokens):
                idx_cond = idx if idx.size(1) <= self.block_size else idx[:, -self.block_size :]
                logits, _ = self(idx_cond)
                logits = logits[:, -1, :] / temperature
                if top_k is not None:
                    v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                    logits[logits < v[:, [-1]]] = -float("Inf")
                probs = F.softmax(logits, dim=-1)
                idx_next = torch.multinomial(probs, num_samples=1)
                idx = torch.cat((idx, idx_next), dim=1)
            return idx

    model = fill(GPT())
    decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
    rest = [p for n, p in model.named_parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer, losses = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95)), []
    data = torch.arange(40) ** 2 % 11
    for step in range(3):
        x = torch.stack([data[i : i + 8] for i in (0, 9, 20)])
        y = torch.stack([data[i + 1 : i + 9] for i in (0, 9, 20)])
        logits, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    out = model.generate(x[:1], 9, top_k=1)
    return [*losses, *grads(model), *weights(model), out, sum(p.numel() for p in model.parameters())]


def char_rnn(torch, nn, F, draw, fill):
    class RNN(nn.Module):
        def __init__(self, input_size, hidden_size, output_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.i2h, self.h2h = nn.Linear(input_size, hidden_size), nn.Linear(hidden_size, hidden_size)
            self.h2o, self.softmax = nn.Linear(hidden_size, output_size), nn.LogSoftmax(dim=1)

        def forward(self, input, hidden):
            hidden = F.tanh(self.i2h(input) + self.h2h(hidden))
            return self.softmax(self.h2o(hidden)), hidden

        def initHidden(self):
            return torch.zeros(1, self.hidden_size)

    letters = "abcdefghij"

    def line_to_tensor(line):
        tensor = torch.zeros(len(line), 1, len(letters))
        for li, letter in enumerate(line):
            tensor[li][0][letters.find(letter)] = 1
        return tensor

    rnn, criterion, learning_rate, losses = fill(RNN(10, 6, 3)), nn.NLLLoss(), 0.05, []
    for line, label in (("abba", 0), ("dig", 1), ("face", 2)):
        category_tensor, hidden = torch.tensor([label], dtype=torch.long), rnn.initHidden()
        rnn.zero_grad()
        for letter in line_to_tensor(line):
            output, hidden = rnn(letter, hidden)
        loss = criterion(output, category_tensor)
        loss.backward()
        for p in rnn.parameters():
            p.data.add_(p.grad.data, alpha=-learning_rate)
        losses.append(loss.item())
    return [*losses, output, *weights(rnn)]


def dcgan(torch, nn, F, draw, fill):
    nz, ngf, ndf, nc, real_label, fake_label = 5, 4, 4, 1, 1.0, 0.0
    netG = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
                         nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, bias=False), nn.Tanh())  # fmt: skip
    netD = nn.Sequential(nn.Conv2d(nc, ndf, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf), nn.LeakyReLU(0.2, inplace=True),
                         nn.Conv2d(ndf, 1, 4, 1, 0, bias=False), nn.Sigmoid())  # fmt: skip

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            nn.init.normal_(m.weight.data, 0.0, 0.02)
        elif classname.find("BatchNorm") != -1:
            nn.init.normal_(m.weight.data, 1.0, 0.02)
            nn.init.constant_(m.bias.data, 0)

    netG.apply(weights_init), netD.apply(weights_init)
    fill(netG), fill(netD)
    criterion = nn.BCELoss()
    optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    found = []
    for i in range(2):
        netD.zero_grad()
        real = draw(3, 1, 8, 8)
        label = torch.full((3,), real_label, dtype=torch.float64)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        fake = netG(draw(3, nz, 1, 1))
        label.fill_(fake_label)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()
        netG.zero_grad()
        label.fill_(real_label)
        errG = criterion(netD(fake).view(-1), label)
        errG.backward()
        optimizerG.step()
        found += [errD.item(), errG.item(), D_G_z1]
    return [*found, *grads(netG), *grads(netD)]


def vae(torch, nn, F, draw, fill):
    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc21, self.fc22 = nn.Linear(12, 8), nn.Linear(8, 3), nn.Linear(8, 3)
            self.fc3, self.fc4 = nn.Linear(3, 8), nn.Linear(8, 12)

        def reparameterize(self, mu, logvar):
            std = torch.exp(0.5 * logvar)
            eps = draw(*std.size()).type_as(std)
            return eps.mul(std).add_(mu)

        def forward(self, x):
            h1 = F.relu(self.fc1(x.view(-1, 12)))
            mu, logvar = self.fc21(h1), self.fc22(h1)
            return torch.sigmoid(self.fc4(F.relu(self.fc3(self.reparameterize(mu, logvar))))), mu, logvar

    model = fill(VAE())
    x = torch.sigmoid(draw(5, 3, 4))
    recon, mu, logvar = model(x)
    BCE = F.binary_cross_entropy(recon, x.view(-1, 12), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    (BCE + KLD).backward()
    return [BCE, KLD, *grads(model)]


def dqn(torch, nn, F, draw, fill):
    rng = random.Random(0)
    policy_net, target_net = fill(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    target_net.load_state_dict(policy_net.state_dict())
    optimizer, memory = torch.optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True), deque([], maxlen=100)
    for t in range(40):
        following = None if t % 7 == 0 else draw(1, 4)
        memory.append((draw(1, 4), torch.tensor([[rng.randrange(2)]], dtype=torch.long), following, torch.tensor([rng.random()])))
    batch = list(zip(*rng.sample(list(memory), 16)))
    mask = torch.tensor(tuple(map(lambda s: s is not None, batch[2])), dtype=torch.bool)
    following = torch.cat([s for s in batch[2] if s is not None])
    state, action, reward = torch.cat(batch[0]), torch.cat(batch[1]), torch.cat(batch[3])
    state_action_values = policy_net(state).gather(1, action)
    next_state_values = torch.zeros(16)
    with torch.no_grad():
        next_state_values[mask] = target_net(following).amax(1)
    expected = next_state_values * 0.99 + reward
    loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    target_dict, policy_dict = target_net.state_dict(), policy_net.state_dict()
    for key in policy_dict:
        target_dict[key] = policy_dict[key] * 0.005 + target_dict[key] * (1 - 0.005)
    target_net.load_state_dict(target_dict)
    return [loss, *grads(policy_net), *weights(target_net)]


def reinforce(torch, nn, F, draw, fill):
    policy = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)))
    log_probs, rewards, R, returns = [], [], 0, deque()
    for t in range(6):
        probs = F.softmax(policy(draw(4).unsqueeze(0)), dim=1)
        action = torch.tensor([t % 2])
        log_probs.append(torch.log(probs.gather(1, action.view(-1, 1)).squeeze(1)))
        rewards.append(float(t % 3))
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(list(returns))
    returns = (returns - returns.mean()) / (returns.std(unbiased=True) + torch.finfo(returns.dtype).eps)
    policy_loss = torch.cat([-log_prob * R for log_prob, R in zip(log_probs, returns)]).sum()
    policy_loss.backward()
    return [policy_loss, *grads(policy)]


def maml(torch, nn, F, draw, fill):
    net = fill(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)))
    params, meta = OrderedDict(net.named_parameters()), torch.optim.Adam(net.parameters(), 1e-2)

    def functional(x, p):
        return F.linear(torch.tanh(F.linear(x, p["0.weight"], p["0.bias"])), p["2.weight"], p["2.bias"])

    meta_loss = 0.0
    for amplitude in (1.0, 2.5):
        x = draw(5, 1)
        loss = F.mse_loss(functional(x, params), amplitude * torch.sin(x))
        found = torch.autograd.grad(loss, params.values(), create_graph=True)
        fast = OrderedDict((name, param - 0.1 * grad) for ((name, param), grad) in zip(params.items(), found))
        xq = draw(5, 1)
        meta_loss += F.mse_loss(functional(xq, fast), amplitude * torch.sin(xq))
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
    return [meta_loss, *grads(net), *weights(net)]


def gcn_gat(torch, nn, F, draw, fill):
    class GCNLayer(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.FloatTensor(i, o) if False else torch.empty(i, o)), nn.Parameter(torch.zeros(o))
            stdv = 1.0 / math.sqrt(self.weight.size(1))
            self.weight.data.uniform_(-stdv, stdv)

        def forward(self, x, adj):
            return torch.mm(adj, torch.mm(x, self.weight)) + self.bias

    class GATLayer(nn.Module):
        def __init__(self, i, o, alpha=0.2):
            super().__init__()
            self.W, self.a, self.o = nn.Parameter(torch.zeros(size=(i, o))), nn.Parameter(torch.zeros(size=(2 * o, 1))), o
            nn.init.xavier_uniform_(self.W.data, gain=1.414)
            self.leakyrelu = nn.LeakyReLU(alpha)

        def forward(self, h, adj):
            Wh = torch.mm(h, self.W)
            e = self.leakyrelu(torch.matmul(Wh, self.a[: self.o, :]) + torch.matmul(Wh, self.a[self.o :, :]).T)
            attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
            attention = F.dropout(F.softmax(attention, dim=1), 0.6, training=self.training)
            return F.elu(torch.matmul(attention, Wh))

    model = fill(nn.ModuleList([GCNLayer(4, 6), GATLayer(6, 3)])).eval()
    adj = torch.eye(5)
    src, dst = torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 4])
    adj[src, dst] = adj[dst, src] = 1.0
    deg = adj.sum(1).pow(-0.5)
    norm = deg.view(-1, 1) * adj * deg.unsqueeze(0)
    out = model[1](F.relu(model[0](draw(5, 4), norm)), adj)
    loss = F.nll_loss(F.log_softmax(out, dim=1)[[0, 2, 4]], torch.LongTensor([0, 1, 2]) if False else torch.tensor([0, 1, 2]))
    loss.backward()
    return [loss, *grads(model)]


def message_passing(torch, nn, F, draw, fill):
    edge_index = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 0]], dtype=torch.long)
    x, lin = draw(4, 3), fill(nn.Linear(6, 5))
    row, col = edge_index
    messages = F.relu(lin(torch.cat([x[row], x[col] - x[row]], dim=-1)))
    out = torch.zeros(x.size(0), 5).index_add_(0, col, messages)
    count = torch.zeros(4).scatter_add_(0, col, torch.ones(col.size(0))).clamp(min=1)
    pooled = torch.zeros(4, 5).scatter_reduce(0, col.view(-1, 1).expand(-1, 5), messages, reduce="amax")
    loss = (out / count.unsqueeze(-1)).pow(2).mean() + pooled.norm(dim=-1).sum()
    loss.backward()
    return [loss, *grads(lin)]


def pinn(torch, nn, F, draw, fill):
    net = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
    x, t = draw(10, 1).requires_grad_(True), draw(10, 1).requires_grad_()
    u = net(torch.cat((x, t), dim=1))
    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    f = u_t + u * u_x - (0.01 / torch.pi) * u_xx
    loss = torch.mean(f**2) + nn.MSELoss()(u, torch.sin(math.pi * x).detach())
    loss.backward()
    return [loss, *grads(net), x.grad, t.grad]


def lbfgs(torch, nn, F, draw, fill):
    xy = torch.tensor([-1.2, 1.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([xy], lr=1, max_iter=20, history_size=10, line_search_fn="strong_wolfe")
    calls = []

    def closure():
        if torch.is_grad_enabled():
            optimizer.zero_grad()
        loss = (1 - xy[0]) ** 2 + 100 * (xy[1] - xy[0] ** 2) ** 2
        if loss.requires_grad:
            loss.backward()
        calls.append(loss.item())
        return loss

    for _ in range(2):
        loss = optimizer.step(closure)
    return [*calls, loss, xy, xy.grad]


def neural_ode(torch, nn, F, draw, fill):
    class ODEFunc(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2))
            for m in self.net.modules():
                if isinstance(m, nn.Linear):
                    nn.init.normal_(m.weight, mean=0, std=0.1)
                    nn.init.constant_(m.bias, val=0)

        def forward(self, t, y):
            return self.net(y**3)

    def rk4(f, y, ts):
        ys = [y]
        for t0, t1 in zip(ts[:-1], ts[1:]):
            h = t1 - t0
            k1 = f(t0, y)
            k2 = f(t0 + h / 2, y + h / 2 * k1)
            k3 = f(t0 + h / 2, y + h / 2 * k2)
            k4 = f(t1, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            ys.append(y)
        return torch.stack(ys)

    func, t = fill(ODEFunc()), torch.linspace(0.0, 1.0, 6)
    pred = rk4(func, torch.tensor([[2.0, 0.0]]), t)
    loss = torch.mean(torch.abs(pred - torch.cos(t).view(-1, 1, 1)))
    loss.backward()
    return [loss, pred, *grads(func)]


def real_nvp(torch, nn, F, draw, fill):
    class Coupling(nn.Module):
        def __init__(self, mask):
            super().__init__()
            self.register_buffer("mask", mask)
            self.scale = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4), nn.Tanh())
            self.translate = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))

        def forward(self, x):
            kept = x * self.mask
            s, t = self.scale(kept) * (1 - self.mask), self.translate(kept) * (1 - self.mask)
            return kept + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(-1)

    flow = fill(nn.ModuleList([Coupling(torch.arange(4).remainder(2).double()), Coupling(1.0 - torch.arange(4) % 2)]))
    x, log_det = draw(6, 4), torch.zeros(6)
    for layer in reversed(flow):
        x, ld = layer(x)
        log_det += ld
    log_prob = -0.5 * (x**2 + math.log(2 * math.pi)).sum(dim=1) + log_det
    loss = -log_prob.mean()
    loss.backward()
    return [loss, *grads(flow)]


def style_transfer(torch, nn, F, draw, fill):
    def gram_matrix(input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)
        G = torch.mm(features, features.t())
        return G.div(a * b * c * d)

    cnn = fill(nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))).eval()
    for p in cnn.parameters():
        p.requires_grad_(False)
    style, content = draw(1, 3, 8, 8), draw(1, 3, 8, 8)
    input_img = content.clone().requires_grad_(True)
    mean = torch.tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).clone().detach().view(-1, 1, 1)
    features = cnn((input_img - mean) / std)
    style_loss = F.mse_loss(gram_matrix(features), gram_matrix(cnn(style)).detach())
    tv = (input_img[:, :, 1:, :] - input_img[:, :, :-1, :]).abs().mean()
    loss = 1e3 * style_loss + F.mse_loss(features, cnn(content).detach()) + tv
    loss.backward()
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return [loss, input_img.grad, input_img]


def mixup_smoothing(torch, nn, F, draw, fill):
    model = fill(nn.Linear(4, 3))
    x, y, lam, index = draw(6, 4), torch.tensor([0, 1, 2, 0, 1, 2]), 0.3, torch.tensor([3, 5, 0, 1, 2, 4])
    out = model(lam * x + (1 - lam) * x[index, :])
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    loss = lam * criterion(out, y) + (1 - lam) * criterion(out, y[index])
    one_hot = F.one_hot(y, num_classes=3).float()
    soft = torch.sum(-one_hot * F.log_softmax(out, dim=-1), dim=-1).mean()
    (loss + soft).backward()
    return [loss, soft, *grads(model)]


def ema_copy(torch, nn, F, draw, fill):
    model = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    ema, decay = copy.deepcopy(model), 0.9
    for p in ema.parameters():
        p.requires_grad = False
    opt = torch.optim.RMSprop(model.parameters(), lr=0.01)
    for _ in range(3):
        opt.zero_grad()
        model(draw(5, 3)).pow(2).mean().backward()
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.mul_(decay).add_(p.data, alpha=1 - decay)
            for e, b in zip(ema.buffers(), model.buffers()):
                e.copy_(b)
    return [*weights(ema), *[b for b in ema.buffers()], ema.eval()(draw(2, 3))]


def gradient_penalty(torch, nn, F, draw, fill):
    critic = fill(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)))
    real, fake, alpha = draw(5, 3), draw(5, 3), torch.sigmoid(draw(5, 1))
    interpolates = (alpha * real + ((1 - alpha) * fake)).requires_grad_(True)
    d = critic(interpolates)
    gradients = torch.autograd.grad(outputs=d, inputs=interpolates, grad_outputs=torch.ones(d.size()), create_graph=True,
                                    retain_graph=True, only_inputs=True)[0]  # fmt: skip
    gradients = gradients.view(gradients.size(0), -1)
    loss = critic(fake).mean() - critic(real).mean() + 10 * ((gradients.norm(2, dim=1) - 1) ** 2).mean()
    loss.backward()
    return [loss, *grads(critic)]


def distillation(torch, nn, F, draw, fill):
    teacher, student, T, alpha = fill(nn.Linear(4, 3)), nn.Linear(4, 3), 2.0, 0.7
    fill(student)
    with torch.no_grad():
        student.weight.mul_(0.5)
    teacher.eval()
    x, labels = draw(6, 4), torch.randint(0, 3, (6,)) * 0 + torch.tensor([0, 1, 2, 2, 1, 0])
    with torch.no_grad():
        teacher_logits = teacher(x)
    logits = student(x)
    soft = nn.KLDivLoss(reduction="batchmean")(F.log_softmax(logits / T, dim=1), F.softmax(teacher_logits / T, dim=1)) * (T * T)
    loss = alpha * soft + (1 - alpha) * F.cross_entropy(logits, labels)
    loss.backward()
    return [loss, *grads(student)]


def siamese(torch, nn, F, draw, fill):
    class ContrastiveLoss(torch.nn.Module):
        def __init__(self, margin=2.0):
            super().__init__()
            self.margin = margin

        def forward(self, output1, output2, label):
            d = F.pairwise_distance(output1, output2, keepdim=True)
            return torch.mean((1 - label) * torch.pow(d, 2) + label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2))

    net = fill(nn.Sequential(OrderedDict([("fc1", nn.Linear(4, 6)), ("relu", nn.ReLU(inplace=True)), ("fc2", nn.Linear(6, 2))])))
    a, b, label = net(draw(5, 4)), net(draw(5, 4)), torch.tensor([[0.0], [1.0], [1.0], [0.0], [1.0]])
    triplet = nn.TripletMarginLoss(margin=1.0, p=2)(a, b, net(draw(5, 4)))
    loss = ContrastiveLoss()(a, b, label) + triplet + (1 - F.cosine_similarity(a, b)).mean()
    loss.backward()
    return [loss, *grads(net)]


def info_nce(torch, nn, F, draw, fill):
    z = draw(8, 4).requires_grad_()
    features = F.normalize(z, dim=1)
    labels = torch.cat([torch.arange(4) for i in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    similarity = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity = similarity[~mask].view(similarity.shape[0], -1)
    positives = similarity[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity[~labels.bool()].view(similarity.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1) / 0.07
    loss = nn.CrossEntropyLoss()(logits, torch.zeros(logits.shape[0], dtype=torch.long))
    loss.backward()
    return [loss, z.grad]


def beam_search(torch, nn, F, draw, fill):
    emb, cell, out = fill(nn.Embedding(7, 4)), fill(nn.GRUCell(4, 5)), fill(nn.Linear(5, 7))
    with torch.no_grad():
        beams = [(torch.zeros(1, dtype=torch.long), torch.zeros(1, 5), 0.0)]
        for _ in range(4):
            candidates = []
            for seq, h, score in beams:
                h2 = cell(emb(seq[-1:]), h)
                log_probs = F.log_softmax(out(h2), dim=-1).squeeze(0)
                values, indices = log_probs.topk(3)
                for v, i in zip(values.tolist(), indices.tolist()):
                    candidates.append((torch.cat([seq, torch.tensor([i])]), h2, score + v))
            beams = sorted(candidates, key=lambda c: c[2], reverse=True)[:3]
    return [item for seq, _, score in beams for item in (seq, score)]


def kmeans_gradients(torch, nn, F, draw, fill):
    x = draw(30, 2)
    centers = nn.Parameter(x[:3].clone())
    optimizer = torch.optim.SGD([centers], lr=0.5)
    for _ in range(4):
        optimizer.zero_grad()
        d = torch.cdist(x, centers)
        loss = d.amin(dim=1).pow(2).mean()
        loss.backward()
        optimizer.step()
    assign = torch.argmin(torch.cdist(x, centers.detach()), dim=1)
    return [loss, centers, assign, torch.bincount(assign, minlength=3)]


def activation_hooks(torch, nn, F, draw, fill):
    activation, norms = {}, []

    def get_activation(name):
        def hook(model, input, output):
            activation[name] = output.detach()
        return hook

    model = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    handles = [layer.register_forward_hook(get_activation(name)) for name, layer in model.named_children()]
    model[0].register_full_backward_hook(lambda m, gi, go: norms.append(go[0].norm().item()))
    model[2].weight.register_hook(lambda grad: grad * 2)
    model[2].register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    x = draw(5, 3)
    out = model(x)
    out.register_hook(lambda g: g.clamp(-0.05, 0.05))
    out.pow(2).mean().backward()
    for handle in handles:
        handle.remove()
    return [out, *activation.values(), *norms, *grads(model)]


def freezing(torch, nn, F, draw, fill):
    backbone = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten())
    model = fill(nn.Sequential(OrderedDict(backbone=backbone, fc=nn.Linear(2, 3))))
    for name, param in model.named_parameters():
        if not name.startswith("fc"):
            param.requires_grad = False
    model.fc = fill(nn.Linear(model.fc.in_features, 2))
    model.backbone.eval()
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1, nesterov=True, momentum=0.9)
    for _ in range(2):
        loss = F.cross_entropy(model(draw(4, 1, 6, 6)), torch.tensor([0, 1, 1, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(p.grad is None for p in model.backbone.parameters())
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return [loss, *grads(model), *weights(model), trainable, sum(p.nelement() for p in model.parameters())]


def weight_tying(torch, nn, F, draw, fill):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn, self.decoder = nn.Embedding(9, 5), nn.LSTM(5, 5, 1, batch_first=True), nn.Linear(5, 9)
            self.decoder.weight = self.encoder.weight

        def forward(self, x, hidden):
            out, hidden = self.rnn(self.encoder(x), hidden)
            return self.decoder(out), hidden

    def repackage_hidden(h):
        return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)

    model, data = fill(Tied()), torch.arange(24).view(2, 12) * 5 % 9
    hidden = (torch.zeros(1, 2, 5), torch.zeros(1, 2, 5))
    for i in range(0, 8, 4):
        x, y = data[:, i : i + 4], data[:, i + 1 : i + 5]
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(x, hidden)
        loss = F.cross_entropy(output.reshape(-1, 9), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.5)
    return [loss, math.exp(loss.item()), *grads(model), len(list(model.parameters())), len(model.state_dict())]


def packed_sequences(torch, nn, F, draw, fill):
    from importlib import import_module

    rnn_utils = import_module(nn.__name__ + ".utils.rnn")
    seqs = [draw(n, 3) for n in (5, 2, 4)]
    lengths = torch.tensor([len(s) for s in seqs])
    padded = rnn_utils.pad_sequence(seqs, batch_first=True)
    gru, attend = fill(nn.GRU(3, 4, bidirectional=True, batch_first=True)), fill(nn.Linear(8, 1))
    packed = rnn_utils.pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    out, hidden = gru(packed)
    out, out_lengths = rnn_utils.pad_packed_sequence(out, batch_first=True)
    mask = torch.arange(out.size(1))[None, :] < out_lengths[:, None]
    scores = attend(out).squeeze(-1).masked_fill(~mask, -1e9)
    context = torch.bmm(scores.softmax(-1).unsqueeze(1), out).squeeze(1)
    loss = context.pow(2).sum() + hidden[-2:].permute(1, 0, 2).reshape(3, -1).mean()
    loss.backward()
    return [loss, *grads(gru), *grads(attend)]


def dataset_loop(torch, nn, F, draw, fill):
    class ToyDataset:
        def __init__(self, n, transform=None):
            self.x, self.transform = draw(n, 4), transform

        def __len__(self):
            return len(self.x)

        def __getitem__(self, idx):
            if torch.is_tensor(idx):
                idx = idx.tolist()
            x = self.x[idx]
            return (self.transform(x) if self.transform else x), int(idx % 3)

    def loader(dataset, batch_size):
        order = list(range(len(dataset)))
        random.Random(0).shuffle(order)
        for i in range(0, len(order), batch_size):
            xs, ys = zip(*[dataset[j] for j in order[i : i + batch_size]])
            yield torch.stack(xs), torch.tensor(ys)

    model = fill(nn.Sequential(nn.Linear(4, 8), nn.Hardswish(), nn.Linear(8, 3)))
    optimizer, accum, losses = torch.optim.Adam(model.parameters(), lr=0.01), 2, []
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=5)
    model.train()
    for i, (x, y) in enumerate(loader(ToyDataset(20, lambda x: x * 2), 4)):
        loss = F.cross_entropy(model(x), y) / accum
        loss.backward()
        losses.append(loss.item() * accum)
        if (i + 1) % accum == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    return [*losses, *weights(model), scheduler.get_last_lr()[0], optimizer.param_groups[0]["lr"]]


def rate_finder(torch, nn, F, draw, fill):
    model = fill(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    saved = {k: v.clone() for k, v in model.state_dict().items()}
    x, losses, rates, avg = draw(16, 4), [], [], 0.0
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 10 ** (i / 2))
    for i in range(8):
        optimizer.zero_grad(set_to_none=True)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        avg = 0.9 * avg + 0.1 * loss.item()
        losses.append(avg / (1 - 0.9 ** (i + 1)))
        rates.append(optimizer.param_groups[0]["lr"])
        if not torch.isfinite(loss) or losses[-1] > 4 * min(losses):
            break
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.load_state_dict(saved)
    return [*losses, *rates, *weights(model)]


def save_resume(torch, nn, F, draw, fill):
    def make():
        model = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)

    data = [draw(6, 3) for _ in range(5)]

    def train(model, optimizer, scheduler, batches):
        for x in batches:
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
            scheduler.step()

    model, optimizer, scheduler = make()
    train(model, optimizer, scheduler, data[:3])
    buffer = io.BytesIO()
    torch.save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, buffer)
    buffer.seek(0)
    checkpoint = torch.load(buffer, map_location="cpu", weights_only=True)
    model, optimizer, scheduler = make()
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    train(model, optimizer, scheduler, data[checkpoint["epoch"] :])
    return [*weights(model), *model.buffers(), scheduler.get_last_lr()[0]]


def state_dict_surgery(torch, nn, F, draw, fill):
    old = fill(nn.Sequential(OrderedDict(features=nn.Linear(3, 4), classifier=nn.Linear(4, 5))))
    state = {"module." + k: v for k, v in old.state_dict().items()}
    renamed = OrderedDict((k[7:] if k.startswith("module.") else k, v) for k, v in state.items())
    model = fill(nn.Sequential(OrderedDict(features=nn.Linear(3, 4), classifier=nn.Linear(4, 2))))
    renamed.pop("classifier.weight"), renamed.pop("classifier.bias")
    missing, unexpected = model.load_state_dict(renamed, strict=False)
    assert missing == ["classifier.weight", "classifier.bias"] and unexpected == []
    own = model.state_dict()
    own.update({k: v[:2] for k, v in old.state_dict().items() if k.startswith("classifier")})
    model.load_state_dict(own)
    try:
        model.load_state_dict(old.state_dict())
    except RuntimeError as error:
        assert "size mismatch for classifier.weight" in str(error)
    total = sum(p.data.ne(0).sum().item() for p in model.parameters())
    return [model(draw(2, 3)), total, *model.state_dict().values()]


def custom_function(torch, nn, F, draw, fill):
    class LegendrePolynomial3(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return 0.5 * (5 * input**3 - 3 * input)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * 1.5 * (5 * input**2 - 1)

    class Binarize(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, threshold):
            ctx.mark_non_differentiable()
            ctx.save_for_backward(x)
            return (x > threshold).type(x.dtype)

        @staticmethod
        def backward(ctx, grad_output):
            x, = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[x.abs() > 1] = 0
            return grad_input, None

    x = torch.linspace(-math.pi, math.pi, 50)
    y = torch.sin(x)
    a, b, c, d = (torch.full((), value, requires_grad=True) for value in (0.0, -1.0, 0.0, 0.3))
    for t in range(3):
        loss = (a + b * LegendrePolynomial3.apply(c + d * x) - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= 5e-6 * p.grad
                p.grad = None
    w = draw(6).requires_grad_()
    (Binarize.apply(w, 0.0) * draw(6)).sum().backward()
    assert torch.autograd.gradcheck(LegendrePolynomial3.apply, (draw(3).double().requires_grad_(),))
    return [loss, a, b, c, d, w.grad]


def functional_transforms(torch, nn, F, draw, fill):
    from importlib import import_module

    func = import_module(torch.__name__ + ".func")
    model, x, y = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))), draw(5, 3), torch.tensor([0, 1, 1, 0, 1])
    params = {k: v.detach() for k, v in model.named_parameters()}

    def compute_loss(params, sample, target):
        out = func.functional_call(model, params, (sample.unsqueeze(0),))
        return F.cross_entropy(out, target.unsqueeze(0))

    per_sample = func.vmap(func.grad(compute_loss), in_dims=(None, 0, 0))(params, x, y)
    jac = func.jacrev(lambda x: model(x))(x[0])
    hess = func.hessian(lambda x: model(x).sum())(x[0])
    _, hvp = func.jvp(func.grad(lambda x: model(x).pow(2).sum()), (x[1],), (x[2],))
    return [*per_sample.values(), jac, hess, hvp]


def forecasting_cnn(torch, nn, F, draw, fill):
    class Chomp1d(nn.Module):
        def __init__(self, chomp_size):
            super().__init__()
            self.chomp_size = chomp_size

        def forward(self, x):
            return x[:, :, : -self.chomp_size].contiguous()

    weight_norm = nn.utils.parametrizations.weight_norm
    block = nn.Sequential(weight_norm(nn.Conv1d(2, 4, 3, padding=2, dilation=1)), Chomp1d(2), nn.ReLU(), nn.Conv1d(4, 1, 3, padding=4, dilation=2), Chomp1d(4))
    fill(block)
    x = draw(2, 2, 12)
    windows = x.unfold(-1, 4, 4).mean(-1)
    loss = F.smooth_l1_loss(block(x)[:, 0], x.mean(1)) + F.interpolate(windows, scale_factor=3, mode="linear", align_corners=False).std(unbiased=False)
    loss = loss + torch.quantile(block(x).flatten(), 0.9) + F.huber_loss(F.pad(x, (1, 1)), torch.roll(F.pad(x, (1, 1)), 1, dims=-1))
    loss.backward()
    return [loss, *grads(block)]


def unet_step(torch, nn, F, draw, fill):
    def double_conv(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.SiLU(inplace=True))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.mid, self.up = double_conv(1, 4), double_conv(4, 8), nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
            self.out, self.time = double_conv(8, 4), nn.Sequential(nn.Linear(6, 8), nn.SiLU())
            self.head = nn.Conv2d(4, 1, 1)

        def forward(self, x, t):
            half = 3
            emb = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
            emb = t[:, None] * emb[None, :]
            emb = torch.cat((emb.sin(), emb.cos()), dim=-1)
            d = self.down(x)
            m = self.mid(F.max_pool2d(d, 2)) + self.time(emb)[:, :, None, None]
            return self.head(self.out(torch.cat([d, self.up(m)], dim=1)))

    model = fill(UNet())
    betas = torch.linspace(1e-4, 0.02, 10)
    alphas_bar = torch.cumprod(1.0 - betas, dim=0)
    x0, noise, t = draw(3, 1, 8, 8), draw(3, 1, 8, 8), torch.tensor([0, 4, 9])
    a = alphas_bar[t].view(-1, 1, 1, 1)
    loss = F.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t.float()), noise)
    loss.backward()
    return [loss, *grads(model)]


def translation_transformer(torch, nn, F, draw, fill):
    class PositionalEncoding(nn.Module):
        def __init__(self, d_model, max_len=20):
            super().__init__()
            position = torch.arange(max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
            pe = torch.zeros(max_len, 1, d_model)
            pe[:, 0, 0::2] = torch.sin(position * div_term)
            pe[:, 0, 1::2] = torch.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x):
            return x + self.pe[: x.size(0)]

    layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.0)
    emb, pos, encoder, out = fill(nn.Embedding(7, 8)), PositionalEncoding(8), fill(nn.TransformerEncoder(layer, 2)), fill(nn.Linear(8, 7))
    src = (torch.arange(15) * 3 % 7).reshape(5, 3)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    padding = torch.zeros(3, 5, dtype=torch.bool)
    padding[1, 3:] = True
    h = encoder(pos(emb(src) * math.sqrt(8)), mask=mask.double(), src_key_padding_mask=torch.zeros(3, 5).masked_fill(padding, float("-inf")))
    loss = nn.CrossEntropyLoss(ignore_index=0)(out(h).view(-1, 7), src.roll(-1, 0).reshape(-1))
    loss.backward()
    return [loss, *grads(emb), *grads(encoder), *grads(out)]


def word_vectors(torch, nn, F, draw, fill):
    emb_in, emb_out = fill(nn.Embedding(8, 4)), fill(nn.Embedding(8, 4))
    center, context, negative = torch.tensor([0, 3, 5]), torch.tensor([1, 2, 6]), torch.tensor([[4, 7], [0, 1], [2, 2]])
    v, u, n = emb_in(center), emb_out(context), emb_out(negative)
    pos = F.logsigmoid(torch.sum(u * v, dim=1)).squeeze()
    neg = F.logsigmoid(-torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(1)
    loss = -(pos + neg).mean()
    loss.backward()
    with torch.no_grad():
        norms = emb_in.weight.norm(p=2, dim=1, keepdim=True)
        sims = (emb_in.weight / norms) @ (emb_in.weight / norms).t()
        near = torch.topk(sims[2], k=3).indices
    return [loss, *grads(emb_in), *grads(emb_out), near]


def gaussian_mixture(torch, nn, F, draw, fill):
    x = draw(20, 2)
    logits, mu, log_sigma = (draw(*s).requires_grad_() for s in ((3,), (3, 2), (3, 2)))
    opt = torch.optim.Adagrad([logits, mu, log_sigma], lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        z = (x.unsqueeze(1) - mu.unsqueeze(0)) / log_sigma.exp()
        log_prob = (-0.5 * z.square() - log_sigma - 0.5 * math.log(2 * math.pi)).sum(-1)
        nll = -torch.logsumexp(F.log_softmax(logits, 0) + log_prob, dim=1).mean()
        nll.backward()
        opt.step()
    responsibilities = F.softmax(F.log_softmax(logits, 0) + log_prob, dim=1)
    return [nll, logits.grad, mu.grad, log_sigma.grad, mu, responsibilities.max(), responsibilities.sum(dim=0)]


def metrics_and_masks(torch, nn, F, draw, fill):
    logits, target = draw(10, 4), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
    probs = logits.softmax(dim=-1)
    top, pred = probs.topk(2, dim=1, largest=True, sorted=True)
    pred = pred.t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    acc1 = correct[:1].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0))
    confusion = torch.zeros(4, 4, dtype=torch.int64)
    for t, p in zip(target.view(-1), pred[0].view(-1)):
        confusion[t.long(), p.long()] += 1
    precision = confusion.diag().float() / confusion.sum(0).clamp(min=1)
    order = torch.argsort(probs[:, 0], descending=True)
    lower = torch.tril(torch.ones(4, 4)).bool()
    where = torch.where(lower, draw(4, 4), torch.tensor(float("-inf"))).softmax(-1)
    rows, cols = torch.nonzero(lower, as_tuple=True)
    unique, counts = torch.unique(target, return_counts=True)
    return [top, acc1, confusion, precision, order, where, rows, cols, unique, counts, torch.einsum("bi,bj->ij", logits, probs),
            logits.unsqueeze(0).repeat_interleave(2, dim=0).flatten(1), torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[1],
            logits.clamp(-1, 1).cumsum(0).flip(0), logits.masked_select(logits > 0).numel(), logits.new_zeros(2, 3), logits.new_full((2,), 3.5),
            torch.stack(logits.unbind(0)[:2]).permute(1, 0).contiguous().view(-1), logits.narrow(0, 2, 3), logits.squeeze().dim(), logits.index_select(1, torch.tensor([3, 0]))]  # fmt: skip


def spectral_gan_loss(torch, nn, F, draw, fill):
    from importlib import import_module

    clip = import_module(nn.__name__ + ".utils").clip_grad_norm_
    D = fill(nn.Sequential(nn.Linear(3, 6), nn.ReLU6(), nn.Linear(6, 1)))
    opt = torch.optim.NAdam(D.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.SequentialLR(opt, [torch.optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, 2), torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4)], [2])
    out = []
    for _ in range(4):
        loss = F.relu(1.0 - D(draw(4, 3))).mean() + F.relu(1.0 + D(draw(4, 3))).mean()
        opt.zero_grad()
        loss.backward()
        out += [loss.item(), clip(D.parameters(), max_norm=0.5, norm_type=2), opt.param_groups[0]["lr"]]
        opt.step()
        sched.step()
    return [*out, *weights(D)]


PROGRAMS = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", None) == __name__ and name not in ("grads", "weights")]
