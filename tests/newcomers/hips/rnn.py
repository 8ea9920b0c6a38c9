import numpy.random as npr

import gradspec.numpy as np
from gradspec import grad
from gradspec.test_util import check_grads


def sigmoid(x):
    return 0.5 * (np.tanh(x) + 1.0)


def concat_and_multiply(weights, *args):
    cat_state = np.hstack(args + (np.ones((args[0].shape[0], 1)),))
    return np.dot(cat_state, weights)


def rnn_predict(params, inputs):
    hiddens = np.repeat(params["init hiddens"], inputs.shape[1], axis=0)
    output = []
    for x in inputs:
        hiddens = np.tanh(concat_and_multiply(params["change"], x, hiddens))
        out = concat_and_multiply(params["predict"], hiddens)
        output.append(out - np.logsumexp(out, axis=1, keepdims=True))
    return output


def rnn_log_likelihood(params, inputs, targets):
    logprobs = rnn_predict(params, inputs)
    return sum(np.sum(lp * t) for lp, t in zip(logprobs, targets)) / (inputs.shape[0] * inputs.shape[1])


rs = npr.RandomState(0)
inputs = np.eye(3)[rs.randint(3, size=(6, 4))]
params = {"init hiddens": 0.1 * rs.randn(1, 5), "change": 0.1 * rs.randn(3 + 5 + 1, 5), "predict": 0.1 * rs.randn(5 + 1, 3)}
loss = lambda params: -rnn_log_likelihood(params, inputs, inputs)
check_grads(loss, order=1)(params)
for i in range(5):
    g = grad(loss)(params)
    params = {k: params[k] - 0.5 * g[k] for k in params}
print(loss(params))
