"""Further programs of PyTorch's users, after its tutorials and the papers that people implement: each a function as in pytorch_programs.

Owns the programs.  Where PyTorch gives pairs, of values and places, they say what docs/from_pytorch.md says.
"""

import copy
import functools
import itertools
import math
from collections import OrderedDict, defaultdict, namedtuple

from tests.pytorch_programs import grads, weights


def seq2seq_attention(torch, nn, F, draw, fill):
    class EncoderRNN(nn.Module):
        def __init__(self, input_size, hidden_size, dropout_p=0.1):
            super().__init__()
            self.hidden_size = hidden_size
            self.embedding = nn.Embedding(input_size, hidden_size)
            self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
            self.dropout = nn.Dropout(dropout_p)

        def forward(self, input):
            embedded = self.dropout(self.embedding(input))
            output, hidden = self.gru(embedded)
            return output, hidden

    class BahdanauAttention(nn.Module):
        def __init__(self, hidden_size):
            super().__init__()
            self.Wa = nn.Linear(hidden_size, hidden_size)
            self.Ua = nn.Linear(hidden_size, hidden_size)
            self.Va = nn.Linear(hidden_size, 1)

        def forward(self, query, keys):
            scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
            scores = scores.squeeze(2).unsqueeze(1)
            weights = F.softmax(scores, dim=-1)
            context = torch.bmm(weights, keys)
            return context, weights

    class AttnDecoderRNN(nn.Module):
        def __init__(self, hidden_size, output_size):
            super().__init__()
            self.embedding = nn.Embedding(output_size, hidden_size)
            self.attention = BahdanauAttention(hidden_size)
            self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
            self.out = nn.Linear(hidden_size, output_size)

        def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
            batch_size = encoder_outputs.size(0)
            decoder_input = torch.empty(batch_size, 1, dtype=torch.long).fill_(0)
            decoder_hidden = encoder_hidden
            decoder_outputs, attentions = [], []
            for i in range(4):
                embedded = self.embedding(decoder_input)
                query = decoder_hidden.permute(1, 0, 2)
                context, attn_weights = self.attention(query, encoder_outputs)
                input_gru = torch.cat((embedded, context), dim=2)
                output, decoder_hidden = self.gru(input_gru, decoder_hidden)
                output = self.out(output)
                decoder_outputs.append(output)
                attentions.append(attn_weights)
                if target_tensor is not None:
                    decoder_input = target_tensor[:, i].unsqueeze(1)
                else:
                    _, topi = output.topk(1)
                    decoder_input = topi.squeeze(-1).detach()
            decoder_outputs = torch.cat(decoder_outputs, dim=1)
            decoder_outputs = F.log_softmax(decoder_outputs, dim=-1)
            return decoder_outputs, decoder_hidden, torch.cat(attentions, dim=1)

    encoder, decoder = fill(EncoderRNN(7, 6)).eval(), fill(AttnDecoderRNN(6, 5))
    encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
    decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
    criterion = nn.NLLLoss()
    source, target = torch.tensor([[1, 2, 3, 6], [4, 5, 0, 1]]), torch.tensor([[1, 2, 3, 4], [0, 4, 2, 1]])
    losses = []
    for _ in range(3):
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(source)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        decoder_outputs, decoder_hidden, decoder_attn = decoder(*encoder(source))
        _, topi = decoder_outputs.topk(1)
        decoded_ids = topi.squeeze()
    return [*losses, *weights(encoder), *weights(decoder), decoded_ids, decoder_attn]


