import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import grad as vgrad
from gradspec import value_and_grad as vgrad2
from gradspec.scipy.special import logsumexp


def EM(init_params, data, iters):
    def em_update(params):
        natural_params = list(map(np.log, params))
        loglike, E_stats = vgrad2(log_partition_function)(natural_params, data)
        assert np.all(np.isfinite(loglike))
        logs.append(loglike)
        return list(map(normalize, E_stats))

    def fixed_point(f, x0):
        x = x0
        for _ in range(iters):
            x = f(x)
        return x

    logs = []
    return fixed_point(em_update, init_params), logs


def normalize(a):
    def replace_zeros(a):
        return np.where(a > 0.0, a, 1.0)

    return a / replace_zeros(a.sum(-1, keepdims=True))


def log_partition_function(natural_params, data):
    if isinstance(data, list):
        return sum(map(lambda d: log_partition_function(natural_params, d), data))
    log_pi, log_A, log_B = natural_params
    log_alpha = log_pi
    for y in data:
        log_alpha = logsumexp(log_alpha[:, None] + log_A, axis=0) + log_B[:, y]
    return logsumexp(log_alpha)


def initialize_hmm_parameters(num_states, num_outputs):
    init_pi = normalize(npr.rand(num_states))
    init_A = normalize(npr.rand(num_states, num_states))
    init_B = normalize(npr.rand(num_states, num_outputs))
    return init_pi, init_A, init_B


npr.seed(0)
A = np.array([[0.9, 0.1], [0.2, 0.8]])
B = np.array([[0.7, 0.2, 0.1], [0.05, 0.15, 0.8]])
sequences = []
for s in range(3):
    state, ys = 0, []
    for _ in range(60):
        state = npr.choice(2, p=A[state])
        ys.append(npr.choice(3, p=B[state]))
    sequences.append(np.array(ys))

(pi, A_hat, B_hat), logs = EM(initialize_hmm_parameters(2, 3), sequences, 30)
print("loglike:", ["%.3f" % l for l in logs[::10]])
assert np.all(np.diff(np.array(logs)) > -1e-9)
assert np.allclose(A_hat.sum(axis=1), 1.0) and np.allclose(np.sum(B_hat, 1), 1.0)
assert logs[-1] > log_partition_function([np.log(np.ones(2) / 2), np.log(np.ones((2, 2)) / 2), np.log(np.ones((2, 3)) / 3)], sequences)

# brute force over all paths of a short sequence
import itertools

short = sequences[0][:4]
total = 0.0
for path in itertools.product(range(2), repeat=5):
    p = pi[path[0]]
    for a, b, y in zip(path, path[1:], short):
        p = p * A_hat[a, b] * B_hat[b, y]
    total += p
assert np.allclose(np.log(total), log_partition_function(list(map(np.log, (pi, A_hat, B_hat))), short))
counts = vgrad(log_partition_function)(list(map(lambda a: np.log(a + 1e-12), (pi, A_hat, B_hat))), short)
assert np.isclose(np.sum(counts[1]), 4.0)
