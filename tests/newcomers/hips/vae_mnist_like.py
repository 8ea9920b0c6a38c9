import gradspec.numpy as np
import gradspec.numpy.random as npr
import gradspec.scipy.stats.norm as norm
from gradspec import grad
from gradspec.misc import flatten
from gradspec.misc.optimizers import adam
from gradspec.scipy.special import expit as sigmoid


def diag_gaussian_log_density(x, mu, log_std):
    return np.sum(norm.logpdf(x, mu, np.exp(log_std)), axis=-1)


def unpack_gaussian_params(params):
    D = np.shape(params)[-1] // 2
    return params[:, :D], params[:, D:]


def sample_diag_gaussian(mean, log_std, rs):
    return rs.randn(*mean.shape) * np.exp(log_std) + mean


def bernoulli_log_density(targets, unnormalized_logprobs):
    t2 = targets * 2 - 1
    label_probabilities = -np.logaddexp(0, -unnormalized_logprobs * t2)
    return np.sum(label_probabilities, axis=-1)


def relu(x):
    return np.maximum(0, x)


def init_net_params(scale, layer_sizes, rs=npr.RandomState(0)):
    return [(scale * rs.randn(m, n), scale * rs.randn(n)) for m, n in zip(layer_sizes[:-1], layer_sizes[1:])]


def neural_net_predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = relu(outputs)
    return outputs


def vae_lower_bound(gen_params, rec_params, data, rs):
    q_means, q_log_stds = unpack_gaussian_params(neural_net_predict(rec_params, data))
    latents = sample_diag_gaussian(q_means, q_log_stds, rs)
    q_latents = diag_gaussian_log_density(latents, q_means, q_log_stds)
    p_latents = diag_gaussian_log_density(latents, 0, 0)
    likelihood = bernoulli_log_density(data, neural_net_predict(gen_params, latents))
    return np.mean(p_latents + likelihood - q_latents)


rs = npr.RandomState(1)
prototypes = rs.rand(3, 12) < 0.5
images = prototypes[rs.randint(3, size=120)].astype(float)
init_params = init_net_params(0.1, [2, 20, 12]), init_net_params(0.1, [12, 20, 4])
seed = npr.RandomState(0)


def objective(combined_params, it):
    gen_params, rec_params = combined_params
    data = images[(it % 4) * 30 : (it % 4) * 30 + 30]
    return -vae_lower_bound(gen_params, rec_params, data, seed)


trace = []


def callback(params, it, g):
    if it % 50 == 0:
        trace.append(objective(params, it))
        print("{:15}|{:20}".format(it, -trace[-1]))


optimized = adam(grad(objective), init_params, step_size=0.02, num_iters=201, callback=callback)
assert trace[-1] < 0.6 * trace[0]
flat, unflatten = flatten(init_params)
assert flat.shape == (2 * 20 + 20 + 20 * 12 + 12 + 12 * 20 + 20 + 20 * 4 + 4,)
assert np.all(unflatten(flat)[0][0][0] == init_params[0][0][0])
probs = sigmoid(neural_net_predict(optimized[0], rs.randn(5, 2)))
assert probs.shape == (5, 12) and np.all((probs > 0) & (probs < 1))