def skip_gram_sampling(torch, nn, F, draw, fill):
    class SkipGramNeg(nn.Module):
        def __init__(self, n_vocab, n_embed):
            super().__init__()
            self.in_embed = nn.Embedding(n_vocab, n_embed)
            self.out_embed = nn.Embedding(n_vocab, n_embed)
            self.in_embed.weight.data.uniform_(-1, 1)
            self.out_embed.weight.data.uniform_(-1, 1)

        def forward_noise(self, noise_words, batch_size, n_samples):
            return self.out_embed(noise_words).view(batch_size, n_samples, -1)

    class NegativeSamplingLoss(nn.Module):
        def forward(self, input_vectors, output_vectors, noise_vectors):
            batch_size, embed_size = input_vectors.shape
            input_vectors = input_vectors.view(batch_size, embed_size, 1)
            output_vectors = output_vectors.view(batch_size, 1, embed_size)
            out_loss = torch.bmm(output_vectors, input_vectors).sigmoid().log().squeeze()
            noise_loss = torch.bmm(noise_vectors.neg(), input_vectors).sigmoid().log()
            noise_loss = noise_loss.squeeze().sum(1)
            return -(out_loss + noise_loss).mean()

    model = fill(SkipGramNeg(9, 4))
    freqs = torch.tensor([3.0, 1, 1, 2, 2, 1, 1, 1, 4])
    noise_dist = freqs.pow(0.75) / freqs.pow(0.75).sum()
    drawn = torch.multinomial(noise_dist, 6, replacement=True)
    assert drawn.shape == (6,) and drawn.max() < 9
    noise = torch.LongTensor([8, 0, 3, 4, 0, 8])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003, fused=False)
    criterion = NegativeSamplingLoss()
    inputs, targets = torch.LongTensor([1, 2, 7]), torch.LongTensor([2, 1, 5])
    input_vectors, output_vectors = model.in_embed(inputs), model.out_embed(targets)
    loss = criterion(input_vectors, output_vectors, model.forward_noise(noise, 3, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    embed_vectors = model.in_embed.weight
    magnitudes = embed_vectors.pow(2).sum(dim=1).sqrt().unsqueeze(0)
    valid_vectors = embed_vectors[torch.arange(4)]
    similarities = torch.mm(valid_vectors, embed_vectors.t()) / magnitudes
    closest = similarities.topk(3)[1]
    return [loss, noise_dist, *weights(model), similarities, closest]


def bilstm_crf(torch, nn, F, draw, fill):
    START_TAG, STOP_TAG = "<START>", "<STOP>"

    def log_sum_exp(vec):
        max_score = vec[0, argmax_of(vec)]
        max_score_broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
        return max_score + torch.log(torch.sum(torch.exp(vec - max_score_broadcast)))

    def argmax_of(vec):
        return vec.argmax(1).item()

    class BiLSTM_CRF(nn.Module):
        def __init__(self, vocab_size, tag_to_ix, embedding_dim, hidden_dim):
            super().__init__()
            self.hidden_dim, self.tag_to_ix, self.tagset_size = hidden_dim, tag_to_ix, len(tag_to_ix)
            self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
            self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
            self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
            self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
            self.transitions.data[tag_to_ix[START_TAG], :] = -10000
            self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000

        def _forward_alg(self, feats):
            init_alphas = torch.full((1, self.tagset_size), -10000.0)
            init_alphas[0][self.tag_to_ix[START_TAG]] = 0.0
            forward_var = init_alphas
            for feat in feats:
                alphas_t = []
                for next_tag in range(self.tagset_size):
                    emit_score = feat[next_tag].view(1, -1).expand(1, self.tagset_size)
                    trans_score = self.transitions[next_tag].view(1, -1)
                    next_tag_var = forward_var + trans_score + emit_score
                    alphas_t.append(log_sum_exp(next_tag_var).view(1))
                forward_var = torch.cat(alphas_t).view(1, -1)
            terminal_var = forward_var + self.transitions[self.tag_to_ix[STOP_TAG]]
            return log_sum_exp(terminal_var)

        def _get_lstm_features(self, sentence):
            hidden = (torch.zeros(2, 1, self.hidden_dim // 2), torch.zeros(2, 1, self.hidden_dim // 2))
            embeds = self.word_embeds(sentence).view(len(sentence), 1, -1)
            lstm_out, _ = self.lstm(embeds, hidden)
            lstm_out = lstm_out.view(len(sentence), self.hidden_dim)
            return self.hidden2tag(lstm_out)

        def _score_sentence(self, feats, tags):
            score = torch.zeros(1)
            tags = torch.cat([torch.tensor([self.tag_to_ix[START_TAG]], dtype=torch.long), tags])
            for i, feat in enumerate(feats):
                score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
            return score + self.transitions[self.tag_to_ix[STOP_TAG], tags[-1]]

        def _viterbi_decode(self, feats):
            backpointers = []
            init_vvars = torch.full((1, self.tagset_size), -10000.0)
            init_vvars[0][self.tag_to_ix[START_TAG]] = 0
            forward_var = init_vvars
            for feat in feats:
                bptrs_t, viterbivars_t = [], []
                for next_tag in range(self.tagset_size):
                    next_tag_var = forward_var + self.transitions[next_tag]
                    best_tag_id = argmax_of(next_tag_var)
                    bptrs_t.append(best_tag_id)
                    viterbivars_t.append(next_tag_var[0][best_tag_id].view(1))
                forward_var = (torch.cat(viterbivars_t) + feat).view(1, -1)
                backpointers.append(bptrs_t)
            terminal_var = forward_var + self.transitions[self.tag_to_ix[STOP_TAG]]
            best_tag_id = argmax_of(terminal_var)
            path_score = terminal_var[0][best_tag_id]
            best_path = [best_tag_id]
            for bptrs_t in reversed(backpointers):
                best_tag_id = bptrs_t[best_tag_id]
                best_path.append(best_tag_id)
            best_path.pop()
            best_path.reverse()
            return path_score, best_path

        def neg_log_likelihood(self, sentence, tags):
            feats = self._get_lstm_features(sentence)
            return self._forward_alg(feats) - self._score_sentence(feats, tags)

    tag_to_ix = {"B": 0, "I": 1, "O": 2, START_TAG: 3, STOP_TAG: 4}
    model = fill(BiLSTM_CRF(6, tag_to_ix, 3, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
    sentence, tags = torch.tensor([0, 3, 5, 1], dtype=torch.long), torch.tensor([0, 1, 2, 2], dtype=torch.long)
    found = []
    for _ in range(2):
        model.zero_grad()
        loss = model.neg_log_likelihood(sentence, tags)
        loss.backward()
        optimizer.step()
        found.append(loss)
    with torch.no_grad():
        score, path = model._viterbi_decode(model._get_lstm_features(sentence))
    return [*found, *weights(model), score, torch.tensor(path)]


def spatial_transformer(torch, nn, F, draw, fill):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.localization = nn.Sequential(
                nn.Conv2d(1, 4, kernel_size=5), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Conv2d(4, 5, kernel_size=3), nn.MaxPool2d(2, stride=2), nn.ReLU(True)
            )
            self.fc_loc = nn.Sequential(nn.Linear(5 * 2 * 2, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
            self.out = nn.Linear(16 * 16, 3)

        def stn(self, x):
            xs = self.localization(x)
            xs = xs.view(-1, 5 * 2 * 2)
            theta = self.fc_loc(xs)
            theta = theta.view(-1, 2, 3)
            grid = F.affine_grid(theta, x.size(), align_corners=False)
            return F.grid_sample(x, grid, align_corners=False)

        def forward(self, x):
            x = self.stn(x)
            return F.log_softmax(self.out(x.flatten(1)), dim=1)

    net = fill(Net())
    net.fc_loc[2].weight.data.mul_(0.01)
    net.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
    x = draw(3, 1, 16, 16)
    loss = F.nll_loss(net(x), torch.tensor([0, 2, 1]))
    loss.backward()
    return [loss, *grads(net)]


def deep_dream(torch, nn, F, draw, fill):
    features = fill(nn.Sequential(OrderedDict([("conv1", nn.Conv2d(3, 4, 3, padding=1)), ("relu1", nn.ReLU()), ("conv2", nn.Conv2d(4, 5, 3, padding=1))]))).eval()
    for param in features.parameters():
        param.requires_grad_(False)
    mean, std = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1), torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
    image = torch.sigmoid(draw(1, 3, 12, 12))
    octaves = [image]
    for _ in range(1):
        octaves.append(F.interpolate(octaves[-1], scale_factor=1 / 1.5, mode="bilinear", align_corners=False, recompute_scale_factor=True))
    detail = torch.zeros_like(octaves[-1])
    losses = []
    for octave, octave_base in enumerate(octaves[::-1]):
        if octave > 0:
            detail = F.interpolate(detail, size=octave_base.shape[-2:], mode="bilinear", align_corners=False)
        dreamed = (octave_base + detail).clone().detach().requires_grad_(True)
        for i in range(2):
            rolled = torch.roll(dreamed, shifts=(1, -2), dims=(-1, -2))
            out = features((rolled - mean) / std)
            loss = out.norm() + 0.1 * out[:, 2].mean()
            loss.backward()
            g = dreamed.grad.data
            avg_grad = g.abs().mean().item()
            norm_lr = 0.1 / avg_grad
            dreamed.data += norm_lr * g
            dreamed.data = torch.max(torch.min(dreamed.data, (1 - mean) / std), -mean / std)
            dreamed.grad.data.zero_()
            losses.append(loss.item())
        detail = dreamed.detach() - octave_base
    return [*losses, dreamed, detail]


def actor_critic(torch, nn, F, draw, fill):
    SavedAction = namedtuple("SavedAction", ["log_prob", "value"])

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = nn.Linear(4, 8)
            self.action_head = nn.Linear(8, 2)
            self.value_head = nn.Linear(8, 1)
            self.saved_actions, self.rewards = [], []

        def forward(self, x):
            x = F.relu(self.affine1(x))
            action_prob = F.softmax(self.action_head(x), dim=-1)
            state_values = self.value_head(x)
            return action_prob, state_values

    model = fill(Policy())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    eps = torch.finfo(torch.float64).eps
    for action, reward in zip([0, 1, 1, 0, 1], [1.0, 1.0, 0.0, 2.0, 1.0]):
        state = draw(4)
        probs, state_value = model(state)
        log_prob = torch.log(probs.gather(-1, torch.tensor([action]))).squeeze()
        model.saved_actions.append(SavedAction(log_prob, state_value))
        model.rewards.append(reward)
    R, policy_losses, value_losses, returns = 0, [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std(unbiased=True) + eps)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return [returns, loss, *weights(model)]


def ppo_update(torch, nn, F, draw, fill):
    def layer_init(layer, std=math.sqrt(2), bias_const=0.0):
        torch.nn.init.orthogonal_(layer.weight, std)
        torch.nn.init.constant_(layer.bias, bias_const)
        return layer

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.critic = nn.Sequential(layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 1), std=1.0))
            self.actor_mean = nn.Sequential(layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 2), std=0.01))
            self.actor_logstd = nn.Parameter(torch.zeros(1, 2))

        def evaluate(self, x, action):
            action_mean = self.actor_mean(x)
            action_logstd = self.actor_logstd.expand_as(action_mean)
            var = torch.exp(action_logstd) ** 2
            log_prob = -((action - action_mean) ** 2) / (2 * var) - action_logstd - math.log(math.sqrt(2 * math.pi))
            entropy = 0.5 + 0.5 * math.log(2 * math.pi) + action_logstd
            return log_prob.sum(1), entropy.sum(1), self.critic(x)

    agent = fill(Agent())
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    obs, actions, rewards, dones = draw(6, 3), draw(6, 2), draw(6), torch.tensor([0.0, 0, 1, 0, 0, 0])
    with torch.no_grad():
        logprobs, _, values = agent.evaluate(obs, actions)
        logprobs += 0.1 * draw(6)
        values = values.flatten()
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(6)):
            nextnonterminal = 1.0 - dones[t]
            nextvalues = values[t + 1] if t < 5 else values[-1]
            delta = rewards[t] + 0.99 * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + 0.99 * 0.95 * nextnonterminal * lastgaelam
        returns = advantages + values
    clipfracs = []
    for epoch in range(2):
        for start in range(0, 6, 3):
            mb = torch.arange(start, start + 3)
            newlogprob, entropy, newvalue = agent.evaluate(obs[mb], actions[mb])
            logratio = newlogprob - logprobs[mb]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clipfracs += [((ratio - 1.0).abs() > 0.2).float().mean().item()]
            mb_adv = advantages[mb]
            mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std(correction=1) + 1e-8)
            pg_loss = torch.max(-mb_adv * ratio, -mb_adv * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
            newvalue = newvalue.view(-1)
            v_clipped = values[mb] + torch.clamp(newvalue - values[mb], -0.2, 0.2)
            v_loss = 0.5 * torch.max((newvalue - returns[mb]) ** 2, (v_clipped - returns[mb]) ** 2).mean()
            loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return [loss, approx_kl, torch.tensor(clipfracs, dtype=torch.float64), *weights(agent)]


def sac_twin_critics(torch, nn, F, draw, fill):
    class SoftQNetwork(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(3 + 2, 8), nn.Linear(8, 1)

        def forward(self, x, a):
            return self.fc2(F.relu(self.fc1(torch.cat([x, a], 1))))

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc_mean, self.fc_logstd = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 2)
            self.register_buffer("action_scale", torch.tensor([2.0, 1.0]))
            self.register_buffer("action_bias", torch.tensor(0.5, dtype=torch.float64))

        def forward(self, x, noise):
            x = F.relu(self.fc1(x))
            mean, log_std = self.fc_mean(x), torch.tanh(self.fc_logstd(x))
            log_std = -5 + 0.5 * (2 - -5) * (log_std + 1)
            x_t = mean + log_std.exp() * noise
            y_t = torch.tanh(x_t)
            log_prob = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
            log_prob = log_prob - torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
            return y_t * self.action_scale + self.action_bias, log_prob.sum(1, keepdim=True)

    actor, qf1, qf2 = fill(Actor()), fill(SoftQNetwork()), fill(SoftQNetwork())
    qf1_target, qf2_target = SoftQNetwork(), SoftQNetwork()
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = torch.optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=1e-2)
    actor_optimizer = torch.optim.Adam(list(actor.parameters()), lr=1e-2)
    log_alpha = torch.zeros(1, requires_grad=True)
    alpha = log_alpha.exp().item()
    a_optimizer = torch.optim.Adam([log_alpha], lr=1e-2)
    out = []
    for step in range(2):
        obs, nxt, act, rew = draw(4, 3), draw(4, 3), draw(4, 2), draw(4)
        with torch.no_grad():
            next_actions, next_log_pi = actor(nxt, draw(4, 2))
            min_next = torch.min(qf1_target(nxt, next_actions), qf2_target(nxt, next_actions)) - alpha * next_log_pi
            next_q = rew.flatten() + 0.99 * min_next.view(-1)
        qf_loss = F.mse_loss(qf1(obs, act).view(-1), next_q) + F.mse_loss(qf2(obs, act).view(-1), next_q)
        q_optimizer.zero_grad()
        qf_loss.backward()
        q_optimizer.step()
        pi, log_pi = actor(obs, draw(4, 2))
        actor_loss = ((alpha * log_pi) - torch.min(qf1(obs, pi), qf2(obs, pi)).view(-1, 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = (-log_alpha.exp() * (log_pi.detach() - 2.0)).mean()
        a_optimizer.zero_grad()
        alpha_loss.backward()
        a_optimizer.step()
        alpha = log_alpha.exp().item()
        for param, target_param in zip(qf1.parameters(), qf1_target.parameters()):
            target_param.data.copy_(0.005 * param.data + (1 - 0.005) * target_param.data)
        with torch.no_grad():
            for p, p_targ in zip(qf2.parameters(), qf2_target.parameters()):
                p_targ.data.mul_(0.995)
                p_targ.data.add_((1 - 0.995) * p.data)
        out += [qf_loss, actor_loss, alpha_loss, alpha]
    return [*out, *weights(actor), *weights(qf1), *weights(qf1_target), *weights(qf2_target)]


def simclr(torch, nn, F, draw, fill):
    class NTXentLoss(nn.Module):
        def __init__(self, temperature=0.5):
            super().__init__()
            self.temperature = temperature

        def forward(self, z_i, z_j):
            batch_size = z_i.size(0)
            z = torch.cat([z_i, z_j], dim=0)
            z = F.normalize(z, dim=1)
            similarity = torch.matmul(z, z.T) / self.temperature
            mask = torch.eye(2 * batch_size, dtype=torch.bool)
            similarity = similarity.masked_fill(mask, float("-inf"))
            labels = torch.cat([torch.arange(batch_size) + batch_size, torch.arange(batch_size)])
            positives = similarity[torch.arange(2 * batch_size), labels].view(2 * batch_size, -1)
            negatives = similarity[~mask].view(2 * batch_size, -1)
            return F.cross_entropy(similarity, labels), positives.mean() - negatives.logsumexp(dim=-1).mean()

    encoder = fill(nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten()))
    projector = fill(nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)))
    x = draw(5, 1, 8, 8)
    views = torch.flip(x, dims=[-1]), x + 0.1 * draw(5, 1, 8, 8)
    loss, gap = NTXentLoss(0.3)(*(projector(encoder(v)) for v in views))
    (loss + 0.1 * gap).backward()
    return [loss, gap, *grads(encoder), *grads(projector), encoder[1].running_mean, projector[1].running_var]


