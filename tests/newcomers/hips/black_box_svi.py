import gradspec.numpy as np
import gradspec.scipy.stats.norm as norm
from gradspec import grad
from gradspec.misc.optimizers import adam


def log_posterior(x, t):
    mu, log_sigma = x[:, 0], x[:, 1]
    return norm.logpdf(log_sigma, 0, 1.35) + norm.logpdf(mu, 0, np.exp(log_sigma))


rs = np.random.RandomState(0)


def objective(params, t):
    mean, log_std = params[:2], params[2:]
    samples = rs.randn(100, 2) * np.exp(log_std) + mean
    return -np.mean(log_posterior(samples, t)) - np.sum(log_std)


variational_params = adam(grad(objective), np.zeros(4), step_size=0.1, num_iters=200)
