import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import grad, multigrad_dict
from gradspec.misc.optimizers import adam, rmsprop, sgd
from gradspec.scipy.special import digamma, gammaln, logsumexp
from gradspec.scipy.stats import dirichlet, multivariate_normal, poisson

rs = npr.RandomState(3)
K, V, D = 3, 15, 40
true_topics = np.zeros((K, V))
for k in range(K):
    true_topics[k, 5 * k : 5 * k + 5] = 0.2
theta = rs.dirichlet(0.3 * np.ones(K), size=D)
counts = np.array([rs.multinomial(80, th @ true_topics) for th in theta])


def softmax(x):
    return np.exp(x - logsumexp(x, axis=-1, keepdims=True))


def loss(params, i):
    doc, topic = params["doc"], params["topic"]
    mix = np.dot(softmax(doc), softmax(topic))
    loglik = np.sum(counts * np.log(mix + 1e-10))
    prior = -0.5 * 0.01 * (np.sum(doc**2) + np.sum(topic**2))
    return -(loglik + prior) / D


init = {"doc": 0.1 * rs.randn(D, K), "topic": rs.randn(K, V)}
fitted = adam(grad(loss), init, num_iters=300, step_size=0.1)
topics = softmax(fitted["topic"])
print("loss %.3f -> %.3f" % (loss(init, 0), loss(fitted, 0)))
saturated = -np.sum(counts * np.log(np.maximum(theta @ true_topics, 1e-10))) / D
assert loss(fitted, 0) < saturated + 0.5
# each true block is the best block of one topic
blocks = topics.reshape(K, 3, 5).sum(axis=2)
assert set(np.argmax(blocks, axis=1)) == {0, 1, 2}
assert np.min(np.max(blocks, axis=1)) > 0.85

for optimizer in (sgd, rmsprop):
    x = optimizer(lambda x, i: grad(lambda x: np.sum((x - 3.0) ** 2))(x), np.zeros(2), num_iters=300, step_size=0.02)
    assert np.allclose(x, 3.0, atol=0.1), optimizer.__name__


# Dirichlet likelihood: moments by digamma
def dirichlet_nll(alpha):
    return -sum(dirichlet.logpdf(th, alpha) for th in samples)


samples = rs.dirichlet(np.array([1.0, 2.0, 3.0]), size=10)
alpha = np.array([1.5, 1.5, 2.0])
expected = -(10 * (digamma(alpha.sum()) - digamma(alpha)) + np.log(samples).sum(0))
assert np.allclose(grad(dirichlet_nll)(alpha), expected)
lam = np.array(3.5)
g = grad(lambda l: np.sum(poisson.logpmf(counts[0], l)))(lam)
assert np.isclose(g, counts[0].sum() / lam - V)
both = multigrad_dict(lambda a, b: a**2 * b)(a=2.0, b=3.0)
assert both == {"a": 12.0, "b": 4.0}
assert np.isclose(gammaln(5.0), np.log(24.0))
m = grad(lambda m: multivariate_normal.logpdf(np.ones(2), m, np.eye(2)))(np.zeros(2))
assert np.allclose(m, 1.0)