def ddpm_points(torch, nn, F, draw, fill):
    class SinusoidalPositionEmbeddings(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def forward(self, time):
            half_dim = self.dim // 2
            embeddings = math.log(10000) / (half_dim - 1)
            embeddings = torch.exp(torch.arange(half_dim, device=time.device) * -embeddings)
            embeddings = time[:, None] * embeddings[None, :]
            return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.time_mlp = nn.Sequential(SinusoidalPositionEmbeddings(8), nn.Linear(8, 8), nn.GELU())
            self.inp, self.mid, self.out = nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 2)

        def forward(self, x, t):
            h = F.silu(self.inp(x)) + self.time_mlp(t)
            return self.out(F.silu(self.mid(h)) + h)

    def extract(a, t, x_shape):
        out = a.gather(-1, t.cpu())
        return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1))).to(t.device)

    timesteps = 10
    betas = torch.linspace(0.0001, 0.02, timesteps)
    alphas = 1.0 - betas
    alphas_cumprod = torch.cumprod(alphas, axis=0)
    alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
    sqrt_recip_alphas = torch.sqrt(1.0 / alphas)
    posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)
    model = fill(Denoiser())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for t in ([0, 3, 9], [5, 2, 7]):
        x_start, noise, t = draw(3, 2), draw(3, 2), torch.tensor(t)
        x_noisy = extract(alphas_cumprod.sqrt(), t, x_start.shape) * x_start + extract((1 - alphas_cumprod).sqrt(), t, x_start.shape) * noise
        loss = F.smooth_l1_loss(noise, model(x_noisy, t))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    @torch.no_grad()
    def p_sample(x, t, t_index):
        betas_t = extract(betas, t, x.shape)
        model_mean = extract(sqrt_recip_alphas, t, x.shape) * (x - betas_t * model(x, t) / extract((1 - alphas_cumprod).sqrt(), t, x.shape))
        if t_index == 0:
            return model_mean
        return model_mean + torch.sqrt(extract(posterior_variance, t, x.shape)) * draw(*x.shape)

    img = draw(4, 2)
    for i in reversed(range(0, timesteps)):
        img = p_sample(img, torch.full((4,), i, dtype=torch.long), i)
    assert not img.requires_grad
    return [*losses, *weights(model), img]


