from __future__ import absolute_import, print_function

import gradspec.numpy as np
import gradspec.numpy.random as npr
import gradspec.scipy.stats.t as t
from gradspec import value_and_grad
from gradspec.misc.flatten import flatten_func
from scipy.optimize import minimize


def make_ica_funs(observed_dimension, latent_dimension):
    def sample(params, n_samples, noise_std, rs):
        latents = rs.standard_t(3.0, size=(latent_dimension, n_samples)).T
        noise = rs.randn(n_samples, observed_dimension) * noise_std
        return np.dot(latents, unpack_params(params)) + noise

    def unpack_params(params):
        return np.reshape(params, (latent_dimension, observed_dimension))

    def logprob(params, inv_cov, inputs):
        unmixed = np.dot(inputs, inv_cov)
        return np.sum(t.logpdf(unmixed, 3.0), axis=1) + np.linalg.slogdet(inv_cov)[1]

    return observed_dimension * latent_dimension, sample, logprob, unpack_params


num, sample, logprob, unpack = make_ica_funs(2, 2)
rs = npr.RandomState(0)
true_params = np.array([1.0, 0.4, -0.3, 1.2])
data = sample(true_params, 1500, 0.0, rs)


def objective(params):
    return -np.mean(logprob(params, np.reshape(params, (2, 2)), data))


x0 = np.eye(2).ravel() + 0.1 * rs.randn(4)
result = minimize(value_and_grad(objective), x0, jac=True, method="BFGS")
print(result.message, result.x)
unmixing = result.x.reshape(2, 2)
product = np.abs(np.dot(np.reshape(true_params, (2, 2)), unmixing))
# a permuted, scaled identity
product = product / product.max(axis=1)[:, None]
off = np.sort(product, axis=1)[:, 0]
print(off)
assert np.all(off < 0.15)

# the gradient of log|det W| is W^-T
g = value_and_grad(lambda W: np.linalg.slogdet(W)[1])(unmixing)[1]
assert np.allclose(g, np.linalg.inv(unmixing).T)
flat_f, unflatten, flat_x = flatten_func(lambda W: np.sum(W**2), unmixing)
assert np.isclose(flat_f(flat_x), np.sum(unmixing**2))