def score_matching(torch, nn, F, draw, fill):
    energy = fill(nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1)))

    def score(x):
        x = x.requires_grad_()
        logp = -energy(x).sum()
        return torch.autograd.grad(logp, x, create_graph=True)[0]

    samples, vectors = draw(6, 2), torch.sign(draw(6, 2))
    samples.requires_grad_(True)
    grad1 = score(samples)
    gradv = torch.sum(grad1 * vectors)
    loss1 = torch.sum(grad1 * vectors, dim=-1) ** 2 * 0.5
    grad2 = torch.autograd.grad(gradv, samples, create_graph=True)[0]
    loss2 = torch.sum(vectors * grad2, dim=-1)
    ssm = (loss1 + loss2).mean()
    perturbed = samples.detach() + draw(6, 2) * 0.3
    target = -1 / (0.3**2) * (perturbed - samples.detach())
    dsm = 0.5 * ((score(perturbed).view(6, -1) - target.view(6, -1)) ** 2).sum(dim=-1).mean(dim=0)
    (ssm + 0.1 * dsm).backward()
    x = draw(3, 2)
    for _ in range(3):
        x = x + 0.05 * score(x.detach()) + math.sqrt(0.1) * draw(3, 2)
        x = x.detach()
    return [ssm, dsm, *grads(energy), x]


def hopfield(torch, nn, F, draw, fill):
    class Hopfield(nn.Module):
        def __init__(self, dim, beta=None, update_steps_max=3):
            super().__init__()
            self.register_parameter("bias", None)
            self.W_q, self.W_k, self.W_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
            self.beta = nn.Parameter(torch.as_tensor(1 / math.sqrt(dim) if beta is None else beta, dtype=torch.get_default_dtype()))
            self.steps = update_steps_max
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64), persistent=False)

        def forward(self, state, stored):
            q, k = self.W_q(state), self.W_k(stored)
            for _ in range(self.steps):
                q = torch.einsum("bnm,bmd->bnd", torch.softmax(self.beta * torch.einsum("bnd,bmd->bnm", q, k), dim=-1), k)
            self.calls += 1
            energy = -torch.logsumexp(self.beta * q @ k.mT, -1) / self.beta + 0.5 * q.square().sum(-1)
            return self.W_v(q), energy

    net = fill(Hopfield(4))
    assert "bias" not in dict(net.named_parameters()) and net.bias is None and "calls" not in net.state_dict()
    out, energy = net(draw(2, 1, 4), draw(2, 5, 4))
    (out.pow(2).mean() + energy.mean()).backward()
    patterns = torch.sign(draw(3, 16))
    W = torch.zeros(16, 16)
    for p in patterns:
        W += torch.outer(p, p)
    W.fill_diagonal_(0).div_(3)
    probe = patterns[0].clone()
    probe[:4] *= -1
    for _ in range(3):
        probe = torch.where(W @ probe >= 0, 1.0, -1.0)
    return [out, energy, *grads(net), probe, int(net.calls)]


def ode_events(torch, nn, F, draw, fill):
    class HamiltonianDynamics(nn.Module):
        def __init__(self):
            super().__init__()
            self.gravity = nn.Parameter(torch.as_tensor([9.8]))
            self.log_radius = nn.Parameter(torch.log(torch.as_tensor([0.1])))
            self.t0 = nn.Parameter(torch.tensor([0.0]))
            self.init_pos, self.init_vel = nn.Parameter(torch.tensor([2.0])), nn.Parameter(torch.tensor([1.0]))
            self.absorption = nn.Parameter(torch.tensor([0.2]))

        def forward(self, t, state):
            pos, vel = state
            return vel, -self.gravity + 0 * pos

        def event_fn(self, state):
            return state[0] - torch.exp(self.log_radius)

        def rk4(self, t, state, dt):
            k1 = self(t, state)
            k2 = self(t + dt / 2, tuple(s + dt / 2 * k for s, k in zip(state, k1)))
            k3 = self(t + dt / 2, tuple(s + dt / 2 * k for s, k in zip(state, k2)))
            k4 = self(t + dt, tuple(s + dt * k for s, k in zip(state, k3)))
            return tuple(s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4))

        def simulate(self, nbounces=2):
            t, state, times = self.t0, (self.init_pos, self.init_vel), []
            for _ in range(nbounces):
                with torch.no_grad():
                    now, dt = state, torch.tensor(0.05)
                    s = torch.zeros(())
                    while self.event_fn(self.rk4(t, now, dt)).item() > 0:
                        now, s = self.rk4(t, now, dt), s + dt
                step = s.clone().requires_grad_(True)
                for _ in range(6):
                    gap = self.event_fn(self.rk4(t, state, step))
                    vel = self.rk4(t, state, step)[1].detach()
                    step = step - gap / vel
                state = self.rk4(t, state, step)
                state = torch.exp(self.log_radius) + 1e-7, -state[1] * (1 - self.absorption)
                t = t + step
                times.append(t)
            return torch.stack(times), state

    dyn = HamiltonianDynamics()
    times, (pos, vel) = dyn.simulate()
    loss = (times.squeeze(-1) * torch.tensor([1.0, -0.5])).sum() + vel.sum()
    loss.backward()
    return [times, vel, *grads(dyn)]


def tabnet(torch, nn, F, draw, fill):
    class GBN(nn.Module):
        def __init__(self, inp, vbs=4, momentum=0.01):
            super().__init__()
            self.bn, self.vbs = nn.BatchNorm1d(inp, momentum=momentum), vbs

        def forward(self, x):
            return torch.cat([self.bn(c) for c in torch.chunk(x, max(1, x.size(0) // self.vbs), 0)], 0)

    class Sparsemax(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, dim=-1):
            ctx.dim = dim
            input = input - input.amax(dim=dim, keepdim=True)
            input_srt = input.gather(dim, torch.argsort(input, descending=True, dim=dim))
            cumsum = input_srt.cumsum(dim) - 1
            rhos = torch.arange(1, input.size(dim) + 1, dtype=input.dtype).view(1, -1)
            support = rhos * input_srt > cumsum
            support_size = support.sum(dim=dim).unsqueeze(dim)
            tau = cumsum.gather(dim, support_size - 1) / support_size.to(input.dtype)
            output = torch.clamp(input - tau, min=0)
            ctx.save_for_backward(support_size, output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            supp_size, output = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[output == 0] = 0
            v_hat = grad_input.sum(dim=ctx.dim) / supp_size.to(output.dtype).squeeze(ctx.dim)
            v_hat = v_hat.unsqueeze(ctx.dim)
            return torch.where(output != 0, grad_input - v_hat, grad_input), None

    class GLUBlock(nn.Module):
        def __init__(self, inp, out, fc=None):
            super().__init__()
            self.fc = fc if fc is not None else nn.Linear(inp, out * 2, bias=False)
            self.bn, self.od = GBN(out * 2), out

        def forward(self, x):
            x = self.bn(self.fc(x))
            return x[:, : self.od] * torch.sigmoid(x[:, self.od :])

    class TabNet(nn.Module):
        def __init__(self, inp, out, n_d=4, n_steps=2, gamma=1.3):
            super().__init__()
            self.bn, self.gamma, self.n_d = nn.BatchNorm1d(inp), gamma, n_d
            shared = nn.Linear(inp, n_d * 4, bias=False)
            self.first = GLUBlock(inp, 2 * n_d, shared)
            self.steps, self.att = nn.ModuleList(), nn.ModuleList()
            for _ in range(n_steps):
                self.steps.append(GLUBlock(inp, 2 * n_d, shared))
                self.att.append(nn.Sequential(nn.Linear(n_d, inp), GBN(inp)))
            self.fc = nn.Linear(n_d, out)

        def forward(self, x):
            x = self.bn(x)
            a = self.first(x)[:, self.n_d :]
            priors, agg, entropy = torch.ones(x.shape), 0.0, 0.0
            for step, att in zip(self.steps, self.att):
                mask = Sparsemax.apply(att(a) * priors)
                priors = priors * (self.gamma - mask)
                entropy += torch.mean(torch.sum(-mask * torch.log(mask + 1e-10), dim=1))
                d = step(x * mask)
                agg = agg + F.relu(d[:, : self.n_d])
                a = d[:, self.n_d :]
            return self.fc(agg), entropy

    net = fill(TabNet(5, 3))
    out, entropy = net(draw(8, 5))
    loss = F.cross_entropy(out, torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])) + 1e-3 * entropy
    loss.backward()
    return [out, entropy, loss, *grads(net)]


def segmentation_losses(torch, nn, F, draw, fill):
    class FocalLoss(nn.Module):
        def __init__(self, alpha=None, gamma=2.0, reduction="mean"):
            super().__init__()
            self.gamma, self.reduction = gamma, reduction
            self.register_buffer("alpha", alpha)

        def forward(self, inputs, targets):
            ce = F.cross_entropy(inputs, targets, weight=self.alpha, reduction="none")
            pt = torch.exp(-ce)
            focal = ((1 - pt) ** self.gamma) * ce
            return getattr(focal, self.reduction)() if self.reduction != "none" else focal

    class DiceLoss(nn.Module):
        def forward(self, inputs, targets, smooth=1):
            inputs = torch.sigmoid(inputs).view(-1)
            targets = targets.view(-1)
            intersection = (inputs * targets).sum()
            return 1 - (2.0 * intersection + smooth) / (inputs.sum() + targets.sum() + smooth)

    class TverskyLoss(nn.Module):
        def forward(self, logits, true, alpha=0.3, beta=0.7, eps=1e-7):
            num_classes = logits.shape[1]
            true_1_hot = torch.eye(num_classes)[true.squeeze(1)].permute(0, 3, 1, 2).to(logits.dtype)
            probas = F.softmax(logits, dim=1)
            dims = (0,) + tuple(range(2, true.ndimension()))
            tp = torch.sum(probas * true_1_hot, dims)
            fps = torch.sum(probas * (1 - true_1_hot), dims)
            fns = torch.sum((1 - probas) * true_1_hot, dims)
            return 1 - (tp / (tp + alpha * fps + beta * fns + eps)).mean()

    logits = draw(2, 3, 4, 5).requires_grad_()
    target = (draw(2, 1, 4, 5) > 0).long() + (draw(2, 1, 4, 5) > 1).long()
    focal = FocalLoss(alpha=torch.tensor([1.0, 2.0, 0.5]))(logits, target.squeeze(1))
    dice = DiceLoss()(logits[:, 1], (target == 1).to(torch.float64).squeeze(1))
    tversky = TverskyLoss()(logits, target)
    bce = F.binary_cross_entropy_with_logits(logits[:, :1], (target > 0).type_as(logits), pos_weight=torch.tensor(3.0))
    smoothed = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)(logits, target[:, 0])
    lovasz = F.relu(1 - logits[:, 0].reshape(-1) * (2.0 * (target.view(-1) == 0) - 1))
    perm = torch.argsort(lovasz, dim=0, descending=True)
    errors_sorted = lovasz[perm]
    gts = (target.view(-1) == 0).double()[perm]
    jaccard = 1.0 - (gts.sum() - gts.cumsum(0)) / (gts.sum() + (1 - gts).cumsum(0))
    jaccard[1:] = jaccard[1:] - jaccard[0:-1].clone()
    hinge = torch.dot(F.relu(errors_sorted), jaccard)
    total = focal + dice + tversky + bce + smoothed + 0.1 * hinge
    total.backward()
    pred = logits.argmax(dim=1)
    iou = [((pred == c) & (target[:, 0] == c)).sum().item() / max(1, ((pred == c) | (target[:, 0] == c)).sum().item()) for c in range(3)]
    return [focal, dice, tversky, bce, smoothed, hinge, logits.grad, *iou]


def triplet_mining(torch, nn, F, draw, fill):
    def _pairwise_distances(embeddings):
        dot_product = torch.matmul(embeddings, embeddings.t())
        square_norm = torch.diag(dot_product)
        distances = square_norm.unsqueeze(0) - 2.0 * dot_product + square_norm.unsqueeze(1)
        distances[distances < 0] = 0
        mask = distances.eq(0).float()
        distances = distances + mask * 1e-16
        return (1.0 - mask) * torch.sqrt(distances)

    net = fill(nn.Sequential(nn.Linear(5, 8), nn.PReLU(), nn.Linear(8, 3)))
    embeddings, labels = F.normalize(net(draw(8, 5)), p=2, dim=1), torch.tensor([0, 0, 1, 1, 2, 2, 0, 1])
    dist = _pairwise_distances(embeddings)
    indices_equal = torch.eye(labels.size(0)).bool()
    labels_equal = labels.unsqueeze(0) == labels.unsqueeze(1)
    hardest_positive = (dist * (labels_equal & ~indices_equal)).amax(1, keepdim=True)
    max_anchor_negative = dist.amax(1, keepdim=True)
    hardest_negative = (dist + max_anchor_negative * labels_equal).amin(1, keepdim=True)
    tl = hardest_positive - hardest_negative + 0.2
    tl[tl < 0] = 0
    batch_hard = tl.mean()
    triplet = dist.unsqueeze(2) - dist.unsqueeze(1) + 0.2
    i_eq_j, i_eq_k = labels_equal.unsqueeze(2), labels_equal.unsqueeze(1)
    valid = i_eq_j & ~i_eq_k & (~indices_equal).unsqueeze(2)
    triplet = F.relu(valid * triplet)
    num_positive = (triplet > 1e-16).sum()
    batch_all = triplet.sum() / (num_positive + 1e-16)
    easy = nn.TripletMarginLoss(margin=1.0, p=2, eps=1e-7)(embeddings[:2], embeddings[2:4], embeddings[4:6])
    (batch_hard + batch_all + easy).backward()
    return [batch_hard, batch_all, easy, num_positive, *grads(net)]


def mean_teacher(torch, nn, F, draw, fill):
    student = fill(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)))
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.detach_()
    optimizer = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
    out = []
    for global_step in range(3):
        x, x_u = draw(4, 4), draw(6, 4)
        y = torch.tensor([0, 1, 2, 1])
        with torch.no_grad():
            teacher_logit = teacher(x_u + 0.1 * draw(6, 4))
            max_probs, targets_u = torch.softmax(teacher_logit, -1).amax(-1), teacher_logit.argmax(-1)
            mask = max_probs.ge(0.4).float()
        logits = student(torch.cat((x, x_u)))
        logits_x, logits_u = logits[:4], logits[4:]
        consistency = F.mse_loss(F.softmax(logits_u, dim=1), F.softmax(teacher_logit, dim=1), reduction="sum") / 6
        fixmatch = (F.cross_entropy(logits_u, targets_u, reduction="none") * mask).mean()
        ramp = math.exp(-5.0 * (1.0 - min(global_step / 2, 1.0)) ** 2)
        loss = F.cross_entropy(logits_x, y) + ramp * (consistency + fixmatch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        alpha = min(1 - 1 / (global_step + 1), 0.99)
        for ema_param, param in zip(teacher.parameters(), student.parameters()):
            ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)
        for ema_buffer, buffer in zip(teacher.buffers(), student.buffers()):
            ema_buffer.copy_(buffer)
        out += [loss, mask]
    return [*out, *weights(teacher), teacher[1].num_batches_tracked]


def lora(torch, nn, F, draw, fill):
    class LoRALinear(nn.Module):
        def __init__(self, base, r=2, lora_alpha=4):
            super().__init__()
            self.base = base
            self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
            self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
            nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
            self.scaling = lora_alpha / r
            self.base.weight.requires_grad = False

        def forward(self, x):
            return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling

        @torch.no_grad()
        def merge(self):
            self.base.weight += self.lora_B @ self.lora_A * self.scaling
            return self.base

    class LoRAParametrization(nn.Module):
        def __init__(self, fan_in, fan_out, rank=1):
            super().__init__()
            self.lora_A, self.lora_B = nn.Parameter(torch.ones(rank, fan_in)), nn.Parameter(0.1 * torch.ones(fan_out, rank))

        def forward(self, W):
            return W + torch.matmul(self.lora_B, self.lora_A).view(W.shape)

    model = fill(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)))
    for name, module in list(model.named_children()):
        if isinstance(module, nn.Linear):
            setattr(model, name, LoRALinear(module))
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_" in name:
                p.copy_(0.1 * draw(*p.shape))
    trainable = [p for n, p in model.named_parameters() if p.requires_grad]
    total = sum(p.numel() for p in model.parameters() if not p.requires_grad)
    optimizer = torch.optim.AdamW([{"params": [p for n, p in model.named_parameters() if "lora_B" in n], "lr": 1e-1}, {"params": [p for n, p in model.named_parameters() if "lora_A" in n]}], lr=1e-2)
    x = draw(5, 4)
    for _ in range(2):
        loss = F.cross_entropy(model(x), torch.tensor([0, 1, 2, 0, 1]))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    before = model(x)
    model[0], model[2] = model[0].merge(), model[2].merge()
    assert torch.allclose(model(x), before)
    nn.utils.parametrize.register_parametrization(model[2], "weight", LoRAParametrization(6, 3))
    nn.utils.parametrizations.orthogonal(layer := fill(nn.Linear(3, 3)), orthogonal_map="cayley")
    out = layer(model(x)).square().mean()
    out.backward()
    assert torch.allclose(layer.weight @ layer.weight.T, torch.eye(3, dtype=layer.weight.dtype), atol=1e-6)
    return [loss, total, len(trainable), before, out, *grads(model)]


def quantisation_aware(torch, nn, F, draw, fill):
    class FakeQuantOp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, num_bits=4, min_val=None, max_val=None):
            qmin, qmax = 0.0, 2.0**num_bits - 1.0
            scale = (max_val - min_val) / (qmax - qmin)
            zero_point = torch.clamp(torch.round(qmin - min_val / scale), qmin, qmax)
            q_x = (zero_point + x / scale).clamp_(qmin, qmax).round_()
            return scale * (q_x - zero_point)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, None, None, None

    class RoundSTE(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return torch.round(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.mark_non_differentiable()
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (x.abs() <= 2).to(g.dtype)

    class LSQ(nn.Module):
        def __init__(self):
            super().__init__()
            self.s = nn.Parameter(torch.tensor(0.3))

        def forward(self, w):
            s = (self.s - self.s * 0.1).detach() + self.s * 0.1
            w = w / s
            w = w.clamp(-4, 3)
            return (RoundSTE.apply(w)) * s

    net, lsq = fill(nn.Sequential(nn.Linear(4, 5), nn.ReLU6(), nn.Linear(5, 2))), LSQ()
    x = draw(6, 4)
    stats = {}

    def update(t, key):
        stats[key] = (t.min(), t.max()) if key not in stats else tuple(0.01 * new + 0.99 * old for new, old in zip((t.min(), t.max()), stats[key]))

    update(x.detach(), "x")
    h = FakeQuantOp.apply(x, 4, *stats["x"])
    w = FakeQuantOp.apply(net[0].weight, 4, net[0].weight.data.min(), net[0].weight.data.max())
    h = net[1](F.linear(h, w, net[0].bias))
    out = F.linear(h, lsq(net[2].weight), net[2].bias)
    loss = out.pow(2).sum()
    loss.backward()
    return [out, loss, *grads(net), lsq.s.grad]


def rate_finder_class(torch, nn, F, draw, fill):
    class ExponentialRate(torch.optim.lr_scheduler.LRScheduler):
        def __init__(self, optimizer, end_lr, num_iter, last_epoch=-1):
            self.end_lr, self.num_iter = end_lr, num_iter
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            r = self.last_epoch / self.num_iter
            return [base_lr * (self.end_lr / base_lr) ** r for base_lr in self.base_lrs]

    class LRFinder:
        def __init__(self, model, optimizer, criterion):
            self.model, self.optimizer, self.criterion = model, optimizer, criterion
            self.history = defaultdict(list)
            self.state = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())

        def range_test(self, batches, end_lr=1, num_iter=6, smooth_f=0.05):
            sched, best = ExponentialRate(self.optimizer, end_lr, num_iter), None
            for inputs, labels in itertools.islice(itertools.cycle(batches), num_iter):
                self.model.train()
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(inputs), labels)
                loss.backward()
                self.optimizer.step()
                sched.step()
                self.history["lr"].append(sched.get_last_lr()[0])
                loss = loss.item()
                if best is not None:
                    loss = smooth_f * loss + (1 - smooth_f) * self.history["loss"][-1]
                best = loss if best is None or loss < best else best
                self.history["loss"].append(loss)

        def reset(self):
            self.model.load_state_dict(self.state[0])
            self.optimizer.load_state_dict(self.state[1])

    model = fill(nn.Sequential(nn.Linear(3, 4), nn.ELU(), nn.Linear(4, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    finder = LRFinder(model, optimizer, nn.CrossEntropyLoss())
    finder.range_test([(draw(4, 3), torch.tensor([0, 1, 1, 0])) for _ in range(2)])
    finder.reset()
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda step: min(1.0, (step + 1) / 4))
    cosine = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=2, eta_min=1e-6)
    onecycle = torch.optim.lr_scheduler.OneCycleLR(torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), max_lr=0.1, steps_per_epoch=3, epochs=2)
    rates = []
    for step in range(5):
        optimizer.step()
        warmup.step()
        cosine.step(step / 2)
        onecycle.optimizer.step()
        onecycle.step()
        rates += [optimizer.param_groups[0]["lr"], onecycle.get_last_lr()[0], onecycle.optimizer.param_groups[0]["momentum"]]
    return [torch.tensor(finder.history["lr"]), torch.tensor(finder.history["loss"]), *weights(model), torch.tensor(rates)]


def mixed_optimisers(torch, nn, F, draw, fill):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(6, 4)
            self.hidden = nn.ModuleList([nn.Linear(4, 4, bias=False) for _ in range(2)])
            self.norm = nn.LayerNorm(4)
            self.head = nn.Linear(4, 6)

        def forward(self, idx):
            x = self.embed(idx)
            for layer in self.hidden:
                x = x + F.gelu(layer(self.norm(x)), approximate="tanh")
            return self.head(x)

    class SignSGD(torch.optim.Optimizer):
        def __init__(self, params, lr=0.01, rand_zero=True):
            defaults = dict(lr=lr)
            self.rand_zero = rand_zero
            super().__init__(params, defaults)

        @torch.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"] = 0
                        state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                    state["step"] += 1
                    state["exp_avg"].mul_(0.9).add_(p.grad, alpha=0.1)
                    p.add_(torch.sign(state["exp_avg"]), alpha=-group["lr"])
                    p.addcdiv_(state["exp_avg"], state["exp_avg"].abs().sqrt().add_(1e-8), value=-1e-3).addcmul_(p.grad, p.grad, value=1e-4)
            return loss

    net = fill(Net())
    decay = [p for n, p in net.named_parameters() if p.dim() >= 2]
    no_decay = [p for n, p in net.named_parameters() if p.dim() < 2]
    hidden = [p for p in net.hidden.parameters()]
    adam = torch.optim.AdamW([{"params": [p for p in decay if not any(p is q for q in hidden)], "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-2, betas=(0.9, 0.95))
    sign = SignSGD(hidden, lr=1e-3)
    scheds = [torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.5) for o in (adam, sign)]
    idx = torch.tensor([[0, 1, 2, 3], [4, 5, 1, 0]])
    losses = []
    for micro in range(4):
        logits = net(idx)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), idx.roll(-1, dims=1).reshape(-1)) / 2
        loss.backward()
        if (micro + 1) % 2 == 0:
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            for opt, sched in zip((adam, sign), scheds):
                opt.step()
                sched.step()
                opt.zero_grad()
        losses.append(loss.item() * 2)
    return [*losses, norm, *weights(net), sign.state[hidden[0]]["exp_avg"], sign.param_groups[0]["lr"]]


def moe_routing(torch, nn, F, draw, fill):
    class Router(nn.Module):
        def __init__(self):
            super().__init__()
            self.choices = nn.ModuleDict({"conv": nn.Conv1d(3, 3, 3, padding=1), "pool": nn.MaxPool1d(3, stride=1, padding=1)})
            self.activations = nn.ModuleDict([["lrelu", nn.LeakyReLU()], ["prelu", nn.PReLU()]])
            self.tau = nn.ParameterDict({"hot": nn.Parameter(torch.tensor(2.0)), "cold": nn.Parameter(torch.tensor(0.5))})

        def forward(self, x, choice, act):
            return self.activations[act](self.choices[choice](x)) * self.tau["hot" if choice == "conv" else "cold"]

    class MoE(nn.Module):
        def __init__(self, dim, n_experts, k):
            super().__init__()
            self.gate = nn.Linear(dim, n_experts, bias=False)
            self.experts = nn.ModuleList([nn.Sequential(nn.Linear(dim, dim * 2), nn.SiLU(), nn.Linear(dim * 2, dim)) for _ in range(n_experts)])
            self.k = k

        def forward(self, x):
            logits = self.gate(x)
            weights, selected = torch.topk(logits, self.k)
            weights = F.softmax(weights, dim=1, dtype=torch.float64).to(x.dtype)
            results = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                batch_idx, nth = torch.nonzero(selected == i, as_tuple=True)
                results[batch_idx] += weights[batch_idx, nth, None] * expert(x[batch_idx])
            probs = F.softmax(logits, dim=-1).mean(0)
            load = F.one_hot(selected, len(self.experts)).sum((0, 1)) / selected.numel()
            out2 = torch.zeros_like(x).index_add_(0, torch.arange(x.size(0)), results, alpha=0.5)
            return results + out2, len(self.experts) * (probs * load).sum()

    router, moe = fill(Router()), fill(MoE(4, 3, 2))
    x = draw(2, 3, 6)
    out = router(router(x, "conv", "prelu"), "pool", "lrelu")
    y, aux = moe(draw(7, 4))
    loss = out.mean() + y.pow(2).mean() + 0.01 * aux
    loss.backward()
    assert list(router.choices.keys()) == ["conv", "pool"] and "conv" in router.choices and len(router.tau) == 2
    return [out, y, aux, *grads(router), *grads(moe)]


def feature_hooks(torch, nn, F, draw, fill):
    class FeatureExtractor(nn.Module):
        def __init__(self, model, layers):
            super().__init__()
            self.model, self.layers = model, layers
            self._features = {layer: torch.empty(0) for layer in layers}
            for layer_id in layers:
                layer = dict([*self.model.named_modules()])[layer_id]
                layer.register_forward_hook(self.save_outputs_hook(layer_id))

        def save_outputs_hook(self, layer_id):
            def fn(_, __, output):
                self._features[layer_id] = output

            return fn

        def forward(self, x):
            _ = self.model(x)
            return self._features

    model = fill(nn.Sequential(OrderedDict([("stem", nn.Conv2d(1, 3, 3)), ("block", nn.Sequential(nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 4, 3))), ("fc", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)))])))
    features = FeatureExtractor(model, ["stem", "block.2"])(draw(2, 1, 8, 8))
    activations, gradients = {}, {}
    handles = [model.block.register_forward_hook(lambda m, i, o: activations.update(v=o))]
    handles.append(model.block.register_full_backward_hook(lambda m, gi, go: gradients.update(v=go[0])))
    handles.append(model.fc.register_forward_pre_hook(lambda m, args: (args[0] * 1.5,)))
    logit = model(draw(2, 1, 8, 8))
    score = logit[:, logit.argmax(1)].sum()
    model.zero_grad()
    score.backward(retain_graph=True)
    b, k, u, v = gradients["v"].size()
    alpha = gradients["v"].view(b, k, -1).mean(2)
    saliency_map = F.relu((alpha.view(b, k, 1, 1) * activations["v"]).sum(1, keepdim=True))
    saliency_map = F.interpolate(saliency_map, size=(8, 8), mode="bilinear", align_corners=False)
    lo, hi = saliency_map.min(), saliency_map.max()
    saliency_map = (saliency_map - lo).div(hi - lo).data
    for handle in handles:
        handle.remove()
    stats = [(type(m).__name__, sum(p.numel() for p in m.parameters(recurse=False))) for m in model.modules()]
    summary = [sum(p.numel() for p in m.parameters()) for _, m in model.named_children()]
    return [features["stem"].sum(), features["block.2"], saliency_map, score, sum(n for _, n in stats), torch.tensor(summary)]


def func_tutorials(torch, nn, F, draw, fill):
    from_func = torch.func
    functional_call, vmap, grad, jacrev, vjp, jvp = from_func.functional_call, from_func.vmap, from_func.grad, from_func.jacrev, from_func.vjp, from_func.jvp

    class SimpleMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2, self.fc3 = nn.Linear(6, 5), nn.Linear(5, 4), nn.Linear(4, 3)

        def forward(self, x):
            x = x.flatten(1)
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    models = [fill(SimpleMLP()) for _ in range(3)]
    with torch.no_grad():
        for i, m in enumerate(models):
            m.fc1.weight.mul_(1 + i)
    params, buffers = from_func.stack_module_state(models)
    base_model = copy.deepcopy(models[0])

    def fmodel(params, buffers, x):
        return functional_call(base_model, (params, buffers), (x,))

    minibatch = draw(4, 2, 3)
    ensemble = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, minibatch)
    ensemble2 = vmap(fmodel)(params, buffers, draw(3, 4, 2, 3))

    model, targets = models[1], torch.tensor([0, 2, 1, 1])
    params = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.detach() for k, v in model.named_buffers()}

    def compute_loss(params, buffers, sample, target):
        predictions = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
        return F.cross_entropy(predictions, target.unsqueeze(0))

    ft_compute_sample_grad = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))
    per_sample = ft_compute_sample_grad(params, buffers, minibatch, targets)

    def fnet_single(params, x):
        return functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)

    def empirical_ntk(x1, x2):
        jac1 = [j.flatten(2) for j in vmap(jacrev(fnet_single), (None, 0))(params, x1).values()]
        jac2 = [j.flatten(2) for j in vmap(jacrev(fnet_single), (None, 0))(params, x2).values()]
        return torch.stack([torch.einsum("Naf,Mbf->NMab", j1, j2) for j1, j2 in zip(jac1, jac2)]).sum(0)

    def ntk_vps(x1, x2):
        def get_ntk(x1, x2):
            output, vjp_fn = vjp(lambda params: fnet_single(params, x1), params)

            def get_ntk_slice(vec):
                _, out = jvp(lambda params: fnet_single(params, x2), (params,), vjp_fn(vec))
                return out

            return vmap(get_ntk_slice)(torch.eye(output.numel()).view(output.numel(), -1))

        return vmap(vmap(get_ntk, (None, 0)), (0, None))(x1, x2)

    ntk = empirical_ntk(minibatch, minibatch[:2])
    assert torch.allclose(ntk, ntk_vps(minibatch, minibatch[:2]))
    return [ensemble, ensemble2, *per_sample.values(), ntk]


def jacobian_tutorial(torch, nn, F, draw, fill):
    weight, bias, x = draw(3, 3), draw(3), draw(3)
    unit_vectors = torch.eye(3)

    def predict(weight, bias, x):
        return F.linear(x, weight, bias).tanh()

    xp = x.clone().requires_grad_()
    rows = [torch.autograd.grad(predict(weight, bias, xp), xp, vec)[0] for vec in unit_vectors]
    jac = torch.stack(rows)
    _, vjp_fn = torch.func.vjp(functools.partial(predict, weight, bias), x)
    (ft_jacobian,) = torch.func.vmap(vjp_fn)(unit_vectors)
    hess = torch.func.jacfwd(torch.func.jacrev(predict, argnums=2), argnums=2)(weight, bias, x)
    hess2 = torch.func.hessian(predict, argnums=2)(weight, bias, x)
    J = torch.autograd.functional.jacobian(lambda w, b: predict(w, b, x), (weight, bias))
    H = torch.autograd.functional.hessian(lambda x: predict(weight, bias, x).pow(2).sum(), x)
    _, hv = torch.autograd.functional.hvp(lambda x: predict(weight, bias, x).pow(2).sum(), x, v=unit_vectors[0])
    _, jv = torch.autograd.functional.jvp(lambda x: predict(weight, bias, x), x, unit_vectors[1], strict=True)
    batched = torch.func.vmap(torch.func.jacrev(predict, argnums=2), in_dims=(None, None, 0))(weight, bias, draw(4, 3))
    return [jac, ft_jacobian, hess, hess2, *J, H, hv, jv, batched]


def modes_and_decorators(torch, nn, F, draw, fill):
    @torch.no_grad()
    def evaluate(model, x):
        return model(x).argmax(-1)

    @torch.enable_grad()
    def guided(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(x.pow(3).sum(), x)[0]

    @torch.inference_mode()
    def infer(model, x):
        return model(x) * 2

    model = fill(nn.Sequential(nn.Linear(3, 4), nn.Dropout(p=0.5), nn.ReLU(), nn.Linear(4, 2)))
    model.eval()
    x = draw(5, 3)
    for phase in ("train", "val"):
        with torch.set_grad_enabled(phase == "train"):
            out = model(x)
            assert out.requires_grad == (phase == "train") == torch.is_grad_enabled()
    with torch.no_grad():
        inner = guided(x)
    found = infer(model, x)
    assert found.is_inference() and not found.requires_grad
    with torch.autocast(device_type="cpu", enabled=False):
        loss = model(x).logsumexp(-1).mean()
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    ck = torch.utils.checkpoint.checkpoint_sequential(list(model), 2, x.clone().requires_grad_(), use_reentrant=False)
    with torch.autograd.set_detect_anomaly(True):
        F.mse_loss(ck, torch.ones_like(ck)).backward()
    torch.set_float32_matmul_precision("high")
    torch.use_deterministic_algorithms(False)
    return [evaluate(model, x), inner, found.clone(), loss, *weights(model), ck]


def partial_loading(torch, nn, F, draw, fill):
    class Backbone(nn.Module):
        def __init__(self, num_classes):
            super().__init__()
            self.features = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
            self.classifier = nn.Linear(4, num_classes)
            self.register_parameter("scale", None)
            self.register_buffer("seen", torch.zeros(1, dtype=torch.long))
            self.register_buffer("cache", None)

        def forward(self, x):
            self.seen += len(x)
            x = self.features(x)
            return self.classifier(x if self.scale is None else x * self.scale)

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    old = fill(Backbone(5))
    state = {f"module.{k}": v for k, v in old.state_dict().items()}
    state = {k.replace("module.", ""): v for k, v in state.items()}
    for key in ("classifier.weight", "classifier.bias"):
        del state[key]
    new = Backbone(2)
    new.apply(new._init_weights)
    assert float(new.classifier.bias.abs().sum()) == 0
    result = new.load_state_dict(state, strict=False)
    assert result.missing_keys == ["classifier.weight", "classifier.bias"] and result.unexpected_keys == []
    try:
        new.load_state_dict(old.state_dict())
    except RuntimeError as error:
        assert "size mismatch for classifier.weight" in str(error)
    new.scale = nn.Parameter(torch.ones(4))
    for name, param in new.named_parameters():
        param.requires_grad = name.startswith(("classifier", "scale"))
    with torch.no_grad():
        for p in new.classifier.parameters():
            p.copy_(0.1 * draw(*p.shape))
    new.features.train(False)
    optimizer = torch.optim.RMSprop(filter(lambda p: p.requires_grad, new.parameters()), lr=1e-2, alpha=0.9, centered=True)
    loss = F.cross_entropy(new(draw(4, 3)), torch.tensor([0, 1, 1, 0]))
    loss.backward()
    optimizer.step()
    optimizer.add_param_group({"params": new.features.parameters(), "lr": 1e-4})
    assert len(optimizer.param_groups) == 2 and all(p.grad is None for p in new.features.parameters())
    vec = nn.utils.parameters_to_vector(new.parameters())
    nn.utils.vector_to_parameters(vec * 2, new.parameters())
    return [loss, vec, *weights(new), new.seen, *[len(k) for k in new.state_dict()]]


def style_lbfgs(torch, nn, F, draw, fill):
    def gram_matrix(input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)
        return torch.mm(features, features.t()).div(a * b * c * d)

    class ContentLoss(nn.Module):
        def __init__(self, target):
            super().__init__()
            self.target = target.detach()

        def forward(self, input):
            self.loss = F.mse_loss(input, self.target)
            return input

    class StyleLoss(nn.Module):
        def __init__(self, target_feature):
            super().__init__()
            self.target = gram_matrix(target_feature).detach()

        def forward(self, input):
            self.loss = F.mse_loss(gram_matrix(input), self.target)
            return input

    cnn = fill(nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(inplace=True), nn.Conv2d(3, 3, 3))).eval()
    content_img, style_img = draw(1, 2, 8, 8), draw(1, 2, 8, 8)
    model, content_losses, style_losses, i = nn.Sequential(), [], [], 0
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = f"conv_{i}"
        elif isinstance(layer, nn.ReLU):
            name = f"relu_{i}"
            layer = nn.ReLU(inplace=False)
        model.add_module(name, layer)
        if name == "conv_2":
            content_losses.append(ContentLoss(model(content_img).detach()))
            model.add_module(f"content_loss_{i}", content_losses[-1])
        if name.startswith("conv"):
            style_losses.append(StyleLoss(model(style_img).detach()))
            model.add_module(f"style_loss_{i}", style_losses[-1])
    input_img = content_img.clone()
    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)
    optimizer = torch.optim.LBFGS([input_img], max_iter=5)
    run, scores = [0], []
    while run[0] <= 5:
        def closure():
            with torch.no_grad():
                input_img.clamp_(-2, 2)
            optimizer.zero_grad()
            model(input_img)
            style_score, content_score = 0, 0
            for sl in style_losses:
                style_score += sl.loss
            for cl in content_losses:
                content_score += cl.loss
            loss = style_score * 100 + content_score
            loss.backward()
            run[0] += 1
            scores.append(loss.item())
            return style_score * 100 + content_score

        optimizer.step(closure)
    return [torch.tensor(scores[:5]), [n for n, _ in model.named_children()].index("style_loss_2")]


def hyper_network(torch, nn, F, draw, fill):
    class HyperLinear(nn.Module):
        def __init__(self, z, i, o):
            super().__init__()
            self.i, self.o = i, o
            self.z = nn.Parameter(torch.empty(z))
            nn.init.normal_(self.z, std=0.01)
            self.gen = nn.Linear(z, i * o + o)

        def forward(self, x):
            w, b = self.gen(self.z).tensor_split([self.i * self.o])
            return torch.addmm(b, x, w.view(self.o, self.i).t(), beta=1, alpha=0.5)

    class ReversalLayer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.neg() * ctx.alpha, None

    net, domain = fill(nn.Sequential(HyperLinear(2, 3, 4), nn.Tanh(), HyperLinear(2, 4, 4))), fill(nn.Linear(4, 2))
    x = draw(6, 3)
    h = net(x)
    d = domain(ReversalLayer.apply(h, 0.3))
    label = torch.cat((torch.zeros(3, dtype=torch.long), torch.ones(3, dtype=torch.long)))
    loss = F.cross_entropy(d, label) + torch.sub(h, x.mean(1, keepdim=True), alpha=2).pow(2).mean()
    mmd = torch.cdist(h[:3], h[3:]).pow(2).div(-2).exp().mean()
    coral = torch.linalg.norm(torch.cov(h[:3].T) - torch.cov(h[3:].T), "fro") ** 2 / (4 * 16)
    total = loss + mmd + coral + torch.add(h.sum(), h.abs().sum(), alpha=-0.1) * 0.01
    total.backward()
    fresh = h.new_zeros(2, 3, requires_grad=True)
    zero = torch.zeros_like(h, requires_grad=True)
    (fresh.sum() * 2 + (zero * h.detach()).sum()).backward()
    return [loss, mmd, coral, *grads(net), *grads(domain), fresh.grad, zero.grad]


PROGRAMS = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", None) == __name__]
